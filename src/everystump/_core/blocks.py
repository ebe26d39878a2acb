"""The rows of one binary problem in parts: blocks of one table, which threads share.

All that is ever done to rows is to call a method of each part and to add up the results, in a fixed
order, so that the number of threads or workers changes results only by rounding.  `Parts` is that
interface; `Blocks` implements it for a table in memory (or in mapped files), and
`everystump.dask` for tables on the workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from everystump._core import rowloops
from everystump._core.packing import Packing
from everystump._core.splitmix import GOLDEN_GAMMA
from everystump._core.threads import thread_map

_BLOCK_ROWS = 65536
# With a single thread blocks may be larger.
_BLOCK_ROWS_SINGLE = 2 * _BLOCK_ROWS
# Threads cost about 50 microseconds per call: with fewer codes, one thread does all the work.
_MIN_CODES_FOR_THREADS = 400_000
# With fewer codes, rows stay in one block for any number of threads.
_MIN_CODES_TO_SPLIT = 2_000_000


class RowBlock:
    """The rows ``index`` of a table in their order; a slice of rows is a view, others are copied.

    The codes of the first row are in column ``offset`` of ``codes``.
    """

    def __init__(self, packing: Packing, index: slice | np.ndarray, n_rows: int) -> None:
        self.index, self.n_rows = index, n_rows
        if isinstance(index, slice):
            self.codes, self.offset = packing.codes, index.start
        else:
            self.codes, self.offset = packing.codes.take(index), 0

    def row_numbers(self) -> np.ndarray:
        """Return ``index`` as an array."""
        if isinstance(self.index, slice):
            return np.arange(self.index.start, self.index.stop)
        return self.index


class Block(RowBlock):
    """A block of rows of which each is positive or not."""

    def __init__(self, packing: Packing, index: slice | np.ndarray, positive: np.ndarray) -> None:
        super().__init__(packing, index, len(positive))
        self.positive = positive

    def scatter_by_side(self, r: np.ndarray, side: np.ndarray) -> np.ndarray:
        """Return the sums of ``r`` by joint bin, over the rows of one ``side`` and the others."""
        tables = np.empty((2, self.codes.n_entries))
        rowloops.scatter_by_class(self.codes, r, side, self.offset, tables)
        return tables


class ClassSortedBlock:
    """The rows ``index`` of a table, the positive ones first.

    The sums of both classes then cost no more than one sum over all rows.
    """

    def __init__(self, packing: Packing, index: np.ndarray, positive: np.ndarray) -> None:
        self._order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
        self.index = self.reorder(index)
        self.codes = packing.codes.take(self.index)
        self.n_positive = int(positive.sum())

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.index)

    def reorder(self, values: np.ndarray) -> np.ndarray:
        """Return values, given one per row of ``index``, in the order of the block."""
        return values[self._order]

    def scatter_by_class(
        self,
        r: np.ndarray,
        first: int = 0,
        last: int | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the sums of ``r`` by joint bin, over positive rows and over negative rows.

        Only joint columns from ``first`` up to ``last`` are used.  ``out`` is a buffer to write
        to: large tables are faster in memory that is reused.
        """
        codes = self.codes.columns(first, last)
        tables = np.empty((2, codes.n_entries)) if out is None else out
        rowloops.scatter(codes, r, 0, self.n_positive, tables[0])
        rowloops.scatter(codes, r, self.n_positive, len(r), tables[1])
        return tables

    def gather_joint(self, joint: int, tables: np.ndarray, out: np.ndarray) -> None:
        """Write the entry of one joint column's table for each row.

        ``tables`` holds one table for positive and one for negative rows.
        """
        codes, n = self.codes.columns(joint, joint + 1), self.n_positive
        rowloops.gather(codes, tables[0], out[:n])
        rowloops.gather(codes, tables[1], out[n:], n)


def max_block_rows(n_threads: int) -> int:
    """Return the maximum number of rows of a block."""
    return _BLOCK_ROWS if n_threads > 1 else _BLOCK_ROWS_SINGLE


class OrderedSum:
    """The sum of the results of parts in their order, without those that are None.

    Each is added as soon as all before it are known, so that few of them are in memory at a time.
    The first array is overwritten.
    """

    def __init__(self) -> None:
        self.value: Any = None
        self._lock = Lock()
        self._waiting: dict[int, Any] = {}
        self._next = 0

    def add(self, k: int, result: Any) -> None:
        """Add the result of part ``k``; threads may call this in any order."""
        with self._lock:
            self._waiting[k] = result
            while self._next in self._waiting:
                other = self._waiting.pop(self._next)
                self._next += 1
                if self.value is None:
                    self.value = other
                elif other is not None:
                    self.value += other


def combine(parts: Sequence[Any]) -> Any:
    """Return the sum of the results of parts; see `OrderedSum`.

    Examples
    --------
    >>> combine([np.ones(2), np.ones(2)]), combine([1.0, 2.0]), combine([None, None])
    (array([2., 2.]), 3.0, None)
    """
    total = OrderedSum()
    for k, part in enumerate(parts):
        total.add(k, part)
    return total.value


def subsample_rows(start: int, stop: int, k: int) -> np.ndarray:
    """Return which of the rows from ``start`` up to ``stop`` belong to a fixed subsample.

    It has one row out of every ``k`` consecutive ones, chosen by a hash of their number, so that
    it does not depend on how the rows are divided into parts.

    Examples
    --------
    >>> subsample_rows(0, 24, 8)
    array([ 0,  9, 19])
    >>> subsample_rows(10, 24, 8)
    array([19])
    """
    group = np.arange(start // k, -(-stop // k), dtype=np.uint64)
    hashed = (group * GOLDEN_GAMMA) >> np.uint64(40)
    rows = (group * np.uint64(k) + hashed % np.uint64(k)).astype(np.int64)
    return rows[(rows >= start) & (rows < stop)]


class Parts(Protocol):
    """The rows of a binary problem in parts, wherever these are."""

    @property
    def packing(self) -> Packing:
        """Maps tables to joint tables."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def n_lookups(self) -> int:
        """The number of table entries that are added up for a row."""

    @property
    def n_threads(self) -> int:
        """The number of threads of this process."""

    @property
    def n_additions(self) -> int:
        """The largest number of additions that a row's term goes through in `call`."""

    def call(self, method: str, *args: Any, n_rows: float | None = None) -> Any:
        """Return the sum of the results of a method of all parts.

        ``n_rows`` is the number of rows that the method reads in total, all of them by default.
        """

    def update(self, method: str, *args: Any, n_rows: float | None = None) -> None:
        """Call a method of all parts that returns nothing, at the latest before the next `call`."""


B = TypeVar("B", bound="RowBlock | ClassSortedBlock")


class Blocks(Generic[B]):
    """The rows of a problem in memory; ``make_block`` returns the block of some rows.

    Each row has entries in ``n_tables`` tables, one per class of a problem of several classes.
    """

    def __init__(
        self,
        packing: Packing,
        n_rows: int,
        make_block: Callable[[slice], B],
        n_threads: int,
        n_tables: int = 1,
    ) -> None:
        self.packing = packing
        self.n_rows = n_rows
        self.n_lookups = n_tables * packing.codes.n_lookups
        self.n_threads = n_threads
        n_blocks = -(-n_rows // max_block_rows(n_threads))
        if n_blocks < n_threads and n_rows * self.n_lookups >= _MIN_CODES_TO_SPLIT:
            n_blocks = min(n_threads, n_rows)
        edges = np.linspace(0, n_rows, n_blocks + 1).astype(int)
        parts = [slice(a, b) for a, b in pairwise(edges)]
        self.blocks: list[B] = thread_map(make_block, parts, self._threads_for(n_rows))

    @property
    def n_additions(self) -> int:
        """The largest number of additions that a row's term goes through in `call`."""
        return max(block.n_rows for block in self.blocks) + len(self.blocks)

    def call(self, method: str, *args: Any, n_rows: float | None = None) -> Any:
        """Return the sum of the results of a method of all blocks; see `Parts`."""
        n_threads = self._threads_for(self.n_rows if n_rows is None else n_rows)
        total = OrderedSum()
        thread_map(
            lambda part: total.add(part[0], getattr(part[1], method)(*args)),
            enumerate(self.blocks),
            n_threads,
        )
        return total.value

    def update(self, method: str, *args: Any, n_rows: float | None = None) -> None:
        """Call a method of all blocks that returns nothing."""
        self.call(method, *args, n_rows=n_rows)

    def _threads_for(self, n_rows: float) -> int:
        return self.n_threads if n_rows * self.n_lookups >= _MIN_CODES_FOR_THREADS else 1
