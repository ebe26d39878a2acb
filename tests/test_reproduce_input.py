"""The command `everystump reproduce`: help and invalid input."""

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import toy_experiment
from click.testing import CliRunner
from toy_experiment import is_one_sentence

from everystump._experiments import NAMES
from everystump.cli.main import everystump
from everystump.datasets import DatasetNotFoundError, _packaged


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs the command in this process."""
    yield from toy_experiment.in_process(monkeypatch, capsys)


def check_that_nothing_is_written(out):
    """Check that a folder has no files except empty locks."""
    assert not [path for path in out.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_option(option):
    result = CliRunner().invoke(everystump, ["reproduce", option])
    assert result.exit_code == 0
    for name in ("NAME|all", "--list", "--runs", "--jobs", "--seed", "--out"):
        assert name in result.output


def test_list_is_one_name_per_line(run):
    assert run("--list") == (0, "\n".join([*NAMES, ""]), "")


def test_unknown_experiment_lists_the_names(tmp_path, run):
    code, out, err = run("lin-li-table-9", "--out", tmp_path / "out")
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
def test_invalid_options(tmp_path, run, arguments):
    code, out, err = run("toy", *arguments, "--out", tmp_path / "out")
    assert code == 2 and out == ""
    assert arguments[0] in err and "Traceback" not in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["reproduce"], ["repeat"], ["reproduce", "a", "b"]])
def test_invalid_commands(arguments):
    result = CliRunner().invoke(everystump, arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert "Error: " in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("below", ["", "sub", "sub/folder"])
def test_output_folder_is_a_file(tmp_path, run, below):
    file = tmp_path / "file"
    file.write_text("mine")
    code, out, err = run("toy", "--runs", "1", "--out", file / below)
    assert code == 2 and out == ""
    assert is_one_sentence(err) and str(file / below) in err
    assert list(tmp_path.iterdir()) == [file] and file.read_text() == "mine"


def test_output_folder_without_write_access(tmp_path, run):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.access(closed, os.W_OK):
        pytest.skip("this user may write everywhere")
    for out in (closed, closed / "sub"):
        code, printed, err = run("toy", "--runs", "1", "--out", out)
        assert code == 2 and printed == ""
        assert is_one_sentence(err) and str(out) in err
    assert not list(closed.iterdir())


@pytest.fixture
def damaged_usps(tmp_path, monkeypatch, run):
    """Set EVERYSTUMP_DATA to a folder with other tables in place of USPS; return it."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("usps_train", "usps_test"):
        (folder / f"{name}.csv").write_text("a,target\n1,0\n2,1\n")
    monkeypatch.setenv("EVERYSTUMP_DATA", str(folder))
    return folder


def check_invalid_data(run, out, *words, name="evgeniou-figure-5"):
    code, printed, err = run(name, "--runs", "1", "--out", out)
    assert code == 2 and printed == ""
    assert err.startswith("Error: ") and len(err.splitlines()) == 1
    assert all(word in err for word in words)
    assert "--out" not in err and str(out) not in err
    check_that_nothing_is_written(out)


def test_damaged_data_file(tmp_path, run, damaged_usps):
    check_invalid_data(run, tmp_path / "out", str(damaged_usps / "usps_train.csv"), "damaged")


def test_damaged_packaged_file(tmp_path, run, monkeypatch):
    data = tmp_path / "data"
    shutil.copytree(str(_packaged.PACKAGED_FOLDER), data)
    content = bytearray((data / "heart.csv.xz").read_bytes())
    content[len(content) // 2] ^= 1
    (data / "heart.csv.xz").write_bytes(content)
    monkeypatch.setattr(_packaged, "PACKAGED_FOLDER", data)
    words = ("heart.csv.xz", "SHA-256")
    check_invalid_data(run, tmp_path / "out", *words, name="evgeniou-figure-4")


def test_unreadable_data_file(tmp_path, run, damaged_usps, monkeypatch):
    closed, read = damaged_usps / "usps_train.csv", Path.read_bytes

    def read_bytes(path):
        if path == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    check_invalid_data(run, tmp_path / "out", str(closed), "make it readable")


@pytest.mark.parametrize("is_file", [False, True])
def test_data_folder_that_is_not_a_folder(tmp_path, run, monkeypatch, is_file):
    nowhere = tmp_path / "nowhere"
    if is_file:
        nowhere.write_text("a,target\n")
    monkeypatch.setenv("EVERYSTUMP_DATA", str(nowhere))
    check_invalid_data(run, tmp_path / "out", "EVERYSTUMP_DATA", str(nowhere))


def test_unreadable_data_folder(tmp_path, run, damaged_usps, monkeypatch):
    list_folder = Path.iterdir

    def iterdir(path):
        if path == damaged_usps:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return list_folder(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    check_invalid_data(run, tmp_path / "out", str(damaged_usps))


@pytest.mark.parametrize("error", [ValueError("broken"), DatasetNotFoundError("broken")])
def test_errors_in_tasks_are_not_reported_as_invalid_input(tmp_path, run, monkeypatch, error):
    def fail(seed, run):
        raise error

    experiment = replace(toy_experiment.load_experiment("toy"), run_task=fail)
    monkeypatch.setattr("everystump.cli.reproduce.load_experiment", lambda name: experiment)
    with pytest.raises(ValueError, match="broken") as raised:
        run("toy", "--runs", 1, "--jobs", 1, "--out", tmp_path)
    assert raised.value is error
