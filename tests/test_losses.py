"""Losses by finite differences, their duals by numerical minimization."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from everystump._core.losses import Hinge, Logistic, SmoothedHinge, SquaredHinge

COST = np.array([0.25, 1.0, 7.0])
MARGINS = np.array([-30.0, -2.0, -0.3, 0.0, 0.4, 0.9, 1.2, 5.0, 30.0])
SMOOTH = [Logistic, SquaredHinge]


def values(record, margin):
    """Return the loss of each row by itself."""
    alone = [type(record)(record.cost[i : i + 1]) for i in range(len(margin))]
    return np.array([loss.total(margin[i : i + 1]) for i, loss in enumerate(alone)])


def all_pairs(margins):
    """Return all pairs of a cost and a margin."""
    cost, margin = np.meshgrid(COST, margins, indexing="ij")
    return cost.ravel(), margin.ravel()


def test_values_by_hand():
    margin = np.array([-1.0, 0.5, 2.0])
    np.testing.assert_allclose(values(Hinge(COST), margin), [0.5, 0.5, 0])
    np.testing.assert_allclose(values(SquaredHinge(COST), margin), [1, 0.25, 0])
    np.testing.assert_allclose(values(Logistic(COST), margin), COST * np.log1p(np.exp(-margin)))


@pytest.mark.parametrize("loss", [Hinge, *SMOOTH])
def test_the_total_is_the_sum_over_rows(loss):
    record, margin = loss(np.resize(COST, 9)), MARGINS
    assert record.total(margin) == pytest.approx(values(record, margin).sum())


def test_margins_are_not_modified():
    smoothed = SmoothedHinge(COST, COST / 2, COST)
    for loss in (Hinge(COST), Logistic(COST), SquaredHinge(COST), smoothed):
        for method in {"total", "slope", "curvature"} & set(dir(loss)):
            margin = MARGINS[:3].copy()
            getattr(loss, method)(margin)
            np.testing.assert_array_equal(margin, MARGINS[:3])


def test_hard_hinge():
    """With an infinite cost the loss is infinite below the margin and 0 above, never NaN."""
    hard = Hinge(np.full(3, np.inf))
    np.testing.assert_array_equal(values(hard, np.array([0.9, 1.0, 2.0])), [np.inf, 0, 0])
    assert hard.total(np.array([2.0, 1.0, 0.9])) == np.inf
    assert hard.total(np.array([2.0, 1.0, 1.1])) == 0.0


def test_logistic_at_huge_margins():
    loss = Logistic(np.ones(2))
    np.testing.assert_allclose(values(loss, np.array([-1e4, 1e4])), [1e4, 0])
    np.testing.assert_allclose(loss.slope(np.array([-1e4, 1e4])), [1, 0])
    np.testing.assert_allclose(loss.curvature(np.array([-1e4, 1e4])), [0, 0])


@pytest.mark.parametrize("loss", SMOOTH)
def test_slope_is_minus_the_derivative(loss):
    cost, margin = all_pairs(MARGINS)
    record, h = loss(cost), 1e-6
    difference = (values(record, margin - h) - values(record, margin + h)) / (2 * h)
    np.testing.assert_allclose(record.slope(margin), difference, rtol=1e-6, atol=1e-7)
    assert np.all(record.slope(margin) >= 0)


@pytest.mark.parametrize("loss", SMOOTH)
def test_curvature_is_the_second_derivative(loss):
    cost, margin = all_pairs(MARGINS)
    record, h = loss(cost), 1e-6
    difference = (record.slope(margin - h) - record.slope(margin + h)) / (2 * h)
    np.testing.assert_allclose(record.curvature(margin), difference, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", [Hinge, *SMOOTH])
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.99])
def test_dual_is_the_minimum(loss, part):
    """``dual(a) = min over m of loss(m) + a m``, found by a search over a wide interval."""
    for cost in COST:
        record, a = loss(np.array([cost])), part * cost

        def priced(m, record=record, a=a):
            return float(record.total(np.array([m])) + a * m)

        least = min(
            minimize_scalar(priced, bounds=span, method="bounded", options={"xatol": 1e-10}).fun
            for span in [(-50, 1), (0, 50)]
        )
        if loss is Logistic and part == 0.0:
            least = 0.0  # the infimum, not reached
        assert record.dual(np.array([a]))[0] == pytest.approx(least, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("loss", [Logistic, SquaredHinge])
def test_dual_is_reached_at_the_slope(loss):
    """Fenchel's equality: ``dual(slope(m)) = loss(m) + slope(m) m``."""
    cost, margin = all_pairs(MARGINS[1:-1])
    record = loss(cost)
    a = record.slope(margin)
    np.testing.assert_allclose(record.dual(a), values(record, margin) + a * margin, atol=1e-9)


def test_logistic_dual_at_the_ends_of_the_box():
    np.testing.assert_array_equal(Logistic(COST).dual(np.zeros(3)), [0, 0, 0])
    np.testing.assert_array_equal(Logistic(COST).dual(COST), [0, 0, 0])


def test_zero_beyond_one():
    beyond = np.array([1.0, 1.5, 100.0])
    for loss in (Hinge, SquaredHinge, Logistic):
        free = loss(COST).total(beyond) == 0
        assert loss.zero_beyond_one == free


@pytest.fixture
def smoothed():
    cost = np.repeat(COST, 5)
    rng = np.random.default_rng(0)
    return SmoothedHinge(cost, rng.uniform(size=15) * cost, rng.uniform(0.1, 9, size=15))


def smoothed_gains(loss, margin):
    """Return many ``0 <= a <= cost`` and ``a (1 - m) - (a - center)^2 / (2 penalty)`` of each."""
    a = loss.cost * np.linspace(0, 1, 20001)[:, None]
    gain = a * (1 - margin) - (a - loss.center) ** 2 / (2 * loss.penalty)
    return a, gain


@pytest.mark.parametrize("margin", [-3.0, 0.0, 0.8, 1.0, 1.1, 4.0])
def test_smoothed_slope_is_the_maximizer(smoothed, margin):
    a, gain = smoothed_gains(smoothed, margin)
    best = np.take_along_axis(a, gain.argmax(axis=0)[None], axis=0)[0]
    slope = smoothed.slope(np.full(15, margin))
    np.testing.assert_allclose(slope, best, atol=1e-4 * smoothed.cost.max())
    assert np.all((slope >= 0) & (slope <= smoothed.cost))


def test_smoothed_curvature_is_the_slope_of_the_slope(smoothed):
    margin = np.random.default_rng(1).normal(1.0, 1.0, size=15)
    h = 1e-7
    difference = (smoothed.slope(margin - h) - smoothed.slope(margin + h)) / (2 * h)
    np.testing.assert_allclose(smoothed.curvature(margin), difference, rtol=1e-5, atol=1e-6)
    assert 0 < np.count_nonzero(smoothed.curvature(margin)) < 15


@pytest.mark.parametrize("t", [0.0, 0.5, -2.0])
def test_directional_slope(smoothed, t):
    rng = np.random.default_rng(2)
    margin, step = rng.normal(1.0, 1.0, size=(2, 15))
    for loss in (smoothed, Logistic(smoothed.cost), SquaredHinge(smoothed.cost)):
        expected = loss.slope(margin + t * step) @ step
        assert loss.directional_slope(margin, step, t) == pytest.approx(expected, rel=1e-12)


def test_a_large_penalty_gives_the_hinge(smoothed):
    hard = SmoothedHinge(smoothed.cost, smoothed.center, np.full(15, 1e9))
    np.testing.assert_array_equal(hard.slope(np.full(15, 0.9)), smoothed.cost)
    np.testing.assert_array_equal(hard.slope(np.full(15, 1.1)), 0.0)


def test_a_penalty_of_zero_gives_the_center(smoothed):
    soft = SmoothedHinge(smoothed.cost, smoothed.center, np.zeros(15))
    np.testing.assert_array_equal(soft.slope(np.full(15, -5.0)), smoothed.center)
