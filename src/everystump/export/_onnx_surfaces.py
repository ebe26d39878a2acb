"""Surfaces as ONNX nodes.

The position of a row along an axis is an index and a fraction, found once per axis.  Tables of the
same kind are then read together: the number of nodes does not depend on the number of surfaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from everystump._core.multilinear import Grid
from everystump._tables.frames import Feature
from everystump.export._grids import GridTable, SharedGrids
from everystump.export._onnx_graph import Graph
from everystump.export._onnx_search import Matrix, bins_of, concatenate_tables
from everystump.export._record import Surfaces


class _Entries(NamedTuple):
    """What each bin of a column stands for on an axis."""

    cuts: np.ndarray
    entry: np.ndarray  # (n_cuts + 1,)
    anchor: np.ndarray
    width: np.ndarray


class _Positions(NamedTuple):
    """Index and fraction of each row along axes, and the column of each axis in them."""

    indices: str
    fraction: str | None
    column: dict[int, int]


class OnnxSurfaces:
    """Turns the surfaces of a model or of a voter into nodes."""

    def __init__(
        self,
        graph: Graph,
        features: Sequence[Feature],
        matrix: Matrix,
        column: Mapping[int, int],
        codes: Mapping[int, str],
    ) -> None:
        self._graph = graph
        self._features = features
        self._matrix = matrix
        self._column = column
        self._codes = codes

    def scores(self, surfaces: Sequence[Surfaces], zeros: str) -> str:
        """Return the sum of the surfaces of each score, (n_rows, n_scores)."""
        shared = SharedGrids()
        tables = [shared.tables(each.values()) for each in surfaces]
        positions = self._positions(shared.grids)
        is_linear = [grid.is_linear for grid in shared.grids]
        return self._graph.concat(
            [self._sum(each, positions, is_linear) if each else zeros for each in tables]
        )

    def _positions(self, grids: Sequence[Grid]) -> _Positions:
        numeric = [k for k, grid in enumerate(grids) if grid.feature in self._column]
        coded = [k for k, grid in enumerate(grids) if grid.feature in self._codes]
        parts, fraction = [], None
        if numeric:
            index, fraction = self._numeric([grids[k] for k in numeric])
            parts.append(index)
        parts += [self._coded(grids[k]) for k in coded]
        column = {k: j for j, k in enumerate([*numeric, *coded])}
        return _Positions(self._graph.concat(parts), fraction, column)

    def _coded(self, grid: Grid) -> str:
        """Return the index of a text along its axis; its codes end in unknown and missing."""
        n_levels = self._features[grid.feature].n_levels
        is_number = grid.n_levels < 0  # a text without levels: all that is not missing is the same
        index = [*range(n_levels), 0 if is_number else grid.size - 1, grid.size - 2]
        table = self._graph.constant(np.array(index, dtype=np.int64))
        return self._graph.op("Gather", table, self._codes[grid.feature])

    def _numeric(self, grids: Sequence[Grid]) -> tuple[str, str]:
        """Return index and fraction of numbers along some axes, both (n_rows, n_grids)."""
        graph, matrix = self._graph, self._matrix
        columns = np.array([self._column[grid.feature] for grid in grids])
        entries = [_entries(grid, self._features[grid.feature]) for grid in grids]
        bins = graph.cast(
            bins_of(graph, matrix.values, columns, [entry.cuts for entry in entries]), np.int64
        )
        sizes = np.array([len(part.entry) + 1 for part in entries])
        first = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
        at = graph.op("Add", bins, graph.constant(first[None]))
        if matrix.present is not None:
            present = graph.take(matrix.present, columns, matrix.n_columns)
            at = graph.op("Where", present, at, graph.constant((first + sizes - 1)[None]))
        missing = [grid.size - 2 for grid in grids]
        indices = concatenate_tables([part.entry for part in entries], missing)
        index = graph.op("Gather", graph.constant(indices.astype(np.int64)), at)
        x = graph.take(matrix.values, columns, matrix.n_columns)
        return index, self._fraction(entries, at, x)

    def _fraction(self, entries: Sequence[_Entries], at: str, x: str) -> str:
        graph, none = self._graph, [0.0] * len(entries)
        anchor = concatenate_tables([entry.anchor for entry in entries], none)
        width = concatenate_tables([entry.width for entry in entries], none)
        is_linear = width > 0.0
        distance = graph.op("Sub", x, graph.op("Gather", graph.constant(anchor), at))
        widths = graph.op("Gather", graph.constant(np.where(is_linear, width, 1.0)), at)
        inside = graph.op("Gather", graph.constant(is_linear), at)
        zero = graph.constant(0.0)
        share = graph.op("Where", inside, graph.op("Div", distance, widths), zero)
        return graph.op("Max", share, zero)  # it is negative before the first knot

    def _sum(
        self, tables: Sequence[GridTable], positions: _Positions, is_linear: Sequence[bool]
    ) -> str:
        """Return the sum of some tables, (n_rows, 1)."""
        kinds: dict[tuple[bool, ...], list[GridTable]] = {}
        for table in tables:
            kinds.setdefault(tuple(is_linear[k] for k in table.grids), []).append(table)
        return self._graph.add(
            [self._sum_of_kind(kind, same, positions) for kind, same in kinds.items()]
        )

    def _sum_of_kind(
        self, kind: tuple[bool, ...], tables: Sequence[GridTable], positions: _Positions
    ) -> str:
        """Return the sum of tables with the same interpolated axes."""
        graph = self._graph
        sizes = np.array([table.values.size for table in tables])
        first = np.concatenate([[0], np.cumsum(sizes[:-1])])
        cell, axes = graph.constant(first[None].astype(np.int64)), []
        for j, is_linear in enumerate(kind):
            columns = np.array([positions.column[table.grids[j]] for table in tables])
            chosen = graph.constant(columns.astype(np.int64))
            strides = np.array([table.values.strides[j] // 8 for table in tables], dtype=np.int64)
            stride = graph.constant(strides[None])
            index = graph.op("Gather", positions.indices, chosen, axis=1)
            cell = graph.op("Add", cell, graph.op("Mul", index, stride))
            if is_linear:
                fraction = graph.op("Gather", str(positions.fraction), chosen, axis=1)
                axes.append((stride, fraction))
        values = graph.constant(np.concatenate([table.values.ravel() for table in tables]))
        read = self._interpolate(values, cell, axes)
        return graph.op("ReduceSum", read, graph.constant(np.array([1])), keepdims=1)

    def _interpolate(self, values: str, cell: str, axes: Sequence[tuple[str, str]]) -> str:
        """Return the values at some cells, interpolated along the axes, (n_rows, n_tables)."""
        graph = self._graph
        if not axes:
            return graph.op("Gather", values, cell)
        (stride, fraction), *others = axes
        low = self._interpolate(values, cell, others)
        high = self._interpolate(values, graph.op("Add", cell, stride), others)
        return graph.op("Add", low, graph.op("Mul", fraction, graph.op("Sub", high, low)))


def _entries(grid: Grid, feature: Feature) -> _Entries:
    """Return the bins of a numeric column, and what they stand for."""
    if grid.n_levels < 0:
        return _Entries(grid.cuts, np.arange(len(grid.width)), grid.anchor, grid.width)
    levels = np.array([] if feature.levels is None else feature.levels, dtype=np.float64)
    order = np.argsort(levels)
    cuts = np.column_stack([levels[order], np.nextafter(levels[order], np.inf)]).ravel()
    index = np.full(len(cuts) + 1, grid.size - 1)
    index[1::2] = order
    nothing = np.zeros(len(index))
    return _Entries(cuts, index, nothing, nothing)
