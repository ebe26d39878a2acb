"""From the table of a solution to curves and surfaces.

With an intercept, each curve has weighted mean 0 under the training rows.  Interactions are
purified: each surface has weighted mean 0 along each of its axes, and what it contained of
functions of fewer features is moved to those.  Scores do not change, except that a surface adds
nothing at unknown levels, and at missing values if training had none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everystump._core.cells import CellColumn
from everystump._core.purify import Parts, Purified, Purifier
from everystump._core.shapes import Shape, ShapeModel, combine_shapes
from everystump._core.surfaces import Axis, Surface, combine_surfaces
from everystump._terms import Term


class SurfaceBuilder:
    """Collects the purified parts of all interactions of one model."""

    def __init__(self, is_step: bool) -> None:
        self._is_step = is_step
        self._surfaces: dict[Term, list[Surface]] = {}
        # Per feature and cells, the sum of what was removed from interactions.
        self._removed: dict[tuple[int, int], tuple[CellColumn, np.ndarray]] = {}
        self._constant = 0.0

    def add(self, term: Term, cells: Sequence[CellColumn], pure: Purified) -> None:
        """Add a purified interaction over the cells of its features."""
        self._add_surface(term, cells, pure.values)
        self._add_removed(term, cells, pure.removed)

    def purify_sum(self, term: Term, cells: Sequence[CellColumn], purifier: Purifier) -> None:
        """Purify the surface of a pair to which triples, whose cells are others, have added."""
        surfaces = self._surfaces[term]
        if len(surfaces) == 1:
            return
        values = self._at_cells(combine_surfaces(surfaces, [1.0] * len(surfaces)), cells)
        pure = purifier.purify(values)
        self._add_surface(term, cells, pure.values - values)
        self._add_removed(term, cells, pure.removed)

    def _at_cells(self, surface: Surface, cells: Sequence[CellColumn]) -> np.ndarray:
        """Return the value of a surface in each cell."""
        values = surface.values
        for j, (cell, axis) in enumerate(zip(cells, surface.axes, strict=True)):
            shares = axis.shares(_cell_points(cell, self._is_step))
            values = np.moveaxis(np.tensordot(shares, values, axes=(1, j)), 0, j)
        return values

    def _add_removed(self, term: Term, cells: Sequence[CellColumn], removed: Parts) -> None:
        for axes, part in removed.items():
            if len(axes) == 2:
                lower = tuple(term[j] for j in axes)
                self._add_surface(lower, [cells[j] for j in axes], part)
            elif len(axes) == 1:
                d, cell = term[axes[0]], cells[axes[0]]
                _, total = self._removed.get((d, id(cell)), (cell, 0.0))
                self._removed[d, id(cell)] = cell, total + part
            else:
                self._constant += float(part)

    def _add_surface(self, term: Term, cells: Sequence[CellColumn], values: np.ndarray) -> None:
        axes = []
        for j, cell in enumerate(cells):
            axis, values = _axis(cell, values, j, self._is_step)
            axes.append(axis)
        surface = Surface(term, tuple(axes), np.ascontiguousarray(values))
        self._surfaces.setdefault(term, []).append(surface)

    def add_to(self, model: ShapeModel) -> ShapeModel:
        """Return the model with the curves and surfaces added."""
        shapes = list(model.shapes)
        for (d, _), (cell, values) in self._removed.items():
            curve = _curve(cell, values, self._is_step)
            shapes[d] = combine_shapes([shapes[d], curve], [1.0, 1.0])
        surfaces = [
            combine_surfaces(parts, [1.0] * len(parts)) if len(parts) > 1 else parts[0]
            for _, parts in sorted(self._surfaces.items())
        ]
        return ShapeModel(tuple(shapes), model.intercept + self._constant, tuple(surfaces))


def inside_cells(cells: Sequence[CellColumn]) -> tuple[slice, ...]:
    """Return the part of an array over cells without the empty root cells of categories."""
    return tuple(slice(cell.column.first, None) for cell in cells)


def _levels(cells: CellColumn) -> tuple[np.ndarray, np.ndarray]:
    """Return the entry of each level of a category, without the root, and whether it has rows."""
    n_levels = len(cells.level_counts)
    return cells.cell_of_bin[1 : n_levels + 1] - 1, cells.level_counts > 0


def _cell_points(cells: CellColumn, is_step: bool) -> np.ndarray:
    """Return where the rows of each cell count: its value, its start if curves are steps."""
    column = cells.column
    points = np.append(-np.inf, column.cuts) if is_step else column.values
    if column.is_category:
        index, has_rows = _levels(cells)
        points = np.full(len(column.values), -1.0)
        points[index[has_rows]] = np.flatnonzero(has_rows)
    return np.append(points, [np.nan] * (column.missing > 0))


def _axis(cells: CellColumn, values: np.ndarray, j: int, is_step: bool) -> tuple[Axis, np.ndarray]:
    """Return the axis of a feature, and the values along array axis ``j`` at its entries."""
    column, has_missing = cells.column, cells.column.missing > 0
    entries = np.moveaxis(values, j, 0)
    n_values = len(column.values)
    if column.is_category:
        index, has_rows = _levels(cells)
        taken = entries[index] * has_rows.reshape(-1, *(1,) * (entries.ndim - 1))
        axis = Axis.category(len(index), has_missing)
    elif is_step and n_values > 1:
        taken, axis = (
            entries[np.repeat(np.arange(n_values), 2)[1:-1]],
            Axis(np.repeat(column.cuts, 2), has_missing=has_missing),
        )
    else:
        taken, axis = entries[:n_values], Axis(column.values, has_missing=has_missing)
    if has_missing:
        taken = np.concatenate([taken, entries[n_values : n_values + 1]])
    return axis, np.moveaxis(taken, 0, j)


def _curve(cells: CellColumn, values: np.ndarray, is_step: bool) -> Shape:
    """Return the curve through the values of a feature's cells."""
    column = cells.column
    n_values = len(column.values)
    missing = float(values[n_values]) if column.missing > 0 else None
    if column.is_category:
        index, has_rows = _levels(cells)
        return Shape.category(np.where(has_rows, values[index], 0.0), missing)
    if is_step:
        return Shape.steps(column.cuts, values[:n_values], missing)
    return Shape(column.values, values[:n_values], missing)


def spread_weights(
    surface: Surface, cells: Sequence[CellColumn], weights: np.ndarray, is_step: bool
) -> np.ndarray:
    """Return the weight of the training rows at each point of a surface's grid, given by cell."""
    for j, (cell, axis) in enumerate(zip(cells, surface.axes, strict=True)):
        shares = _entry_shares(cell, axis, is_step)
        weights = np.moveaxis(np.tensordot(shares, weights, axes=(1, j)), 0, j)
    return weights


def _entry_shares(cells: CellColumn, axis: Axis, is_step: bool) -> np.ndarray:
    """Return the share of each entry of an axis in the rows of each cell."""
    column = cells.column
    shares = np.zeros((len(axis), cells.n_cells))
    bins = np.arange(len(column.values))
    if column.is_category:
        cell_of_level = cells.cell_of_bin[1 : len(cells.level_counts) + 1]
        totals = np.bincount(cell_of_level, weights=cells.level_counts, minlength=cells.n_cells)
        totals[totals == 0.0] = 1.0
        levels = np.arange(len(cell_of_level))
        shares[levels, cell_of_level] = cells.level_counts / totals[cell_of_level]
    elif is_step and len(bins) > 1:
        starts = np.searchsorted(axis.knots, column.cuts, side="right") - 1
        shares[np.append(0, starts), bins] = 1.0
    else:
        shares[np.searchsorted(axis.knots, column.values), bins] = 1.0
    if column.missing > 0:
        shares[-1, column.missing_bin] = 1.0
    return shares
