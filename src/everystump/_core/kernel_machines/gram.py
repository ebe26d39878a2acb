"""The kernel matrix of the training rows, within a given memory."""

from __future__ import annotations

import numpy as np

from everystump._core.jit import jit
from everystump._core.kernel_machines.kernel import Kernel
from everystump._core.solvers import WholeMatrix
from everystump._core.solvers.box import MAX_FREE_ROWS, row_batch_size
from everystump._core.solvers.products import RowSum, Scores, linear_scores
from everystump._core.threads import thread_map

_BYTES = 8
_BLOCK_ENTRIES = 2_000_000
# A function of two tables may need this many arrays of the size that it returns.
_WORK_ARRAYS = 3
# Fewer rows at hand would make a machine crawl.
_LEAST_WIDTH = 64
# Of so few rows the whole matrix is made at once: to fetch its rows one by one would take longer.
_FEW = 8000
_GIGABYTE = 10**9
# Times the largest product: a constant that makes negative distances positive definite.
LIFT = 10.0


class Gram:
    """The kernel matrix, or the rows of it that are asked for.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n_rows, n_features)
        The training rows.
    memory : float
        Bytes that may be used.
    buffer : ndarray of shape (n_rows, n_rows), optional
        Where to put the whole matrix.
    n_threads : int, default=1
        How many threads compute it.

    Attributes
    ----------
    width : int
        How many rows of the matrix may be held; all if the whole matrix fits.
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
        self._square: np.ndarray | None = None

    @property
    def diagonal(self) -> np.ndarray:
        """The products of the rows with themselves."""
        return self.kernel.diagonal(self.X)

    @property
    def square(self) -> np.ndarray:
        """The whole matrix, which is kept from now on."""
        # Not a cached_property, whose lock all matrices would share.
        if self._square is None:
            if self.width < self.n_rows:
                _refuse(self.n_rows, self.memory, self.n_rows)
            if self.buffer is None:
                self.buffer = np.empty((self.n_rows, self.n_rows))
            self._square = self._compute(np.arange(self.n_rows), self.buffer)
        return self._square

    @property
    def whole(self) -> np.ndarray | None:
        """The whole matrix if it is there or quickly made, else None."""
        small = self.n_rows <= min(_FEW, self.width)
        return self.square if small or self._square is not None else None

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of the matrix."""
        if self._square is not None:
            return self._square[index]
        return self._compute(index, np.empty((len(index), self.n_rows)))

    def block(self, index: np.ndarray) -> np.ndarray:
        """Return the products of some rows with each other, a copy."""
        if self._square is not None:
            return self._square[np.ix_(index, index)]
        return Gram(self.kernel, self.kernel.restrict(self.X, index), np.inf).square

    def part(self, index: np.ndarray, buffer: np.ndarray | None) -> Gram:
        """Return the matrix of some rows, whose products are taken from this one, in ``buffer``."""
        out = Gram(self.kernel, self.kernel.restrict(self.X, index), self.memory, buffer)
        if out.buffer is None:
            out.buffer = np.empty((len(index), len(index)))
        _take_block(self.square, index, out.buffer)
        out._square = out.buffer
        return out

    def centered(self, index: np.ndarray) -> np.ndarray:
        """Return `block` up to what vanishes where coefficients sum to 0, and definite."""
        if self.kernel.linear:
            rows = self.X[index] - self.X.mean(axis=0)  # whose products keep their digits
            square = rows @ rows.T
        else:
            square = self.block(index)
        square += LIFT * (np.abs(square).max(initial=0.0) or 1.0)
        return square

    @property
    def largest(self) -> float:
        """The most that the product of a row with itself can be, positive definite."""
        known = self.kernel.own is not None or self.kernel.linear
        if known or self._square is None:
            return float(self.diagonal.max())
        return (LIFT + 1.0) * float(np.abs(self.square).max())

    def scores(self, coef: np.ndarray, doubled: bool = False) -> Scores:
        """Return the matrix times some coefficients, few of which need to differ from 0."""
        if self.kernel.linear:
            return linear_scores(self.X, coef, doubled)
        if self._square is not None:
            return WholeMatrix(self._square).scores(coef, doubled)
        chosen = np.flatnonzero(coef)
        total = RowSum(self.n_rows, doubled)
        step = row_batch_size(self.n_rows)
        for first in range(0, len(chosen), step):
            index = chosen[first : first + step]
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
def _take_block(square: np.ndarray, index: np.ndarray, out: np.ndarray) -> None:
    """Write the entries of some rows and the same columns."""
    for i in range(len(index)):
        row = square[index[i]]
        for j in range(len(index)):
            out[i, j] = row[index[j]]


def bytes_needed(n_rows: int, width: int) -> float:
    """Return what holding ``width`` rows of a matrix and solving for them takes."""
    newton = 2 * min(width, MAX_FREE_ROWS) ** 2
    work = _WORK_ARRAYS * min(n_rows, _block_rows(n_rows)) * n_rows
    batch = min(n_rows, row_batch_size(n_rows))
    return _BYTES * (float(width + batch) * n_rows + newton + work)


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
