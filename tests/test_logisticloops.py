"""The loops of the logistic loss against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.special import entr, expit

from everystump._core import logisticloops
from everystump._core.losses import Logistic

# Some units of the last digit.
CLOSE = {"rtol": 4e-15, "atol": 0.0}
SPECIAL = np.array([0.0, -0.0, 1e-300, -1e-300, 1e-9, -1e-9, 0.3, -0.3, 36.0, -36.0, 707.9, -707.9])


def margins(n=2500):
    """More than a block of margins, some of them far out."""
    rng = np.random.default_rng(0)
    return np.concatenate([SPECIAL, rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 2, n)])


@pytest.fixture
def rows():
    m = margins()
    return m, np.random.default_rng(1).uniform(0.1, 3.0, size=len(m))


def test_slope(rows):
    m, cost = rows
    out = np.empty_like(m)
    logisticloops.slope(m, cost, out)
    np.testing.assert_allclose(out, cost * expit(-m), **CLOSE)


def test_curvature(rows):
    m, cost = rows
    out = np.empty_like(m)
    logisticloops.curvature(m, cost, out)
    np.testing.assert_allclose(out, cost * expit(m) * expit(-m), **CLOSE)


def test_total(rows):
    for m, cost in zip(*rows, strict=True):
        found = logisticloops.total(np.array([m]), np.array([cost]))
        np.testing.assert_allclose(found, cost * np.logaddexp(0.0, -m), **CLOSE)
    m, cost = rows
    np.testing.assert_allclose(logisticloops.total(m, cost), cost @ np.logaddexp(0.0, -m), **CLOSE)


def test_look(rows):
    m, cost = rows
    slope, dual = np.empty_like(m), np.empty_like(m)
    total = logisticloops.look(m, cost, slope, dual)
    np.testing.assert_allclose(total, logisticloops.total(m, cost), **CLOSE)
    np.testing.assert_allclose(slope, cost * expit(-m), **CLOSE)
    entropy = cost * (entr(expit(-m)) + entr(expit(m)))
    # Loss and ``a m`` cancel where the margin is far on the wrong side.
    assert np.all(np.abs(dual - entropy) <= 4e-16 * cost * (8 + np.abs(m)))


@pytest.mark.parametrize("t", [0.0, 0.5, 2.0])
def test_along(rows, t):
    m, cost = rows
    step = np.random.default_rng(2).standard_normal(len(m))
    terms = cost * expit(-(m + t * step)) * step
    found = logisticloops.along(m, step, t, cost)
    assert found == pytest.approx(terms.sum(), abs=1e-14 * np.abs(terms).sum())


def test_margins_beyond_all_exponentials():
    m, cost = np.array([1e4, -1e4, 1e300, -1e300]), np.ones(4)
    slope, dual, total = Logistic(cost).look(m)
    np.testing.assert_array_equal(slope, [0.0, 1.0, 0.0, 1.0])
    assert np.all(np.isfinite(dual))
    assert total == pytest.approx(1e300)
    assert np.all(Logistic(cost).curvature(m) == 0.0)


def test_no_rows():
    none = np.empty(0)
    assert Logistic(none).total(none) == 0.0
    assert Logistic(none).along(none, none, 1.0) == 0.0
