"""The kernel matrix of the training rows, computed within a memory limit."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from everystump._core.jit import jit
from everystump._core.kernel_machines.kernels import Kernel
from everystump._core.solvers.box import MAX_FREE_ROWS, row_batch_size
from everystump._core.solvers.kernel_certificate import (
    DenseKernelMatrix,
    RowSum,
    Scores,
    linear_scores,
)
from everystump._core.threads import thread_map

_BYTES = 8
_BLOCK_ENTRIES = 2_000_000
# A kernel function may need this many arrays of the size of its result.
_WORK_ARRAYS = 3
# With fewer rows of the matrix in memory, training would be too slow.
_MIN_WIDTH = 64
# Up to this many rows the full matrix is computed at once, which is faster than row by row.
_SMALL = 8000
_GIGABYTE = 10**9
# The constant that makes negative distances positive definite, relative to the largest entry.
_SHIFT = 10.0


class LazyKernelMatrix:
    """The kernel matrix of the training rows, computed as a whole or row by row.

    Of its rows, ``width`` fit into ``memory`` bytes.  The full matrix is written to ``buffer``.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: np.ndarray,
        memory: float,
        buffer: np.ndarray | None = None,
        n_threads: int = 1,
    ) -> None:
        self.kernel, self.X, self._n_threads = kernel, X, n_threads
        self.n_rows, self.memory, self.buffer = len(X), memory, buffer
        self.width = _width(self.n_rows, memory)
        self._full: np.ndarray | None = None

    @property
    def diagonal(self) -> np.ndarray:
        """``K(x, x)`` of each row."""
        return self.kernel.diagonal(self.X)

    @property
    def full(self) -> np.ndarray:
        """The full matrix, which is kept in memory once computed."""
        # Not a cached_property, whose lock all instances would share.
        if self._full is None:
            if self.width < self.n_rows:
                _raise_memory_error(self.n_rows, self.memory, self.n_rows)
            if self.buffer is None:
                self.buffer = np.empty((self.n_rows, self.n_rows))
            self._full = self._compute(np.arange(self.n_rows), self.buffer)
        return self._full

    @property
    def dense_if_cheap(self) -> np.ndarray | None:
        """The full matrix if it is in memory or quick to compute, else None."""
        small = self.n_rows <= min(_SMALL, self.width)
        return self.full if small or self._full is not None else None

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of the matrix."""
        if self._full is not None:
            return self._full[index]
        return self._compute(index, np.empty((len(index), self.n_rows)))

    def block(self, index: np.ndarray) -> np.ndarray:
        """Return a copy of the submatrix of some rows and the same columns."""
        if self._full is not None:
            return self._full[np.ix_(index, index)]
        return LazyKernelMatrix(self.kernel, self.kernel.subset(self.X, index), np.inf).full

    def subset(self, index: np.ndarray, buffer: np.ndarray | None) -> LazyKernelMatrix:
        """Return the kernel matrix of some rows, copied from this one into ``buffer``."""
        out = LazyKernelMatrix(self.kernel, self.kernel.subset(self.X, index), self.memory, buffer)
        if out.buffer is None:
            out.buffer = np.empty((len(index), len(index)))
        _copy_block(self.full, index, out.buffer)
        out._full = out.buffer
        return out

    def positive_definite_block(self, index: np.ndarray) -> np.ndarray:
        """Return `block` plus a constant that makes it positive definite.

        The constant has no effect on coefficients that sum to 0.
        """
        if self.kernel.is_linear:
            rows = self.X[index] - self.X.mean(axis=0)  # to limit cancellation
            square = rows @ rows.T
        else:
            square = self.block(index)
        square += _SHIFT * (np.abs(square).max(initial=0.0) or 1.0)
        return square

    @property
    def diagonal_bound(self) -> float:
        """An upper bound on the diagonal of the matrix after it is made positive definite."""
        is_cheap = self.kernel.constant_diagonal is not None or self.kernel.is_linear
        if is_cheap or self._full is None:
            return float(self.diagonal.max())
        return (_SHIFT + 1.0) * float(np.abs(self.full).max())

    def scores(self, coef: np.ndarray, extended: bool = False) -> Scores:
        """Return the product of the matrix and coefficients; zero coefficients are skipped."""
        if self.kernel.is_linear:
            return linear_scores(self.X, coef, extended)
        if self._full is not None:
            return DenseKernelMatrix(self._full).scores(coef, extended)
        nonzero = np.flatnonzero(coef)
        total = RowSum(self.n_rows, extended)
        step = row_batch_size(self.n_rows)
        for first in range(0, len(nonzero), step):
            index = nonzero[first : first + step]
            total.add(self.rows(index), np.arange(len(index)), coef[index])
        return total.scores()

    def _compute(self, index: np.ndarray, out: np.ndarray) -> np.ndarray:
        step = _block_rows(self.n_rows)

        def fill(first: int) -> None:
            block = slice(first, first + step)
            self.kernel.fill(self.X, index[block], out[block])

        thread_map(fill, range(0, len(index), step), self._n_threads)
        return out


@jit
def _copy_block(square: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
    """Write the submatrix of some rows and the same columns."""
    for i in range(len(index)):
        row = square[index[i]]
        for j in range(len(index)):
            out[i, j] = row[index[j]]


def bytes_needed(n_rows: int, width: int) -> float:
    """Return the memory for ``width`` rows of a matrix and for solving with them."""
    newton = 2 * min(width, MAX_FREE_ROWS) ** 2
    work = _WORK_ARRAYS * min(n_rows, _block_rows(n_rows)) * n_rows
    batch = min(n_rows, row_batch_size(n_rows))
    return _BYTES * (float(width + batch) * n_rows + newton + work)


def _block_rows(n_rows: int) -> int:
    return max(1, _BLOCK_ENTRIES // n_rows)


def _width(n_rows: int, memory: float) -> int:
    """Return how many rows of the matrix fit into memory."""
    if bytes_needed(n_rows, n_rows) <= memory:
        return n_rows
    low, high = 0, n_rows - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if bytes_needed(n_rows, middle) <= memory else (low, middle - 1)
    if low < min(_MIN_WIDTH, n_rows):
        _raise_memory_error(n_rows, memory, min(_MIN_WIDTH, n_rows))
    return low


def _raise_memory_error(n_rows: int, memory: float, width: int) -> NoReturn:
    """Raise an error that reports the memory needed for ``width`` rows of the matrix."""
    needed = bytes_needed(n_rows, width) / _GIGABYTE
    raise ValueError(
        f"memory_limit={memory / _GIGABYTE:g} gigabytes is too little for a kernel matrix of "
        f"{n_rows} rows, which needs {needed:.2g}; raise it, use StumpSVC or PerceptronSVC, which "
        f"need no kernel matrix, or train on subsamples with SubsampleVotingClassifier."
    )
