"""Reads a training table from chunks: one pass finds its bins, the next one encodes its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from everystump._core.chunk_columns import add_sums
from everystump._core.columns import Columns
from everystump._core.measures import Measure
from everystump._scratch import ScratchSpace
from everystump._sklearn_compat import check_columns, num_samples
from everystump._tables.chunks import (
    Chunk,
    ChunkSummary,
    EncodedChunk,
    TablePlan,
    summarize_chunk,
)
from everystump._tables.labels import label_type
from everystump._tables.row_hashes import RowHashes
from everystump._tables.training_table import TrainingTable, class_factors
from everystump._tables.validation import check_n_classes


class ReadTable(NamedTuple):
    """A training table without its values, and its encoded columns."""

    table: TrainingTable
    columns: Columns


@dataclass(frozen=True)
class ChunkReader:
    """Reads chunks, each a tuple ``(X, y)`` or ``(X, y, sample_weight)``, in two passes."""

    chunks: Iterable
    categorical_features: Any
    measure: Measure
    max_bins: int
    n_threads: int

    def read(self, estimator: BaseEstimator, class_weight: Any, scratch: ScratchSpace) -> ReadTable:
        """Return the table; store the names of its columns on the estimator."""
        summary = self._summarize(estimator)
        plan = summary.plan(self.max_bins, self.measure)
        check_n_classes(plan.classes, estimator)
        return self._encode(plan, summary, class_weight, scratch)

    def _summarize(self, estimator: BaseEstimator) -> ChunkSummary:
        """Return the summary of all chunks, merged pairwise, as the digits of a counter are."""
        # Sketches of 2^k chunks; merging equal sizes keeps the error of ranks small.
        by_size: list[ChunkSummary | None] = []
        for k, chunk in enumerate(self._iterate()):
            if k == 0:
                check_columns(estimator, chunk.X)
            summary: ChunkSummary | None = self._summarize_one(k, chunk)
            size = 0
            while summary is not None:
                if size == len(by_size):
                    by_size.append(None)
                other, by_size[size] = by_size[size], None
                if other is None:
                    by_size[size], summary = summary, None
                else:
                    summary = other.merge(summary)
                    size += 1
        merged: ChunkSummary | None = None
        for part in by_size:
            if part is not None:
                merged = part if merged is None else part.merge(merged)
        if merged is None or merged.n_rows == 0:
            raise ValueError("chunks: there are no rows of positive weight; pass some.")
        return merged

    def _summarize_one(self, k: int, chunk: Chunk) -> ChunkSummary:
        """Return the summary of a chunk; errors name the chunk, in which rows are counted."""
        try:
            return summarize_chunk(chunk, self.categorical_features, self.n_threads)
        except ValueError as error:
            raise ValueError(f"Chunk {k}: {error}") from error

    def _iterate(self) -> Iterator[Chunk]:
        """Yield the chunks that have rows."""
        if not isinstance(self.chunks, Iterable):
            raise TypeError(
                f"chunks={self.chunks!r} must be a list of tuples (X, y) or (X, y, sample_weight), "
                f"or another object that can be iterated twice."
            )
        for chunk in self.chunks:
            if not isinstance(chunk, tuple) or not 2 <= len(chunk) <= 3:
                raise TypeError(
                    f"chunks contains a {type(chunk).__name__}; each chunk must be a tuple (X, y) "
                    f"or (X, y, sample_weight)."
                )
            if num_samples(chunk[0]):
                yield Chunk(*chunk)

    def _encode(
        self, plan: TablePlan, summary: ChunkSummary, class_weight: Any, scratch: ScratchSpace
    ) -> ReadTable:
        n = summary.n_rows
        codes = scratch.empty((len(plan.columns), n), plan.code_type)
        label = np.empty(n, dtype=label_type(len(plan.classes)))
        index = np.empty(n, dtype=np.int32 if summary.n_input_rows < 2**31 else np.int64)
        hashes = RowHashes(*(np.empty(n, dtype=np.uint64) for _ in range(2)))
        weight = np.empty(n) if summary.has_weights else None
        sums, start, n_input_rows = None, 0, 0
        for chunk in self._iterate():
            part = plan.encode(chunk, self.n_threads)
            rows = slice(start, start + len(part.label))
            if rows.stop > n:
                raise _second_pass_error(n)
            _copy(part, rows, codes, label, hashes, weight)
            index[rows] = n_input_rows + part.input_index
            sums = part.sums if sums is None else add_sums(sums, part.sums)
            start, n_input_rows = rows.stop, n_input_rows + len(chunk.X)
        if sums is None or start != n:
            raise _second_pass_error(n)
        columns = Columns(plan.finish(sums), codes)
        table = TrainingTable(
            None,
            plan.features,
            label,
            plan.classes,
            weight,
            class_factors(class_weight, plan.classes, label, weight),
            index,
            n_input_rows,
            hashes,
        )
        return ReadTable(table, columns)


def _second_pass_error(n_rows: int) -> ValueError:
    return ValueError(
        f"chunks: the second pass did not yield the {n_rows:,} rows of the first one; pass an "
        f"object that can be iterated twice, such as a list, not a generator."
    )


def _copy(
    part: EncodedChunk,
    rows: slice,
    codes: np.ndarray,
    label: np.ndarray,
    hashes: RowHashes,
    weight: np.ndarray | None,
) -> None:
    """Copy the rows of a chunk to their place in the arrays of the table."""
    codes[:, rows], label[rows] = part.codes, part.label
    hashes.rows[rows], hashes.fine[rows] = part.hashes.rows, part.hashes.fine
    if weight is not None:
        weight[rows] = 1.0 if part.weight is None else part.weight
