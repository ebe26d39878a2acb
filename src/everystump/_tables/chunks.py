"""Training tables in chunks: two passes, one that summarizes columns and labels, one that encodes.

`summarize_chunk` and `ChunkSummary.merge` find the columns of a table, the levels of its categories
and the bins of its numbers from its chunks; `TablePlan` then encodes the rows of a chunk, which
`TableHeader` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from everystump._tables.headers import Chunk, ChunkRows, TableHeader, check_no_infinity, read_chunk

# Sketches have too few entries for more bins.
MAX_CHUNK_BINS = 4096


@dataclass(frozen=True)
class ChunkSummary:
    """What the rows of some chunks have in common: columns, labels, and sketches of the columns.

    The sketch of a category has no values, only the weight of missing ones.
    """

    header: TableHeader
    sketches: tuple[ColumnSketch, ...]

    def merge(self, other: ChunkSummary) -> ChunkSummary:
        """Return the summary of the rows of both."""
        header = self.header.merge(other.header)
        if header is self.header or header is other.header:  # the other one has no rows
            return self if header is self.header else other
        pairs = zip(self.sketches, other.sketches, strict=True)
        return ChunkSummary(header, tuple(sketch.merge(one) for sketch, one in pairs))

    @property
    def rank_error(self) -> float:
        """A bound on the error of ranks in any column, as a fraction of all rows."""
        return max((sketch.rank_error for sketch in self.sketches), default=0.0)

    def plan(self, max_bins: int, measure: Measure) -> TablePlan:
        """Return the bins of all columns."""
        features = self.header.features
        check_chunk_bins(max_bins)
        measure.check(len(features))
        columns = []
        for d, (feature, sketch) in enumerate(zip(features, self.sketches, strict=True)):
            cuts = measure.thresholds(d)
            if feature.levels is not None:
                columns.append(ColumnPlan.from_levels(feature.n_levels, sketch.missing))
            elif cuts is not None:
                columns.append(ColumnPlan.from_cuts(cuts, sketch))
            else:
                columns.append(ColumnPlan.from_sketch(sketch, max_bins))
        return TablePlan(self.header, tuple(columns))


def check_chunk_bins(max_bins: int) -> None:
    """Raise if data in chunks cannot have so many bins."""
    if max_bins > MAX_CHUNK_BINS:
        raise ValueError(
            f"max_bins={max_bins} is too large for data in chunks (a hard margin, C=inf, has as "
            f"many bins as samples); use at most {MAX_CHUNK_BINS} bins, or fit."
        )


@dataclass(frozen=True)
class TablePlan:
    """How the chunks of a table are encoded."""

    header: TableHeader
    columns: tuple[ColumnPlan, ...]

    @property
    def classes(self) -> np.ndarray:
        """The distinct labels."""
        return self.header.labels.classes

    @property
    def code_type(self) -> np.dtype:
        """The type of codes."""
        return plan_code_type(self.columns)

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
    source: str = "a chunk",
) -> ChunkSummary:
    """Return the summary of a chunk, which messages call ``source``."""
    header, rows = read_chunk(chunk, categorical_features, targets, source)

    def sketch(d: int, x: np.ndarray) -> ColumnSketch:
        if header.features[d].levels is not None:
            return _sketch_category(x, rows.weight)
        check_no_infinity(x, header.features[d].display_name(d))
        return ColumnSketch.from_values(x, rows.weight)

    return ChunkSummary(header, tuple(map_columns(sketch, rows.X, n_threads)))


def _sketch_category(x: np.ndarray, weight: np.ndarray | None) -> ColumnSketch:
    """Return a sketch without values."""
    is_missing = np.isnan(x)
    return ColumnSketch.from_values(
        np.full(int(is_missing.sum()), np.nan), None if weight is None else weight[is_missing]
    )
