"""From a table of numbers to columns: sorted places and an integer code for each row.

A feature with at most ``max_bins`` distinct values keeps every one of them as a place; a richer
one is cut into bins of about equal weight.  Rows are seen by everything above this room only
through their codes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from everystump import rowloops
from everystump.threads import share

_CELLS_PER_CUT = 16
_LEAST_CELLS, _MOST_CELLS = 256, 65536


@dataclass(frozen=True, eq=False)
class Column:
    """The places of one feature.

    Attributes
    ----------
    values : ndarray of shape (n_places,)
        The value that stands for each place, ascending.
    cuts : ndarray of shape (n_places - 1,)
        Place ``k`` holds the rows with ``cuts[k - 1] <= x < cuts[k]``.
    counts : ndarray of shape (n_places,)
        Total sample weight of the rows in each place.
    low, high : float
        The range of the feature: the smallest and the largest value, or wider if so wished.
    exact : bool
        Whether nothing was lost: every distinct value is a place of its own, or the cuts are the
        only thresholds that may vote.
    """

    values: np.ndarray
    cuts: np.ndarray
    counts: np.ndarray
    low: float
    high: float
    exact: bool


@dataclass(frozen=True, eq=False)
class Columns:
    """All features of a training table.

    Attributes
    ----------
    columns : tuple of Column
        One record a feature.
    codes : ndarray of shape (n_features, n_rows)
        The place of each row in each feature, in the smallest unsigned type that fits.
    """

    columns: tuple[Column, ...]
    codes: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of places of each feature."""
        return np.array([len(column.values) for column in self.columns])

    @property
    def exact(self) -> bool:
        """Whether no feature was binned."""
        return all(column.exact for column in self.columns)


@dataclass(frozen=True)
class Lookup:
    """An even grid over sorted cuts, which makes finding the place of a value a few steps."""

    cuts: np.ndarray
    low: float
    scale: float
    first: np.ndarray

    @classmethod
    def over(cls, cuts: np.ndarray) -> Lookup:
        """Build the grid for ``cuts``, which get an infinite one at their end."""
        cells = 1
        if len(cuts) > 1:
            cells = int(np.clip(_CELLS_PER_CUT * len(cuts), _LEAST_CELLS, _MOST_CELLS))
        low, high = (float(cuts[0]), float(cuts[-1])) if len(cuts) else (0.0, 0.0)
        # Without a usable width everything falls into one cell, and halving does all the work.
        scale = cells / (high - low) if 0.0 < high - low < np.inf else 0.0
        scale = scale if scale < np.inf else 0.0
        first = np.empty(cells + 1, dtype=np.int32)
        rowloops.fill_lookup(cuts, low, scale, first)
        return cls(np.append(cuts, np.inf), low, scale, first)


def make_columns(
    X: np.ndarray,
    *,
    max_bins: int,
    sample_weight: np.ndarray | None = None,
    thresholds: Callable[[int], np.ndarray | None] = lambda d: None,
    n_threads: int = 1,
) -> Columns:
    """Find the places of every feature of ``X`` and code its rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite numbers.
    max_bins : int
        Features with more distinct values are cut into at most this many bins.
    sample_weight : ndarray of shape (n_rows,), optional
        Positive weights; a weight of 2 counts as the row twice.
    thresholds : callable
        Maps a feature's number to the sorted cuts to use, or to None to find them in the data.
    n_threads : int
        Features are worked on by this many threads.

    Examples
    --------
    >>> columns = make_columns(np.array([[3.0], [1.0], [3.0]]), max_bins=256)
    >>> columns.columns[0].values, columns.codes
    (array([1., 3.]), array([[1, 0, 1]], dtype=uint8))
    """
    n_rows, n_features = X.shape
    given = [thresholds(d) for d in range(n_features)]
    most = max([min(max_bins, n_rows)] + [len(cuts) + 1 for cuts in given if cuts is not None])
    codes = np.empty((n_features, n_rows), dtype=_code_type(most))

    def work(d: int) -> Column:
        x = np.ascontiguousarray(X[:, d], dtype=np.float64)
        cuts = given[d]
        column = _make_column(x, sample_weight, max_bins) if cuts is None else _cut(x, cuts)
        lookup = Lookup.over(column.cuts)
        rowloops.encode(x, lookup.cuts, lookup.first, lookup.low, lookup.scale, codes[d])
        if cuts is not None:
            counts = np.bincount(codes[d], weights=sample_weight, minlength=len(cuts) + 1)
            column = replace(column, counts=counts.astype(np.float64))
        return column

    columns = tuple(share(work, range(n_features), n_threads))
    smallest = _code_type(max(len(column.values) for column in columns))
    return Columns(columns, codes.astype(smallest, copy=False))


def _code_type(n_places: int) -> np.dtype:
    return np.min_scalar_type(max(n_places - 1, 0))


def _make_column(x: np.ndarray, weight: np.ndarray | None, max_bins: int) -> Column:
    values, counts = _distinct(x, weight)
    low, high = float(values[0]), float(values[-1])
    if len(values) <= max_bins:
        return Column(values, middles(values[:-1], values[1:]), counts, low, high, exact=True)
    starts = _bin_starts(counts, max_bins)
    ends = np.append(starts[1:], len(values)) - 1
    totals = np.add.reduceat(counts, starts)
    share_of_bin = counts / np.repeat(totals, ends - starts + 1)
    means = np.clip(np.add.reduceat(share_of_bin * values, starts), values[starts], values[ends])
    cuts = middles(values[ends[:-1]], values[starts[1:]])
    return Column(means, cuts, totals, low, high, exact=False)


def _cut(x: np.ndarray, cuts: np.ndarray) -> Column:
    """Return the column of given cuts; each place stands at the middle between its cuts."""
    low, high = float(x.min()), float(x.max())
    edges = np.concatenate([[min([low, *cuts[:1]])], cuts, [max([high, *cuts[-1:]])]])
    values = edges[:-1] / 2 + edges[1:] / 2
    return Column(values, cuts, np.zeros(len(values)), low, high, exact=True)


def _distinct(x: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if weight is None:
        ordered = np.sort(x)
        ordered_weight = np.broadcast_to(1.0, x.shape)
    else:
        order = np.argsort(x, kind="stable")
        ordered, ordered_weight = x[order], weight[order]
    values, counts = np.empty_like(ordered), np.empty_like(ordered)
    size = rowloops.run_lengths(ordered, ordered_weight, values, counts)
    return values[:size].copy(), counts[:size].copy()


def _bin_starts(counts: np.ndarray, max_bins: int) -> np.ndarray:
    """Return the first distinct value of each bin.

    A value that fills a bin by itself counts as no more than one bin, so that the others share
    what is left.  Only total weights matter: a row twice and a weight of 2 give the same bins.
    """
    heavy = np.zeros(len(counts), dtype=bool)
    while True:
        cap = counts[~heavy].sum() / (max_bins - heavy.sum())
        grown = heavy | (counts > cap)
        if heavy.sum() == grown.sum() or grown.sum() >= max_bins:
            break
        heavy = grown
    capped = np.minimum(counts, cap)
    upto = np.cumsum(capped)
    bins = np.floor((upto - capped / 2) * (max_bins / upto[-1])).astype(np.int64)
    # A last value of next to no weight would round up into a bin too many.
    bins = np.minimum(bins, max_bins - 1)
    return np.flatnonzero(np.diff(bins, prepend=-1))


def middles(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return thresholds ``low < a <= high`` at the middle of each gap."""
    middle = low / 2 + high / 2
    return np.where(middle > low, middle, high)
