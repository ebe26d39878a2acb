"""The command `everystump` as a user runs it: what it says, how it fails, how it goes on."""

import contextlib
import csv
import errno
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import rich.console
from click.testing import CliRunner

import everystump as package
from everystump._experiments import NAMES, load_experiment
from everystump.cli import main
from everystump.cli.main import everystump
from everystump.cli.progress import progress_bar
from everystump.datasets import DatasetNotFoundError, _packaged

SOURCES = str(Path(package.__file__).parents[1])
PROGRAM = "from everystump.cli import main; main()"
QUICK = "lin-li-figure-2"
HEAVY = ["joblib", "matplotlib", "numba", "numpy", "pandas", "rich", "scipy", "sklearn"]
ONLY_HELP = f"""
import sys
from everystump.cli import main
sys.argv = ["everystump", *sys.argv[1:]]
try:
    main()
finally:
    print("imported:", *sorted(set({HEAVY}) & set(sys.modules)))
"""


def environment():
    """Return the environment of a user who has no data of his own."""
    known = {name: value for name, value in os.environ.items() if name != "EVERYSTUMP_DATA"}
    return known | {"PYTHONPATH": SOURCES}


def start(*arguments, program=PROGRAM):
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(),
        start_new_session=True,
    )


def run(*arguments, program=PROGRAM):
    """Run the command in a process; return its exit code, output and errors."""
    process = start(*arguments, program=program)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def run_here(monkeypatch, capsys):
    """Return a function that runs the command in this process, without the network."""

    def no_network(**_):
        raise AssertionError("The network is asked.")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["everystump", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return code, said.out, said.err

    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    monkeypatch.delenv("EVERYSTUMP_DATA", raising=False)
    handler = signal.getsignal(signal.SIGTERM)
    yield call
    signal.signal(signal.SIGTERM, handler)


def is_one_sentence(errors):
    """Tell whether a user is told what is wrong in a line, and no more."""
    lines = [line for line in errors.splitlines() if line.strip()]
    return len(lines) == 1 and lines[0].startswith("Error: ") and lines[0].endswith(".")


def check_that_nothing_is_written(out):
    """Check that a folder has no file but empty locks."""
    assert not [path for path in out.rglob("*") if path.is_file() and path.suffix != ".lock"]


# What it says


def test_help_names_the_command():
    result = CliRunner().invoke(everystump, ["--help"])
    assert result.exit_code == 0
    assert "reproduce" in result.output


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_of_reproduce_names_every_option(option):
    result = CliRunner().invoke(everystump, ["reproduce", option])
    assert result.exit_code == 0
    for option in ("NAME|all", "--list", "--runs", "--jobs", "--seed", "--out"):
        assert option in result.output


def test_version():
    assert version("everystump") in CliRunner().invoke(everystump, ["--version"]).output


def test_list_is_one_name_a_line():
    code, out, err = run("reproduce", "--list")
    assert (code, err) == (0, "")
    assert out.splitlines() == list(NAMES)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["reproduce", "--help"], ["reproduce", "--list"]]
)
def test_help_is_quick_because_it_imports_nothing_heavy(arguments):
    code, out, err = run(*arguments, program=ONLY_HELP)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "imported:"


# Bad input


def test_an_unknown_experiment_is_answered_by_the_names(tmp_path):
    code, out, err = run("reproduce", "lin-li-table-9", "--out", tmp_path / "out")
    assert code == 2 and out == ""
    assert is_one_sentence(err) and "lin-li-table-9" in err
    assert all(name in err for name in NAMES)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--runs", "0"],
        ["--runs", "-1"],
        ["--runs", "x"],
        ["--runs", "1.5"],
        ["--jobs", "0"],
        ["--jobs", "x"],
        ["--seed", "-1"],
        ["--folds", "3"],
    ],
)
def test_bad_options_end_with_exit_code_2(tmp_path, run_here, arguments):
    code, out, err = run_here("reproduce", QUICK, *arguments, "--out", tmp_path / "out")
    assert code == 2 and out == ""
    assert arguments[0] in err and "Traceback" not in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["reproduce"], ["repeat"], ["reproduce", "a", "b"]])
def test_bad_commands_end_with_exit_code_2(run_here, arguments):
    code, out, err = run_here(*arguments)
    assert code == 2 and out == ""
    assert "Error: " in err and "Traceback" not in err


@pytest.mark.parametrize("below", ["", "sub", "sub/folder"])
def test_a_file_is_no_folder(tmp_path, run_here, below):
    file = tmp_path / "file"
    file.write_text("mine")
    code, out, err = run_here("reproduce", QUICK, "--runs", "1", "--out", file / below)
    assert code == 2 and out == ""
    assert is_one_sentence(err) and str(file / below) in err
    assert list(tmp_path.iterdir()) == [file] and file.read_text() == "mine"


def test_a_folder_without_write_access(tmp_path, run_here):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.access(closed, os.W_OK):
        pytest.skip("this user may write everywhere")
    for out in (closed, closed / "sub"):
        code, said, err = run_here("reproduce", QUICK, "--runs", "1", "--out", out)
        assert code == 2 and said == ""
        assert is_one_sentence(err) and str(out) in err
    assert not list(closed.iterdir())


@pytest.fixture
def damaged_usps(tmp_path, monkeypatch, run_here):
    """Let EVERYSTUMP_DATA name a folder with other tables in the place of USPS."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("usps_train", "usps_test"):
        (folder / f"{name}.csv").write_text("a,target\n1,0\n2,1\n")
    monkeypatch.setenv("EVERYSTUMP_DATA", str(folder))
    return folder


def test_a_damaged_data_file_is_refused(tmp_path, run_here, damaged_usps):
    out = tmp_path / "out"
    code, said, err = run_here("reproduce", "evgeniou-figure-5", "--runs", "1", "--out", out)
    assert code == 2 and said == ""
    assert err.startswith("Error: ") and len(err.splitlines()) == 1
    assert str(damaged_usps / "usps_train.csv") in err and "damaged" in err
    check_that_nothing_is_written(out)


def test_a_damaged_packaged_file_is_refused(tmp_path, run_here, monkeypatch):
    data = tmp_path / "data"
    shutil.copytree(str(_packaged.PACKAGED_FOLDER), data)
    content = bytearray((data / "heart.csv.xz").read_bytes())
    content[len(content) // 2] ^= 1
    (data / "heart.csv.xz").write_bytes(content)
    monkeypatch.setattr(_packaged, "PACKAGED_FOLDER", data)
    out = tmp_path / "out"
    code, said, err = run_here("reproduce", "evgeniou-figure-4", "--runs", "1", "--out", out)
    assert code == 2 and said == ""
    assert is_one_sentence(err) and "heart.csv.xz" in err and "SHA-256" in err
    check_that_nothing_is_written(out)


def check_that_data_are_refused(run_here, out, *words):
    code, said, err = run_here("reproduce", "evgeniou-figure-5", "--runs", "1", "--out", out)
    assert code == 2 and said == ""
    assert is_one_sentence(err) and all(word in err for word in words)
    assert "--out" not in err and str(out) not in err
    check_that_nothing_is_written(out)


def test_a_data_file_that_cannot_be_read(tmp_path, run_here, damaged_usps, monkeypatch):
    closed, read = damaged_usps / "usps_train.csv", Path.read_bytes

    def read_bytes(path):
        if path == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    check_that_data_are_refused(run_here, tmp_path / "out", str(closed), "make it readable")


@pytest.mark.parametrize("is_file", [False, True])
def test_a_folder_of_data_that_is_none(tmp_path, run_here, monkeypatch, is_file):
    nowhere = tmp_path / "nowhere"
    if is_file:
        nowhere.write_text("a,target\n")
    monkeypatch.setenv("EVERYSTUMP_DATA", str(nowhere))
    check_that_data_are_refused(run_here, tmp_path / "out", "EVERYSTUMP_DATA", str(nowhere))


def test_a_folder_of_data_that_cannot_be_listed(tmp_path, run_here, damaged_usps, monkeypatch):
    listed = Path.iterdir

    def iterdir(path):
        if path == damaged_usps:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    check_that_data_are_refused(run_here, tmp_path / "out", str(damaged_usps))


@pytest.mark.parametrize("error", [ValueError("broken"), DatasetNotFoundError("broken")])
def test_a_bug_is_not_called_bad_input(tmp_path, run_here, monkeypatch, error):
    def fail(seed, run):
        raise error

    experiment = replace(load_experiment(QUICK), run_task=fail)
    monkeypatch.setattr("everystump.cli.reproduce.load_experiment", lambda name: experiment)
    with pytest.raises(ValueError, match="broken") as raised:
        run_here("reproduce", QUICK, "--runs", 1, "--jobs", 1, "--out", tmp_path)
    assert raised.value is error


# Whole runs


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Return the folder of 4 runs that nothing interrupted, by two processes."""
    out = tmp_path_factory.mktemp("reference")
    code, said, err = run("reproduce", QUICK, "--runs", 4, "--jobs", 2, "--out", out)
    assert code == 0, err
    assert f"{QUICK}: 4 of 4 done" in err
    assert all(str(out / f"{QUICK}{suffix}") in said for suffix in (".md", ".csv", ".png"))
    return out


def journal_of(out):
    return out / "journals" / f"{QUICK}.jsonl"


def table_of(out):
    return (out / f"{QUICK}.csv").read_bytes()


def test_a_run_writes_its_files_and_no_others(reference):
    assert {path.name for path in reference.iterdir()} == {
        "journals",
        f"{QUICK}.csv",
        f"{QUICK}.md",
        f"{QUICK}.png",
    }
    with (reference / f"{QUICK}.csv").open(encoding="utf-8", newline="") as file:
        assert [row["run"] for row in csv.DictReader(file)] == ["0", "1", "2", "3"]


def wait_for_lines(process, out, count):
    """Wait until the journal of a running command has some lines."""
    end = time.monotonic() + 120
    while not (journal_of(out).exists() and journal_of(out).read_bytes().count(b"\n") >= count):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"no {count} lines in 120 s"
        time.sleep(0.02)


def end_all(process):
    """End a command and the processes that it started."""
    process.kill()
    with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)


def interrupted(out, send, *, jobs, delay):
    """Start 30 runs, send a signal a moment after the first ones; return code and errors."""
    process = start("reproduce", QUICK, "--runs", 30, "--jobs", jobs, "--out", out)
    try:
        wait_for_lines(process, out, 3)
        time.sleep(delay)
        send(process)
        said, err = process.communicate(timeout=60)
    finally:
        end_all(process)
    assert said == "", f"after {delay} s"
    assert not (out / f"{QUICK}.csv").exists(), f"after {delay} s"
    return process.returncode, err


def check_that_it_goes_on(out, reference, run_here, delay):
    """Run on: finished lines are kept, not done again, and the table is that of one run."""
    kept = journal_of(out).read_bytes().rpartition(b"\n")[0]
    code, _, err = run_here("reproduce", QUICK, "--runs", 4, "--jobs", 1, "--out", out)
    assert code == 0, f"after {delay} s: {err}"
    assert journal_of(out).read_bytes().startswith(kept + b"\n"), f"after {delay} s"
    lines = journal_of(out).read_bytes().count(b"\n")
    done_before = len(set(re.findall(rb'"key": "[0-3]"', kept)))
    assert lines == kept.count(b"\n") + 1 + 4 - done_before, f"after {delay} s"
    assert table_of(out) == table_of(reference), f"after {delay} s"


DELAYS = [round(delay, 3) for delay in np.random.default_rng(5).uniform(0, 0.5, 4)]


def processes_of(process):
    """Return the states of the processes of a command, those that nobody has reaped apart."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [state for group, state in rows if group == str(process.pid) and state[0] != "Z"]


def check_that_all_end(process):
    """Check that the processes of a killed command end as well, in half a minute at most."""
    end = time.monotonic() + 30
    while shutil.which("ps") and processes_of(process):
        assert time.monotonic() < end, "processes of a killed command are still there"
        time.sleep(0.1)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_run_goes_on(tmp_path, reference, run_here):
    """At once, though the processes that it started may still be there."""
    delay = DELAYS[0]
    process = start("reproduce", QUICK, "--runs", 30, "--jobs", 2, "--out", tmp_path)
    try:
        wait_for_lines(process, tmp_path, 3)
        time.sleep(delay)
        process.kill()
        assert process.wait(timeout=60) == -signal.SIGKILL
        check_that_it_goes_on(tmp_path, reference, run_here, delay)
        check_that_all_end(process)
    finally:
        end_all(process)
        process.communicate()


def check_that_it_was_told(code, err, out, delay):
    assert code == 130, f"after {delay} s: {err}"
    notes = [line for line in err.splitlines() if line.startswith("Note: ")]
    assert len(notes) == 1 and "Interrupted" in notes[0], f"after {delay} s: {err}"
    assert str(out) in notes[0] and "the same command resumes" in notes[0]
    assert "Traceback" not in err and "KeyboardInterrupt" not in err, f"after {delay} s: {err}"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process here")
def test_an_interrupted_run_says_so_and_goes_on(tmp_path, reference, run_here):
    delay = DELAYS[1]
    code, err = interrupted(
        tmp_path, lambda process: process.send_signal(signal.SIGINT), jobs=1, delay=delay
    )
    check_that_it_was_told(code, err, tmp_path, delay)
    check_that_it_goes_on(tmp_path, reference, run_here, delay)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM to handle here")
def test_to_be_stopped_is_to_be_interrupted(tmp_path):
    delay = DELAYS[3]
    code, err = interrupted(tmp_path, lambda process: process.terminate(), jobs=1, delay=delay)
    check_that_it_was_told(code, err, tmp_path, delay)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no groups of processes here")
def test_ctrl_c_reaches_all_processes_and_is_told_once(tmp_path, reference, run_here):
    """A terminal sends it to the command and to the processes that it started."""
    delay = DELAYS[2]
    code, err = interrupted(
        tmp_path, lambda process: os.killpg(process.pid, signal.SIGINT), jobs=2, delay=delay
    )
    check_that_it_was_told(code, err, tmp_path, delay)
    check_that_it_goes_on(tmp_path, reference, run_here, delay)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no such locks here")
def test_of_two_commands_at_once_the_second_is_refused(tmp_path, reference, run_here):
    first = start("reproduce", QUICK, "--runs", 12, "--jobs", 1, "--out", tmp_path)
    try:
        wait_for_lines(first, tmp_path, 2)
        code, said, err = run_here("reproduce", QUICK, "--runs", 4, "--out", tmp_path)
        assert first.poll() is None, "the first ended too early for this test"
        assert code == 2 and said == ""
        assert is_one_sentence(err) and str(tmp_path) in err and "Another process" in err
        _, err = first.communicate(timeout=120)
        assert first.returncode == 0, err
    finally:
        end_all(first)
    assert table_of(tmp_path).startswith(table_of(reference))
    assert journal_of(tmp_path).read_bytes().count(b"\n") == 13


@pytest.fixture
def copied(reference, tmp_path):
    """Return a copy of the journal alone, in a folder of its own."""
    out = tmp_path / "copied"
    journal_of(out).parent.mkdir(parents=True)
    shutil.copy(journal_of(reference), journal_of(out))
    return out


def test_a_damaged_line_is_told_and_done_again(copied, reference, run_here):
    lines = journal_of(copied).read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"svm", b"SVM", 1)
    journal_of(copied).write_bytes(b"".join(lines))
    code, _, err = run_here("reproduce", QUICK, "--runs", 4, "--jobs", 1, "--out", copied)
    assert code == 0
    notes = [line for line in err.splitlines() if line.startswith("Note: ")]
    assert len(notes) == 1 and str(journal_of(copied)) in notes[0] and "damaged" in notes[0]
    assert table_of(copied) == table_of(reference)


def test_a_full_disk_ends_the_run_and_loses_nothing(copied, reference, run_here, monkeypatch):
    lines = journal_of(copied).read_bytes().splitlines(keepends=True)
    journal_of(copied).write_bytes(b"".join(lines[:3]))

    def no_space(handle):
        os.ftruncate(handle, os.fstat(handle).st_size - 20)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_space)
        code, said, err = run_here("reproduce", QUICK, "--runs", 4, "--jobs", 1, "--out", copied)
    assert code == 2 and said == ""
    assert err.startswith("Error: ") and len(err.splitlines()) == 1
    assert journal_of(copied).read_bytes().startswith(b"".join(lines[:3]))
    code, _, _ = run_here("reproduce", QUICK, "--runs", 4, "--jobs", 1, "--out", copied)
    assert code == 0
    assert table_of(copied) == table_of(reference)


def test_another_seed_needs_another_folder(copied, run_here):
    before = journal_of(copied).read_bytes()
    code, said, err = run_here("reproduce", QUICK, "--seed", 1, "--runs", 1, "--out", copied)
    assert code == 2 and said == ""
    assert is_one_sentence(err) and str(journal_of(copied)) in err and "seed" in err
    assert journal_of(copied).read_bytes() == before
    assert [path.name for path in copied.iterdir()] == ["journals"]


def run_some(run_here, monkeypatch, out, *names):
    monkeypatch.setattr("everystump.cli.reproduce.NAMES", names)
    return run_here("reproduce", "all", "--runs", 2, "--jobs", 1, "--out", out)


def test_all_goes_on_without_what_has_no_data(copied, run_here, monkeypatch):
    """USPS is not to be downloaded, fourclass has no place to be downloaded from."""

    def no_answer(**_):
        raise OSError("no answer")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_answer)
    names = ("evgeniou-figure-5", QUICK, "wang-figure-2")
    code, said, err = run_some(run_here, monkeypatch, copied, *names)
    assert code == 0
    notes = re.findall(r"^Note: (\S+) is skipped\. name='(\w+)'", err, flags=re.MULTILINE)
    assert notes == [("evgeniou-figure-5", "usps_train"), ("wang-figure-2", "fourclass")]
    index = (copied / "README.md").read_text(encoding="utf-8")
    assert f"[{QUICK}]({QUICK}.md)" in index
    assert "Generated by `everystump reproduce all --runs 2`" in index
    assert re.findall(r"Not run: `(.*)`", index) == ["evgeniou-figure-5", "wang-figure-2"]
    assert str(copied / f"{QUICK}.csv") in said


def test_all_ends_where_data_are_damaged(copied, run_here, damaged_usps, monkeypatch):
    code, said, err = run_some(run_here, monkeypatch, copied, QUICK, "evgeniou-figure-5", QUICK)
    assert code == 2
    assert said.count(f"{QUICK}.csv") == 1
    (error,) = [line for line in err.splitlines() if line.startswith("Error: ")]
    assert str(damaged_usps / "usps_train.csv") in error and "damaged" in error
    assert "skipped" not in err and "Traceback" not in err
    assert "Not run" not in (copied / "README.md").read_text(encoding="utf-8")


# Progress


@pytest.fixture
def terminal(monkeypatch):
    """Let rich write to a terminal; return what it shows."""
    shown = io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    as_terminal = {"file": shown, "force_terminal": True, "width": 100}
    console = rich.console.Console
    monkeypatch.setattr("rich.console.Console", lambda stderr: console(**as_terminal))
    return shown


def plain(text):
    """Return a text without the codes of a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_a_terminal_has_a_bar(terminal, capsys):
    with progress_bar("heart-figure-9") as progress:
        progress(0, 5)
        progress(3, 5)
    assert "\x1b[" in terminal.getvalue()
    last = plain(terminal.getvalue()).strip().splitlines()[-1]
    assert re.search(r"heart-figure-9 .*\b3/5\b", last)
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_put_away_when_the_work_fails(terminal):
    with pytest.raises(KeyboardInterrupt), progress_bar("heart-figure-9") as progress:
        progress(1, 5)
        raise KeyboardInterrupt
    assert "1/5" in plain(terminal.getvalue())
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l")


def test_a_command_in_a_terminal_shows_its_bar(copied, run_here, terminal):
    code, _, err = run_here("reproduce", QUICK, "--runs", 4, "--jobs", 1, "--out", copied)
    assert code == 0 and err == ""
    assert re.search(rf"{QUICK} .*\b4/4\b", plain(terminal.getvalue()))


def test_elsewhere_there_is_a_line_now_and_then(monkeypatch, capsys):
    with progress_bar("heart-figure-9") as progress:
        for done in range(5):
            progress(done, 5)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr("everystump.cli.progress.PAUSE", -1.0)
        progress(4, 5)
        progress(5, 5)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "heart-figure-9: 4 of 5 done\nheart-figure-9: 5 of 5 done\n"
