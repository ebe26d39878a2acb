"""DecisionStumpRegressor and StumpBoostingRegressor against scikit-learn and brute force."""

import numpy as np
import pandas as pd
import pytest
from mixed_tables import all_votes, mixed_table
from oracles import seeds
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from everystump import DecisionStumpRegressor, StumpBoostingRegressor
from everystump._core.boosting.regression import RESIDUAL_LOSSES, weighted_median
from everystump._core.boosting.stumps import Stumps

LOSSES = pytest.mark.parametrize("loss", ["squared", "absolute"])


def numbers(seed, n=151, d=4):
    """Return rows of distinct values, noisy targets, and weights without ties of medians."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 1] > 0) + rng.standard_t(3, size=n) / 2
    return X, y, rng.uniform(0.2, 2.0, size=n)


def mixed(seed, categories=(2,)):
    """Return a table with missing values and levels, targets that depend on both, and weights."""
    X, label = mixed_table(seed, categories=categories)
    rng = np.random.default_rng(seed)
    y = label + np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1]) + rng.normal(size=len(X))
    return X, y, rng.integers(1, 4, size=len(X)).astype(float)


# A single stump


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tree_of_depth_one(seed, weighted):
    X, y, weight = numbers(seed)
    weight = weight if weighted else None
    stump = DecisionStumpRegressor().fit(X, y, sample_weight=weight)
    tree = DecisionTreeRegressor(max_depth=1).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(stump.predict(X), tree.predict(X), rtol=1e-12)
    assert stump.feature_ == tree.tree_.feature[0]
    assert stump.threshold_ == pytest.approx(tree.tree_.threshold[0])
    np.testing.assert_allclose(stump.values_, tree.tree_.value[1:, 0, 0])
    error = np.average((y - stump.predict(X)) ** 2, weights=weight)
    assert stump.error_ == pytest.approx(error)


def smallest_error(votes, y, weight):
    """Return the smallest weighted squared error of all stumps, each with its side means."""
    errors = []
    for vote in votes.T:
        sides = [vote > 0, vote < 0]
        fitted = np.zeros(len(y))
        for side in sides:
            if side.any():
                fitted[side] = np.average(y[side], weights=weight[side])
        errors.append(np.average((y - fitted) ** 2, weights=weight))
    return min(errors)


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.parametrize("categories", [(), (2,), (1, 2)])
def test_the_best_of_all_stumps(seed, categories):
    """Brute force over thresholds, levels and missing values."""
    X, y, weight = mixed(seed, categories)
    stump = DecisionStumpRegressor(categorical_features=list(categories))
    stump.fit(X, y, sample_weight=weight)
    votes = all_votes(X, categories, weight)
    assert stump.error_ == pytest.approx(smallest_error(votes, y, weight), rel=1e-9)
    error = np.average((y - stump.predict(X)) ** 2, weights=weight)
    assert error == pytest.approx(stump.error_)
    assert set(np.round(stump.predict(X), 9)) == set(np.round(stump.values_, 9))


def test_levels_have_names():
    X = pd.DataFrame({"color": ["red", "green", "blue", "green", "red", "blue"]})
    stump = DecisionStumpRegressor().fit(X, [1.0, 9.0, 1.0, 8.0, 0.0, 2.0])
    assert stump.level_ == "green"
    assert np.isnan(stump.threshold_)
    np.testing.assert_allclose(stump.values_, [1.0, 8.5])


def test_a_constant_where_no_stump_helps():
    for X, y in [(np.ones((5, 2)), np.arange(5.0)), (np.arange(5.0)[:, None], np.ones(5))]:
        stump = DecisionStumpRegressor().fit(X, y)
        np.testing.assert_allclose(stump.predict(X), y.mean())
        assert stump.threshold_ == -np.inf
        assert stump.error_ == pytest.approx(y.var())
        assert len(stump.estimator_weights_) == 0


def test_minimum_weight_of_sides():
    X, y = np.arange(20.0)[:, None], np.append(np.zeros(19), 100.0)
    assert DecisionStumpRegressor().fit(X, y).threshold_ == 18.5
    assert DecisionStumpRegressor(min_weight_fraction_leaf=0.25).fit(X, y).threshold_ == 14.5


def test_a_random_feature():
    X, y, _ = numbers(0)
    found = {DecisionStumpRegressor("random", random_state=k).fit(X, y).feature_ for k in range(30)}
    assert found == {0, 1, 2, 3}
    stump = DecisionStumpRegressor("random", random_state=1).fit(X, y)
    alone = DecisionStumpRegressor().fit(X[:, [stump.feature_]], y)
    assert stump.threshold_ == alone.threshold_


# Boosting


@pytest.mark.parametrize("seed", seeds(10))
@LOSSES
def test_gradient_boosting_of_scikit_learn(seed, loss):
    """Predictions are the same in each round, to rounding; medians of weights have no ties.

    A residual of 0, as that of the median itself, has the sign 0 here and 1 in scikit-learn; in the
    data of three seeds that changes the first stump of the absolute loss.
    """
    if loss == "absolute" and seed in (4, 5, 7):
        pytest.skip("the sign of a residual of 0 decides about the first stump")
    X, y, weight = numbers(seed)
    model = StumpBoostingRegressor(loss, n_estimators=50, learning_rate=0.3)
    model.fit(X, y, sample_weight=weight)
    theirs = GradientBoostingRegressor(
        loss=f"{loss}_error", n_estimators=50, learning_rate=0.3, max_depth=1
    ).fit(X, y, sample_weight=weight)
    new = np.random.default_rng(seed).normal(size=(40, 4))
    stages = zip(model.staged_predict(new), theirs.staged_predict(new), strict=True)
    for ours, expected in stages:
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict(new), theirs.predict(new), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.estimator_errors_, theirs.train_score_, rtol=1e-9)


@pytest.mark.parametrize("seed", seeds(6))
def test_every_round_takes_the_best_stump(seed):
    """Brute force over thresholds, levels and missing values in each of 20 rounds."""
    X, y, weight = mixed(seed)
    model = StumpBoostingRegressor(n_estimators=20, categorical_features=[2], learning_rate=0.5)
    model.fit(X, y, sample_weight=weight)
    votes = all_votes(X, (2,), weight)
    fitted = np.full(len(y), np.average(y, weights=weight))
    for stage in model.staged_predict(X):
        residual = y - fitted
        full = fitted + (stage - fitted) / 0.5
        reached = np.average((y - full) ** 2, weights=weight)
        assert reached == pytest.approx(smallest_error(votes, residual, weight), rel=1e-9)
        fitted = stage


@LOSSES
def test_scores_stages_and_curves_agree(loss):
    X, y, weight = mixed(3)
    model = StumpBoostingRegressor(loss, n_estimators=30, categorical_features=[2])
    model.fit(X, y, sample_weight=weight)
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(model.predict(X), last, atol=1e-12)
    np.testing.assert_allclose(model.shapes_.evaluate(X), last, atol=1e-12)
    assert model.round_intercepts_.sum() == pytest.approx(model.intercept_[0])
    assert model.link_ == "identity"
    assert isinstance(model.stumps_, Stumps)
    assert len(model.round_intercepts_) == 31
    loss_value = RESIDUAL_LOSSES[loss].value
    error = np.average(loss_value(y - last), weights=weight)
    assert model.estimator_errors_[-1] == pytest.approx(error)


@LOSSES
def test_weights_are_repetitions(loss):
    X, y, weight = mixed(1)
    times = weight.astype(int) - 1
    parameters = {"n_estimators": 30, "categorical_features": [2]}
    weighted = StumpBoostingRegressor(loss, **parameters).fit(X, y, sample_weight=times)
    repeated = StumpBoostingRegressor(loss, **parameters)
    repeated.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


@LOSSES
@pytest.mark.parametrize("factor", [1e-300, 1e-9, 1e12, 1e300])
def test_units_do_not_matter(loss, factor):
    X, y, _ = numbers(0)
    model, other = (StumpBoostingRegressor(loss).fit(X, u * y) for u in (1.0, factor))
    np.testing.assert_allclose(other.predict(X) / factor, model.predict(X), rtol=1e-9, atol=1e-9)


@LOSSES
def test_training_loss_falls_to_zero(loss):
    """Each value is a level of its own, so that stumps can fit every target."""
    X, y = np.arange(30.0)[:, None], np.random.default_rng(0).normal(size=30)
    model = StumpBoostingRegressor(loss, n_estimators=3000, learning_rate=1.0).fit(X, y)
    assert np.all(np.diff(model.estimator_errors_) <= 1e-12)
    if loss == "squared":
        assert model.score(X, y) > 0.9999


@LOSSES
def test_constant_targets_have_no_stumps(loss):
    model = StumpBoostingRegressor(loss).fit(np.arange(5.0)[:, None], np.full(5, 3.0))
    assert len(model.estimator_weights_) == 0
    np.testing.assert_array_equal(model.predict([[1.0], [9.0]]), 3.0)
    assert list(model.staged_predict([[1.0]])) == []


@LOSSES
def test_early_stopping(loss):
    """The stumps up to the best round are kept; the losses are those of the held-out samples."""
    X, y, weight = numbers(0, n=300)
    parameters = {"n_estimators": 1000, "learning_rate": 0.5, "random_state": 0}
    model = StumpBoostingRegressor(loss, validation_fraction=0.3, **parameters)
    model.fit(X, y, sample_weight=weight)
    n = len(model.estimator_weights_)
    assert n == np.argmin(model.validation_losses_) + 1 < 1000
    assert len(model.validation_losses_) == n + 10
    again = StumpBoostingRegressor(loss, validation_fraction=0.3, **parameters)
    again.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="only 1 sample"):
        StumpBoostingRegressor(validation_fraction=0.5).fit([[1.0]], [1.0])


def test_many_rows_are_binned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = X[:, 0] + rng.normal(size=20_000)
    model = StumpBoostingRegressor(n_estimators=50, learning_rate=0.5).fit(X, y)
    assert not model.exact_
    exact = StumpBoostingRegressor(n_estimators=50, learning_rate=0.5, max_bins=20_000).fit(X, y)
    assert exact.exact_
    assert model.score(X, y) == pytest.approx(exact.score(X, y), abs=0.005)
    threads = StumpBoostingRegressor(n_estimators=50, learning_rate=0.5, n_jobs=2).fit(X, y)
    np.testing.assert_allclose(threads.predict(X), model.predict(X), atol=1e-9)


def test_random_features_and_unknown_values():
    X, y, _ = mixed(0)
    model = StumpBoostingRegressor(features="random", random_state=0, categorical_features=[2])
    model.fit(X, y)
    assert len(set(model.stumps_.feature)) == 4
    unknown = np.array([[np.nan, np.nan, 99.0, np.nan]])
    assert np.isfinite(model.predict(unknown)).all()


def test_explanations_are_sums_of_curves():
    X, y, _ = mixed(0)
    model = StumpBoostingRegressor(categorical_features=[2]).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[0] == model.feature_importances_.max()


def test_the_median_is_the_middle_of_all():
    assert weighted_median(np.array([3.0, 1.0]), np.ones(2)) == 2.0
    assert weighted_median(np.array([3.0, 1.0]), np.array([1.0, 2.0])) == 1.0
    x = np.random.default_rng(0).normal(size=(2, 51))
    assert weighted_median(x[0], np.ones(51)) == np.median(x[0])


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, [1.0, np.nan, 2.0], "y: the target of row 1 is nan"),
        ({}, ["a", "b", "c"], "y: the target of row 0 is 'a'"),
        ({"loss": "huber"}, [1.0, 2.0, 3.0], "'loss' parameter"),
        ({"learning_rate": 0}, [1.0, 2.0, 3.0], "'learning_rate' parameter"),
    ],
)
def test_invalid_input_raises(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        StumpBoostingRegressor(**parameters).fit([[1.0], [2.0], [3.0]], y)
