"""The command `everystump reproduce`: whole runs, and resuming after interruptions.

Interrupted runs use an experiment of milliseconds; one test runs a real experiment.
"""

import contextlib
import csv
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import command
import numpy as np
import pytest
import toy_experiment
from toy_experiment import is_one_sentence

import everystump as package

PATHS = [Path(package.__file__).parents[1], Path(__file__).parent]
REAL = "lin-li-figure-2"
REAL_PROGRAM = "from everystump.cli import main; main()"


def start(*arguments, program=toy_experiment.PROGRAM):
    """Start the command as a process, for a user without a data folder."""
    variables = {name: value for name, value in os.environ.items() if name != "EVERYSTUMP_DATA"}
    return subprocess.Popen(
        [sys.executable, "-c", program, "reproduce", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=variables | {"PYTHONPATH": os.pathsep.join(map(str, PATHS))},
        start_new_session=True,
    )


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs the command in this process."""
    yield from toy_experiment.in_process(monkeypatch, capsys)


# Whole runs


def journal_of(out, name="toy"):
    return out / "journals" / f"{name}.jsonl"


def table_of(out):
    return (out / "toy.csv").read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Return the output folder of 4 uninterrupted runs."""
    out = tmp_path_factory.mktemp("reference")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("everystump.cli.reproduce.load_experiment", toy_experiment.load_experiment)
        done = command.run("reproduce", "toy", "--runs", 4, "--jobs", 1, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "toy: 4 of 4 done" in done.stderr
    assert all(str(out / f"toy{suffix}") in done.stdout for suffix in (".md", ".csv"))
    return out


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_run_of_a_real_experiment(jobs, tmp_path, run):
    """It writes its files and no others, and a second command runs nothing again."""
    arguments = (REAL, "--runs", 2, "--jobs", jobs, "--out", tmp_path)
    process = start(*arguments, program=REAL_PROGRAM)
    printed, err = process.communicate(timeout=120)
    assert process.returncode == 0 and f"{REAL}: 2 of 2 done" in err, err
    files = {f"{REAL}{suffix}" for suffix in (".md", ".csv", ".png")}
    assert {path.name for path in tmp_path.iterdir()} == files | {"journals"}
    assert all(str(tmp_path / file) in printed for file in files)
    with (tmp_path / f"{REAL}.csv").open(encoding="utf-8", newline="") as file:
        assert [row["run"] for row in csv.DictReader(file)] == ["0", "1"]
    before = journal_of(tmp_path, REAL).read_bytes(), (tmp_path / f"{REAL}.csv").read_bytes()
    code, _, err = run(*arguments)
    assert code == 0, err
    after = journal_of(tmp_path, REAL).read_bytes(), (tmp_path / f"{REAL}.csv").read_bytes()
    assert after == before


def wait_for_workers(process, out, jobs):
    """Wait until each worker of a running command has finished a task, and two tasks are done."""
    end = time.monotonic() + 120
    workers = []
    while len(workers) < 2 or len(set(workers)) < jobs:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"{workers} in 120 s"
        time.sleep(0.02)
        if journal_of(out).exists():
            workers = re.findall(rb'"worker": (\d+)', journal_of(out).read_bytes())


def end_all(process):
    """Kill a command and the processes that it started."""
    process.kill()
    with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)


def interrupted(out, send, *, jobs, delay):
    """Start many runs and send a signal after the first ones; return exit code and errors."""
    process = start("toy", "--runs", 1000, "--jobs", jobs, "--out", out)
    try:
        wait_for_workers(process, out, jobs)
        time.sleep(delay)
        send(process)
        printed, err = process.communicate(timeout=60)
    finally:
        end_all(process)
    assert printed == "", f"after {delay} s"
    assert not (out / "toy.csv").exists(), f"after {delay} s"
    return process.returncode, err


def check_that_it_resumes(out, reference, run, delay):
    """Check that finished tasks are kept and the table is that of an uninterrupted run."""
    kept = journal_of(out).read_bytes().rpartition(b"\n")[0]
    code, _, err = run("toy", "--runs", 4, "--jobs", 1, "--out", out)
    assert code == 0, f"after {delay} s: {err}"
    assert journal_of(out).read_bytes().startswith(kept + b"\n"), f"after {delay} s"
    lines = journal_of(out).read_bytes().count(b"\n")
    done_before = len(set(re.findall(rb'"key": "[0-3]"', kept)))
    assert lines == kept.count(b"\n") + 1 + 4 - done_before, f"after {delay} s"
    assert table_of(out) == table_of(reference), f"after {delay} s"


DELAYS = [round(delay, 3) for delay in np.random.default_rng(5).uniform(0, 0.5, 4)]


def processes_of(process):
    """Return the states of the processes of a command, without zombies."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [state for group, state in rows if group == str(process.pid) and state[0] != "Z"]


def check_that_all_end(process):
    """Check that the workers of a killed command exit within half a minute."""
    end = time.monotonic() + 30
    while shutil.which("ps") and processes_of(process):
        assert time.monotonic() < end, "workers of a killed command are still running"
        time.sleep(0.1)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_run_resumes(tmp_path, reference, run):
    """It resumes immediately, even if workers of the killed command are still running."""
    delay = DELAYS[0]
    process = start("toy", "--runs", 1000, "--jobs", 2, "--out", tmp_path)
    try:
        wait_for_workers(process, tmp_path, 2)
        time.sleep(delay)
        process.kill()
        assert process.wait(timeout=60) == -signal.SIGKILL
        check_that_it_resumes(tmp_path, reference, run, delay)
        check_that_all_end(process)
    finally:
        end_all(process)
        process.communicate()


def check_interruption_note(code, err, out, delay):
    assert code == 130, f"after {delay} s: {err}"
    notes = [line for line in err.splitlines() if line.startswith("Note: ")]
    assert len(notes) == 1 and "Interrupted" in notes[0], f"after {delay} s: {err}"
    assert str(out) in notes[0] and "the same command resumes" in notes[0]
    assert "Traceback" not in err and "KeyboardInterrupt" not in err, f"after {delay} s: {err}"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process here")
def test_interrupted_run_resumes(tmp_path, reference, run):
    delay = DELAYS[1]
    code, err = interrupted(
        tmp_path, lambda process: process.send_signal(signal.SIGINT), jobs=1, delay=delay
    )
    check_interruption_note(code, err, tmp_path, delay)
    check_that_it_resumes(tmp_path, reference, run, delay)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM to handle here")
def test_terminated_run_is_interrupted(tmp_path):
    delay = DELAYS[3]
    code, err = interrupted(tmp_path, lambda process: process.terminate(), jobs=1, delay=delay)
    check_interruption_note(code, err, tmp_path, delay)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
def test_ctrl_c_reaches_all_processes_and_is_reported_once(tmp_path, reference, run):
    """A terminal sends it to the command and to its workers."""
    delay = DELAYS[2]
    code, err = interrupted(
        tmp_path, lambda process: os.killpg(process.pid, signal.SIGINT), jobs=2, delay=delay
    )
    check_interruption_note(code, err, tmp_path, delay)
    check_that_it_resumes(tmp_path, reference, run, delay)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no such locks here")
def test_second_command_in_the_same_folder_fails(tmp_path, reference, run):
    first = start("toy", "--runs", 100, "--jobs", 1, "--out", tmp_path)
    try:
        wait_for_workers(first, tmp_path, 1)
        code, printed, err = run("toy", "--runs", 4, "--out", tmp_path)
        assert first.poll() is None, "the first command ended too early for this test"
        assert code == 2 and printed == ""
        assert is_one_sentence(err) and str(tmp_path) in err and "Another process" in err
        _, err = first.communicate(timeout=120)
        assert first.returncode == 0, err
    finally:
        end_all(first)
    assert table_of(tmp_path).startswith(table_of(reference))
    assert journal_of(tmp_path).read_bytes().count(b"\n") == 101


@pytest.fixture
def copied(reference, tmp_path):
    """Return a folder with a copy of the journal alone."""
    out = tmp_path / "copied"
    journal_of(out).parent.mkdir(parents=True)
    shutil.copy(journal_of(reference), journal_of(out))
    return out


def test_damaged_line_is_reported_and_run_again(copied, reference, run):
    lines = journal_of(copied).read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"value", b"VALUE", 1)
    journal_of(copied).write_bytes(b"".join(lines))
    code, _, err = run("toy", "--runs", 4, "--jobs", 1, "--out", copied)
    assert code == 0
    notes = [line for line in err.splitlines() if line.startswith("Note: ")]
    assert len(notes) == 1 and str(journal_of(copied)) in notes[0] and "damaged" in notes[0]
    assert table_of(copied) == table_of(reference)


def test_full_disk_ends_the_run_and_loses_nothing(copied, reference, run, monkeypatch):
    lines = journal_of(copied).read_bytes().splitlines(keepends=True)
    journal_of(copied).write_bytes(b"".join(lines[:3]))

    def no_space(handle):
        os.ftruncate(handle, os.fstat(handle).st_size - 20)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_space)
        code, printed, err = run("toy", "--runs", 4, "--jobs", 1, "--out", copied)
    assert code == 2 and printed == ""
    assert err.startswith("Error: ") and len(err.splitlines()) == 1
    assert journal_of(copied).read_bytes().startswith(b"".join(lines[:3]))
    code, _, _ = run("toy", "--runs", 4, "--jobs", 1, "--out", copied)
    assert code == 0
    assert table_of(copied) == table_of(reference)


def test_another_seed_needs_another_folder(copied, run):
    before = journal_of(copied).read_bytes()
    code, printed, err = run("toy", "--seed", 1, "--runs", 1, "--out", copied)
    assert code == 2 and printed == ""
    assert is_one_sentence(err) and str(journal_of(copied)) in err and "seed" in err
    assert journal_of(copied).read_bytes() == before
    assert [path.name for path in copied.iterdir()] == ["journals"]


def run_some(run, monkeypatch, out, *names):
    monkeypatch.setattr("everystump.cli.reproduce.NAMES", names)
    return run("all", "--runs", 2, "--jobs", 1, "--out", out)


def test_all_continues_without_missing_data(copied, run, monkeypatch):
    """The download of USPS fails, and fourclass cannot be downloaded."""

    def no_answer(**_):
        raise OSError("no answer")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_answer)
    names = ("evgeniou-figure-5", "toy", "wang-figure-2")
    code, printed, err = run_some(run, monkeypatch, copied, *names)
    assert code == 0
    notes = re.findall(r"^Note: (\S+) is skipped\. name='(\w+)'", err, flags=re.MULTILINE)
    assert notes == [("evgeniou-figure-5", "usps_train"), ("wang-figure-2", "fourclass")]
    index = (copied / "README.md").read_text(encoding="utf-8")
    assert "[toy](toy.md)" in index
    assert "Generated by `everystump reproduce all --runs 2`" in index
    assert re.findall(r"Not run: `(.*)`", index) == ["evgeniou-figure-5", "wang-figure-2"]
    assert str(copied / "toy.csv") in printed


def test_all_ends_at_damaged_data(copied, run, tmp_path, monkeypatch):
    (tmp_path / "usps_train.csv").write_text("a,target\n1,0\n2,1\n")
    monkeypatch.setenv("EVERYSTUMP_DATA", str(tmp_path))
    code, printed, err = run_some(run, monkeypatch, copied, "toy", "evgeniou-figure-5", "toy")
    assert code == 2
    assert printed.count("toy.csv") == 1
    (error,) = [line for line in err.splitlines() if line.startswith("Error: ")]
    assert str(tmp_path / "usps_train.csv") in error and "damaged" in error
    assert "skipped" not in err and "Traceback" not in err
    assert "Not run" not in (copied / "README.md").read_text(encoding="utf-8")
