"""The command `everystump` as a user runs it: what it says, how it fails, how it goes on."""

import csv
import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

import everystump as package
from everystump.cli import main
from everystump.cli.main import everystump
from everystump.datasets import packaged
from everystump.experiments import NAMES

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
    return call


def is_one_sentence(errors):
    """Tell whether a user is told what is wrong in a line, and no more."""
    lines = [line for line in errors.splitlines() if line.strip()]
    return len(lines) == 1 and lines[0].startswith("Error: ") and lines[0].endswith(".")


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
    assert not list(out.iterdir())


def test_a_damaged_packaged_file_is_refused(tmp_path, run_here, monkeypatch):
    data = tmp_path / "data"
    shutil.copytree(str(packaged.PACKAGED_FOLDER), data)
    content = bytearray((data / "heart.csv.xz").read_bytes())
    content[len(content) // 2] ^= 1
    (data / "heart.csv.xz").write_bytes(content)
    monkeypatch.setattr(packaged, "PACKAGED_FOLDER", data)
    out = tmp_path / "out"
    code, said, err = run_here("reproduce", "evgeniou-figure-4", "--runs", "1", "--out", out)
    assert code == 2 and said == ""
    assert is_one_sentence(err) and "heart.csv.xz" in err and "SHA-256" in err
    assert not list(out.iterdir())


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


def interrupted(out, number):
    """Start 30 runs, send a signal at some moment after the first ones; return code and errors."""
    process = start("reproduce", QUICK, "--runs", 30, "--jobs", 1, "--out", out)
    journal = journal_of(out)
    try:
        end = time.monotonic() + 60
        while not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end, "no task was finished in 60 s"
            time.sleep(0.02)
        time.sleep(random.uniform(0, 0.5))
        process.send_signal(number)
        said, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert said == ""
    assert not (out / f"{QUICK}.csv").exists()
    return process.returncode, err


def check_that_it_goes_on(out, reference, run_here):
    """Run on: finished lines are kept, not done again, and the table is that of one run."""
    kept = journal_of(out).read_bytes().rpartition(b"\n")[0]
    code, _, err = run_here("reproduce", QUICK, "--runs", 4, "--jobs", 1, "--out", out)
    assert code == 0, err
    assert journal_of(out).read_bytes().startswith(kept + b"\n")
    lines = journal_of(out).read_bytes().count(b"\n")
    assert lines == max(5, kept.count(b"\n") + 1)
    assert table_of(out) == table_of(reference)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_run_goes_on(tmp_path, reference, run_here):
    code, _ = interrupted(tmp_path, signal.SIGKILL)
    assert code == -signal.SIGKILL
    check_that_it_goes_on(tmp_path, reference, run_here)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process here")
def test_an_interrupted_run_says_so_and_goes_on(tmp_path, reference, run_here):
    code, err = interrupted(tmp_path, signal.SIGINT)
    assert code == 130
    assert "Interrupted" in err and str(tmp_path) in err
    assert "Traceback" not in err and "KeyboardInterrupt" not in err
    check_that_it_goes_on(tmp_path, reference, run_here)


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


def test_all_goes_on_without_what_has_no_data(copied, run_here, damaged_usps, monkeypatch):
    names = ("evgeniou-figure-5", QUICK, "evgeniou-figure-6")
    monkeypatch.setattr("everystump.cli.reproduce.NAMES", names)
    code, said, err = run_here("reproduce", "all", "--runs", 2, "--jobs", 1, "--out", copied)
    assert code == 0
    skipped = re.findall(r"^Note: (\S+) is skipped\. .*usps_train", err, flags=re.MULTILINE)
    assert skipped == ["evgeniou-figure-5", "evgeniou-figure-6"]
    index = (copied / "README.md").read_text(encoding="utf-8")
    assert f"[{QUICK}]({QUICK}.md)" in index
    assert re.findall(r"Not run: `(.*)`", index) == skipped
    assert str(copied / f"{QUICK}.csv") in said
