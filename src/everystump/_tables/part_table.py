"""Some rows of a training table whose other rows are elsewhere, such as on other workers.

A `PartTable` has the rows of some chunks.  All parts of a table are encoded in the same steps:
`read_header`, whose results are merged and passed to `set_header`; `sample_values` and `count`,
from which the bins follow (`everystump._tables.part_plan`); and `encode`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from everystump._core import binloops
from everystump._core.blocks import subsample_rows
from everystump._core.columns import map_columns
from everystump._core.common_cells import CellCounts, CellEncoder, LevelEncoder
from everystump._core.threads import thread_map
from everystump._sklearn_compat import safe_indexing
from everystump._tables.chunk_targets import ClassWeights
from everystump._tables.headers import (
    Chunk,
    TableHeader,
    check_finite_range,
    name_source,
    read_chunk,
)


class PartHeader(NamedTuple):
    """The header of a part, and the number of rows of positive weight of each chunk."""

    header: TableHeader
    n_rows: list[int]


class ColumnSample(NamedTuple):
    """A sample of one out of every ``step`` rows, in some cells."""

    step: int
    cells: np.ndarray | None = None  # flags of cells, None for all

    @property
    def is_complete(self) -> bool:
        """Whether it has all rows of the cells."""
        return self.step == 1


class EncodedPart(NamedTuple):
    """The encoded rows of a part."""

    codes: np.ndarray  # (n_features, n_rows)
    label: np.ndarray  # (n_rows,)
    weight: np.ndarray | None  # (n_rows,)


@dataclass(frozen=True)
class _PartChunk:
    """A chunk of a part, and what is read of it only once."""

    chunk: Chunk
    header: TableHeader
    label: np.ndarray  # (n_rows,): indices in the labels of its own header
    weight: np.ndarray | None  # (n_rows,)
    index: np.ndarray | None  # (n_rows,): the rows of positive weight, None for all

    @classmethod
    def read(cls, chunk: Chunk, categorical_features: Any, source: str) -> _PartChunk:
        """Read the header of a chunk."""
        with name_source(source):
            header, rows = read_chunk(chunk, categorical_features, ClassWeights, source)
        index = rows.input_index if header.n_rows < header.n_input_rows else None
        return cls(chunk, header, rows.label, rows.weight, index)

    def values(self, header: TableHeader) -> np.ndarray:
        """Return all rows, given the header of the table."""
        X = header.read_values(self.chunk.X)
        return X if self.index is None else X[self.index]

    def take(self, header: TableHeader, rows: np.ndarray) -> np.ndarray:
        """Return some rows, given the header of the table."""
        rows = rows if self.index is None else self.index[rows]
        return header.read_values(safe_indexing(self.chunk.X, rows))

    def count(
        self,
        header: TableHeader,
        encoders: Mapping[int, CellEncoder | LevelEncoder],
        cells: np.ndarray,
        n_threads: int,
    ) -> list[CellCounts]:
        """Write the cells of all rows in some columns; return their counts."""
        X, columns = self.values(header), list(encoders)
        X = X if len(columns) == X.shape[1] else X[:, columns]

        def count(k: int, x: np.ndarray) -> CellCounts:
            d = columns[k]
            counts = encoders[d].count(x, self.weight, cells[d])
            check_finite_range(counts.low, counts.high, header.features[d].display_name(d))
            return counts

        with name_source(self.header.source):
            return map_columns(count, X, n_threads)


class PartTable:
    """The rows of some chunks.

    Parameters
    ----------
    chunks : list of Chunk
        The chunks.
    sources : list of str
        How messages refer to each of them.
    categorical_features : object
        As in the estimators.
    n_threads : int
        The number of threads.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        sources: Sequence[str],
        categorical_features: Any,
        n_threads: int,
    ) -> None:
        self._chunks = [
            _PartChunk.read(chunk, categorical_features, source)
            for chunk, source in zip(chunks, sources, strict=True)
        ]
        self._n_threads = n_threads
        self._ends = list(accumulate(len(chunk.label) for chunk in self._chunks))
        self._cells = np.empty((0, self._ends[-1]), dtype=np.uint16)

    @property
    def n_rows(self) -> int:
        """The number of rows of positive weight."""
        return self._ends[-1]

    @property
    def _slices(self) -> list[slice]:
        """Where the rows of each chunk are in the part."""
        return [slice(a, b) for a, b in pairwise([0, *self._ends])]

    def read_header(self) -> PartHeader:
        """Return the header of the part."""
        merged = self._chunks[0].header
        for chunk in self._chunks[1:]:
            merged = merged.merge(chunk.header)
        return PartHeader(merged, [len(chunk.label) for chunk in self._chunks])

    def set_header(self, starts: Sequence[int], header: TableHeader) -> None:
        """Set the header of the whole table; ``starts`` are the first rows of the chunks in it."""
        self._starts, self._header = starts, header

    def _subsample_chunk(self, k: int, step: int) -> np.ndarray:
        """Return which rows of a chunk are in the sample of one out of every ``step`` rows."""
        start, rows = self._starts[k], self._slices[k]
        return subsample_rows(start, start + rows.stop - rows.start, step) - start

    def subsample(self, step: int) -> np.ndarray:
        """Return which rows are in the sample of one out of every ``step`` rows of the table."""
        first = [rows.start for rows in self._slices]
        return np.concatenate([self._subsample_chunk(k, step) + a for k, a in enumerate(first)])

    def sample_values(self, samples: Mapping[int, ColumnSample]) -> dict[int, np.ndarray]:
        """Return the values of some rows, by column."""
        parts = [self._sample_chunk(k, samples) for k in range(len(self._chunks))]
        return {d: np.concatenate([part[d] for part in parts]) for d in samples}

    def _sample_chunk(self, k: int, samples: Mapping[int, ColumnSample]) -> dict[int, np.ndarray]:
        chunk, cells = self._chunks[k], self._cells[:, self._slices[k]]
        rows = {step: self._subsample_chunk(k, step) for step, _ in samples.values()}
        of_all_cells = {step for step, flags in samples.values() if flags is None}
        taken = {step: chunk.take(self._header, rows[step]) for step in of_all_cells}
        values = {}
        for d, (step, flags) in samples.items():
            if flags is None:
                X = taken[step]
            else:
                X = chunk.take(self._header, rows[step][flags[cells[d, rows[step]]]])
            values[d] = np.array(X[:, d], dtype=np.float64)
        return values

    def count(self, edges: Mapping[int, np.ndarray | None]) -> dict[int, CellCounts]:
        """Find the cells of all rows, given edges by column, None for categories; count the rows.

        The first call has all columns.
        """
        encoders = {d: self._encoder(d, own) for d, own in edges.items()}
        if len(self._cells) == 0:
            n_cells = max(encoder.n_cells for encoder in encoders.values())
            dtype = np.result_type(np.uint16, np.min_scalar_type(n_cells - 1))
            self._cells = np.empty((len(encoders), self.n_rows), dtype=dtype)
        total: list[CellCounts] = []
        for chunk, part in zip(self._chunks, self._slices, strict=True):
            own = chunk.count(self._header, encoders, self._cells[:, part], self._n_threads)
            total = [a + b for a, b in zip(total, own, strict=True)] if total else own
        return dict(zip(edges, total, strict=True))

    def _encoder(self, d: int, edges: np.ndarray | None) -> CellEncoder | LevelEncoder:
        if edges is None:
            return LevelEncoder(self._header.features[d].n_levels)
        return CellEncoder.build(edges, self.n_rows)

    def encode(self, tables: Sequence[np.ndarray]) -> EncodedPart:
        """Return the encoded rows, given the code of each cell by column; forget the chunks."""
        cells, codes = self._cells, np.empty(self._cells.shape, dtype=tables[0].dtype)

        def encode(d: int) -> None:
            binloops.map_cells(cells[d], tables[d], codes[d])

        thread_map(encode, range(len(tables)), self._n_threads)
        labels, chunks = self._header.labels, self._chunks
        label = np.concatenate([labels.class_index(c.header.labels)[c.label] for c in chunks])
        weight = _join_weights([(chunk.weight, len(chunk.label)) for chunk in chunks])
        del self._chunks, self._cells
        return EncodedPart(codes, label, weight)


def _join_weights(parts: list[tuple[np.ndarray | None, int]]) -> np.ndarray | None:
    """Return the weights of the rows of all chunks; None if all are 1."""
    if all(weight is None for weight, _ in parts):
        return None
    return np.concatenate([np.ones(n) if weight is None else weight for weight, n in parts])
