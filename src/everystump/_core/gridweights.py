"""The weight of rows at each grid point of a surface.

A row counts at the grid point that is nearest along each axis, on its own side of a jump.  Rows
where the surface is not defined, at an unknown level or at a missing value where training had none,
are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everystump._core.jit import jit
from everystump._core.sparse import SparseTable
from everystump._core.surfaces import Axis, Surface
from everystump._core.threads import thread_map

_ROWS_PER_BLOCK, _CELLS_PER_BLOCK = 1 << 16, 1 << 22
_MIN_ROWS_FOR_THREADS = 4096


def grid_weights(
    surfaces: Sequence[Surface],
    X: np.ndarray | SparseTable,
    sample_weight: np.ndarray | None = None,
    *,
    n_threads: int = 1,
) -> tuple[np.ndarray, ...]:
    """Return the weight of the rows of ``X`` at each grid point, an array per surface.

    The arrays have the shapes of ``values`` of the surfaces.

    Examples
    --------
    >>> axis = Axis(np.array([0.0, 1.0]))
    >>> surface = Surface((0, 1), (axis, axis), np.zeros((2, 2)))
    >>> grid_weights([surface], np.array([[0.2, 0.9], [0.4, 3.0], [0.7, 0.1]]))
    (array([[0., 2.],
           [1., 0.]]),)
    """
    totals = tuple(np.zeros(surface.values.shape) for surface in surfaces)
    entries = _Entries(surfaces)
    step = min(_ROWS_PER_BLOCK, max(1, _CELLS_PER_BLOCK // X.shape[1]))
    n_threads = n_threads if len(X) >= _MIN_ROWS_FOR_THREADS else 1
    for lo in range(0, len(X), step):
        rows = X[lo : lo + step]
        weights = np.ones(len(rows)) if sample_weight is None else sample_weight[lo : lo + step]
        codes = entries.encode(rows, n_threads)

        def add(t: int, codes: np.ndarray = codes, weights: np.ndarray = weights) -> None:
            strides = np.array(totals[t].strides) // totals[t].itemsize
            _add_weights(codes, entries.columns[t], strides, weights, totals[t].ravel())

        thread_map(add, range(len(surfaces)), n_threads)
    return totals


class _Entries:
    """The different axes of some surfaces; each row is located once along each of them."""

    def __init__(self, surfaces: Sequence[Surface]) -> None:
        self._axes: list[tuple[int, Axis]] = []
        self.columns: list[np.ndarray] = []  # for each surface, the numbers of its axes
        numbers: dict[tuple, int] = {}
        for surface in surfaces:
            own = []
            for d, axis in zip(surface.features, surface.axes, strict=True):
                key = (d, axis.is_category, axis.has_missing, axis.knots.tobytes())
                own.append(numbers.setdefault(key, len(numbers)))
                if own[-1] == len(self._axes):
                    self._axes.append((d, axis))
            self.columns.append(np.array(own))

    def encode(self, rows: np.ndarray, n_threads: int) -> np.ndarray:
        """Return the entry of each row along each axis; -1 where the axis has none."""
        codes = np.empty((len(self._axes), len(rows)), dtype=np.int32)

        def encode(k: int) -> None:
            d, axis = self._axes[k]
            codes[k] = nearest_entry(axis, rows[:, d])

        thread_map(encode, range(len(self._axes)), n_threads)
        return codes


def nearest_entry(axis: Axis, x: np.ndarray) -> np.ndarray:
    """Return the entry of an axis that is nearest to each ``x``; -1 where the axis has none.

    Examples
    --------
    >>> nearest_entry(Axis(np.array([0.0, 1.0, 1.0, 4.0])), np.array([-9.0, 0.6, 1.0, 3.0, np.nan]))
    array([ 0,  1,  2,  3, -1])
    """
    x = np.asarray(x, dtype=np.float64)
    is_missing = np.isnan(x)
    if axis.is_category:
        known = (x >= 0) & (x < len(axis.knots))
        entry = np.where(known, x, -1).astype(np.int64)
    else:
        left, right = axis.knots[:-1], axis.knots[1:]
        middles = np.where(left == right, left, left / 2 + right / 2)
        entry = np.searchsorted(middles, x, side="right")
    entry[is_missing] = len(axis) - 1 if axis.has_missing else -1
    return entry


@jit
def _add_weights(codes, columns, strides, weights, out):
    for i in range(weights.shape[0]):
        k, is_known = 0, True
        for j in range(columns.shape[0]):
            code = codes[columns[j], i]
            is_known = is_known and code >= 0
            k += code * strides[j]
        if is_known:
            out[k] += weights[i]
