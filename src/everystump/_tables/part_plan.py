"""The bins of a training table whose parts are in several places; see `PartTable`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np

from everystump._core.chunk_columns import ColumnPlan, plan_code_type
from everystump._core.columns import Column
from everystump._core.common_cells import (
    CellCounts,
    CommonCells,
    sample_edges,
    sampling_step,
)
from everystump._core.measures import Measure
from everystump._core.threads import thread_map
from everystump._tables.chunks import check_chunk_bins
from everystump._tables.headers import TableHeader
from everystump._tables.part_table import ColumnSample, PartHeader

# Cells are divided at most so many times; each time, far fewer rows remain in coarse cells.
_MAX_ROUNDS = 8


class TableParts(Protocol):
    """The parts of a table, wherever they are."""

    def collect(self, method: str, *args: Any) -> list[Any]:
        """Return the results of a method of all parts that changes nothing."""

    def change_table(self, method: str, *args: Any) -> list[Any]:
        """Return the results of a method of all parts that changes them."""


class EncodedColumns(NamedTuple):
    """The columns of a table, and the code of each of their cells."""

    columns: tuple[Column, ...]
    tables: list[np.ndarray]  # of the same type


def merge_headers(parts: Sequence[PartHeader]) -> TableHeader:
    """Return the header of all parts."""
    header = reduce(TableHeader.merge, (part.header for part in parts))
    if header.n_rows == 0:
        raise ValueError("X has no rows of positive weight; pass some.")
    return header


@dataclass(frozen=True)
class PartPlanner:
    """Finds the bins of a table from its parts, which know its header.

    Parameters
    ----------
    parts : TableParts
        The parts.
    header : TableHeader
        The header of the table.
    max_bins, measure
        As in the estimators.
    n_threads : int
        The number of threads of this process.
    """

    parts: TableParts
    header: TableHeader
    max_bins: int
    measure: Measure
    n_threads: int

    def find_columns(self) -> EncodedColumns:
        """Return the columns, after the parts have found the cells of their rows."""
        check_chunk_bins(self.max_bins)
        self.measure.check(len(self.header.features))
        cells = self._count(self._first_edges())
        divided = cells
        for _ in range(_MAX_ROUNDS):
            edges = self._divide(divided)
            if not edges:
                break
            divided = self._count(edges)
            cells |= divided
        plans = [self._plan(d, cells[d]) for d in range(len(self.header.features))]
        columns, tables = [], []
        code_type = plan_code_type(plans)
        for d, plan in enumerate(plans):
            codes, sums = plan.encode_cells(cells[d])
            columns.append(plan.finish(sums))
            tables.append(codes.astype(code_type))
        return EncodedColumns(tuple(columns), tables)

    def _plan(self, d: int, cells: CommonCells) -> ColumnPlan:
        """Return the bins of a column."""
        cuts = self.measure.thresholds(d)
        if self._is_category(d):
            return ColumnPlan.from_levels(self.header.features[d].n_levels, cells.missing)
        if cuts is not None:
            return ColumnPlan.from_cuts(cuts, cells)
        return ColumnPlan.from_cells(cells, self.max_bins)

    def _is_category(self, d: int) -> bool:
        return self.header.features[d].levels is not None

    def _has_fixed_bins(self, d: int) -> bool:
        return self._is_category(d) or self.measure.thresholds(d) is not None

    def _first_edges(self) -> dict[int, np.ndarray | None]:
        """Return the edges of cells of all columns, None for categories."""
        columns, step = range(len(self.header.features)), sampling_step(self.header.n_rows)
        samples = {d: ColumnSample(step) for d in columns if not self._has_fixed_bins(d)}
        values = self._sample(samples)
        found = thread_map(
            lambda d: sample_edges(values[d], step == 1, self.max_bins), samples, self.n_threads
        )
        edges: dict[int, np.ndarray | None] = dict(zip(samples, found, strict=True))
        for d in columns:
            if d not in edges:
                edges[d] = None if self._is_category(d) else self.measure.thresholds(d)
        return dict(sorted(edges.items()))

    def _divide(self, cells: Mapping[int, CommonCells]) -> dict[int, np.ndarray | None]:
        """Return the edges of the columns whose cells are divided further."""
        samples = {}
        for d, own in cells.items():
            flags = None if self._has_fixed_bins(d) else own.coarse(self.max_bins)
            if flags is not None:
                n_rows = own.counts.rows_by_cell[flags].sum()
                samples[d] = ColumnSample(sampling_step(n_rows), flags)
        edges = {
            d: cells[d].divide(values, samples[d].is_complete, self.max_bins)
            for d, values in self._sample(samples).items()
        }
        return {d: own for d, own in edges.items() if own is not None}

    def _sample(self, samples: dict[int, ColumnSample]) -> dict[int, np.ndarray]:
        """Return the values of some rows, by column."""
        if not samples:
            return {}
        parts = self.parts.collect("sample_values", samples)
        return {d: np.concatenate([part[d] for part in parts]) for d in samples}

    def _count(self, edges: dict[int, np.ndarray | None]) -> dict[int, CommonCells]:
        """Return the cells of some columns, counted by all parts."""
        parts: list[dict[int, CellCounts]] = self.parts.change_table("count", edges)
        empty = np.empty(0)
        return {
            d: CommonCells(
                empty if own is None else own, reduce(CellCounts.__add__, (p[d] for p in parts))
            )
            for d, own in edges.items()
        }
