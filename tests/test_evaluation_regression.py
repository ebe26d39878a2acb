"""Metrics of regressions next to a constant, and prediction intervals from held-out residuals."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.metrics import (
    mean_absolute_error,
    mean_pinball_loss,
    r2_score,
    root_mean_squared_error,
)

from everystump._evaluation import (
    PredictionInterval,
    baseline_warning,
    constant_baseline,
    evaluate_numbers,
    metric_rows,
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    predicted = rng.normal(50.0, 9.0, size=400)
    return predicted + rng.normal(size=400) * 3.0, predicted


@pytest.mark.parametrize("quantile", [None, 0.5, 0.9])
def test_metrics_are_those_of_scikit_learn(rows, quantile):
    actual, predicted = rows
    strategy = {"strategy": "mean"} if quantile is None else {"strategy": "quantile"}
    dummy = DummyRegressor(**strategy, quantile=quantile).fit(predicted[:, None], actual)
    constant = dummy.predict(predicted[:, None])
    found = evaluate_numbers(actual, predicted, quantile=quantile)
    assert found["baseline"]["answer"] == pytest.approx(constant[0], rel=1e-3)
    scores = {"r2": r2_score, "rmse": root_mean_squared_error, "mae": mean_absolute_error}
    if quantile == 0.9:
        scores["pinball_loss"] = lambda a, p: mean_pinball_loss(a, p, alpha=0.9)
        scores["rows_below"] = lambda a, p: np.mean(a <= p)
    assert found["figures"].keys() == scores.keys()
    for name, score in scores.items():
        metric = found["figures"][name]
        assert metric["value"] == pytest.approx(score(actual, predicted))
        assert metric["baseline"] == pytest.approx(score(actual, constant), abs=0.02)
        assert metric["low"] < metric["value"] < metric["high"]
    assert found["better"] is True and baseline_warning(found) is None


@pytest.mark.parametrize(
    ("quantile", "name"), [(None, "the mean"), (0.5, "the median"), (0.2, "the 0.2 quantile")]
)
def test_the_baseline_is_named(quantile, name, rows):
    actual, _ = rows
    constant = np.full(len(actual), constant_baseline(actual, quantile))
    found = evaluate_numbers(actual, constant, quantile=quantile)
    assert found["better"] is False
    assert (
        baseline_warning(found) == f"The predictions are no better than always predicting {name}."
    )


def test_a_quantile_is_judged_by_its_own_loss(rows):
    """A high quantile is worse than the mean in squared error, but not as a quantile."""
    actual, predicted = rows
    high = predicted + 3.0 * 2.5
    mean, quantile = evaluate_numbers(actual, high), evaluate_numbers(actual, high, quantile=0.99)
    assert mean["figures"]["r2"]["value"] < mean["figures"]["r2"]["baseline"] + 0.4
    assert quantile["better"] is True and quantile["figures"]["rows_below"]["value"] > 0.98


def test_units_share_decimal_places():
    values = {"value": 12345.6, "low": 9876.5, "high": 15000.0, "baseline": 20000.0}
    r2 = {"value": -1e-5, "low": None, "high": None, "baseline": 0.0}
    rmse, fraction = metric_rows({"figures": {"rmse": values, "r2": r2}})
    interval = "9,876 to 15,000"
    assert rmse == {"name": "RMSE", "value": "12,346", "interval": interval, "baseline": "20,000"}
    assert fraction["name"] == "R²" and fraction["value"] == "0.000"


# Prediction intervals


@pytest.mark.parametrize("n", [9, 10, 19, 50, 99, 101])
def test_the_rank_of_the_half_width(n):
    residuals = np.random.default_rng(n).permutation(np.arange(1, n + 1)) * np.resize([1, -1], n)
    interval = PredictionInterval.from_residuals(residuals.astype(float))
    rank = -(-9 * (n + 1) // 10)  # ceil of 0.9 (n + 1), in integers
    assert (interval.half_width, interval.n_beyond) == (rank, n - rank)
    assert interval.is_outside(residuals, np.zeros(n)).sum() == n - rank


def test_too_few_residuals_for_an_interval():
    assert PredictionInterval.from_residuals(np.ones(8)) is None
    assert PredictionInterval.from_residuals(np.ones(0)) is None


def test_limits_of_positive_targets():
    interval = PredictionInterval(0.9, 2.0, 50)
    low, high = interval.limits(np.array([1.0, 5.0]), positive=True)
    assert low.tolist() == [0.0, 3.0] and high.tolist() == [3.0, 7.0]
    low, _ = interval.limits(np.array([1.0, 5.0]), positive=False)
    assert low.tolist() == [-1.0, 3.0]


def test_mean_coverage():
    """The probability that a new residual is inside is k / (n + 1) for continuous residuals."""
    rng, n, n_trials = np.random.default_rng(0), 29, 4000
    rank = 27  # ceil of 0.9 * 30
    inside = 0
    for residuals in rng.standard_t(3, size=(n_trials, n + 1)):
        interval = PredictionInterval.from_residuals(residuals[1:])
        inside += abs(residuals[0]) <= interval.half_width
    # The standard deviation of the frequency is 0.0047.
    assert inside / n_trials == pytest.approx(rank / (n + 1), abs=0.02)


def test_integer_weights_count_copies():
    rng = np.random.default_rng(7)
    actual = rng.normal(size=80)
    predicted, weight = actual + rng.normal(size=80), rng.integers(1, 5, 80)
    copies = np.repeat(np.arange(80), weight)
    for quantile in (None, 0.9):
        weighted = evaluate_numbers(actual, predicted, 0.1, quantile=quantile, weight=weight)
        other = evaluate_numbers(actual[copies], predicted[copies], 0.1, quantile=quantile)
        equal = evaluate_numbers(actual, predicted, 0.1, quantile=quantile, weight=np.ones(80))
        plain = evaluate_numbers(actual, predicted, 0.1, quantile=quantile)
        for name, figure in weighted["figures"].items():
            assert figure["value"] == pytest.approx(other["figures"][name]["value"])
            assert figure["baseline"] == pytest.approx(other["figures"][name]["baseline"])
            assert figure["low"] < other["figures"][name]["low"]
            for key in ("value", "low", "high"):
                assert equal["figures"][name][key] == pytest.approx(plain["figures"][name][key])
        assert weighted["weighted"] and weighted["better"] == other["better"]
