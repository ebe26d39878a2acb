"""What the chunks of a training table have in common, apart from their numbers.

A header has the columns of a table, the levels of its categories, and what is known of its labels.
Headers of chunks can be merged, and that of all chunks reads the rows of each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from everystump._tables.chunk_targets import ClassWeights, Numbers
from everystump._tables.frames import (
    Feature,
    as_supported_table,
    check_2d,
    check_column_names,
    is_frame,
    read_rows,
    read_table,
)
from everystump._tables.levels import merge_levels
from everystump._tables.validation import check_sample_weight
from everystump._text import truncate_list

# So many rows usually show whether a column has values.
_FEW_ROWS = 100


SOURCE = "everystump_source"
"""Key in the ``attrs`` of a pandas dataframe: the file that it comes from."""


class Chunk(NamedTuple):
    """Some rows of a training table: samples, labels, and weights if there are any."""

    X: Any
    y: Any
    sample_weight: Any = None

    def source(self, default: str) -> str:
        """Return how messages refer to the chunk: by its file, if it is known."""
        return str(getattr(self.X, "attrs", {}).get(SOURCE, default))


class ChunkRows(NamedTuple):
    """The rows of a chunk with positive weights."""

    X: np.ndarray  # (n_rows, n_features): numbers, and codes of levels
    label: np.ndarray  # (n_rows,): index of each row's class, or the number to predict
    weight: np.ndarray | None  # (n_rows,)
    input_index: np.ndarray  # (n_rows,): the index of each row in the chunk


@dataclass(frozen=True)
class TableHeader:
    """The columns and labels of some chunks.

    Messages call these chunks by the name of one of them, ``source``, and what a column holds by
    that of a chunk where it has values, an item of ``sources``; this is None if it has none.
    """

    features: tuple[Feature, ...]
    labels: Any  # `ChunkTargets`
    n_rows: int  # of positive weight
    n_input_rows: int
    has_weights: bool
    largest_weight: float
    smallest_weight: float
    source: str
    sources: tuple[str | None, ...]

    def merge(self, other: TableHeader) -> TableHeader:
        """Return the header of both tables; that of the other one if one has no rows."""
        if self.n_input_rows == 0 or other.n_input_rows == 0:
            return self if self.n_input_rows else other
        _check_same_columns(self, other)
        pairs = zip(self.sources, other.sources, strict=True)
        return TableHeader(
            tuple(_merge_features(self, other, d) for d in range(len(self.features))),
            self.labels.merge(other.labels, self.source, other.source),
            self.n_rows + other.n_rows,
            self.n_input_rows + other.n_input_rows,
            self.has_weights or other.has_weights,
            max(self.largest_weight, other.largest_weight),
            min(self.smallest_weight, other.smallest_weight),
            self.source,
            tuple(one or another for one, another in pairs),
        )

    def read(self, chunk: Chunk) -> ChunkRows:
        """Return the rows of a chunk of the table."""
        X = self.read_values(chunk.X)
        y, weight, index = _read_labels_and_weights(chunk, X, self.labels)
        if len(index) < len(X):
            X, y = X[index], y[index]
        return ChunkRows(X, self.labels.encode(y), weight, index)

    def read_values(self, X: Any) -> np.ndarray:
        """Return some samples as numbers and codes of levels."""
        X = as_supported_table(X)
        if not is_frame(X) and all(feature.levels is None for feature in self.features):
            numbers = _as_numbers(X)
            if numbers is not None:
                return numbers
        return read_rows(X, self.features)


@contextmanager
def name_source(source: str) -> Iterator[None]:
    """Add the name of a chunk, in which rows are counted, to errors."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{source[:1].upper()}{source[1:]}: {error}") from error


def read_chunk(
    chunk: Chunk,
    categorical_features: Any,
    targets: type[ClassWeights | Numbers],
    source: str,
) -> tuple[TableHeader, ChunkRows]:
    """Return the header of a chunk, and its rows with the codes of its own levels and labels.

    The header has only the levels that occur.
    """
    X, features = _read_new(chunk.X, categorical_features)
    y, weight, index = _read_labels_and_weights(chunk, X, targets)
    if len(index) < len(X):
        X, y = X[index], y[index]
    labels, encoded = targets.summarize(y, weight)
    used = tuple(_with_used_levels(feature, X[:, d]) for d, feature in enumerate(features))
    header = TableHeader(
        used,
        labels,
        len(X),
        len(chunk.X),
        weight is not None,
        1.0 if weight is None else float(weight.max(initial=0.0)),
        1.0 if weight is None else float(weight.min(initial=np.inf)),
        source,
        tuple(source if _has_values(X[:, d]) else None for d in range(len(used))),
    )
    return header, ChunkRows(X, encoded, weight, index)


def _with_used_levels(feature: Feature, x: np.ndarray) -> Feature:
    """Return a feature without levels that do not occur."""
    if feature.levels is None:
        return feature
    codes = x[~np.isnan(x)].astype(np.int64)
    return Feature(feature.name, feature.levels[np.bincount(codes, minlength=feature.n_levels) > 0])


def _has_values(x: np.ndarray) -> bool:
    return not (np.isnan(x[:_FEW_ROWS]).all() and np.isnan(x).all())


def _merge_features(first: TableHeader, second: TableHeader, d: int) -> Feature:
    """Return a column of two tables, or raise if it holds different kinds of values."""
    one, other = first.features[d], second.features[d]
    if one.levels is not None and other.levels is not None:
        return Feature(one.name, merge_levels(one.levels, other.levels))
    if one.levels is None and other.levels is None:
        return one
    numbers, categories = (first, second) if one.levels is None else (second, first)
    if numbers.sources[d] is not None and categories.sources[d] is not None:
        raise ValueError(
            f"X: column {one.display_name(d)} has numbers in {numbers.sources[d]} and categories "
            f"in {categories.sources[d]}; convert it to one kind, or list it in "
            f"categorical_features."
        )
    if numbers.sources[d] is not None:  # the categories have no values
        return numbers.features[d]
    return categories.features[d]


def _check_same_columns(first: TableHeader, second: TableHeader) -> None:
    names, others = ([feature.name for feature in table.features] for table in (first, second))
    if names == others:
        return
    if (None in names) != (None in others):
        named, unnamed = (second, first) if None in names else (first, second)
        raise ValueError(
            f"X: {named.source} has column names and {unnamed.source} has none; pass all chunks as "
            f"frames, or all as arrays."
        )
    if None in names:
        raise ValueError(
            f"X: {second.source} has {len(others)} columns and {first.source} has {len(names)}; "
            f"all chunks must have the same columns."
        )
    absent, extra = _missing_names(names, others), _missing_names(others, names)
    text = f"{second.source} has them in another order than {first.source}"
    if absent or extra:
        where, what = (second, absent) if absent else (first, extra)
        text = f"{where.source} has no {truncate_list(what, 5)}"
    raise ValueError(
        f"X: the columns differ between {first.source} and {second.source} ({text}); all chunks "
        f"must have the same columns in the same order."
    )


def _missing_names(names: Sequence, others: Sequence) -> list[str]:
    """Return the names that are not among other ones."""
    return [repr(name) for name in names if name not in others]


def _read_new(X: Any, categorical_features: Any) -> tuple[np.ndarray, tuple[Feature, ...]]:
    """Return a chunk as numbers and codes of its own levels, and its columns."""
    X = as_supported_table(X)
    if is_frame(X):
        check_column_names(X)
        return read_table(X, categorical_features)
    numbers = _as_numbers(X)
    lists_columns = not (categorical_features is None or isinstance(categorical_features, str))
    if numbers is None or lists_columns:
        return read_table(X, categorical_features)
    return numbers, (Feature(),) * numbers.shape[1]


def _as_numbers(X: Any) -> np.ndarray | None:
    """Return an array of numbers; None if it contains other objects."""
    check_2d(X)
    numbers = np.asarray(X)
    if numbers.dtype.kind in "OUSMm":
        return None
    return numbers if numbers.dtype in (np.float32, np.float64) else numbers.astype(np.float64)


def _read_labels_and_weights(
    chunk: Chunk, X: np.ndarray, targets: Any
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Return the labels of all rows, and weights and indices of those with positive weights."""
    y = targets.read(chunk.y)
    if y.shape != (len(X),):
        raise ValueError(
            f"y: a chunk of {len(X)} rows has labels of shape {y.shape}; pass one label per row."
        )
    if chunk.sample_weight is None:
        return y, None, np.arange(len(y))
    if len(y) == 0:
        return y, np.empty(0), np.arange(0)
    weight = check_sample_weight(chunk.sample_weight, X, allow_zeros=True)
    index = np.flatnonzero(weight)
    return y, weight[index], index


def check_no_infinity(x: np.ndarray, name: str) -> None:
    """Raise if a column contains infinity."""
    with np.errstate(all="ignore"):
        if np.isfinite(x.sum()):
            return
        check_finite_range(float(np.fmin.reduce(x)), float(np.fmax.reduce(x)), name)


def check_finite_range(low: float, high: float, name: str) -> None:
    """Raise if the smallest or the largest value of a column is infinite; NaN if it has none."""
    if np.isinf(low) or np.isinf(high):
        raise ValueError(
            f"X contains infinity in column {name}; replace it with a large number or NaN."
        )
