"""From a table of numbers to binned columns: the bins of each feature, and a code for each row.

A feature with at most ``max_bins`` distinct values has a bin for each of them; one with more is
cut into bins of about equal weight.  A category has a bin for each level.  All higher
modules use only the codes of the rows, the numbers of their bins.

The bins of a feature form a tree, and each edge of the tree is a stump that separates the bins
beyond the edge from the rest:

- numbers are a path that starts at the smallest value; every edge is a threshold;
- missing values are a leaf whose parent is the bin of the median: thresholds treat a missing value
  as a typical one, and the edge of the leaf is the stump "is missing";
- the levels of a category are the leaves of a star around an empty root bin; each edge is a stump
  "is this level".  Missing values are one more leaf.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from everystump._core.binning import DistinctValues, bin_starts, find_values, n_numeric_bins
from everystump._core.lookup import encode
from everystump._core.sparse import SparseTable
from everystump._core.threads import thread_map

R = TypeVar("R")

# How much of a table is read at a time.
_COLUMNS_PER_READ, _ROWS_PER_READ = 2, 4096
# Shorter columns spend most of their time in Python code, which threads cannot run in parallel.
_MIN_ROWS_FOR_THREADS = 5000
# The maximum number of values of a row density, and of bars of its histogram.
_MAX_DENSITY_VALUES, _N_BARS = 256, 30


@dataclass(frozen=True, eq=False)
class Column:
    """The bins of one feature.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        The representative value of each bin of values, ascending; the codes of a category's levels.
    cuts : ndarray of shape (n_values - 1,)
        Value ``k`` represents the rows with ``cuts[k - 1] <= x < cuts[k]``.
    counts : ndarray of shape (n_values,)
        Total sample weight of the rows of each value.
    low, high : float
        The range of the feature: its smallest and largest value, or a wider range set by the user.
    exact : bool
        Whether binning is lossless: every distinct value has its own bin, or the cuts are the only
        thresholds of the ensemble.
    missing : float
        Total sample weight of the rows with a missing value; they have a bin if it is positive.
    is_category : bool
        Whether the values are the codes of levels.
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
        """The number of bins: the root of a category, the values, and missing values if any."""
        return self.is_category + len(self.values) + (self.missing > 0)

    @property
    def first(self) -> int:
        """The bin of the first value."""
        return int(self.is_category)

    @property
    def missing_bin(self) -> int:
        """The bin of missing values, if any."""
        return self.first + len(self.values)

    @property
    def missing_parent(self) -> int:
        """The parent of the bin of missing values: the bin of the median, or a category's root."""
        if self.is_category:
            return 0
        cumulative = np.cumsum(self.counts)
        return int(np.searchsorted(cumulative, cumulative[-1] / 2))

    @cached_property
    def weights(self) -> np.ndarray:
        """Total sample weight of the rows in each bin."""
        parts = [np.zeros(self.first), self.counts]
        return np.concatenate([*parts, [self.missing]] if self.missing > 0 else parts)

    @property
    def varies(self) -> bool:
        """Whether rows of positive weight are in more than one bin."""
        return int(np.count_nonzero(self.weights)) > 1

    @property
    def parents(self) -> np.ndarray:
        """The parent of each bin; the first bin, the root, is its own parent."""
        bins = np.arange(self.n_bins)
        parents = np.zeros_like(bins) if self.is_category else np.maximum(bins - 1, 0)
        if self.missing > 0:
            parents[self.missing_bin] = self.missing_parent
        return parents

    @property
    def is_leaf(self) -> np.ndarray:
        """Which bins are levels or missing values, not part of a path of numbers."""
        bins = np.arange(self.n_bins)
        return self.is_category & (bins > 0) | (bins == self.missing_bin)

    def beyond(self, k: int) -> np.ndarray:
        """Return which bins lie beyond the edge to bin ``k``, where its stump votes +1."""
        bins = np.arange(self.n_bins)
        if k == 0:
            return bins >= 0
        if self.is_category or k == self.missing_bin:
            return bins == k
        beyond = bins >= k
        if self.missing > 0:
            beyond[self.missing_bin] = self.missing_parent >= k
        return beyond

    def bin_of(self, threshold: float, level: int) -> int:
        """Return the bin beyond the edge of a stump; see `Stump`."""
        if np.isposinf(threshold):
            return self.missing_bin
        if level >= 0:
            return self.first + level
        return int(np.searchsorted(self.values, threshold)) if threshold > -np.inf else 0


@dataclass(frozen=True, eq=False)
class Columns:
    """All features of a training table."""

    columns: tuple[Column, ...]
    codes: np.ndarray  # (n_features, n_rows): bins, in the smallest unsigned type that fits

    @property
    def sizes(self) -> np.ndarray:
        """The number of bins of each feature."""
        return np.array([column.n_bins for column in self.columns])

    @property
    def exact(self) -> bool:
        """Whether binning is lossless in every feature."""
        return all(column.exact for column in self.columns)

    def density(self) -> tuple[RowDensity, ...]:
        """Return the distribution of the rows in each feature."""
        return tuple(_density(column) for column in self.columns)


@dataclass(frozen=True, eq=False)
class RowDensity:
    """The distribution of the training rows in one feature, as at most 256 values."""

    values: np.ndarray  # (n_values,): values, or the codes of levels
    counts: np.ndarray  # (n_values,): total sample weight of the rows at each
    missing: float  # total sample weight of the rows with a missing value

    def bars(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the centers, heights and common width of the bars of a histogram.

        The bars are at the values, or in bins of equal width from ``low`` to ``high`` if the values
        are too close to each other.
        """
        ends = (low, high) if high > low else (low - 0.5, high + 0.5)
        width = (ends[1] - ends[0]) / _N_BARS
        if len(self.values) <= _N_BARS and not np.any(np.diff(self.values) < width):
            return self.values, self.counts, width
        counts, edges = np.histogram(self.values, _N_BARS, range=ends, weights=self.counts)
        return (edges[:-1] + edges[1:]) / 2, counts, width


def _read(X: np.ndarray | SparseTable, first: int, out: np.ndarray) -> None:
    """Write the columns from ``first`` on into the rows of ``out``."""
    if not isinstance(X, np.ndarray):
        X.read(first, out)
        return
    # Neighboring columns share cache lines, so they are read together.
    part = X[:, first : first + len(out)]
    for lo in range(0, len(part), _ROWS_PER_READ):
        out[:, lo : lo + _ROWS_PER_READ] = part[lo : lo + _ROWS_PER_READ].T


def map_columns(
    work: Callable[[int, np.ndarray], R], X: np.ndarray | SparseTable, n_threads: int
) -> list[R]:
    """Return ``work(d, x)`` for each column ``x`` of ``X``, a buffer of floats that is reused.

    Examples
    --------
    >>> map_columns(lambda d, x: (d, x.sum()), np.array([[1, 2], [3, 4]]), n_threads=1)
    [(0, np.float64(4.0)), (1, np.float64(6.0))]
    """
    n_rows, n_features = X.shape
    n_threads = n_threads if n_rows >= _MIN_ROWS_FOR_THREADS else 1
    step = _COLUMNS_PER_READ if n_features >= 2 * _COLUMNS_PER_READ * n_threads else 1
    workspace = threading.local()

    def map_some(first: int) -> list[R]:
        # Each thread reuses one buffer, because the first access to new memory is slow.
        if not hasattr(workspace, "buffer"):
            workspace.buffer = np.empty((step, n_rows))
        numbers = workspace.buffer[: n_features - first]
        _read(X, first, numbers)
        return [work(first + k, x) for k, x in enumerate(numbers)]

    parts = thread_map(map_some, range(0, n_features, step), n_threads)
    return [result for part in parts for result in part]


def make_columns(
    X: np.ndarray | SparseTable,
    *,
    max_bins: int,
    n_levels: Sequence[int] | None = None,
    sample_weight: np.ndarray | None = None,
    thresholds: Callable[[int], np.ndarray | None] = lambda d: None,
    n_threads: int = 1,
) -> Columns:
    """Find the bins of every feature of ``X`` and encode its rows; NaN is a missing value.

    ``max_bins`` includes the bin of missing values; there are at least two bins for values.
    ``n_levels`` are the numbers of levels of categories, whose codes are in ``X``, and 0 for
    numbers.  ``thresholds`` maps the index of a feature to its sorted cuts, or to None to find them
    in the data.

    Examples
    --------
    >>> columns = make_columns(np.array([[3.0], [1.0], [3.0]]), max_bins=256)
    >>> columns.columns[0].values, columns.codes
    (array([1., 3.]), array([[1, 0, 1]], dtype=uint8))
    """
    n_rows, n_features = X.shape
    levels = np.zeros(n_features, dtype=int) if n_levels is None else np.asarray(n_levels)
    fixed_cuts = [thresholds(d) for d in range(n_features)]
    fixed_sizes = [len(cuts) + 2 for cuts in fixed_cuts if cuts is not None]
    most_bins = max([min(max_bins, n_rows), *fixed_sizes, *(levels + 2)])
    codes = np.empty((n_features, n_rows), dtype=code_type(most_bins))
    encoder = _Encoder(levels, fixed_cuts, max_bins, sample_weight, codes)
    columns = tuple(map_columns(encoder.encode, X, n_threads))
    smallest = code_type(max(column.n_bins for column in columns))
    return Columns(columns, codes.astype(smallest, copy=False))


@dataclass(frozen=True)
class _Encoder:
    """Finds the bins of one feature at a time and writes the codes of its rows."""

    levels: np.ndarray
    cuts: list[np.ndarray | None]
    max_bins: int
    weight: np.ndarray | None
    codes: np.ndarray

    def encode(self, d: int, x: np.ndarray) -> Column:
        """Return the column of feature ``d`` with values ``x``."""
        codes, cuts = self.codes[d], self.cuts[d]
        if self.levels[d]:
            return _encode_levels(x, int(self.levels[d]), self.weight, codes)
        if cuts is None:
            distinct = find_values(x, self.weight, self.max_bins)
            column = _binned_column(distinct, self.max_bins)
            distinct.encode(x, column.cuts, len(column.values), codes)
            return column
        column = _cut_column(x, cuts)
        encode(x, cuts, len(column.values), codes)
        return _with_counts(column, codes, self.weight)


def _density(column: Column) -> RowDensity:
    values, counts = column.values, column.counts
    if not column.is_category:
        values, counts = _summarize_density(values, counts)
    return RowDensity(values, counts, column.missing)


def _summarize_density(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a limited number of values and their weights."""
    if len(values) <= _MAX_DENSITY_VALUES:
        return values, counts
    starts = bin_starts(counts, _MAX_DENSITY_VALUES)
    weighted = np.add.reduceat(counts * values, starts)
    counts = np.add.reduceat(counts, starts)
    return weighted / counts, counts


def merge_densities(
    densities: Sequence[RowDensity], codes: Sequence[np.ndarray | None]
) -> RowDensity:
    """Return the distribution of the rows of several tables in one feature.

    ``codes`` are the codes of the levels of each table in the merged table, None for numbers.
    """
    own = [
        density.values if code is None else code[density.values.astype(int)]
        for density, code in zip(densities, codes, strict=True)
    ]
    values, index = np.unique(np.concatenate(own), return_inverse=True)
    counts = np.bincount(index, np.concatenate([density.counts for density in densities]))
    if codes[0] is None:
        values, counts = _summarize_density(values, counts)
    missing = sum(density.missing for density in densities)
    return RowDensity(values.astype(np.float64), counts, float(missing))


def code_type(n_bins: int) -> np.dtype:
    """Return the smallest unsigned type for codes of so many bins."""
    return np.min_scalar_type(max(n_bins - 1, 0))


def _binned_column(distinct: DistinctValues, max_bins: int) -> Column:
    """Return the column of distinct values, cut into bins if there are too many of them."""
    values, counts, missing = distinct.values, distinct.counts, distinct.missing
    if len(values) == 0:
        return Column(np.zeros(1), np.empty(0), np.zeros(1), 0.0, 0.0, True, missing)
    low, high = float(values[0]), float(values[-1])
    n_bins = n_numeric_bins(max_bins, missing)
    if len(values) <= n_bins:
        return Column(values, midpoints(values[:-1], values[1:]), counts, low, high, True, missing)
    starts = bin_starts(counts, n_bins) if distinct.starts is None else distinct.starts
    ends = np.append(starts[1:], len(values)) - 1
    totals = np.add.reduceat(counts, starts)
    weights = counts / np.repeat(totals, ends - starts + 1)
    means = np.clip(np.add.reduceat(weights * values, starts), values[starts], values[ends])
    cuts = midpoints(values[ends[:-1]], values[starts[1:]])
    return Column(means, cuts, totals, low, high, False, missing)


def _cut_column(x: np.ndarray, cuts: np.ndarray) -> Column:
    """Return the column with fixed cuts, its values midway between them, without counts."""
    with np.errstate(all="ignore"):
        low, high = np.fmin.reduce(x), np.fmax.reduce(x)
    low, high = (0.0, 0.0) if np.isnan(low) else (float(low), float(high))
    edges = np.concatenate([[min([low, *cuts[:1]])], cuts, [max([high, *cuts[-1:]])]])
    values = edges[:-1] / 2 + edges[1:] / 2
    return Column(values, cuts, np.zeros(len(values)), low, high, exact=True)


def _with_counts(column: Column, codes: np.ndarray, weight: np.ndarray | None) -> Column:
    """Return the column with the weights of the encoded rows."""
    size = column.first + len(column.values)
    counts = np.bincount(codes, weights=weight, minlength=size + 1).astype(np.float64)
    return replace(column, counts=counts[column.first : size], missing=float(counts[size]))


def _encode_levels(
    x: np.ndarray, n_levels: int, weight: np.ndarray | None, codes: np.ndarray
) -> Column:
    """Encode a category; return its column."""
    levels = np.arange(n_levels, dtype=np.float64)
    column = Column(
        levels, levels[1:] - 0.5, np.zeros(n_levels), 0.0, n_levels - 1.0, True, is_category=True
    )
    np.copyto(codes, np.where(np.isnan(x), n_levels, x) + 1, casting="unsafe")
    return _with_counts(column, codes, weight)


def midpoints(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return thresholds ``low < a <= high`` at the middle of each gap; ``high`` if it is empty."""
    middle = low / 2 + high / 2
    return np.where((low < middle) & (middle < high), middle, high)


def widen(columns: Columns, feature_range: np.ndarray) -> Columns:
    """Return the columns with the ranges [L, R] set by the user."""
    low, high = feature_range.T
    for d, column in enumerate(columns.columns):
        if column.is_category:
            continue
        if not (low[d] <= column.low and column.high <= high[d]):
            raise ValueError(
                f"feature_range: [{low[d]:g}, {high[d]:g}] does not contain feature {d}, whose "
                f"values range from {column.low:g} to {column.high:g}; widen the range."
            )
    return replace(
        columns,
        columns=tuple(
            column if column.is_category else replace(column, low=float(a), high=float(b))
            for column, a, b in zip(columns.columns, low, high, strict=True)
        ),
    )
