"""The levels of a category that a surface does not distinguish, so that a page holds them once.

In interactions, the rare levels of a category share one cell: of tens of thousands of levels, a
surface distinguishes a few dozen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everystump._core.surfaces import Surface

_MIN_LEVELS = 64
_MAX_CELLS = 65_536  # of indices of 2 bytes


def level_cells(surfaces: Sequence[Surface]) -> list[np.ndarray | None]:
    """Return the cell of each level along each axis of the surfaces of some features.

    Parameters
    ----------
    surfaces : sequence of Surface
        One per score, of the same features.

    Returns
    -------
    list of ndarray or None
        One per axis.  Levels in the same cell have the same values on all surfaces.  None for
        numbers, few levels, and levels of which most are distinguished.
    """
    same_grid = len({surface.values.shape for surface in surfaces}) == 1
    return [
        _axis_cells([surface.values for surface in surfaces], j, len(axis.knots))
        if axis.is_category and same_grid and len(axis.knots) >= _MIN_LEVELS
        else None
        for j, axis in enumerate(surfaces[0].axes)
    ]


def _axis_cells(values: Sequence[np.ndarray], j: int, n_levels: int) -> np.ndarray | None:
    entries = [np.moveaxis(table, j, 0)[:n_levels].reshape(n_levels, -1) for table in values]
    _, cells = np.unique(np.hstack(entries), axis=0, return_inverse=True)
    cells = cells.ravel()
    n_cells = cells.max() + 1
    return cells if 2 * n_cells <= n_levels and n_cells <= _MAX_CELLS else None


def merge_levels(
    grid: np.ndarray, cells: Sequence[np.ndarray | None], combine: np.ufunc | None = None
) -> np.ndarray:
    """Return a grid with one entry per cell, and the entry of missing values, if any, at the end.

    Parameters
    ----------
    grid : ndarray
        One entry per level along each axis.
    cells : list of ndarray or None
        The result of `level_cells`.
    combine : ufunc, optional
        How entries are combined, such as ``np.add``; by default, those of a cell are equal.

    Examples
    --------
    >>> cells = np.array([0, 1, 1])
    >>> merge_levels(np.array([4.0, 3.0, 3.0, 7.0]), [cells])  # 7 for missing values
    array([4., 3., 7.])
    >>> merge_levels(np.array([4.0, 3.0, 3.0]), [cells], np.add)
    array([4., 6.])
    """
    for j, cell in enumerate(cells):
        if cell is None:
            continue
        entries = np.moveaxis(grid, j, 0)
        n_cells = cell.max() + 1
        merged = np.zeros((n_cells + len(entries) - len(cell), *entries.shape[1:]))
        merged[n_cells:] = entries[len(cell) :]
        if combine is None:
            merged[cell] = entries[: len(cell)]
        else:
            combine.at(merged, cell, entries[: len(cell)])
        grid = np.moveaxis(merged, 0, j)
    return grid
