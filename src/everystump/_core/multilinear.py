"""Evaluation of tables of two or three features at many rows.

A table has a value at each point of a grid and is multilinear between them.  The position of a
row along an axis is an index and a fraction; it is found once per axis and reused by all tables
with the same axis.  Each table then adds up 2, 4 or 8 of its values per row, or takes a single one
where it is constant between cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everystump._core.binloops import find_bin
from everystump._core.jit import jit
from everystump._core.lookup import Lookup

_MAX_ORDER = 3
_ONE = np.uint64(1)


class Grid(NamedTuple):
    """An axis of a table: index ``k`` counts the cuts ``<= x``, or is the code of a level.

    The fraction on the way to the next index is ``(x - anchor[k]) / width[k]``, and 0 where the
    width is 0.  The index after the last one is that of missing values; the one after that stands
    for unknown levels.
    """

    feature: int
    cuts: np.ndarray
    anchor: np.ndarray  # (n_cuts + 1,)
    width: np.ndarray  # (n_cuts + 1,)
    n_levels: int = -1  # -1 for numbers

    @property
    def size(self) -> int:
        """The number of indices, with those of missing values and of unknown levels."""
        return (len(self.width) if self.n_levels < 0 else self.n_levels) + 2

    @property
    def is_linear(self) -> bool:
        """Whether the table is interpolated along this axis."""
        return bool(self.width.any())

    def key(self) -> tuple:
        """Return what grids with the same positions have in common."""
        return self.feature, self.n_levels, self.cuts.tobytes(), self.width.tobytes()


def linear_grid(feature: int, knots: np.ndarray) -> Grid:
    """Return the grid of a table that is linear between knots, one index per knot.

    Of two equal knots, the right one counts.  A gap too wide for a float is not interpolated.
    """
    with np.errstate(over="ignore"):
        width = np.append(knots[1:] - knots[:-1], 0.0)
    width[~np.isfinite(width)] = 0.0
    return Grid(feature, knots[1:], knots, width)


def step_grid(feature: int, cuts: np.ndarray) -> Grid:
    """Return the grid of a table that is constant between cuts, one index per interval."""
    nothing = np.zeros(len(cuts) + 1)
    return Grid(feature, cuts, nothing, nothing)


def level_grid(feature: int, n_levels: int) -> Grid:
    """Return the grid of a category, one index per level."""
    nothing = np.zeros(0)
    return Grid(feature, nothing, nothing, nothing, n_levels)


class Table(NamedTuple):
    """The values of a table, one axis per grid, each of the grid's size."""

    grids: tuple[Grid, ...]
    values: np.ndarray


class Tables(NamedTuple):
    """Several tables, ready for the loops over rows.

    Arrays of the grids: the cuts of grid ``g`` begin at ``first[g]``, its indices end with those of
    missing values and unknown levels at ``size[g]``; ``cells``, ``lookup``, ``low`` and ``scale``
    are its `Lookup`.  Arrays of the tables, all with ``_MAX_ORDER`` columns: the grid of each axis,
    -1 in front if there are fewer axes, and the distance of neighboring values along it.  The last
    ``n_linear[t]`` axes of table ``t`` are interpolated.
    """

    feature: np.ndarray
    n_levels: np.ndarray
    size: np.ndarray
    first: np.ndarray
    cuts: np.ndarray
    anchor: np.ndarray
    width: np.ndarray
    cells: np.ndarray
    lookup: np.ndarray
    low: np.ndarray
    scale: np.ndarray
    grid: np.ndarray
    stride: np.ndarray
    n_linear: np.ndarray
    start: np.ndarray
    values: np.ndarray

    @property
    def n_grids(self) -> int:
        """The number of different axes."""
        return len(self.feature)


def concatenate(tables: Sequence[Table]) -> Tables:
    """Return some tables in the form that the loops need; equal grids are stored once."""
    tables = [_linear_last(table) for table in tables]
    numbers: dict[tuple, int] = {}
    grids: list[Grid] = []
    grid = np.full((len(tables), _MAX_ORDER), -1)
    stride = np.zeros((len(tables), _MAX_ORDER), dtype=np.int64)
    for t, table in enumerate(tables):
        for j, axis in enumerate(table.grids, start=_MAX_ORDER - len(table.grids)):
            grid[t, j] = numbers.setdefault(axis.key(), len(grids))
            if grid[t, j] == len(grids):
                grids.append(axis)
        stride[t, -table.values.ndim :] = np.array(table.values.strides) // table.values.itemsize
    lookups = [Lookup.build(axis.cuts) for axis in grids]
    # The value after the last index is read too, with a fraction of 0.
    padding = np.zeros(int(stride.sum(axis=1).max(initial=0)))
    return Tables(
        np.array([axis.feature for axis in grids]),
        np.array([axis.n_levels for axis in grids]),
        np.array([axis.size for axis in grids]),
        _starts([axis.cuts for axis in grids], padding=2),
        np.concatenate([np.append(lookup.cuts, np.inf) for lookup in lookups]),
        np.concatenate([_padded(axis.anchor, len(axis.cuts) + 2) for axis in grids]),
        np.concatenate([_padded(axis.width, len(axis.cuts) + 2) for axis in grids]),
        _starts([lookup.first for lookup in lookups]),
        np.concatenate([lookup.first for lookup in lookups]),
        np.array([lookup.low for lookup in lookups]),
        np.array([lookup.scale for lookup in lookups]),
        grid,
        stride,
        np.array([sum(axis.is_linear for axis in table.grids) for table in tables]),
        _starts([table.values.ravel() for table in tables]),
        np.concatenate([*(table.values.ravel() for table in tables), padding]),
    )


def _linear_last(table: Table) -> Table:
    """Return a table, in C order, whose interpolated axes come last."""
    order = sorted(range(len(table.grids)), key=lambda j: table.grids[j].is_linear)
    values = np.ascontiguousarray(table.values.transpose(order))
    return Table(tuple(table.grids[j] for j in order), values)


def _starts(parts: Sequence[np.ndarray], padding: int = 0) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(part) + padding for part in parts])])


def _padded(array: np.ndarray, size: int) -> np.ndarray:
    return np.append(array, np.zeros(size - len(array)))


@jit
def add(X, tables, out):
    """Add the sum of the tables at each row of ``X``."""
    index, fraction, cell = _positions(X, tables)
    for t in range(tables.n_linear.shape[0]):
        _add_table(tables, t, index, fraction, cell, out)


@jit
def contributions(X, tables, out):
    """Write each table at each row of ``X``, one column per table."""
    index, fraction, cell = _positions(X, tables)
    out[:] = 0.0
    for t in range(tables.n_linear.shape[0]):
        _add_table(tables, t, index, fraction, cell, out[:, t])


@jit
def _positions(X, tables):
    """Return index and fraction of each row in each grid, and a buffer."""
    n, n_grids = X.shape[0], tables.feature.shape[0]
    index, fraction = np.empty((n_grids, n), dtype=np.int32), np.empty((n_grids, n))
    for g in range(n_grids):
        column = X[:, tables.feature[g]]
        if tables.n_levels[g] < 0:
            _find_bins(column, tables, g, index[g], fraction[g])
        else:
            _find_levels(column, tables.n_levels[g], index[g])
            fraction[g] = 0.0
    return index, fraction, np.empty(n, dtype=np.uint64)


@jit
def _find_bins(x, tables, g, index, fraction):
    first, last = tables.first[g], tables.first[g + 1]
    cuts, anchor, width = (
        tables.cuts[first:last],
        tables.anchor[first:last],
        tables.width[first:last],
    )
    lookup = tables.lookup[tables.cells[g] : tables.cells[g + 1]]
    low, scale, missing = tables.low[g], tables.scale[g], tables.size[g] - 2
    for i in range(x.shape[0]):
        index[i] = missing if x[i] != x[i] else find_bin(x[i], cuts, lookup, low, scale)
    for i in range(x.shape[0]):  # apart from the search, whose branches are often mispredicted
        k = index[i]
        share = (x[i] - anchor[k]) / width[k]
        fraction[i] = share if width[k] > 0.0 and share > 0.0 else 0.0


@jit
def _find_levels(x, n_levels, index):
    for i in range(x.shape[0]):
        if x[i] != x[i]:
            index[i] = n_levels
        elif x[i] >= -0.5 and x[i] < n_levels - 0.5:
            index[i] = int(x[i] + 0.5)
        else:
            index[i] = n_levels + 1


@jit
def _add_table(tables, t, index, fraction, cell, out):
    grid, stride = tables.grid[t], tables.stride[t]
    values = tables.values[tables.start[t] :]
    _find_cells(index, grid, stride, cell)
    n_linear = tables.n_linear[t]
    if n_linear == 0:
        for i in range(out.shape[0]):
            out[i] += values[cell[i]]
    elif n_linear == 1:
        _add_linear(values, cell, fraction[grid[2]], out)
    elif n_linear == 2:
        _add_bilinear(values, stride[1], cell, fraction[grid[1]], fraction[grid[2]], out)
    else:
        _add_trilinear(values, stride, cell, fraction, grid, out)


@jit
def _find_cells(index, grid, stride, out):
    """Write the position of each row's first value in the table."""
    second, third, step = index[grid[1]], index[grid[2]], stride[1]
    for i in range(out.shape[0]):
        out[i] = second[i] * step + third[i]
    if grid[0] >= 0:
        first, step = index[grid[0]], stride[0]
        for i in range(out.shape[0]):
            out[i] += np.uint64(first[i] * step)


# A value plus a fraction of the difference to the next one is exact where both are equal, and
# where the fraction is 0.  Unsigned positions need no check for negative ones.


@jit
def _between(values, k, f):
    return values[k] + f * (values[k + _ONE] - values[k])


@jit
def _add_linear(values, cell, f, out):
    for i in range(out.shape[0]):
        out[i] += _between(values, cell[i], f[i])


@jit
def _add_bilinear(values, stride, cell, e, f, out):
    step = np.uint64(stride)
    for i in range(out.shape[0]):
        low = _between(values, cell[i], f[i])
        high = _between(values, cell[i] + step, f[i])
        out[i] += low + e[i] * (high - low)


@jit
def _add_trilinear(values, strides, cell, fraction, grid, out):
    d, e, f = fraction[grid[0]], fraction[grid[1]], fraction[grid[2]]
    far, near = np.uint64(strides[0]), np.uint64(strides[1])
    for i in range(out.shape[0]):
        k = cell[i]
        low = _between(values, k, f[i])
        low += e[i] * (_between(values, k + near, f[i]) - low)
        k += far
        high = _between(values, k, f[i])
        high += e[i] * (_between(values, k + near, f[i]) - high)
        out[i] += low + d[i] * (high - low)
