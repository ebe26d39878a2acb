"""Losses of regression by finite differences, their duals by Fenchel's inequality."""

import numpy as np
import pytest
from regression_oracles import Loss

from everystump._core import regressionloops
from everystump._core.regression_losses import (
    Gamma,
    Huber,
    ParametricLoss,
    PiecewiseLinear,
    Poisson,
    SmoothedPiecewiseLinear,
    SquaredLoss,
)

COSTS = np.array([0.25, 1.0, 7.0])
MARGINS = np.array([-30.0, -2.0, -0.3, 0.0, 0.4, 0.9, 1.2, 5.0, 30.0])
NUMBERS, COUNTS, POSITIVE = (
    np.array([-4.0, -0.1, 0.0, 0.7, 3.0]),
    np.array([0.0, 1e-12, 0.5, 1.0, 7.0]),
    np.array([1e-9, 0.1, 1.0, 2.5, 40.0]),
)
# Each with possible targets, and the same in plain NumPy.
SMOOTH = {
    "squared": (SquaredLoss, NUMBERS, Loss("squared")),
    "huber": (ParametricLoss(Huber, (0.5,)), NUMBERS, Loss("huber")),
    "narrow huber": (ParametricLoss(Huber, (0.01,)), NUMBERS, Loss("huber", epsilon=0.01)),
    "poisson": (Poisson, COUNTS, Loss("poisson")),
    "gamma": (Gamma, POSITIVE, Loss("gamma")),
}
KINKED = {
    "absolute": (ParametricLoss(PiecewiseLinear, (1.0, 1.0, 0.0)), NUMBERS, Loss("absolute")),
    "quantile": (ParametricLoss(PiecewiseLinear, (0.9, 0.1, 0.0)), NUMBERS, Loss("quantile", 0.9)),
    "epsilon_insensitive": (
        ParametricLoss(PiecewiseLinear, (1.0, 1.0, 0.1)),
        NUMBERS,
        Loss("epsilon_insensitive"),
    ),
}
LOSSES = {**SMOOTH, **KINKED}
EVERY_SMOOTH = pytest.mark.parametrize("name", SMOOTH)
EVERY_KINKED = pytest.mark.parametrize("name", KINKED)
EVERY = pytest.mark.parametrize("name", LOSSES)


def combinations(name, margins=MARGINS):
    """Return the loss of all combinations of a cost, a target and a margin, and its oracle."""
    family, targets, oracle = LOSSES[name]
    grids = np.meshgrid(COSTS, targets, margins, indexing="ij")
    cost, target, margin = (grid.ravel() for grid in grids)
    return family.for_rows(cost, target), margin, oracle


@EVERY
def test_values(name):
    """The loss of each row is that of its formula, and 0 at least."""
    loss, margin, oracle = combinations(name)
    expected = loss.cost * oracle.value(loss.target, margin)
    # Differences of terms as large as the exponential of the largest score.
    np.testing.assert_allclose(loss.per_row(margin), expected, rtol=1e-10, atol=1e-13)
    assert loss.total(margin) == pytest.approx(expected.sum(), rel=1e-12)
    assert np.all(loss.per_row(margin) >= 0)


@EVERY_SMOOTH
def test_slope_is_minus_the_derivative(name):
    loss, margin, _ = combinations(name, MARGINS[1:-1])
    h = 1e-6
    difference = (loss.per_row(margin - h) - loss.per_row(margin + h)) / (2 * h)
    # A loss of about 1e9, for a gamma target far above the score, has rounding errors of 1e-7.
    atol = 1e-7 + 1e-9 * loss.per_row(margin)
    assert np.all(np.abs(loss.slope(margin) - difference) <= 1e-6 * np.abs(difference) + atol)


@EVERY_SMOOTH
def test_curvature_is_the_second_derivative(name):
    loss, margin, _ = combinations(name, MARGINS[1:-1] + 0.03)
    h = 1e-6
    difference = (loss.slope(margin - h) - loss.slope(margin + h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(margin), difference, rtol=1e-6, atol=1e-6)
    typical = loss.typical_curvature(loss.slope(margin))
    np.testing.assert_allclose(typical, difference, rtol=1e-5, atol=1e-6)


@EVERY
def test_fenchel_inequality(name):
    """``dual(a) <= loss(m) + a m`` for every feasible dual variable and every margin."""
    loss, margin, oracle = combinations(name, np.linspace(-6, 6, 61))
    low, high = oracle.limits(loss.target, loss.cost)
    low, high = np.maximum(low, -9 * loss.cost), np.minimum(high, 9 * loss.cost)
    for fraction in (0.0, 0.2, 0.5, 0.77, 1.0):
        a = (1 - fraction) * low + fraction * high
        bound = loss.per_row(margin) + a * margin
        rounding = 1e-13 * (np.abs(a * margin) + loss.cost * (1 + np.abs(loss.target)))
        assert np.all(loss.dual(a) <= bound + rounding)
        np.testing.assert_allclose(
            loss.dual(a), oracle.dual(loss.target, a, loss.cost), rtol=1e-12, atol=1e-12
        )


@EVERY_SMOOTH
def test_dual_is_reached_at_the_slope(name):
    """Fenchel's equality: ``dual(slope(m)) = loss(m) + slope(m) m``, also for zero counts."""
    loss, margin, oracle = combinations(name, np.linspace(-6, 6, 61))
    a, dual = np.full((2, len(margin)), np.nan)
    total = loss.slope_dual_total(margin, a, dual)
    np.testing.assert_array_equal(a, loss.slope(margin))
    assert total == loss.total(margin)
    expected = loss.per_row(margin) + a * margin
    rounding = 1e-12 * (loss.cost * (1 + np.abs(loss.target)) + np.abs(a) * (1 + np.abs(margin)))
    assert np.all(np.abs(dual - expected) <= rounding)
    low, high = oracle.limits(loss.target, loss.cost)
    assert np.all((a >= low * (1 + 1e-15)) & (a <= high * (1 + 1e-15)))


@EVERY_SMOOTH
def test_buffers_are_written(name):
    loss, margin, _ = combinations(name)
    for method in (loss.slope, loss.curvature):
        out = np.full_like(margin, np.nan)
        assert method(margin, out) is out
        np.testing.assert_array_equal(out, method(margin))


@EVERY_KINKED
def test_dual_is_reached_at_a_subgradient(name):
    """The same for kinked losses, at limits off the kinks and in between on them."""
    loss, margin, oracle = combinations(name)
    low, high = oracle.limits(loss.target, loss.cost)
    residual = loss.target - margin
    for tube in (loss.epsilon, -loss.epsilon):
        kink = loss.target - tube  # a score on the edge of the tube
        a = 0.3 * (high if tube >= 0 else low)
        if loss.epsilon == 0.0:
            a = 0.3 * high + 0.7 * low
        np.testing.assert_allclose(loss.dual(a), loss.per_row(kink) + a * kink, atol=1e-12)
    a = np.where(residual > loss.epsilon, high, np.where(residual < -loss.epsilon, low, 0.0))
    np.testing.assert_allclose(loss.dual(a), loss.per_row(margin) + a * margin, atol=1e-11)


@EVERY
def test_dual_is_zero_at_zero(name):
    """So scaling dual variables down keeps at least that fraction of their terms."""
    loss, margin, _ = combinations(name)
    np.testing.assert_allclose(loss.dual(np.zeros_like(margin)), 0.0, atol=1e-26)


@EVERY
def test_dual_size_bounds_the_terms(name):
    loss, margin, oracle = combinations(name)
    low, high = oracle.limits(loss.target, loss.cost)
    a = np.clip(np.random.default_rng(0).normal(size=len(margin)) * loss.cost, low, high)
    assert loss.dual_size(a, loss.dual(a)) >= np.abs(loss.dual(a)).sum() * (1 - 1e-12)


@EVERY
def test_total_within_is_an_upper_bound(name):
    """No scores within the radius have a larger loss."""
    loss, margin, _ = combinations(name)
    rng, radius = np.random.default_rng(0), 0.3
    bound = loss.total_within(margin, radius)
    for _ in range(20):
        assert loss.total(margin + rng.uniform(-radius, radius, len(margin))) <= bound
    assert loss.total_within(margin, 0.0) >= loss.total(margin)


@EVERY
def test_sides_are_the_signs_of_dual_variables(name):
    loss, _, _ = combinations(name)
    a = np.random.default_rng(0).normal(size=len(loss.cost))
    side, size = loss.sides(np.ones(len(a), dtype=bool), a)
    np.testing.assert_array_equal(side, a > 0)
    np.testing.assert_array_equal(size, np.abs(a))


@EVERY
def test_families_forward_the_attributes_of_losses(name):
    family = LOSSES[name][0]
    loss = family.for_rows(COSTS, np.ones(3))
    attributes = "solver", "zero_beyond_one", "needs_continuation", "path_tolerance", "is_quadratic"
    for attribute in attributes:
        assert getattr(family, attribute) == getattr(loss, attribute)
    assert family.signs(np.ones(3)) == 1
    np.testing.assert_array_equal(loss.distance(np.array([0.0, 1.0, 3.0])), [1, 0, 2])


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_scores_beyond_all_exponentials(name):
    """Nothing overflows, and the slopes keep their signs."""
    family, targets, _ = SMOOTH[name]
    target = np.full(4, targets[-1])
    loss, margin = family.for_rows(np.ones(4), target), np.array([-1e4, 1e4, -1e30, 1e30])
    for values in (loss.per_row(margin), loss.slope(margin), loss.curvature(margin)):
        assert np.all(np.isfinite(values))
    assert np.all(loss.slope(margin) * [1, -1, 1, -1] > 0)
    assert np.isfinite(loss.total_within(margin, 1.0))


# The smoothed piecewise linear loss


@pytest.fixture(params=KINKED)
def smoothed(request):
    """Return a kinked loss smoothed around dual variables, some of them at their limits."""
    rng = np.random.default_rng(0)
    loss = KINKED[request.param][0].for_rows(np.repeat(COSTS, 50), rng.normal(size=150))
    low, high = -loss.below * loss.cost, loss.above * loss.cost
    center = loss.clip(rng.uniform(1.3 * low, 1.3 * high))
    assert np.any(center == low)
    assert np.all((center >= low) & (center <= high))
    return loss.smoothed(center, rng.uniform(0.1, 9, size=150))


def gains(smoothed, margin):
    """Return many feasible dual variables, and what they maximize."""
    loss = smoothed.loss
    low, high = -loss.below * loss.cost, loss.above * loss.cost
    a = low + (high - low) * np.linspace(0, 1, 20001)[:, None]
    gain = a * (loss.target - margin) - loss.epsilon * np.abs(a)
    return a, gain - (a - smoothed.center) ** 2 / (2 * smoothed.penalty)


@pytest.mark.parametrize("margin", [-3.0, 0.0, 0.3, 1.0, 4.0])
def test_smoothed_slope_is_the_maximizer(smoothed, margin):
    """Brute force over a grid of 20,001 dual variables."""
    a, gain = gains(smoothed, margin)
    best = np.take_along_axis(a, gain.argmax(axis=0)[None], axis=0)[0]
    slope = smoothed.slope(np.full(150, margin))
    np.testing.assert_allclose(slope, best, atol=1.01e-4 * smoothed.loss.cost.max())


def test_smoothed_curvature_is_the_slope_of_the_slope(smoothed):
    margin, h = np.random.default_rng(1).normal(size=150), 1e-7
    difference = (smoothed.slope(margin - h) - smoothed.slope(margin + h)) / (2 * h)
    np.testing.assert_allclose(smoothed.curvature(margin), difference, rtol=1e-5, atol=1e-6)
    assert 0 < np.count_nonzero(smoothed.curvature(margin)) < 150


@pytest.mark.parametrize("t", [0.0, 0.5, -2.0])
def test_directional_slope(smoothed, t):
    margin, step = np.random.default_rng(2).normal(size=(2, 150))
    expected = smoothed.slope(margin + t * step) @ step
    assert smoothed.directional_slope(margin, step, t) == pytest.approx(expected, rel=1e-12)


def test_a_large_penalty_gives_the_loss(smoothed):
    """The slopes are those of the loss: a limit, or 0 in the tube."""
    loss = smoothed.loss
    hard = SmoothedPiecewiseLinear(loss, smoothed.center, np.full(150, 1e12))
    for shift, expected in [(-1.0, loss.above * loss.cost), (1.0, -loss.below * loss.cost)]:
        np.testing.assert_array_equal(hard.slope(loss.target + shift), expected)
    if loss.epsilon > 0:
        np.testing.assert_array_equal(hard.slope(loss.target), 0.0)


def test_a_penalty_of_zero_gives_the_center(smoothed):
    soft = SmoothedPiecewiseLinear(smoothed.loss, smoothed.center, np.zeros(150))
    np.testing.assert_array_equal(soft.slope(np.full(150, -5.0)), smoothed.center)


def test_box_centers_are_half_of_the_limits(smoothed):
    loss = smoothed.loss
    center = loss.box_center(np.ones(150))
    expected = np.where(loss.target > 0, loss.above, -loss.below) * loss.cost / 2
    np.testing.assert_array_equal(center, expected)


# Loops against NumPy


@pytest.fixture(params=[1, 2, 1001])
def rows(request):
    """Return margins, steps and the arguments of the loops."""
    rng, n = np.random.default_rng(request.param), request.param
    margin, step, target = rng.normal(size=(3, n))
    cost, penalty = rng.uniform(0.1, 2.0, size=(2, n))
    limits = 0.7, 1.3, [0.0, 0.2, 0.4][n % 3]
    return margin, step, (cost, target, *limits, cost * rng.uniform(-1.3, 0.7, n), penalty)


def plain_slope(margin, cost, target, above, below, epsilon, center, penalty):
    """Soft-threshold the free maximum, then clip it."""
    z = center + penalty * (target - margin)
    shrunk = np.sign(z) * np.maximum(np.abs(z) - penalty * epsilon, 0.0)
    return np.clip(shrunk, -below * cost, above * cost)


def test_smoothed_slope_loop(rows):
    margin, _, arguments = rows
    out = np.full_like(margin, np.nan)
    regressionloops.smoothed_slope(margin, *arguments, out)
    np.testing.assert_allclose(out, plain_slope(margin, *arguments), rtol=1e-13, atol=1e-15)


def test_smoothed_curvature_loop(rows):
    margin, _, arguments = rows
    cost, _, above, below, epsilon, _, penalty = arguments
    out = np.full_like(margin, np.nan)
    regressionloops.smoothed_curvature(margin, *arguments, out)
    a = plain_slope(margin, *arguments)
    is_free = (a > -below * cost) & (a < above * cost) & ((a != 0) | (epsilon == 0))
    np.testing.assert_array_equal(out, np.where(is_free, penalty, 0.0))


@pytest.mark.parametrize("t", [0.0, 1.0, -0.3])
def test_smoothed_directional_slope_loop(rows, t):
    margin, step, arguments = rows
    found = regressionloops.smoothed_directional_slope(margin, step, t, *arguments)
    expected = plain_slope(margin + t * step, *arguments) @ step
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)
