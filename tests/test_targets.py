"""The scale of targets, and what solvers and models see of it."""

import numpy as np
import pytest
from regression_oracles import quantile_of

from everystump._core.shapes import Shape, ShapeModel
from everystump._core.targets import (
    TargetScale,
    log_scale,
    mean_scale,
    quantile_scale,
    weighted_quantiles,
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.normal(3.0, 2.0, size=101), rng.integers(1, 4, size=101).astype(float)


@pytest.mark.parametrize("quantile", [0.05, 0.25, 0.5, 0.9])
def test_quantiles_are_those_of_repeated_rows(table, quantile):
    y, weight = table
    repeated = np.repeat(y, weight.astype(int))
    (found,) = weighted_quantiles(y, weight, (quantile,))
    assert found == weighted_quantiles(repeated, None, (quantile,))[0]
    assert found == quantile_of(y, weight, quantile)
    assert found == np.quantile(repeated, quantile, method="inverted_cdf")


def test_quantiles_of_one_value():
    assert weighted_quantiles(np.array([2.0]), None, (0.0, 0.5, 1.0)) == [2, 2, 2]
    assert weighted_quantiles(np.array([2.0]), np.array([1e-3]), (0.0, 0.5, 1.0)) == [2, 2, 2]


def test_mean_scale(table):
    y, weight = table
    scale = mean_scale(y, weight, center=True)
    repeated = np.repeat(y, weight.astype(int))
    assert scale.center == pytest.approx(repeated.mean(), rel=1e-12)
    assert scale.scale == pytest.approx(repeated.std(), rel=1e-12)
    target = scale.scaled(repeated)
    assert target.mean() == pytest.approx(0, abs=1e-12)
    assert target.std() == pytest.approx(1)
    without = mean_scale(y, None, center=False)
    assert without.center == 0.0
    assert without.scale == pytest.approx(np.sqrt(np.mean(y**2)))


def test_quantile_scale(table):
    y, _ = table
    scale = quantile_scale(y, None, 0.9, center=True)
    low, high = np.quantile(y, [0.25, 0.75], method="inverted_cdf")
    assert scale.center == np.quantile(y, 0.9, method="inverted_cdf")
    assert scale.scale == pytest.approx((high - low) / 1.3489795)
    assert quantile_scale(y, None, 0.9, center=False).center == 0.0


def test_the_scale_of_mostly_equal_targets_is_their_deviation():
    """The interquartile range is 0, or only rounding error."""
    y = np.append(np.zeros(99), 5.0)
    assert quantile_scale(y, None, 0.5, center=True).scale == pytest.approx(y.std())
    y = np.append(np.full(99, 0.1 + 0.2), 5.0) + 1e-17
    assert quantile_scale(y, None, 0.5, center=True).scale == pytest.approx(y.std(), rel=1e-6)


def test_log_scale(table):
    y, weight = np.exp(table[0]), table[1]
    assert log_scale(y, weight, center=True) == TargetScale(
        0.0, pytest.approx(np.average(y, weights=weight)), log_link=True
    )
    assert log_scale(y, weight, center=False) == TargetScale(log_link=True)


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1.0, 1e12, 1e300])
@pytest.mark.parametrize(
    "make", [mean_scale, lambda y, w, center: quantile_scale(y, w, 0.3, center=center), log_scale]
)
def test_units(table, make, unit):
    """Targets in another unit have the same scaled values, without overflow."""
    y, weight = np.abs(table[0]), table[1]
    plain, other = (make(y * u, weight, center=True) for u in (1.0, unit))
    np.testing.assert_allclose(other.scaled(y * unit), plain.scaled(y), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, -1e300, 1e-300])
def test_constant_targets_are_zero(value):
    y = np.full(7, value)
    for scale in (
        mean_scale(y, np.full(7, 0.1), center=True),
        quantile_scale(y, None, 0.7, center=True),
    ):
        np.testing.assert_allclose(scale.scaled(y), 0.0, atol=1e-15 * abs(value))
        np.testing.assert_allclose(scale.predictions(np.zeros(7)), y)


@pytest.mark.parametrize("scale", [TargetScale(3.0, 2.0), TargetScale(0.0, 2.0, log_link=True)])
def test_models_predict_in_the_units_of_targets(scale):
    """The model of a scale predicts what the scale does of the solver's scores."""
    shapes = ShapeModel((Shape.steps(np.array([0.5]), np.array([-1.0, 2.0]), None),), 0.25)
    X = np.array([[0.0], [1.0]])
    scores = shapes.evaluate(X)
    model = scale.model(shapes).evaluate(X)
    expected = scale.predictions(scores)
    np.testing.assert_allclose(np.exp(model) if scale.log_link else model, expected)
