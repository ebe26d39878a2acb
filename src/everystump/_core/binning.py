"""The distinct values of one column and their weights, at the resolution that binning needs.

A short column is sorted.  A longer one is divided into a few thousand cells, whose edges come
from a sample of its rows, and the rows of each cell are counted.  The bins follow from these
counts except in the cells that contain the edge of a bin: only their rows are sorted.  The sample
determines how much there is to sort, never the result: the bins are exactly those of all rows, in
any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from everystump._core import binloops
from everystump._core.cell_counts import Entries, cell_edges, count_cells
from everystump._core.lookup import encode

# Sorting is faster up to this number of rows, or beyond this number of bins.
_MAX_SORTED_ROWS, _MAX_CELL_BINS = 40_000, 512
# A summary of a column sorts the rows in cells of several values if they are at most this fraction.
_SORTED_FRACTION = 1 / 8
_MAX_SAMPLE, _ROWS_PER_SAMPLE, _SAMPLES_PER_CELL = 16_384, 12, 2
# In units of a bin: far more than the rounding error of a sum, far less than a row.
_TOLERANCE = 1e-9
# After this number of rounds all remaining cells are sorted.
_MAX_ROUNDS = 4


@dataclass(frozen=True)
class Cells:
    """The cell of each row of a column.

    Cell ``k`` holds the rows with ``edges[k - 1] <= x < edges[k]``; the cell after the last one
    holds the missing values.
    """

    edges: np.ndarray  # (n_cells - 1,)
    rows: np.ndarray  # uint16, (n_rows,)

    def encode(self, x: np.ndarray, cuts: np.ndarray, missing: int, out: np.ndarray) -> None:
        """Write the number of cuts that are at most each ``x``, and ``missing`` for NaN."""
        first = np.searchsorted(cuts, self.edges, side="right")
        first = np.concatenate([[0], first, [missing]]).astype(np.int32)
        # NaN is compared with the cut at its own code, which must exist.
        padded_cuts = np.append(cuts, [np.inf] * 2)
        binloops.encode_cells(x, self.rows, first, padded_cuts, out)


@dataclass(frozen=True)
class DistinctValues:
    """Values of a column in ascending order, and the total weight of the rows at each.

    These are all distinct values if there are at most ``max_bins`` of them.  Otherwise there are
    more than ``max_bins``; neighbors within a bin may be merged into one entry, their mean.
    """

    values: np.ndarray
    counts: np.ndarray
    missing: float  # total weight of the rows without a value
    starts: np.ndarray | None = None  # the first value of each bin, if already known
    cells: Cells | None = None  # the cells of the rows, if they were not sorted

    def encode(self, x: np.ndarray, cuts: np.ndarray, missing: int, out: np.ndarray) -> None:
        """Write the number of cuts that are at most each ``x``, and ``missing`` for NaN."""
        if self.cells is not None:
            self.cells.encode(x, cuts, missing, out)
        else:
            encode(x, cuts, missing, out)


def find_values(x: np.ndarray, weight: np.ndarray | None, max_bins: int) -> DistinctValues:
    """Return the distinct values of a column, at the resolution that bins of equal weight need.

    Examples
    --------
    >>> distinct = find_values(np.array([3.0, 1.0, 3.0, np.nan]), None, max_bins=256)
    >>> distinct.values, distinct.counts, distinct.missing
    (array([1., 3.]), array([1., 2.]), 1.0)
    """
    if len(x) > _MAX_SORTED_ROWS and max_bins <= _MAX_CELL_BINS:
        counted = _count_in_cells(x, weight)
        if counted is not None:
            return _refine(x, weight, counted, max_bins)
    return _sorted_values(x, weight)


def n_numeric_bins(max_bins: int, missing: float) -> int:
    """Return the number of bins for numbers: one less than ``max_bins`` if values are missing."""
    return max(2, max_bins - (missing > 0))


def bin_starts(counts: np.ndarray, max_bins: int) -> np.ndarray:
    """Return the first value of each bin.

    A value that fills a whole bin counts as at most one bin, and the other values share the
    remaining bins.  Only total weights matter: a repeated row and a row of weight 2 are equivalent.
    """
    return CappedWeights.from_counts(counts, max_bins).starts()


@dataclass(frozen=True)
class CappedWeights:
    """The weights of the values, heavy ones capped at the weight of one bin.

    Where sums are rounded, a position within ``tolerance`` of the edge of a bin counts as beyond
    it, so that the result does not depend on rounding errors.
    """

    heavy: np.ndarray
    capped: np.ndarray
    cumulative: np.ndarray
    max_bins: int
    tolerance: float

    @classmethod
    def from_counts(cls, counts: np.ndarray, max_bins: int) -> CappedWeights:
        heavy = np.zeros(len(counts), dtype=bool)
        while True:
            cap = counts[~heavy].sum() / (max_bins - heavy.sum())
            grown = heavy | (counts > cap)
            if heavy.sum() == grown.sum() or grown.sum() >= max_bins:
                break
            heavy = grown
        # Light and heavy values are summed separately: sums of integers have no rounding.
        is_capped = counts > cap
        capped = np.where(is_capped, cap, counts)
        cumulative = np.cumsum(np.where(is_capped, 0.0, counts)) + cap * np.cumsum(is_capped)
        rounded = is_capped.any() or np.any(counts != np.floor(counts))
        return cls(is_capped, capped, cumulative, max_bins, _TOLERANCE if rounded else 0.0)

    def bins(self) -> np.ndarray:
        """Return the bin of each value: the bin that contains its midpoint."""
        return self._bin_at(self.cumulative - self.capped / 2)

    def starts(self) -> np.ndarray:
        """Return the first value of each bin."""
        return np.flatnonzero(np.diff(self.bins(), prepend=-1))

    def straddling(self, slack: float) -> np.ndarray:
        """Return which values, ``slack`` wider on both sides, may reach into several bins."""
        low = self._bin_at(self.cumulative - self.capped - slack)
        return low != self._bin_at(self.cumulative + slack)

    def _bin_at(self, position: np.ndarray) -> np.ndarray:
        position = position * (self.max_bins / self.cumulative[-1]) + self.tolerance
        bins = np.floor(position).astype(np.int64)
        # A last value of almost no weight would be rounded up into one bin too many.
        return np.minimum(np.maximum(bins, 0), self.max_bins - 1)


def _sorted_values(x: np.ndarray, weight: np.ndarray | None) -> DistinctValues:
    """Return the distinct values of a column by sorting it."""
    if weight is None:
        ordered = np.sort(x)
        ordered_weight = np.broadcast_to(1.0, x.shape)
    else:
        order = np.argsort(x, kind="stable")
        ordered, ordered_weight = x[order], weight[order]
    missing = 0.0
    if len(ordered) and np.isnan(ordered[-1]):  # NaN sorts last
        n = int(np.searchsorted(ordered, np.nan))
        missing = float(ordered_weight[n:].sum())
        ordered, ordered_weight = ordered[:n], ordered_weight[:n]
    if len(ordered) == 0:
        return DistinctValues(ordered, ordered, missing)
    values, counts = np.empty_like(ordered), np.empty_like(ordered)
    size = binloops.run_lengths(ordered, ordered_weight, values, counts)
    return DistinctValues(values[:size].copy(), counts[:size].copy(), missing)


class _CellCounts(NamedTuple):
    """The rows of a column in cells: an entry per cell, or per value where it holds only one."""

    cells: Cells
    entries: Entries
    missing: float

    def _flags(self, which: np.ndarray) -> np.ndarray:
        """Return for each cell whether it is one of some entries."""
        flags = np.zeros(len(self.cells.edges) + 2, dtype=bool)
        flags[self.entries.cells[which]] = True
        return flags

    def count_rows(self, which: np.ndarray) -> int:
        """Return the number of rows in the cells of some entries."""
        return binloops.count_flagged(self.cells.rows, self._flags(which))

    def sort(self, x: np.ndarray, weight: np.ndarray | None, which: np.ndarray) -> _CellCounts:
        """Return the counts with some of the cells replaced by their sorted values."""
        lower, flags = np.append(-np.inf, self.cells.edges), self._flags(which)
        index = np.empty(binloops.count_flagged(self.cells.rows, flags), dtype=np.int64)
        binloops.find_flagged(self.cells.rows, flags, index)
        distinct = _sorted_values(x[index], None if weight is None else weight[index])
        entries = _replace_cells(self.entries, which, lower[self.entries.cells[which]], distinct)
        return self._replace(entries=entries)


def _count_in_cells(x: np.ndarray, weight: np.ndarray | None) -> _CellCounts | None:
    """Count the rows in cells; return None if a sum overflows."""
    size = min(_MAX_SAMPLE, len(x) // _ROWS_PER_SAMPLE)
    rows = np.random.default_rng(0).integers(len(x), size=size)
    edges = cell_edges(x[rows], _SAMPLES_PER_CELL)
    cells = Cells(edges, np.empty(len(x), dtype=np.uint16))
    encode(x, edges, len(edges) + 1, cells.rows)
    sums = count_cells(x, weight, cells.rows, edges)
    if not np.isfinite(sums.differences).all():
        return None
    return _CellCounts(cells, Entries.from_cells(edges, sums), float(sums.counts[-1]))


class Summary(NamedTuple):
    """Values of a column in ascending order; an entry may stand for a group of neighbors."""

    values: np.ndarray
    counts: np.ndarray  # total weight of the rows at each
    is_group: np.ndarray  # whether an entry is the mean of different values
    missing: float  # total weight of the rows without a value


def summarize(x: np.ndarray, weight: np.ndarray | None) -> Summary:
    """Return a summary of a column: its distinct values, or the means of several thousand cells.

    Examples
    --------
    >>> summary = summarize(np.array([3.0, 1.0, 3.0, np.nan]), None)
    >>> summary.values, summary.counts, summary.is_group, summary.missing
    (array([1., 3.]), array([1., 2.]), array([False, False]), 1.0)
    """
    counted = _count_in_cells(x, weight) if len(x) > _MAX_SORTED_ROWS else None
    if counted is None:
        found = _sorted_values(x, weight)
        none = np.zeros(len(found.values), dtype=bool)
        return Summary(found.values, found.counts, none, found.missing)
    is_group = counted.entries.is_group
    # Few rows outside of the cells of single values: the column has few distinct values.
    if counted.count_rows(is_group) <= max(_MAX_SORTED_ROWS, _SORTED_FRACTION * len(x)):
        counted = counted.sort(x, weight, is_group) if is_group.any() else counted
        is_group = np.zeros(len(counted.entries.values), dtype=bool)
    return Summary(counted.entries.values, counted.entries.counts, is_group, counted.missing)


def _replace_cells(
    entries: Entries, replaced: np.ndarray, lower: np.ndarray, distinct: DistinctValues
) -> Entries:
    """Return the entries with some cells replaced by their sorted values.

    ``lower`` holds the lower edges of these cells.
    """
    size = len(replaced) - replaced.sum() + len(distinct.values)
    ends = np.append(np.searchsorted(distinct.values, lower[1:]), len(distinct.values))
    ahead = np.cumsum(~replaced)[replaced]
    new = np.zeros(size, dtype=bool)
    new[np.repeat(ahead, np.diff(ends, prepend=0)) + np.arange(len(distinct.values))] = True
    values, counts, cells = np.empty(size), np.empty(size), np.full(size, -1)
    values[new], counts[new] = distinct.values, distinct.counts
    old = ~new
    values[old], counts[old] = entries.values[~replaced], entries.counts[~replaced]
    cells[old] = entries.cells[~replaced]
    return Entries(values, counts, cells)


def _refine(
    x: np.ndarray, weight: np.ndarray | None, counted: _CellCounts, max_bins: int
) -> DistinctValues:
    """Sort the rows of unsorted cells until the bins are determined."""
    missing = counted.missing
    n_bins = n_numeric_bins(max_bins, missing)
    slack = (float(counted.entries.counts.sum()) + missing) / len(x)
    for attempt in range(_MAX_ROUNDS + 2):
        to_sort, starts = counted.entries.cells >= 0, None
        if len(to_sort) > n_bins:
            weights = CappedWeights.from_counts(counted.entries.counts, n_bins)
            starts = weights.starts()
            if attempt < _MAX_ROUNDS:
                to_sort = _cells_to_sort(to_sort, weights, starts, slack)
        if not to_sort.any():
            break
        counted = counted.sort(x, weight, to_sort)
    entries = counted.entries
    return DistinctValues(entries.values, entries.counts, missing, starts, counted.cells)


def _cells_to_sort(
    unsorted: np.ndarray, weights: CappedWeights, starts: np.ndarray, slack: float
) -> np.ndarray:
    """Return the unsorted cells whose values the bins depend on.

    These are the first and the last cell, cells that may contain a heavy value, and cells at the
    edge of a bin, which lies within a cell or between two.
    """
    straddling = unsorted & weights.straddling(slack)
    between = starts[1:][~(straddling[starts[1:]] | straddling[starts[1:] - 1])]
    needed = straddling | (unsorted & weights.heavy)
    needed[[0, -1]] |= unsorted[[0, -1]]
    needed[between] |= unsorted[between]
    needed[between - 1] |= unsorted[between - 1]
    return needed
