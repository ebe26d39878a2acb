"""Predictions for standard input, which is read and answered in chunks."""

import gzip
import io
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command import ENVIRONMENT, fitted, input_error, run, some_rows

from everystump.cli.main import everystump

SMALL_BLOCKS = """
import sys
from everystump._workflow.reading import standard_input
standard_input.INPUT_BLOCK = 2000
from everystump.cli import main
sys.argv = ["everystump", *sys.argv[1:]]
main()
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model with a number and a word, and more rows to predict."""
    folder = tmp_path_factory.mktemp("input")
    words = np.random.default_rng(0).choice(["u", "v w", 'x"y'], 400)
    frame = some_rows(400, word=words, id=np.arange(400) + 0.5)
    return fitted(folder, frame, "--drop", "id")


def pipe(*arguments, content):
    return CliRunner().invoke(everystump, [str(a) for a in arguments], input=content)


def start_small(*arguments):
    """Start a command that reads standard input in small blocks."""
    command = [sys.executable, "-c", SMALL_BLOCKS, *map(str, arguments)]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, env=ENVIRONMENT, **streams)


@pytest.mark.parametrize("size", [300, 1 << 20])
@pytest.mark.parametrize("keep", [(), ("--keep", "word", "--keep", "id")])
@pytest.mark.parametrize("out", [(), ("-o", "-")])
def test_a_pipe_gets_what_a_file_gets(model, monkeypatch, size, keep, out):
    monkeypatch.setattr("everystump._workflow.reading.standard_input.INPUT_BLOCK", size)
    data, path = model
    content = data.read_bytes()
    expected = run("predict", path, data, *keep).stdout
    for packed in (content, gzip.compress(content)):
        done = pipe("predict", path, "-", *keep, *out, content=packed)
        assert done.exit_code == 0 and done.stdout == expected and done.stderr == ""


def test_other_formats_and_encodings(model):
    data, path = model
    expected = run("predict", path, data).stdout
    frame = pd.read_csv(data)
    parquet = io.BytesIO()
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame.to_parquet(parquet)
    assert pipe("predict", path, "-", content=parquet.getvalue()).stdout == expected
    utf16 = data.read_text().encode("utf-16")
    assert "pass --encoding utf-16" in pipe("predict", path, "-", content=utf16).stderr
    done = pipe("predict", path, "-", "--encoding", "utf-16", content=utf16)
    assert done.stdout == expected
    assert pipe("predict", path, "-", "--json", content=data.read_bytes()).exit_code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "standard input is empty; a table needs a header line and rows."),
        (b"a,word\n", "standard input has a header but no rows; add rows."),
        (b"a,b\n1,2\n", "The data lack column 'word', which the model needs"),
        (b"a,word\n1,u\n1,u,3\n", "standard input, line 3: 3 cells, but the header has 2"),
        (
            b"SQLite format 3\0abc",
            "standard input is an SQLite database; save the table as CSV",
        ),
        (b"\x1f\x8b\x08damaged", "standard input cannot be read"),
        (b"a,word\n\xff,u\n", "the text is not utf-8; pass --encoding latin-1"),
    ],
)
def test_invalid_input(model, content, message):
    done = pipe("predict", model[1], "-", content=content)
    assert done.exit_code == 2 and message in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""


def test_unknown_levels_of_all_chunks_are_counted(model, monkeypatch):
    monkeypatch.setattr("everystump._workflow.reading.standard_input.INPUT_BLOCK", 100)
    content = b"a,word\n" + b"1,new\n2,u\n" * 100
    done = pipe("predict", model[1], "-", content=content)
    assert done.stdout.count("\n") == 201
    assert "word: 100 rows with an unknown category" in done.stderr


def test_an_error_in_a_later_chunk(model, monkeypatch):
    """Rows that were printed stay printed; an output file is not written."""
    monkeypatch.setattr("everystump._workflow.reading.standard_input.INPUT_BLOCK", 100)
    content = b"a,word\n" + b"1,u\n" * 100 + b"1,u,3\n"
    done = pipe("predict", model[1], "-", content=content)
    assert done.exit_code == 2 and "line 102: 3 cells" in done.stderr
    assert 0 < done.stdout.count("\n") < 101
    out = model[1].parent / "out.csv"
    done = pipe("predict", model[1], "-", "-o", out, content=content)
    assert done.exit_code == 2 and not out.exists()


def test_rows_are_answered_before_the_input_ends(model):
    with start_small("predict", model[1], "-", "-o", "-") as process:
        process.stdin.write(b"a,word\n" + b"1.25,u\n" * 1000)
        process.stdin.flush()
        header, first = process.stdout.readline(), process.stdout.readline()
        assert header.startswith(b"prediction,") and first.startswith(b"yes,")
        process.stdin.write(b"-1.5,u\n")
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(60) == 0 and process.stderr.read() == b""
    assert rest.count(b"\n") == 1000 and rest.splitlines()[-1].startswith(b"no,")


def test_a_closed_pipe_ends_quietly(model):
    """Also while the input goes on."""
    with start_small("predict", model[1], "-") as process:

        def feed():
            try:
                process.stdin.write(b"a,word\n")
                while True:
                    process.stdin.write(b"1.25,u\n" * 1000)
            except OSError:
                pass

        writer = threading.Thread(target=feed, daemon=True)
        writer.start()
        assert process.stdout.readline().startswith(b"prediction,")
        process.stdout.close()
        assert process.wait(60) == 2 and process.stderr.read() == b""
        writer.join(60)


def test_a_file_named_dash_is_a_file(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_text("a,word\n1,u\n")
    assert pipe("predict", model[1], "-", content=b"").stdout.count("\n") == 2


def test_other_commands_write_files_only(model, tmp_path):
    message = input_error("explain", model[1], model[0], "-o", "-")
    assert message == "--out -: name a file; only predict writes to standard output."
