"""Weights of rows at the grid points of surfaces."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from test_surfaces import QUICK, points, surfaces

from everystump._core import gridweights
from everystump._core.gridweights import grid_weights, nearest_entry
from everystump._core.sparse import SparseTable
from everystump._core.surfaces import Axis, Surface


def nearest(axis, x):
    """Return the nearest entry of an axis, by trying all of them; None if it has none."""
    if np.isnan(x):
        return len(axis.knots) if axis.has_missing else None
    if axis.is_category:
        return int(x) if x in axis.knots else None
    below = [k for k, knot in enumerate(axis.knots) if knot <= x]
    above = [k for k, knot in enumerate(axis.knots) if knot > x]
    if not below or not above:
        return below[-1] if below else 0
    is_closer = axis.knots[above[0]] - x <= x - axis.knots[below[-1]]
    return above[0] if is_closer else below[-1]


@QUICK
@given(st.lists(surfaces(), max_size=4), st.booleans(), st.integers(1, 3))
def test_each_row_counts_at_its_nearest_grid_point(drawn, is_weighted, n_threads):
    X = points()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if is_weighted else None
    found = grid_weights(drawn, X, weights, n_threads=n_threads)
    for surface, total in zip(drawn, found, strict=True):
        expected = np.zeros(surface.values.shape)
        for i, row in enumerate(X):
            entry = tuple(map(nearest, surface.axes, row[list(surface.features)]))
            if None not in entry:
                expected[entry] += 1.0 if weights is None else weights[i]
        np.testing.assert_allclose(total, expected, rtol=1e-12)


def test_blocks_threads_and_sparse_tables_give_the_same_weights(monkeypatch):
    rng = np.random.default_rng(0)
    axes = [Axis(np.sort(rng.normal(size=6))), Axis.category(3), Axis(np.zeros(1))]
    terms = [t for t in itertools.combinations(range(3), 2)]
    parts = [
        Surface(t, tuple(axes[d] for d in t), np.zeros([len(axes[d]) for d in t])) for t in terms
    ]
    X = rng.normal(size=(5000, 3))
    X[:, 1] = rng.integers(0, 3, len(X))
    whole = grid_weights(parts, X)
    assert [total.sum() for total in whole] == [5000.0] * 3
    monkeypatch.setattr(gridweights, "_ROWS_PER_BLOCK", 700)
    for rows in (X, X.astype(np.float32).astype(np.float64, order="F"), SparseTable(csr_array(X))):
        for total, expected in zip(grid_weights(parts, rows, n_threads=2), whole, strict=True):
            np.testing.assert_allclose(total, expected, atol=3.0)  # float32 moves a few rows
    for total, expected in zip(grid_weights(parts, X, n_threads=2), whole, strict=True):
        np.testing.assert_array_equal(total, expected)


def test_transposed_values():
    axes = Axis(np.arange(3.0)), Axis(np.arange(2.0))
    surface = Surface((0, 1), axes, np.zeros((2, 3)).T)
    (total,) = grid_weights([surface], np.array([[2.0, 0.0], [2.0, 1.0], [2.0, 1.0]]))
    np.testing.assert_array_equal(total, [[0, 0], [0, 0], [1, 2]])


def test_knots_at_extreme_scales():
    knots = np.array([-1.7e308, 1.7e308])
    entries = nearest_entry(Axis(knots), np.array([-1e308, 1e308]))
    assert entries.tolist() == [0, 1]
