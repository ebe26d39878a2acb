"""Input and output of the commands: archives, pipes, unusual names, full disks."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command import ENVIRONMENT, PROGRAM, input_error, run

import everystump as package
from everystump._text import InvalidInputError
from everystump._workflow.reading.files import read_file
from everystump.cli.main import everystump

FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full here")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="names and pipes of POSIX")


def rows(n=60):
    a = np.random.default_rng(0).normal(size=n).round(3)
    return pd.DataFrame({"a": a, "b": np.arange(n) % 5, "y": np.where(a > 0, "yes", "no")})


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("input")
    data, out = folder / "t.csv", folder / "m.stump"
    rows().to_csv(data, index=False)
    assert run("fit", data, "--target", "y", "--C", 1, "-o", out).exit_code == 0
    return data, out


def zipped(content, *names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return out.getvalue()


PACKED = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda content: zipped(content, "t.csv"),
    "zip of a Mac": lambda content: zipped(content, "folder/", "t.csv", "__MACOSX/._t.csv"),
}


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_compression_is_detected_by_content(pack, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(pack(rows().to_csv(index=False).encode()))
    pd.testing.assert_frame_equal(read_file(path)[0], rows())


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (("a.csv", "b.csv"), "a zip archive with 2 files; extract it"),
        ((), "a zip archive with 0 files"),
        (("[Content_Types].xml", "xl/workbook.xml"), "is an Excel workbook; save its sheet as CSV"),
        (("mimetype", "content.xml"), "is an OpenDocument file; save its sheet as CSV"),
    ],
)
def test_unsupported_archives(names, match, tmp_path):
    (tmp_path / "t.zip").write_bytes(zipped(b"a,y\n1,0\n", *names))
    with pytest.raises(InvalidInputError, match=match):
        read_file(tmp_path / "t.zip")


def test_zstandard(tmp_path):
    (tmp_path / "t.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(9))
    try:
        import zstandard
    except ImportError:
        with pytest.raises(
            InvalidInputError, match="compressed with Zstandard; decompress it, or pip"
        ):
            read_file(tmp_path / "t.zst")
        return
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_file(tmp_path / "t.zst")
    (tmp_path / "t.zst").write_bytes(zstandard.compress(b"a,y\n1,0\n"))
    assert read_file(tmp_path / "t.zst")[0]["a"].tolist() == [1]


def test_text_that_starts_like_an_archive(tmp_path):
    for name in ("BZhours", "Rar!", "ARROW1"):
        (tmp_path / "t.csv").write_text(f"{name},y\n1,0\n")
        assert read_file(tmp_path / "t.csv")[0].columns[0] == name


@POSIX
def test_a_pipe_is_read_once(fitted, tmp_path):
    data, out = fitted
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(data.read_bytes()), daemon=True)
    writer.start()
    predicted = run("predict", out, pipe, "--keep", "a").stdout
    assert (
        predicted == run("predict", out, data, "--keep", "a").stdout and predicted.count("\n") == 61
    )


def test_a_column_kept_twice_is_kept_once(fitted):
    data, out = fitted
    twice = run("predict", out, data, "--keep", "a", "--keep", "b", "--keep", "a")
    assert twice.stdout == run("predict", out, data, "--keep", "a", "--keep", "b").stdout


def test_columns_of_any_name(tmp_path):
    names = ["self", "cls", "name", "index", "columns", "0", "**", "a b", "é"]
    words = ["u ", "v"] * 30
    frame = rows().assign(**{name: words for name in names if name != "self"})
    frame["self"] = words
    data, out = tmp_path / "t.csv", tmp_path / "m.stump"
    frame.to_csv(data, index=False)
    assert run("fit", data, "--target", "y", "--C", 1, "-o", out).exit_code == 0
    assert set(names) < set(package.load(out).feature_names_in_)
    frame["self"] = frame["cls"] = 1.0  # numbers in columns that were text
    frame.to_csv(data, index=False)
    for command in (("predict",), ("bound",), ("explain",)):
        assert run(*command, out, data).exit_code == 0


def test_parquet_column_names_that_are_not_text(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    frame, path, out = rows(), tmp_path / "t.parquet", tmp_path / "m.stump"
    frame["b"] = ["u ", "v"] * 30
    many = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("t", "")])
    for names, expected in (([0, 1, 2], ["0", "1", "2"]), (many, ["a_x", "a_y", "t"])):
        frame.set_axis(names, axis=1).to_parquet(path)
        assert read_file(path)[0].columns.tolist() == expected
        args = ("--target", expected[-1], "--C", 1, "-o", out, "--force")
        assert run("fit", path, *args).exit_code == 0
        assert "Error on 15 held-out rows" in run("bound", out, path).stdout
    same = pd.MultiIndex.from_tuples([("a", "x"), ("a_x", ""), ("t", "")])
    frame.set_axis(same, axis=1).to_parquet(path)
    with pytest.raises(InvalidInputError, match="two columns are named 'a_x'"):
        read_file(path)


def test_a_named_index_is_a_column(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    rows().set_index(["y", "b"]).to_parquet(tmp_path / "t.parquet")
    frame, _ = read_file(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(frame[["a", "b", "y"]], rows())


@POSIX
def test_file_names_that_are_not_utf8(fitted, tmp_path):
    data, model, predicted, page = (tmp_path / f"{name}\udcff" for name in "tmop")
    data.write_bytes(fitted[0].read_bytes())
    for arguments in (
        ("fit", data, "--target", "y", "--C", 1, "-o", model),
        ("predict", model, data, "-o", predicted),
        ("report", model, data, "-o", page),
    ):
        done = run(*arguments)
        assert done.exit_code == 0 and done.stderr == "", done.output
        assert os.fsencode(arguments[-1]) in done.stdout_bytes
    assert sorted(os.listdir(os.fsencode(tmp_path))) == [b"m\xff", b"o\xff", b"p\xff", b"t\xff"]
    assert "does not exist" in input_error("predict", model, tmp_path / "\udcfe")


def test_a_missing_value_marker_that_is_not_utf8(fitted):
    data, out = fitted
    assert "is not UTF-8" in run("predict", out, data, "--missing", "\udcff").stderr


@FULL
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from everystump.cli.console import print_notes; print_notes('lost', 'too')", 0),
        ("from everystump.cli import main; main()", 2),
    ],
)
def test_unwritable_notes_do_not_fail_the_command(code, expected):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", code], stderr=full, env=ENVIRONMENT)
    assert done.returncode == expected


@FULL
def test_help_on_a_full_disk():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT
        )
    assert done.returncode == 2
    assert done.stderr == b"Error: standard output: No space left on device.\n"


def test_double_compression_is_reported(tmp_path):
    (tmp_path / "t.gz").write_bytes(gzip.compress(bz2.compress(b"a,y\n1,0\n")))
    assert "is compressed twice; decompress it once" in input_error(
        "fit", tmp_path / "t.gz", "--target", "y", "-o", tmp_path / "m"
    )


def test_a_dash_is_standard_input(fitted):
    data, out = fitted
    done = CliRunner().invoke(everystump, ["predict", str(out), "-"], input=data.read_bytes())
    assert done.exit_code == 0 and done.stdout == run("predict", out, data).stdout
    assert run("predict", out, data, "-o", "-").stdout == done.stdout


@POSIX
def test_standard_output_is_not_a_plain_file(fitted):
    command = [*PROGRAM, "export", str(fitted[1]), "--to", "sql", "-o", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 2
    assert "is not a regular file but a pipe" in " ".join(done.stderr.split())
