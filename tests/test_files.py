"""Atomic writes: a file is written completely or not at all."""

import os
import tempfile
from functools import partial

import pytest

from everystump._files import write_atomic, write_text


def test_failed_write_leaves_only_the_old_file(tmp_path):
    out = tmp_path / "page.md"
    write_text(out, "old")

    def fail(path):
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic(out, fail)
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


class Steps:
    """Record the steps of writing a file, one of which can be made to fail."""

    def __init__(self, monkeypatch):
        self.seen, self.failing, self._handle = [], "", None
        self._make = tempfile.mkstemp
        monkeypatch.setattr(tempfile, "mkstemp", self._made)
        for name in ("fsync", "close", "chmod", "replace"):
            monkeypatch.setattr(os, name, partial(self._step, name, getattr(os, name)))

    def _made(self, **where):
        self._handle, name = self._make(**where)
        return self._handle, name

    def write(self, path):
        path.write_bytes(b"new")
        self._step("write", lambda path: None, path)

    def _step(self, name, call, target, *more):
        if isinstance(target, int) and target != self._handle:
            return call(target, *more)  # another file
        self.seen.append((name, os.fstat(target).st_size) if name == "fsync" else name)
        if name == "close":
            self._handle = None
            call(target)
        if name == self.failing:
            raise OSError(f"{name} failed")
        return None if name == "close" else call(target, *more)


def test_file_is_synced_and_closed_before_it_is_moved(tmp_path, monkeypatch):
    steps = Steps(monkeypatch)
    write_atomic(tmp_path / "page.md", steps.write)
    assert steps.seen == ["write", ("fsync", 3), "close", "chmod", "replace"]
    assert (tmp_path / "page.md").read_bytes() == b"new"


@pytest.mark.parametrize("failing", ["write", "fsync", "close", "chmod", "replace"])
def test_error_in_any_step_leaves_only_the_old_file(tmp_path, monkeypatch, failing):
    out = tmp_path / "page.md"
    write_text(out, "old")
    with monkeypatch.context() as patched:
        steps = Steps(patched)
        steps.failing = failing
        with pytest.raises(OSError, match=f"{failing} failed"):
            write_atomic(out, steps.write)
    assert "close" in steps.seen
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]
