"""The distinct values of one column and their weights, as far as bins need them.

A column of few rows is sorted.  A longer one is cut into some thousand cells, whose edges come from
a sample of its rows, and all rows are counted in their cells.  The bins follow from these counts
but for the cells that hold the edge of a bin: only their rows are sorted.  The sample decides how
much there is to sort, never what is found: bins are exactly those of all rows in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core import rowloops

_CELLS_PER_CUT = 16
_LEAST_CELLS, _MOST_CELLS = 256, 65536
# Sorting is quicker for fewer rows than these, or for more bins.
_MANY_ROWS, _MOST_BINS = 40_000, 512
_MOST_SAMPLED, _ROWS_PER_SAMPLED, _SAMPLED_PER_CELL = 16_384, 12, 2
# For fewer rows than these, for each cut, a grid is not worth its making.
_ROWS_PER_CUT = 4
# A grid is too coarse if it leaves more halvings than these: to halve all cuts is quicker then.
_MOST_HALVINGS = 2.0
# In bins: far more than the rounding of sums, far less than a row.
_ALLOWANCE = 1e-9
# After so many rounds whatever is still open is sorted.
_MOST_ROUNDS = 4


@dataclass(frozen=True)
class Lookup:
    """An even grid over sorted cuts, which makes finding the bin of a value a few steps."""

    cuts: np.ndarray
    low: float
    scale: float
    first: np.ndarray

    @classmethod
    def over(cls, cuts: np.ndarray) -> Lookup:
        """Build the grid for ``cuts``, which get an infinite one at their end."""
        cells = 1
        if len(cuts) > 1:
            cells = min(max(_CELLS_PER_CUT * len(cuts), _LEAST_CELLS), _MOST_CELLS)
        low, high = (float(cuts[0]), float(cuts[-1])) if len(cuts) else (0.0, 0.0)
        # Without a usable width everything falls into one cell, and halving does all the work.
        scale = cells / (high - low) if 0.0 < high - low < np.inf else 0.0
        scale = scale if scale < np.inf else 0.0
        first = np.empty(cells + 1, dtype=np.int32)
        rowloops.fill_lookup(cuts, low, scale, first)
        return cls(np.append(cuts, np.inf), low, scale, first)

    @property
    def mean_bisections(self) -> float:
        """How often the cuts of a cell are halved until the place of a value is found.

        The mean, if values are where the cuts are.
        """
        inside = np.diff(self.first)
        several = inside[inside > 1]
        return float(several @ np.log2(several)) / len(self.cuts)


@dataclass(frozen=True)
class Cells:
    """The cell of each row of a column.

    Attributes
    ----------
    edges : ndarray of shape (n_cells - 1,)
        Cell ``k`` holds the rows with ``edges[k - 1] <= x < edges[k]``; the cell after the last
        one holds the missing values.
    rows : ndarray of uint16, shape (n_rows,)
        The cell of each row.
    """

    edges: np.ndarray
    rows: np.ndarray

    def encode(self, x: np.ndarray, cuts: np.ndarray, missing: int, out: np.ndarray) -> None:
        """Write how many cuts are at most each ``x``, and ``missing`` where it is NaN."""
        first = np.searchsorted(cuts, self.edges, side="right")
        first = np.concatenate([[0], first, [missing]]).astype(np.int32)
        # NaN is compared with the cut at its own code, which has to be there.
        ended = np.append(cuts, [np.inf] * 2)
        rowloops.encode_cells(x, self.rows, first, ended, out)


@dataclass(frozen=True)
class Values:
    """Values of a column in ascending order, and the total weight of the rows at each.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        All distinct values, or more than ``max_bins`` of them; in the latter case neighbors within
        a bin may be one entry, at their mean.
    counts : ndarray of shape (n_values,)
        Total sample weight.
    missing : float
        That of the rows without a value.
    starts : ndarray, optional
        The first value of each bin, if it is known already.
    cells : Cells, optional
        Where the rows lie, if they were not sorted.
    """

    values: np.ndarray
    counts: np.ndarray
    missing: float
    starts: np.ndarray | None = None
    cells: Cells | None = None

    def encode(self, x: np.ndarray, cuts: np.ndarray, missing: int, out: np.ndarray) -> None:
        """Write how many cuts are at most each ``x``, and ``missing`` where it is NaN."""
        if self.cells is not None:
            self.cells.encode(x, cuts, missing, out)
        else:
            encode(x, cuts, missing, out)


def encode(x: np.ndarray, cuts: np.ndarray, missing: int, out: np.ndarray) -> None:
    """Write how many cuts are at most each ``x``, and ``missing`` where it is NaN."""
    if len(x) <= _ROWS_PER_CUT * len(cuts):
        rowloops.encode_by_bisection(x, np.append(cuts, np.inf), missing, out)
        return
    lookup = Lookup.over(cuts)
    if lookup.mean_bisections <= _MOST_HALVINGS:
        rowloops.encode(x, lookup.cuts, lookup.first, lookup.low, lookup.scale, missing, out)
    else:
        rowloops.encode_by_bisection(x, lookup.cuts, missing, out)


def find_values(x: np.ndarray, weight: np.ndarray | None, max_bins: int) -> Values:
    """Return the values of a column that bins of about equal weight need to know.

    Examples
    --------
    >>> found = find_values(np.array([3.0, 1.0, 3.0, np.nan]), None, max_bins=256)
    >>> found.values, found.counts, found.missing
    (array([1., 3.]), array([1., 2.]), 1.0)
    """
    if len(x) > _MANY_ROWS and max_bins <= _MOST_BINS:
        found = _find_in_cells(x, weight, max_bins)
        if found is not None:
            return found
    return _sorted_values(x, weight)


def n_numeric_bins(max_bins: int, missing: float) -> int:
    """Return how many bins are left for numbers, so that codes stay short with missing values."""
    return max(2, max_bins - (missing > 0))


def bin_starts(counts: np.ndarray, max_bins: int) -> np.ndarray:
    """Return the first value of each bin.

    A value that fills a bin by itself counts as no more than one bin, so that the others share
    what is left.  Only total weights matter: a row twice and a weight of 2 give the same bins.
    """
    return _Shares.of(counts, max_bins).starts()


@dataclass(frozen=True)
class _Shares:
    """How much of the bins each value takes: its weight, a heavy one no more than ``cap``.

    Where sums are rounded, what lies within ``allowance`` of the edge of a bin counts as beyond it,
    so that rounding does not decide.
    """

    heavy: np.ndarray
    capped: np.ndarray
    upto: np.ndarray
    max_bins: int
    allowance: float

    @classmethod
    def of(cls, counts: np.ndarray, max_bins: int) -> _Shares:
        heavy = np.zeros(len(counts), dtype=bool)
        while True:
            cap = counts[~heavy].sum() / (max_bins - heavy.sum())
            grown = heavy | (counts > cap)
            if heavy.sum() == grown.sum() or grown.sum() >= max_bins:
                break
            heavy = grown
        # Light and heavy ones are summed apart: sums of whole numbers have no rounding.
        is_capped = counts > cap
        capped = np.where(is_capped, cap, counts)
        upto = np.cumsum(np.where(is_capped, 0.0, counts)) + cap * np.cumsum(is_capped)
        rounded = is_capped.any() or np.any(counts != np.floor(counts))
        return cls(is_capped, capped, upto, max_bins, _ALLOWANCE if rounded else 0.0)

    def bins(self) -> np.ndarray:
        """Return the bin of each value: that of the middle of its share."""
        return self._bin_at(self.upto - self.capped / 2)

    def starts(self) -> np.ndarray:
        """Return the first value of each bin."""
        return np.flatnonzero(np.diff(self.bins(), prepend=-1))

    def straddling(self, slack: float) -> np.ndarray:
        """Return which shares, ``slack`` wider on both sides, may reach into several bins."""
        low = self._bin_at(self.upto - self.capped - slack)
        return low != self._bin_at(self.upto + slack)

    def _bin_at(self, position: np.ndarray) -> np.ndarray:
        position = position * (self.max_bins / self.upto[-1]) + self.allowance
        bins = np.floor(position).astype(np.int64)
        # A last value of next to no weight would round up into a bin too many.
        return np.minimum(np.maximum(bins, 0), self.max_bins - 1)


def _sorted_values(x: np.ndarray, weight: np.ndarray | None) -> Values:
    """Sort a column."""
    if weight is None:
        ordered = np.sort(x)
        ordered_weight = np.broadcast_to(1.0, x.shape)
    else:
        order = np.argsort(x, kind="stable")
        ordered, ordered_weight = x[order], weight[order]
    missing = 0.0
    if len(ordered) and np.isnan(ordered[-1]):  # missing values come last
        n = int(np.searchsorted(ordered, np.nan))
        missing = float(ordered_weight[n:].sum())
        ordered, ordered_weight = ordered[:n], ordered_weight[:n]
    if len(ordered) == 0:
        return Values(ordered, ordered, missing)
    values, counts = np.empty_like(ordered), np.empty_like(ordered)
    size = rowloops.run_lengths(ordered, ordered_weight, values, counts)
    return Values(values[:size].copy(), counts[:size].copy(), missing)


def _find_in_cells(x: np.ndarray, weight: np.ndarray | None, max_bins: int) -> Values | None:
    """Count the rows in cells and sort those that matter; None if sums are beyond all numbers."""
    edges = _cell_edges(x)
    n_cells = len(edges) + 1
    cells = Cells(edges, np.empty(len(x), dtype=np.uint16))
    w = np.broadcast_to(1.0, x.shape) if weight is None else weight
    counts, sums = np.zeros(n_cells + 1), np.zeros(n_cells + 1)
    # Sums of differences from where a cell begins keep the digits in which its values differ.
    origins = np.concatenate([edges[:1], edges, [0.0]]) if len(edges) else np.zeros(n_cells + 1)
    encode(x, edges, n_cells, cells.rows)
    rowloops.count_cells(x, w, origins, cells.rows, counts, sums)
    sums[-1] = 0.0
    if not np.isfinite(sums).all():
        return None
    where = np.flatnonzero(counts[:-1])
    lower, upper = (np.concatenate(part) for part in (([-np.inf], edges), (edges, [np.inf])))
    means = np.clip(origins[where] + sums[where] / counts[where], lower[where], upper[where])
    with np.errstate(over="ignore"):
        single = (np.nextafter(lower, np.inf) == upper)[where]
    values = np.where(single, lower[where], means)
    entries = _Entries(values, counts[where], np.where(single, -1, where))
    return _refine(x, weight, cells, entries, float(counts[-1]), max_bins)


def _cell_edges(x: np.ndarray) -> np.ndarray:
    """Return edges of cells of about equal weight; values that are often met are cells alone."""
    size = min(_MOST_SAMPLED, len(x) // _ROWS_PER_SAMPLED)
    rows = np.random.default_rng(0).integers(len(x), size=size)
    sample = np.sort(x[rows])
    sample = sample[: np.searchsorted(sample, np.nan)]
    first = np.flatnonzero(np.append(True, sample[1:] != sample[:-1])[: len(sample)])
    times = np.diff(first, append=len(sample))
    # Few values are cells alone each; of many those that fill two cells or more.
    least = 1 if 8 * len(first) <= size else 2 * _SAMPLED_PER_CELL
    often = sample[first[times >= least]]
    with np.errstate(over="ignore"):  # next to the largest number is infinity
        after = np.nextafter(often, np.inf)
    return np.unique(np.concatenate([sample[::_SAMPLED_PER_CELL], often, after]))


@dataclass(frozen=True)
class _Entries:
    """Values and their weights, some of which stand for all that is in a cell of rows.

    ``cells`` holds the number of such an open cell, and -1 where the value is exact.
    """

    values: np.ndarray
    counts: np.ndarray
    cells: np.ndarray

    def replaced(self, which: np.ndarray, lower: np.ndarray, found: Values) -> _Entries:
        """Return the entries with the sorted values of some cells, given where these begin."""
        size = len(which) - which.sum() + len(found.values)
        ends = np.append(np.searchsorted(found.values, lower[1:]), len(found.values))
        ahead = np.cumsum(~which)[which]
        new = np.zeros(size, dtype=bool)
        new[np.repeat(ahead, np.diff(ends, prepend=0)) + np.arange(len(found.values))] = True
        values, counts, cells = np.empty(size), np.empty(size), np.full(size, -1)
        values[new], counts[new] = found.values, found.counts
        old = ~new
        values[old], counts[old] = self.values[~which], self.counts[~which]
        cells[old] = self.cells[~which]
        return _Entries(values, counts, cells)


def _refine(
    x: np.ndarray,
    weight: np.ndarray | None,
    cells: Cells,
    entries: _Entries,
    missing: float,
    max_bins: int,
) -> Values:
    """Sort the rows of open cells until the bins are certain."""
    room = n_numeric_bins(max_bins, missing)
    slack = (float(entries.counts.sum()) + missing) / len(x)
    lower = np.append(-np.inf, cells.edges)
    for attempt in range(_MOST_ROUNDS + 2):
        which, starts = entries.cells >= 0, None
        if len(which) > room:
            shares = _Shares.of(entries.counts, room)
            starts = shares.starts()
            if attempt < _MOST_ROUNDS:
                which = _matters(which, shares, starts, slack)
        if not which.any():
            break
        flags = np.zeros(len(lower) + 1, dtype=bool)
        flags[entries.cells[which]] = True
        index = np.empty(rowloops.count_flagged(cells.rows, flags), dtype=np.int64)
        rowloops.find_flagged(cells.rows, flags, index)
        found = _sorted_values(x[index], None if weight is None else weight[index])
        entries = entries.replaced(which, lower[entries.cells[which]], found)
    return Values(entries.values, entries.counts, missing, starts, cells)


def _matters(is_open: np.ndarray, shares: _Shares, starts: np.ndarray, slack: float) -> np.ndarray:
    """Return the open cells of which the bins must know the values.

    Those are the first and the last, those that may hold a heavy value, and those that meet the
    edge of a bin: it lies within a cell, or else between two.
    """
    straddles = is_open & shares.straddling(slack)
    between = starts[1:][~(straddles[starts[1:]] | straddles[starts[1:] - 1])]
    matters = straddles | (is_open & shares.heavy)
    matters[[0, -1]] |= is_open[[0, -1]]
    matters[between] |= is_open[between]
    matters[between - 1] |= is_open[between - 1]
    return matters
