"""The loss loops against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.special import entr, expit

from everystump._core import lossloops
from everystump._core.losses import Logistic

# A few units in the last place.
CLOSE = {"rtol": 4e-15, "atol": 0.0}
SPECIAL = np.array([0.0, -0.0, 1e-300, -1e-300, 1e-9, -1e-9, 0.3, -0.3, 36.0, -36.0, 707.9, -707.9])


def spread_margins(n=2500):
    """More than a block of margins, some of them far out."""
    rng = np.random.default_rng(0)
    return np.concatenate([SPECIAL, rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 2, n)])


@pytest.fixture
def rows():
    m = spread_margins()
    return m, np.random.default_rng(1).uniform(0.1, 3.0, size=len(m))


def test_logistic_slope(rows):
    m, cost = rows
    out = np.empty_like(m)
    lossloops.logistic_slope(m, cost, out)
    np.testing.assert_allclose(out, cost * expit(-m), **CLOSE)


def test_logistic_curvature(rows):
    m, cost = rows
    out = np.empty_like(m)
    lossloops.logistic_curvature(m, cost, out)
    np.testing.assert_allclose(out, cost * expit(m) * expit(-m), **CLOSE)


def test_logistic_total(rows):
    for m, cost in zip(*rows, strict=True):
        found = lossloops.logistic_total(np.array([m]), np.array([cost]))
        np.testing.assert_allclose(found, cost * np.logaddexp(0.0, -m), **CLOSE)
    m, cost = rows
    np.testing.assert_allclose(
        lossloops.logistic_total(m, cost), cost @ np.logaddexp(0.0, -m), **CLOSE
    )


def test_logistic_slope_dual_total(rows):
    m, cost = rows
    slope, dual = np.empty_like(m), np.empty_like(m)
    total = lossloops.logistic_slope_dual_total(m, cost, slope, dual)
    np.testing.assert_allclose(total, lossloops.logistic_total(m, cost), **CLOSE)
    np.testing.assert_allclose(slope, cost * expit(-m), **CLOSE)
    entropy = cost * (entr(expit(-m)) + entr(expit(m)))
    # Loss and ``a m`` cancel where the margin is far on the wrong side.
    assert np.all(np.abs(dual - entropy) <= 4e-16 * cost * (8 + np.abs(m)))


def test_logistic_dual(rows):
    """Of any dual variables, and at their limits."""
    m, cost = rows
    p = np.concatenate([[0.0, 1.0], np.linspace(0.0, 1.0, len(m))])[: len(m)]
    dual = np.empty_like(m)
    lossloops.logistic_dual(p * cost, cost, dual)
    # The rounding of p counts up to 37 times, the logarithm of its smallest difference from 1.
    np.testing.assert_allclose(dual, cost * (entr(p) + entr(1 - p)), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("t", [0.0, 0.5, 2.0])
def test_logistic_directional_slope(rows, t):
    m, cost = rows
    step = np.random.default_rng(2).standard_normal(len(m))
    terms = cost * expit(-(m + t * step)) * step
    found = lossloops.logistic_directional_slope(m, step, t, cost)
    assert found == pytest.approx(terms.sum(), abs=1e-14 * np.abs(terms).sum())


def test_logistic_margins_beyond_all_exponentials():
    m, cost = np.array([1e4, -1e4, 1e300, -1e300]), np.ones(4)
    slope, dual = np.empty((2, 4))
    total = Logistic(cost).slope_dual_total(m, slope, dual)
    np.testing.assert_array_equal(slope, [0.0, 1.0, 0.0, 1.0])
    assert np.all(np.isfinite(dual))
    assert total == pytest.approx(1e300)
    assert np.all(Logistic(cost).curvature(m) == 0.0)


def test_no_rows():
    none = np.empty(0)
    assert Logistic(none).total(none) == 0.0
    assert Logistic(none).directional_slope(none, none, 1.0) == 0.0


@pytest.fixture(params=[1, 2, 1001])
def margins(request):
    """Return margins, steps, costs, centers and penalties; some slopes at both limits."""
    rng = np.random.default_rng(request.param)
    margin, step = rng.normal(1.0, 1.0, size=(2, request.param))
    cost, fraction, penalty = rng.uniform(0.1, 2.0, size=(3, request.param))
    return margin, step, cost, cost * fraction / 2, penalty


def plain_slope(margin, cost, center, penalty):
    return np.clip(center + penalty * (1 - margin), 0, cost)


def test_smoothed_hinge_slope(margins):
    margin, _, *rest = margins
    out = np.full_like(margin, np.nan)
    lossloops.smoothed_hinge_slope(margin, *rest, out)
    np.testing.assert_allclose(out, plain_slope(margin, *rest), rtol=1e-13, atol=1e-15)


def test_smoothed_hinge_curvature(margins):
    margin, _, cost, center, penalty = margins
    out = np.full_like(margin, np.nan)
    lossloops.smoothed_hinge_curvature(margin, cost, center, penalty, out)
    a = center + penalty * (1 - margin)
    np.testing.assert_array_equal(out, np.where((a > 0) & (a < cost), penalty, 0))


@pytest.mark.parametrize("t", [0.0, 1.0, -0.3])
def test_smoothed_hinge_directional_slope(margins, t):
    margin, step, *rest = margins
    found = lossloops.smoothed_hinge_directional_slope(margin, step, t, *rest)
    expected = plain_slope(margin + t * step, *rest) @ step
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_hinge_total(margins):
    margin, _, cost, *_ = margins
    total = lossloops.hinge_total(margin, cost)
    assert total == pytest.approx(cost @ np.maximum(0, 1 - margin), rel=1e-12)
