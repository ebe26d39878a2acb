"""Training tables in chunks: two passes, one that summarizes columns and labels, one that encodes.

`summarize_chunk` and `ChunkSummary.merge` find the columns of a table, the levels of its categories
and the bins of its numbers from its chunks, in any order and on any machine; `TablePlan` then reads
and encodes a chunk by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from everystump._core.chunk_columns import (
    BinSums,
    ColumnPlan,
    encode_columns,
    plan_code_type,
)
from everystump._core.columns import Column, map_columns
from everystump._core.measures import Measure
from everystump._core.sketches import ColumnSketch
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

# Sketches have too few entries for more bins.
MAX_CHUNK_BINS = 4096


class Chunk(NamedTuple):
    """Some rows of a training table: samples, labels, and weights if there are any."""

    X: Any
    y: Any
    sample_weight: Any = None


@dataclass(frozen=True)
class ChunkSummary:
    """What the rows of some chunks have in common: columns, labels, and sketches of the columns.

    The sketch of a category has no values, only the weight of missing ones.
    """

    features: tuple[Feature, ...]
    sketches: tuple[ColumnSketch, ...]
    labels: Any  # `ChunkTargets`
    n_rows: int  # of positive weight
    n_input_rows: int
    has_weights: bool
    largest_weight: float
    smallest_weight: float

    def merge(self, other: ChunkSummary) -> ChunkSummary:
        """Return the summary of the rows of both."""
        if self.n_input_rows == 0 or other.n_input_rows == 0:
            return self if self.n_input_rows else other
        _check_same_columns(self.features, other.features)
        merged = [
            _merge_columns(d, *pair)
            for d, pair in enumerate(
                zip(self.features, other.features, self.sketches, other.sketches, strict=True)
            )
        ]
        return ChunkSummary(
            tuple(feature for feature, _ in merged),
            tuple(sketch for _, sketch in merged),
            self.labels.merge(other.labels),
            self.n_rows + other.n_rows,
            self.n_input_rows + other.n_input_rows,
            self.has_weights or other.has_weights,
            max(self.largest_weight, other.largest_weight),
            min(self.smallest_weight, other.smallest_weight),
        )

    @property
    def rank_error(self) -> float:
        """A bound on the error of ranks in any column, as a fraction of all rows."""
        return max((sketch.rank_error for sketch in self.sketches), default=0.0)

    def plan(self, max_bins: int, measure: Measure) -> TablePlan:
        """Return the bins of all columns."""
        if max_bins > MAX_CHUNK_BINS:
            raise ValueError(
                f"max_bins={max_bins} is too large for data in chunks (a hard margin, C=inf, has "
                f"as many bins as samples); use at most {MAX_CHUNK_BINS} bins, or fit."
            )
        measure.check(len(self.features))
        columns = []
        for d, (feature, sketch) in enumerate(zip(self.features, self.sketches, strict=True)):
            cuts = measure.thresholds(d)
            if feature.levels is not None:
                columns.append(ColumnPlan.from_levels(feature.n_levels, sketch.missing))
            elif cuts is not None:
                columns.append(ColumnPlan.from_cuts(cuts, sketch))
            else:
                columns.append(ColumnPlan.from_sketch(sketch, max_bins))
        return TablePlan(self.features, tuple(columns), self.labels)


class ChunkRows(NamedTuple):
    """The rows of a chunk with positive weights."""

    X: np.ndarray  # (n_rows, n_features): numbers, and codes of levels
    label: np.ndarray  # (n_rows,): index of each row's class, or the number to predict
    weight: np.ndarray | None  # (n_rows,)
    input_index: np.ndarray  # (n_rows,): the index of each row in the chunk


@dataclass(frozen=True)
class TablePlan:
    """How the chunks of a table are encoded."""

    features: tuple[Feature, ...]
    columns: tuple[ColumnPlan, ...]
    labels: Any  # `ChunkTargets`

    @property
    def classes(self) -> np.ndarray:
        """The distinct labels."""
        return self.labels.classes

    @property
    def code_type(self) -> np.dtype:
        """The type of codes."""
        return plan_code_type(self.columns)

    def read(self, chunk: Chunk) -> ChunkRows:
        """Return the rows of a chunk."""
        X = _read_planned(chunk.X, self.features)
        y, weight, index = _read_labels_and_weights(chunk, X, self.labels)
        if len(index) < len(X):
            X, y = X[index], y[index]
        return ChunkRows(X, self.labels.encode(y), weight, index)

    def encode(self, rows: ChunkRows, out: np.ndarray, n_threads: int = 1) -> list[BinSums]:
        """Write the codes of rows, of shape (n_features, n_rows); return the sums by column."""
        return encode_columns(rows.X, rows.weight, self.columns, out, n_threads)

    def finish(self, sums: Sequence[BinSums]) -> tuple[Column, ...]:
        """Return the columns, given the sums over all rows."""
        return tuple(plan.finish(own) for plan, own in zip(self.columns, sums, strict=True))


def summarize_chunk(
    chunk: Chunk,
    categorical_features: Any = "from_dtype",
    n_threads: int = 1,
    targets: type[ClassWeights | Numbers] = ClassWeights,
) -> ChunkSummary:
    """Return the summary of a chunk."""
    X, features = _read_new(chunk.X, categorical_features)
    y, weight, index = _read_labels_and_weights(chunk, X, targets)
    if len(index) < len(X):
        X, y = X[index], y[index]
    labels = targets.summarize(y, weight)

    def sketch(d: int, x: np.ndarray) -> tuple[Feature, ColumnSketch]:
        _check_no_infinity(x, features[d].display_name(d))
        return _sketch_column(features[d], x, weight)

    sketched = map_columns(sketch, X, n_threads)
    return ChunkSummary(
        tuple(feature for feature, _ in sketched),
        tuple(column for _, column in sketched),
        labels,
        len(X),
        len(chunk.X),
        weight is not None,
        1.0 if weight is None else float(weight.max(initial=0.0)),
        1.0 if weight is None else float(weight.min(initial=np.inf)),
    )


def _sketch_column(
    feature: Feature, x: np.ndarray, weight: np.ndarray | None
) -> tuple[Feature, ColumnSketch]:
    """Return a feature without unused levels, and the sketch of its values."""
    if feature.levels is None:
        return feature, ColumnSketch.from_values(x, weight)
    is_missing = np.isnan(x)
    used = np.bincount(x[~is_missing].astype(np.int64), minlength=feature.n_levels) > 0
    missing = is_missing.sum() if weight is None else weight[is_missing].sum()
    sketch = replace(ColumnSketch.from_values(np.empty(0)), missing=float(missing))
    return Feature(feature.name, feature.levels[used]), sketch


def _merge_columns(
    d: int, first: Feature, second: Feature, sketch: ColumnSketch, other: ColumnSketch
) -> tuple[Feature, ColumnSketch]:
    """Return the feature and the sketch of a column of two tables."""
    merged = sketch.merge(other)
    if first.levels is None and second.levels is None:
        return first, merged
    for numeric, values in ((first, sketch), (second, other)):
        if numeric.levels is None and len(values.values):
            raise ValueError(
                f"X: column {first.display_name(d)} has numbers in one chunk and categories in "
                f"another; convert it to one kind, or list it in categorical_features."
            )
    if first.levels is None or second.levels is None:  # without values
        return first if second.levels is None else second, merged
    return Feature(first.name, merge_levels(first.levels, second.levels)), merged


def _check_same_columns(first: Sequence[Feature], second: Sequence[Feature]) -> None:
    names, others = ([feature.name for feature in features] for features in (first, second))
    if names == others:
        return
    if (None in names) != (None in others):
        raise ValueError(
            "X: a chunk has column names and another one has none; pass all chunks as frames, or "
            "all as arrays."
        )
    if None in names:
        raise ValueError(
            f"X: a chunk has {len(others)} columns and another one {len(names)}; all chunks must "
            f"have the same columns."
        )
    missing = [repr(name) for name in names if name not in others]
    extra = [repr(name) for name in others if name not in names]
    text = "in another order"
    if missing or extra:
        text = f"{truncate_list(missing or extra, 5)} not in all of them"
    raise ValueError(
        f"X: the columns differ between chunks ({text}); all chunks must have the same columns in "
        f"the same order."
    )


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


def _read_planned(X: Any, features: tuple[Feature, ...]) -> np.ndarray:
    """Return a chunk as numbers and codes of known levels."""
    X = as_supported_table(X)
    if not is_frame(X) and all(feature.levels is None for feature in features):
        numbers = _as_numbers(X)
        if numbers is not None:
            return numbers
    return read_rows(X, features)


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


def _check_no_infinity(x: np.ndarray, name: str) -> None:
    with np.errstate(all="ignore"):
        if np.isfinite(x.sum()):
            return
    if np.isinf(x).any():
        raise ValueError(
            f"X contains infinity in column {name}; replace it with a large number or NaN."
        )
