"""Rows of one two-class problem in blocks, which threads share.

Sums are taken block by block in a fixed order, so that results depend on the number of threads by
rounding at most.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from everystump._core import rowloops
from everystump._core.packing import Packing
from everystump._core.threads import share

_ROWS_PER_BLOCK = 65536
_ROWS_ALONE = 2 * _ROWS_PER_BLOCK
# Threads cost some 50 microseconds a call: below this many codes one does the work alone.
_CODES_WORTH_SHARING = 400_000
# Rows of fewer codes than these stay in one block, however many threads there are.
_CODES_WORTH_SPLITTING = 2_000_000


class Part:
    """Some rows of a table in their order; neighbors are read where they are, others are copied.

    Parameters
    ----------
    packing : Packing
        Codes of all rows of the table.
    index : slice or ndarray of shape (n_rows,)
        Which rows of the table they are.
    positive : ndarray of bool, shape (n_rows,)
        Whether each of them is in the positive class.

    Attributes
    ----------
    codes : ndarray of shape (n_joint, at least n_rows)
        Codes, those of the first row being in column ``offset``.
    sign : ndarray of int8, shape (n_rows,)
        1 for positive rows, -1 for the others.
    """

    def __init__(self, packing: Packing, index: slice | np.ndarray, positive: np.ndarray) -> None:
        self.index, self.positive, self.starts = index, positive, packing.starts
        self.sign = np.where(positive, np.int8(1), np.int8(-1))
        if isinstance(index, slice):
            self.codes, self.offset = packing.codes, index.start
        else:
            self.codes, self.offset = _taken(packing.codes, index), 0

    def row_numbers(self) -> np.ndarray:
        """Return which rows of the table they are, as an array."""
        if isinstance(self.index, slice):
            return np.arange(self.index.start, self.index.stop)
        return self.index

    def scatter_by_class(self, r: np.ndarray) -> np.ndarray:
        """Return the sums of ``r`` by joint place, over positive and over negative rows."""
        tables = np.empty((2, self.starts[-1]))
        rowloops.scatter_by_class(self.codes, self.starts, r, self.positive, self.offset, tables)
        return tables


class Block:
    """Some rows of a table, the positive ones first.

    So sums of both sides cost no more than one sum of all.

    Parameters
    ----------
    packing : Packing
        Codes of all rows of the table.
    index : ndarray of shape (n_rows,)
        Which rows of the table are in the block.
    positive : ndarray of bool, shape (n_rows,)
        Whether each of them is in the positive class.
    """

    def __init__(self, packing: Packing, index: np.ndarray, positive: np.ndarray) -> None:
        self._order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
        self.index = self.in_order(index)
        self.starts = packing.starts
        self.codes = _taken(packing.codes, self.index)
        self.n_positive = int(positive.sum())

    def in_order(self, of_rows: np.ndarray) -> np.ndarray:
        """Return what was given row by row in the block's own order."""
        return of_rows[self._order]

    def scatter_by_class(
        self,
        r: np.ndarray,
        first: int = 0,
        last: int | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the sums of ``r`` by joint place, over positive and over negative rows.

        Only joint columns from ``first`` up to ``last`` are looked at.  ``out`` is where to write:
        large tables cost less in memory that was used before.
        """
        codes = self.codes[first:last]
        starts = self.starts[first : first + len(codes) + 1] - self.starts[first]
        tables = np.empty((2, starts[-1])) if out is None else out
        rowloops.scatter(codes, starts, r, 0, self.n_positive, tables[0])
        rowloops.scatter(codes, starts, r, self.n_positive, len(r), tables[1])
        return tables

    def gather_joint(self, joint: int, tables: np.ndarray, out: np.ndarray) -> None:
        """Write the entry of one joint column's table for each row.

        There is one table for positive and one for negative rows.
        """
        codes, n = self.codes[joint : joint + 1], self.n_positive
        rowloops.gather(codes[:, :n], self.starts[:1], tables[0], out[:n])
        rowloops.gather(codes[:, n:], self.starts[:1], tables[1], out[n:])


def _taken(codes: np.ndarray, index: np.ndarray) -> np.ndarray:
    out = np.empty((len(codes), len(index)), dtype=codes.dtype)
    rowloops.take_rows(codes, index, out)
    return out


def max_block_rows(n_threads: int) -> int:
    """Return how many rows a block holds at most."""
    return _ROWS_PER_BLOCK if n_threads > 1 else _ROWS_ALONE


B = TypeVar("B")


class Blocks(Generic[B]):
    """All rows of a two-class problem.

    Parameters
    ----------
    packing : Packing
        Codes of all rows of the table.
    n_rows : int
        How many rows take part.
    make : callable
        Returns the block of some of them, given as a slice.
    n_threads : int
        How many threads share the blocks.
    """

    def __init__(
        self, packing: Packing, n_rows: int, make: Callable[[slice], B], n_threads: int
    ) -> None:
        self.packing = packing
        self.n_rows = n_rows
        self.n_joint = len(packing.codes)
        self.n_threads = n_threads
        n_blocks = -(-n_rows // max_block_rows(n_threads))
        if n_blocks < n_threads and n_rows * self.n_joint >= _CODES_WORTH_SPLITTING:
            n_blocks = min(n_threads, n_rows)
        edges = np.linspace(0, n_rows, n_blocks + 1).astype(int)
        parts = [slice(a, b) for a, b in pairwise(edges)]
        self.blocks: list[B] = share(make, parts, self._threads_for(n_rows * self.n_joint))

    def each(self, work: Callable[[B], Any], n_rows: float) -> list:
        """Return ``work`` of each block; ``n_rows`` says how many rows it looks at in all."""
        return share(work, self.blocks, self._threads_for(n_rows * self.n_joint))

    def _threads_for(self, n_codes: float) -> int:
        return self.n_threads if n_codes >= _CODES_WORTH_SHARING else 1
