"""Reads a training table from chunks: one pass finds its bins, the next one encodes its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from everystump._core.chunk_columns import add_sums
from everystump._core.columns import Columns
from everystump._core.measures import Measure
from everystump._core.targets import TargetScale
from everystump._scratch import ScratchSpace
from everystump._sklearn_compat import check_columns, num_samples
from everystump._tables.chunk_targets import ClassWeights, Numbers
from everystump._tables.chunks import ChunkSummary, TablePlan, summarize_chunk
from everystump._tables.headers import Chunk, name_source
from everystump._tables.row_hashes import RowHashes, hash_rows
from everystump._tables.training_table import (
    ClassTable,
    NumberTable,
    TrainingTable,
    class_factors,
)
from everystump._tables.validation import check_n_classes


class ReadTable(NamedTuple):
    """A training table without its values, and its encoded columns."""

    table: TrainingTable
    columns: Columns


class _EncodedRows(NamedTuple):
    """The rows of all chunks."""

    fields: dict[str, Any]  # of `TrainingTable`
    target: np.ndarray  # (n_rows,): class indices, or numbers to predict
    weight: np.ndarray | None
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
        """Return the table of a classifier; store the names of its columns on the estimator."""
        summary = self._summarize(estimator, ClassWeights)
        plan = summary.plan(self.max_bins, self.measure)
        check_n_classes(plan.classes, estimator)
        rows = self._encode(plan, scratch)
        table = ClassTable(
            **rows.fields,
            label=rows.target,
            classes=plan.classes,
            class_factor=class_factors(class_weight, plan.classes, rows.target, rows.weight),
        )
        return ReadTable(table, rows.columns)

    def read_numbers(
        self,
        estimator: BaseEstimator,
        target_scale: Callable[[np.ndarray, np.ndarray | None], TargetScale],
        scratch: ScratchSpace,
    ) -> ReadTable:
        """Return the table of a regressor; store the names of its columns on the estimator."""
        summary = self._summarize(estimator, Numbers)
        rows = self._encode(summary.plan(self.max_bins, self.measure), scratch)
        scale = target_scale(rows.target, rows.weight)
        return ReadTable(NumberTable(**rows.fields, y=rows.target, scale=scale), rows.columns)

    def _summarize(
        self, estimator: BaseEstimator, targets: type[ClassWeights | Numbers]
    ) -> ChunkSummary:
        """Return the summary of all chunks, merged pairwise, as the digits of a counter are."""
        # Sketches of 2^k chunks; merging equal sizes keeps the error of ranks small.
        by_size: list[ChunkSummary | None] = []
        for name, chunk in self._iterate():
            if not by_size:
                check_columns(estimator, chunk.X)
            summary: ChunkSummary | None = self._summarize_one(name, chunk, targets)
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
        if merged is None or merged.header.n_rows == 0:
            raise ValueError("chunks: there are no rows of positive weight; pass some.")
        return merged

    def _summarize_one(
        self, name: str, chunk: Chunk, targets: type[ClassWeights | Numbers]
    ) -> ChunkSummary:
        """Return the summary of a chunk."""
        with name_source(name):
            return summarize_chunk(chunk, self.categorical_features, self.n_threads, targets, name)

    def _iterate(self) -> Iterator[tuple[str, Chunk]]:
        """Yield the chunks that have rows, and their names."""
        if not isinstance(self.chunks, Iterable):
            raise TypeError(
                f"chunks={self.chunks!r} must be a list of tuples (X, y) or (X, y, sample_weight), "
                f"or another object that can be iterated twice."
            )
        for k, chunk in enumerate(self.chunks):
            if not isinstance(chunk, tuple) or not 2 <= len(chunk) <= 3:
                raise TypeError(
                    f"chunks contains a {type(chunk).__name__}; each chunk must be a tuple (X, y) "
                    f"or (X, y, sample_weight)."
                )
            if num_samples(chunk[0]):
                read = Chunk(*chunk)
                yield read.source(f"chunk {k}"), read

    def _encode(self, plan: TablePlan, scratch: ScratchSpace) -> _EncodedRows:
        header = plan.header
        n, labels = header.n_rows, header.labels
        codes = scratch.empty((len(plan.columns), n), plan.code_type)
        label = np.empty(n, dtype=labels.dtype)
        index = np.empty(n, dtype=np.int32 if header.n_input_rows < 2**31 else np.int64)
        hashes = RowHashes(*(np.empty(n, dtype=np.uint64) for _ in range(2)))
        weight = np.empty(n) if header.has_weights else None
        sums, start, n_input_rows = None, 0, 0
        for name, chunk in self._iterate():
            with name_source(name):
                part = header.read(chunk)
            rows = slice(start, start + len(part.label))
            if rows.stop > n:
                raise _second_pass_error(n)
            own = plan.encode(part, codes[:, rows], self.n_threads)
            sums = own if sums is None else add_sums(sums, own)
            found = hash_rows(part.X, labels.hashed(part.label), self.n_threads)
            hashes.rows[rows], hashes.fine[rows] = found.rows, found.fine
            label[rows], index[rows] = part.label, n_input_rows + part.input_index
            if weight is not None:
                weight[rows] = 1.0 if part.weight is None else part.weight
            start, n_input_rows = rows.stop, n_input_rows + len(chunk.X)
        if sums is None or start != n:
            raise _second_pass_error(n)
        fields = {
            "X": None,
            "features": header.features,
            "sample_weight": weight,
            "input_index": index,
            "n_input_rows": n_input_rows,
            "hashes": hashes,
        }
        return _EncodedRows(fields, label, weight, Columns(plan.finish(sums), codes))


def _second_pass_error(n_rows: int) -> ValueError:
    return ValueError(
        f"chunks: the second pass did not yield the {n_rows:,} rows of the first one; pass an "
        f"object that can be iterated twice, such as a list, not a generator."
    )
