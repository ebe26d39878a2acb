"""The kernel matrix of the training rows, within a given memory."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from everystump.jit import kernel as compiled
from everystump.machines.kernel import Kernel
from everystump.solvers.box import MOST_FREE
from everystump.threads import share

_BYTES = 8
_BLOCK_ENTRIES = 500_000
# A function of two tables may need this many arrays of the size that it returns.
_WORK_ARRAYS = 3
# Fewer rows at a time would make a machine crawl.
_LEAST_WIDTH = 64
_GIGABYTE = 10**9


class Gram:
    """Rows of the kernel matrix: kept as a whole if they fit, else computed when asked for.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n_rows, n_features)
        The training rows.
    memory : float
        Bytes that may be used.
    n_threads : int, default=1
        Threads that compute it.

    Attributes
    ----------
    width : int
        How many rows of the matrix may be asked for at once; all if the whole matrix fits.
    """

    def __init__(self, kernel: Kernel, X: np.ndarray, memory: float, *, n_threads: int = 1) -> None:
        self.kernel, self.X = kernel, X
        self.n_rows, self.memory, self._n_threads = len(X), memory, n_threads
        self.width = _width(self.n_rows, memory)

    @cached_property
    def diagonal(self) -> np.ndarray:
        """The products of the rows with themselves."""
        return self.kernel.diagonal(self.X)

    @cached_property
    def square(self) -> np.ndarray:
        """The whole matrix, which is kept from now on."""
        if self.width < self.n_rows:
            _refuse(self.n_rows, self.memory, self.n_rows)
        return self._compute(np.arange(self.n_rows))

    def compute(self) -> None:
        """Compute the whole matrix, before threads share it."""
        _ = self.square

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of the matrix."""
        if len(index) == self.n_rows:
            return self.square
        return self.square[index] if "square" in self.__dict__ else self._compute(index)

    def part(self, index: np.ndarray, room: np.ndarray) -> Gram:
        """Return the matrix of some of the rows, cut out of this one into ``room``."""
        part = Gram(self.kernel, self.kernel.restrict(self.X, index), self.memory)
        _cut(self.square, index, room)
        part.__dict__["square"] = room
        part.__dict__["diagonal"] = self.diagonal[index]
        return part

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """Return the matrix times some coefficients, few of which need to differ from 0."""
        chosen = np.flatnonzero(coef)
        out = np.zeros(self.n_rows)
        for first in range(0, len(chosen), self.width):
            index = chosen[first : first + self.width]
            out += coef[index] @ self.rows(index)
        return out

    def _compute(self, index: np.ndarray) -> np.ndarray:
        out = np.empty((len(index), self.n_rows))
        step = _block_rows(self.n_rows)

        def fill(first: int) -> None:
            block = slice(first, first + step)
            self.kernel.fill(self.X, index[block], out[block])

        share(fill, range(0, len(index), step), self._n_threads)
        return out


@compiled
def _cut(square: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
    """Write ``square[index][:, index]``."""
    for i in range(len(index)):
        row = square[index[i]]
        for j in range(len(index)):
            out[i, j] = row[index[j]]


def bytes_needed(n_rows: int, width: int) -> float:
    """Return what holding ``width`` rows of a matrix and solving for them takes."""
    part = 0 if width == n_rows else width * width
    newton = 2 * min(width, MOST_FREE) ** 2
    work = _WORK_ARRAYS * _block_rows(n_rows) * n_rows
    return _BYTES * (float(width) * n_rows + part + newton + work)


def _block_rows(n_rows: int) -> int:
    return max(1, _BLOCK_ENTRIES // n_rows)


def _width(n_rows: int, memory: float) -> int:
    """Return how many rows of the matrix fit into the memory."""
    if bytes_needed(n_rows, n_rows) <= memory:
        return n_rows
    low, high = 0, n_rows - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if bytes_needed(n_rows, middle) <= memory else (low, middle - 1)
    if low < min(_LEAST_WIDTH, n_rows):
        _refuse(n_rows, memory, min(_LEAST_WIDTH, n_rows))
    return low


def _refuse(n_rows: int, memory: float, width: int) -> None:
    """Raise, with what would help."""
    needed = bytes_needed(n_rows, width) / _GIGABYTE
    raise ValueError(
        f"memory_limit={memory / _GIGABYTE:g} gigabytes is too little for this machine on {n_rows} "
        f"rows, which needs {needed:.2g}; raise it, use a StumpSVC or a PerceptronSVC, which need "
        f"no kernel matrix, or vote over small parts of the rows with SubsampleVotingClassifier."
    )
