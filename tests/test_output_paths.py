"""Output paths: `save` and `export.write` check them alike, with one-sentence errors."""

import io
import os
import stat
from pathlib import Path

import pytest

import everystump as es
from everystump import _files as files
from everystump import export

MODEL = es.DecisionStumpClassifier().fit([[0.0], [1.0]], ["no", "yes"])
WRITERS = pytest.mark.parametrize("write", [es.save, export.write])


@pytest.fixture
def umask():
    old = os.umask(0o027)
    yield
    os.umask(old)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def error_message(write, path, error):
    with pytest.raises(error) as caught:
        write(MODEL, path)
    text = str(caught.value)
    assert text.startswith("path=") and text.endswith(".") and "\n" not in text
    assert "[Errno" not in text
    return text


@WRITERS
def test_new_files_follow_the_umask(write, tmp_path, umask):
    write(MODEL, tmp_path / "model.json")
    assert mode(tmp_path / "model.json") == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


@WRITERS
def test_existing_files_keep_their_permissions(write, tmp_path, umask):
    path = tmp_path / "model.json"
    path.write_text("old")
    path.chmod(0o604)
    write(MODEL, path)
    assert path.read_bytes() != b"old"
    assert mode(path) == 0o604


@WRITERS
def test_links_are_followed(write, tmp_path):
    (tmp_path / "store").mkdir()
    real, link = tmp_path / "store" / "real.json", tmp_path / "link.json"
    link.symlink_to(real)
    for _ in range(2):  # a dangling link, then one to a file
        write(MODEL, link)
        assert link.is_symlink() and real.is_file() and not real.is_symlink()
    assert [file.name for file in real.parent.iterdir()] == ["real.json"]


@WRITERS
def test_circular_links(write, tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.symlink_to(two)
    two.symlink_to(one)
    assert "is not a regular file" in error_message(write, one, ValueError)


@WRITERS
def test_pipes_and_devices(write, tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    assert "is not a regular file but a pipe" in error_message(
        write, tmp_path / "pipe.json", ValueError
    )
    device = tmp_path / "device.json"
    device.symlink_to("/dev/null")
    assert "is not a regular file" in error_message(write, device, ValueError)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_special_files_are_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is not a regular file"):
        files.write_text(tmp_path / "pipe", "text")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@WRITERS
def test_folders(write, tmp_path):
    folder = tmp_path / "model.json"
    folder.mkdir()
    assert "is a folder; pass the path of a file" in error_message(write, folder, IsADirectoryError)
    path = f"{tmp_path}/new.json/"
    assert "is a folder; pass the path of a file" in error_message(write, path, IsADirectoryError)
    path = tmp_path / "no" / "model.json"
    assert "folder that does not exist; create it" in error_message(write, path, FileNotFoundError)
    assert str(path) in error_message(write, path, FileNotFoundError)


@WRITERS
def test_folders_without_write_permission(write, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)
        assert "without write permission" in error_message(write, path, PermissionError)

    def fail(dir, prefix, suffix):
        raise OSError(30, "Read-only file system", f"{dir}/{prefix}x{suffix}")

    monkeypatch.setattr(files.tempfile, "mkstemp", fail)
    text = error_message(write, path, OSError)
    assert (
        text
        == f"path={str(path)!r} cannot be written (Read-only file system); choose another path."
    )


@WRITERS
def test_long_names(write, tmp_path):
    write(MODEL, tmp_path / f"{'x' * 245}.json")
    assert "(File name too long)" in error_message(write, tmp_path / f"{'x' * 300}.json", OSError)


@WRITERS
@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (None, TypeError, "path=None is of type NoneType; pass a str or a Path."),
        (3, TypeError, "path=3 is of type int; pass a str or a Path."),
        (b"model.json", TypeError, "path=b'model.json' is of type bytes; pass a str or a Path"),
        (io.BytesIO(), TypeError, "is of type BytesIO; pass a str or a Path."),
        ("", ValueError, "path='' is empty; pass the path of a file."),
        ("a\0.json", ValueError, "path='a\\x00.json' contains a null character"),
    ],
)
def test_invalid_paths(write, path, error, message):
    assert message in error_message(write, path, error)


@WRITERS
def test_swapped_model_and_path(write, tmp_path):
    with pytest.raises(TypeError, match=r"^path=Decision.*; pass the model first and then the"):
        write(str(tmp_path / "model.json"), MODEL)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [None, 3, b"m", io.BytesIO(), MODEL, "", "a\0"])
def test_invalid_paths_to_load(path):
    with pytest.raises((TypeError, ValueError), match=r"^path=") as caught:
        es.load(path)
    assert "\n" not in str(caught.value)


def test_a_model_file_that_does_not_exist():
    with pytest.raises(FileNotFoundError, match=r"^path='no.stump' does not exist; pass"):
        es.load(Path("no.stump"))
