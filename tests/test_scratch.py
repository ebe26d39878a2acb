"""Scratch arrays: in memory up to a limit, then in files that are always removed."""

import errno
import os

import numpy as np
import pytest

from everystump import _scratch
from everystump._scratch import ScratchSpace


def test_arrays_beyond_the_limit_are_files_without_a_name(tmp_path):
    """Nothing can be left of them, however the process ends."""
    scratch = ScratchSpace(1000, tmp_path)
    small = scratch.empty((100,), np.float64)
    assert not isinstance(small, np.memmap)
    large = scratch.empty((3, 70), np.float64)
    assert isinstance(large, np.memmap)
    large[...] = 7.0
    assert large.sum() == 1470.0
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    def no_space(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", no_space, raising=False)
    match = "has no space for 8 kB of encoded rows .No space left on device.; pass another"
    with pytest.raises(OSError, match=match):
        ScratchSpace(0, tmp_path).empty((1000,), np.float64)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", [-1, "1 GB", float("nan")])
def test_invalid_memory_limit(limit):
    with pytest.raises(ValueError, match=r"memory_limit=.* must be a number of bytes"):
        ScratchSpace(limit)


def test_invalid_scratch_dir(tmp_path):
    with pytest.raises(ValueError, match=r"scratch_dir=.* is not a folder"):
        ScratchSpace(folder=tmp_path / "absent")


def test_half_of_the_available_memory_is_used(monkeypatch):
    monkeypatch.setattr(_scratch, "available_memory", lambda: 1000)
    scratch = ScratchSpace()
    assert not isinstance(scratch.empty((500,), np.uint8), np.memmap)
    assert isinstance(scratch.empty((1,), np.uint8), np.memmap)
