"""The command in a terminal, in a pipe, interrupted, and without disk space."""

import contextlib
import fcntl
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import termios
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import ADDITIVE, ENVIRONMENT, PROGRAM, run, start

ESCAPE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
COLUMNS = 80


def start_in_a_terminal(*arguments, cwd=None):
    """Start a command in a terminal of 80 columns; return our end of it, and the process."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env={name: own for name, own in ENVIRONMENT.items() if name != "COLUMNS"}
        | {"TERM": "xterm-256color"},
    )
    os.close(theirs)
    return ours, process


def in_a_terminal(*arguments, cwd=None):
    """Run a command in a terminal; return what it shows, raw, and its exit code."""
    ours, process = start_in_a_terminal(*arguments, cwd=cwd)
    output = bytearray()
    try:
        while piece := os.read(ours, 65536):
            output += piece
    except OSError:  # the end of the output, on Linux
        pass
    os.close(ours)
    return bytes(output), process.wait(60)


def lines_of(output):
    return ESCAPE.sub(b"", output).decode().replace("\r\n", "\n").splitlines()


def with_paths(command, credit_model):
    """Return a command with the files of the credit table in place of their names."""
    folder = credit_model.parent
    return [folder / word if str(word).startswith("credit.") else word for word in command]


# The first is quick as it does not import scikit-learn.
PRINTING = pytest.mark.parametrize(
    "command",
    [
        ("reproduce", "--list"),
        pytest.param(("predict", "credit.stump", "credit.csv"), marks=pytest.mark.slow),
        pytest.param(("explain", "credit.stump", "credit.csv", "--json"), marks=pytest.mark.slow),
    ],
    ids=lambda command: command[0],
)


def test_fit_in_a_terminal(credit, tmp_path):
    out = tmp_path / "m.stump"
    options = ("--C", 1, *ADDITIVE, "--cv", 3)
    output, code = in_a_terminal("fit", credit, "--target", "default", *options, "-o", out)
    assert code == 0 and out.exists()
    assert b"\x1b[1mCertificate" in output  # in bold
    lines = lines_of(output)
    assert any(line.startswith("400 rows, 20 features.") for line in lines)
    assert any("4/4" in line for line in lines)  # the bar of the fits
    assert any(line.startswith("Next") and "everystump report" in line for line in lines)


@pytest.mark.parametrize(
    "options", [("credit.csv", "--row", 3), pytest.param((), marks=pytest.mark.slow)]
)
def test_explanations_in_a_terminal_fit_it(credit_model, options):
    output, code = in_a_terminal("explain", credit_model.name, *options, cwd=credit_model.parent)
    assert code == 0 and b"\x1b[" in output and "█".encode() in output
    assert max(map(len, lines_of(output))) <= COLUMNS


@pytest.mark.slow
@pytest.mark.parametrize("command", ["explain", "bound"])
def test_a_pipe_gets_plain_text_and_no_errors(credit, credit_model, command):
    with start(command, credit_model, credit, stdout=subprocess.PIPE) as process:
        output = process.stdout.read()
        assert process.stderr.read() == b"" and process.wait(60) == 0
    assert b"\x1b" not in output and len(output) > 100


def test_explanations_outside_of_a_terminal_have_no_colors(credit_model):
    done = run("explain", credit_model)
    assert done.exit_code == 0 and done.stderr == ""
    assert "\x1b" not in done.stdout and len(done.stdout) > 100


@pytest.mark.slow
def test_bad_input_in_a_terminal_is_one_sentence(credit, tmp_path):
    output, code = in_a_terminal("fit", credit, "--target", "defalt", "-o", tmp_path / "m.stump")
    assert lines_of(output) == ["Error: There is no column 'defalt'; use 'default'."]
    assert code == 2


def test_a_wrong_option_in_a_terminal_is_one_sentence():
    output, code = in_a_terminal("reproduce", "--color", "red")
    (line,) = lines_of(output)
    assert line.startswith("Error: No such option '--color'") and line.endswith("--help'.")
    assert code == 2


def test_a_wrong_option_is_one_sentence(credit, tmp_path):
    for options in (("--holdout", 1), ("--color", "red"), ("--cv", "many")):
        arguments = ("fit", credit, "--target", "default", "-o", tmp_path / "m", *options)
        with start(*arguments, stdout=subprocess.PIPE) as process:
            errors = process.stderr.read().decode()
            assert process.wait(60) == 2 and errors.count("\n") == 1
        assert options[0] in errors and errors.endswith("; see 'everystump fit --help'.\n")


def test_a_misspelled_option_is_corrected(credit, tmp_path):
    arguments = ("fit", credit, "--modl", "bag", "-o", tmp_path / "m")
    with start(*arguments, stdout=subprocess.PIPE) as process:
        errors = process.stderr.read().decode()
        assert process.wait(60) == 2
    assert errors.startswith("Error: No such option '--modl' (did you mean '--model'?); see '")


def test_completion():
    request = {"_EVERYSTUMP_COMPLETE": "bash_complete", "COMP_WORDS": "everystump ex"}
    done = subprocess.run(
        PROGRAM, env=ENVIRONMENT | request | {"COMP_CWORD": "1"}, capture_output=True, check=False
    )
    assert b"plain,explain" in done.stdout and b"plain,export" in done.stdout


@PRINTING
def test_a_closed_pipe_is_not_reported(command, credit_model):
    with start(*with_paths(command, credit_model), stdout=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 2)


@pytest.mark.slow
def test_a_model_is_saved_though_the_output_is_closed(credit, tmp_path):
    args = ("fit", credit, "--target", "default", "--C", 1, "-o", tmp_path / "m.stump")
    with start(*args, stdout=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 2)
    assert (tmp_path / "m.stump").exists()


@PRINTING
def test_a_closed_output_is_reported(command, credit_model):
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, *with_paths(command, credit_model)],
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, b"Error: standard output: it is closed.\n")


@pytest.mark.slow
def test_a_model_is_saved_though_standard_error_is_closed(credit, tmp_path):
    args = ["fit", credit, "--target", "default", "--C", "1", "-o", tmp_path / "m.stump"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *PROGRAM, *args],
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and (tmp_path / "m.stump").exists()


@PRINTING
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_truncated_output_is_reported(command, unbuffered, credit_model, tmp_path):
    words = with_paths(command, credit_model)
    assert run(*words).exit_code == 0  # so that all code is compiled and cached
    blocks = 0 if command[0] == "reproduce" else 1  # joblib writes small files
    done = subprocess.run(
        ["sh", "-c", f'ulimit -f {blocks}; exec "$@" > out', "sh", *PROGRAM, *words],
        env=ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, b"Error: standard output: File too large.\n")


@PRINTING
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_no_space_for_standard_output(command, credit_model):
    words = with_paths(command, credit_model)
    with open("/dev/full", "w") as full, start(*words, stdout=full) as process:
        errors = process.stderr.read()
        assert errors.count(b"\n") == 1 and b"No space left" in errors and process.wait(60) == 2


@contextlib.contextmanager
def files_of_at_most(n_bytes):
    """Let this process write no larger files."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize(
    "command",
    [
        ("predict", "credit.stump", "credit.csv"),
        ("report", "credit.stump", "credit.csv"),
        ("export", "credit.stump", "--to", "sql"),
        ("fit", "credit.csv", "--target", "default", "--C", "1", *ADDITIVE),
    ],
    ids=lambda command: command[0],
)
def test_no_space_for_the_output(command, credit_model, tmp_path):
    """The existing file is unchanged, and there is no other."""
    out = tmp_path / "out"
    words = with_paths(command, credit_model)
    run(*words, "-o", out)  # so that all code is compiled and cached
    out.write_text("what was there")
    with files_of_at_most(4096):
        done = run(*words, "-o", out, "--force")
    assert "cannot be written (File too large)" in done.stderr and done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert out.read_text() == "what was there"
    assert [*tmp_path.iterdir()] == [out]


def test_an_interrupted_fit_leaves_nothing(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20_000, 12)).round(3)
    frame = pd.DataFrame(rows, columns=list("abcdefghijkl")).assign(y=rows[:, 0] > 0)
    frame.to_csv(tmp_path / "t.csv", index=False)
    ours, process = start_in_a_terminal(
        "fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m"
    )
    output = b""
    while b"20,000 rows" not in output:  # the table is read, and training has started
        output += os.read(ours, 65536)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130 and b"Traceback" not in output
    os.close(ours)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
