"""Surfaces as tables of values over axes that they share, for SQL and ONNX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from everystump._core.multilinear import Grid
from everystump._core.surfaces import Surface


class GridTable(NamedTuple):
    """The values of a surface by the indices along its axes; interpolated axes come last."""

    grids: tuple[int, ...]  # numbers of its axes
    values: np.ndarray  # with entries for missing values and for unknown levels


class SharedGrids:
    """Collects the axes of surfaces, each different one once."""

    def __init__(self) -> None:
        self._numbers: dict[tuple, int] = {}
        self.grids: list[Grid] = []

    def tables(self, surfaces: Iterable[Surface]) -> list[GridTable]:
        """Return the tables of some surfaces, and add their axes."""
        return [self._table(surface) for surface in surfaces]

    def _table(self, surface: Surface) -> GridTable:
        table = surface.table()
        order = sorted(range(len(table.grids)), key=lambda j: table.grids[j].is_linear)
        numbers = tuple(self._number(table.grids[j]) for j in order)
        return GridTable(numbers, np.ascontiguousarray(table.values.transpose(order)))

    def _number(self, grid: Grid) -> int:
        number = self._numbers.setdefault(grid.key(), len(self.grids))
        if number == len(self.grids):
            self.grids.append(grid)
        return number
