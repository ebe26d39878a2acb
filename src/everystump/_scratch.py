"""Large arrays: in memory, or in files without a name, which end with the arrays."""

from __future__ import annotations

import os
import tempfile
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from everystump._memory import available_memory
from everystump._text import format_bytes

# Without a limit, arrays may take this fraction of the memory that is available.
_MEMORY_FRACTION = 0.5


class ScratchSpace:
    """Allocates arrays; those beyond a memory limit are mapped to files.

    The files have no name (on Windows, they are deleted when they are closed), so that nothing is
    left, not even if the process is killed.

    Parameters
    ----------
    memory_limit : float or None
        The bytes that arrays may take in memory; half of what is available by default.
    folder : path or None
        Where to create files; the system's folder of temporary files by default.
    """

    def __init__(self, memory_limit: float | None = None, folder: Any = None) -> None:
        if memory_limit is None:
            memory_limit = _MEMORY_FRACTION * available_memory()
        elif not isinstance(memory_limit, Real) or not memory_limit >= 0:
            raise ValueError(
                f"memory_limit={memory_limit!r} must be a number of bytes, or None for half of the "
                f"available memory."
            )
        if folder is not None and not Path(folder).is_dir():
            raise ValueError(f"scratch_dir={str(folder)!r} is not a folder; pass an existing one.")
        self._left, self._folder = float(memory_limit), folder

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialized array."""
        n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if n_bytes <= self._left:
            self._left -= n_bytes
            return np.empty(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                _reserve(file.fileno(), n_bytes)
                return np.memmap(file, dtype, "r+", shape=shape)
        except OSError as error:
            size, folder = format_bytes(n_bytes), self._folder or tempfile.gettempdir()
            raise OSError(
                f"The scratch folder {folder} has no space for {size} of encoded rows "
                f"({error.strerror}); pass another scratch_dir, or a larger memory_limit."
            ) from error


def _reserve(handle: int, n_bytes: int) -> None:
    """Reserve space in a file: writing to a mapped file that finds none would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, max(n_bytes, 1))
    else:
        os.truncate(handle, n_bytes)
