"""Curves evaluated at many rows, against plain NumPy."""

import numpy as np
import pytest

from everystump._core import curves


@pytest.mark.parametrize("n", [1, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_evaluate(n, dtype, order):
    rng = np.random.default_rng(4)
    sizes = (0, 2, 30)
    cuts = [np.sort(rng.normal(size=k)) for k in sizes]
    missing = rng.normal(size=3)
    level, slope, anchor = ([rng.normal(size=k + 1) for k in sizes] for _ in range(3))
    slope[0][:] = 0.0
    pieces = [curves.Pieces(*parts) for parts in zip(cuts, level, slope, anchor, strict=True)]
    every = curves.concatenate(pieces, missing)
    X = np.asarray(rng.normal(size=(n, 3)), dtype=dtype, order=order)
    X[rng.random(size=X.shape) < 0.2] = np.nan
    out, parts = np.full(n, np.nan), np.full((n, 3), np.nan)
    curves.evaluate(X, every, 0.25, out)
    curves.contributions(X, every, parts)
    expected = np.empty((n, 3))
    for d in range(3):
        k = np.minimum(np.searchsorted(cuts[d], X[:, d], side="right"), sizes[d])
        curve = level[d][k] + slope[d][k] * (X[:, d] - anchor[d][k])
        expected[:, d] = np.where(np.isnan(X[:, d]), missing[d], curve)
    np.testing.assert_allclose(parts, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(out, 0.25 + expected.sum(axis=1), rtol=1e-11, atol=1e-12)
