"""From a table of numbers to columns: places and an integer code for each row.

A feature with at most ``max_bins`` distinct values keeps every one of them as a place; a richer
one is cut into bins of about equal weight.  A category has a place for each level.  Rows are seen
by everything above this room only through their codes.

The places of a feature form a tree, and each of its edges is a stump, "is it on the far side?":

- numbers are a path from the smallest value on: every edge is a threshold;
- a missing value is a leaf that hangs on the place of the median: where it counts as a typical
  value for the thresholds, its own edge asks "is it missing?";
- the levels of a category are the leaves of a star around a hub that no row is at: each edge asks
  "is it this level?".  A missing value is one leaf more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from everystump._core.binning import Values, bin_starts, encode, find_values, n_numeric_bins
from everystump._core.threads import share

_BARS = 30
# How much of a table is read at a time.
_COLUMNS_READ, _ROWS_READ = 2, 4096
# Columns of fewer rows are mostly Python, at which threads only wait for each other.
_ROWS_WORTH_SHARING = 5000
_MOST_SHOWN = 256


@dataclass(frozen=True, eq=False)
class Column:
    """The places of one feature.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        The value that stands for each place, ascending; the numbers of a category's levels.
    cuts : ndarray of shape (n_values - 1,)
        Value ``k`` stands for the rows with ``cuts[k - 1] <= x < cuts[k]``.
    counts : ndarray of shape (n_values,)
        Total sample weight of the rows of each value.
    low, high : float
        The range of the feature: the smallest and the largest value, or wider if so wished.
    exact : bool
        Whether nothing was lost: every distinct value is a place of its own, or the cuts are the
        only thresholds that may vote.
    missing : float
        Total sample weight of the rows without a value; they have a place if there are any.
    is_category : bool
        Whether the values are the numbers of levels.
    """

    values: np.ndarray
    cuts: np.ndarray
    counts: np.ndarray
    low: float
    high: float
    exact: bool
    missing: float = 0.0
    is_category: bool = False

    @property
    def n_bins(self) -> int:
        """How many places there are: a hub, values, and one for what is missing, where needed."""
        return self.is_category + len(self.values) + (self.missing > 0)

    @property
    def first(self) -> int:
        """The place of the first value."""
        return int(self.is_category)

    @property
    def missing_bin(self) -> int:
        """The place of a missing value, if it has one."""
        return self.first + len(self.values)

    @property
    def missing_parent(self) -> int:
        """The place on which that of a missing value hangs: the median's, or the hub."""
        if self.is_category:
            return 0
        upto = np.cumsum(self.counts)
        return int(np.searchsorted(upto, upto[-1] / 2))

    @cached_property
    def weights(self) -> np.ndarray:
        """Total sample weight of the rows at each place."""
        hub = [np.zeros(self.first), self.counts]
        return np.concatenate([*hub, [self.missing]] if self.missing > 0 else hub)

    @property
    def parents(self) -> np.ndarray:
        """The place that each place hangs on; the first one, the root, on itself."""
        places = np.arange(self.n_bins)
        parents = np.zeros_like(places) if self.is_category else np.maximum(places - 1, 0)
        if self.missing > 0:
            parents[self.missing_bin] = self.missing_parent
        return parents

    def beyond(self, place: int) -> np.ndarray:
        """Return which places lie beyond the edge to a place: the side where its stump says yes."""
        places = np.arange(self.n_bins)
        if place == 0:
            return places >= 0
        if self.is_category or place == self.missing_bin:
            return places == place
        side = places >= place
        if self.missing > 0:
            side[self.missing_bin] = self.missing_parent >= place
        return side

    def bin_of(self, threshold: float, level: int) -> int:
        """Return the place beyond the edge of a stump; see `everystump._core.boosting.Stump`."""
        if np.isposinf(threshold):
            return self.missing_bin
        if level >= 0:
            return self.first + level
        return int(np.searchsorted(self.values, threshold)) if threshold > -np.inf else 0


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
        return np.array([column.n_bins for column in self.columns])

    @property
    def exact(self) -> bool:
        """Whether no feature was binned."""
        return all(column.exact for column in self.columns)

    def density(self) -> tuple[RowDensity, ...]:
        """Return where the rows lie in each feature."""
        return tuple(_density(column) for column in self.columns)


@dataclass(frozen=True, eq=False)
class RowDensity:
    """Where the training rows lie in one feature, in at most 256 places.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Values, or the numbers of levels.
    counts : ndarray of shape (n_values,)
        Total sample weight of the rows there.
    missing : float
        That of the rows without a value.
    """

    values: np.ndarray
    counts: np.ndarray
    missing: float

    def bars(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Return where bars of the rows stand, how many each has, and how wide it is.

        They stand at the values, or in even bins from ``low`` to ``high`` if those are too close.
        """
        ends = (low, high) if high > low else (low - 0.5, high + 0.5)
        width = (ends[1] - ends[0]) / _BARS
        if len(self.values) <= _BARS and not np.any(np.diff(self.values) < width):
            return self.values, self.counts, width
        counts, edges = np.histogram(self.values, _BARS, range=ends, weights=self.counts)
        return (edges[:-1] + edges[1:]) / 2, counts, width


class ColumnSource(Protocol):
    """A table that is read a few columns at a time, so that it need not lie in memory as floats."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""

    def read(self, first: int, out: np.ndarray) -> None:
        """Write some columns from ``first`` on into the rows of ``out``, NaN being missing."""


@dataclass(frozen=True)
class _Array:
    """An array as a source of columns."""

    X: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def read(self, first: int, out: np.ndarray) -> None:
        # Columns that lie side by side are read together, as they come from memory.
        part = self.X[:, first : first + len(out)]
        for lo in range(0, len(part), _ROWS_READ):
            out[:, lo : lo + _ROWS_READ] = part[lo : lo + _ROWS_READ].T


def make_columns(
    X: np.ndarray | ColumnSource,
    *,
    max_bins: int,
    n_levels: Sequence[int] | None = None,
    sample_weight: np.ndarray | None = None,
    thresholds: Callable[[int], np.ndarray | None] = lambda d: None,
    n_threads: int = 1,
) -> Columns:
    """Find the places of every feature of ``X`` and code its rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), or ColumnSource
        Finite numbers, or NaN where a value is missing.
    max_bins : int
        Features of numbers with more distinct values are cut into so few bins, two at least, that
        their places, that of a missing value included, are at most this many.
    n_levels : sequence of int, optional
        How many levels each category has, whose numbers stand in ``X``; 0 for numbers.
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
    table = _Array(X) if isinstance(X, np.ndarray) else X
    n_rows, n_features = table.shape
    levels = np.zeros(n_features, dtype=int) if n_levels is None else np.asarray(n_levels)
    given = [thresholds(d) for d in range(n_features)]
    cut = [len(cuts) + 2 for cuts in given if cuts is not None]
    most = max([min(max_bins, n_rows), *cut, *(levels + 2)])
    codes = np.empty((n_features, n_rows), dtype=_code_type(most))

    def code(d: int, x: np.ndarray) -> Column:
        if levels[d]:
            return _code_levels(x, int(levels[d]), sample_weight, codes[d])
        cuts = given[d]
        if cuts is None:
            found = find_values(x, sample_weight, max_bins)
            column = _make_column(found, max_bins)
            found.encode(x, column.cuts, len(column.values), codes[d])
            return column
        column = _cut(x, cuts)
        encode(x, cuts, len(column.values), codes[d])
        return _count(column, codes[d], sample_weight)

    n_threads = n_threads if n_rows >= _ROWS_WORTH_SHARING else 1
    step = _COLUMNS_READ if n_features >= 2 * _COLUMNS_READ * n_threads else 1

    # Memory that was used before costs less than new memory.
    buffers: list[np.ndarray] = []

    def work(first: int) -> list[Column]:
        buffer = buffers.pop() if buffers else np.empty((step, n_rows))
        numbers = buffer[: n_features - first]
        table.read(first, numbers)
        columns = [code(first + k, x) for k, x in enumerate(numbers)]
        buffers.append(buffer)
        return columns

    parts = share(work, range(0, n_features, step), n_threads)
    columns = tuple(column for part in parts for column in part)
    smallest = _code_type(max(column.n_bins for column in columns))
    return Columns(columns, codes.astype(smallest, copy=False))


def _density(column: Column) -> RowDensity:
    values, counts = column.values, column.counts
    if len(values) > _MOST_SHOWN and not column.is_category:
        starts = bin_starts(counts, _MOST_SHOWN)
        weighted = np.add.reduceat(counts * values, starts)
        counts = np.add.reduceat(counts, starts)
        values = weighted / counts
    return RowDensity(values, counts, column.missing)


def _code_type(n_bins: int) -> np.dtype:
    return np.min_scalar_type(max(n_bins - 1, 0))


def _make_column(found: Values, max_bins: int) -> Column:
    values, counts, missing = found.values, found.counts, found.missing
    if len(values) == 0:
        return Column(np.zeros(1), np.empty(0), np.zeros(1), 0.0, 0.0, True, missing)
    low, high = float(values[0]), float(values[-1])
    room = n_numeric_bins(max_bins, missing)
    if len(values) <= room:
        return Column(values, middles(values[:-1], values[1:]), counts, low, high, True, missing)
    starts = bin_starts(counts, room) if found.starts is None else found.starts
    ends = np.append(starts[1:], len(values)) - 1
    totals = np.add.reduceat(counts, starts)
    share_of_bin = counts / np.repeat(totals, ends - starts + 1)
    means = np.clip(np.add.reduceat(share_of_bin * values, starts), values[starts], values[ends])
    cuts = middles(values[ends[:-1]], values[starts[1:]])
    return Column(means, cuts, totals, low, high, False, missing)


def _cut(x: np.ndarray, cuts: np.ndarray) -> Column:
    """Return the column of given cuts, yet without counts; values stand midway between them."""
    with np.errstate(all="ignore"):
        low, high = np.fmin.reduce(x), np.fmax.reduce(x)
    low, high = (0.0, 0.0) if np.isnan(low) else (float(low), float(high))
    edges = np.concatenate([[min([low, *cuts[:1]])], cuts, [max([high, *cuts[-1:]])]])
    values = edges[:-1] / 2 + edges[1:] / 2
    return Column(values, cuts, np.zeros(len(values)), low, high, exact=True)


def _count(column: Column, codes: np.ndarray, weight: np.ndarray | None) -> Column:
    """Return the column with the weights of the rows that were coded."""
    size = column.first + len(column.values)
    counts = np.bincount(codes, weights=weight, minlength=size + 1).astype(np.float64)
    return replace(column, counts=counts[column.first : size], missing=float(counts[size]))


def _code_levels(
    x: np.ndarray, n_levels: int, weight: np.ndarray | None, codes: np.ndarray
) -> Column:
    """Code the numbers of levels; return their column."""
    numbers = np.arange(n_levels, dtype=np.float64)
    column = Column(
        numbers, numbers[1:] - 0.5, np.zeros(n_levels), 0.0, n_levels - 1.0, True, is_category=True
    )
    np.copyto(codes, np.where(np.isnan(x), n_levels, x) + 1, casting="unsafe")
    return _count(column, codes, weight)


def middles(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return thresholds ``low < a <= high`` at the middle of each gap."""
    middle = low / 2 + high / 2
    return np.where(middle > low, middle, high)
