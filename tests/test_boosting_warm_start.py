"""Warm starts and early stopping of boosting."""

import numpy as np
import pytest
from oracles import BOOSTING_LOSSES, assert_same_stumps, noisy_table
from sklearn.model_selection import train_test_split

from everystump import StumpBoostingClassifier
from everystump._core import blocks


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("features", ["best", "random"])
@pytest.mark.parametrize("max_bins", ["auto", 8])
def test_warm_start_continues_the_fit(loss, features, max_bins):
    """Weights are recomputed from the margins, so rounds differ by rounding."""
    X, y, weight = noisy_table(3)
    params = {"features": features, "random_state": 7, "max_bins": max_bins, "learning_rate": 0.8}
    warm = StumpBoostingClassifier(loss, n_estimators=20, warm_start=True, **params)
    warm.fit(X, y, weight).set_params(n_estimators=50).fit(X, y, weight)
    at_once = StumpBoostingClassifier(loss, n_estimators=50, **params).fit(X, y, weight)
    assert_same_stumps(warm.stumps_, at_once.stumps_, rtol=1e-6)


def test_warm_start_rejects_incompatible_fits():
    X, y, _ = noisy_table(3)
    model = StumpBoostingClassifier(n_estimators=20, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=10 is less than the 20"):
        model.set_params(n_estimators=10).fit(X, y)
    model.set_params(n_estimators=30)
    with pytest.raises(ValueError, match="warm_start=False"):
        model.fit(X, y + 1)
    before = model.decision_function(X)
    for others in (X[:, :1], np.hstack([X, X])):
        with pytest.raises(ValueError, match=r"features, but .* is expecting 4"):
            model.fit(others, y)
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
def test_warm_start_after_early_stopping_does_not_raise_the_loss(loss):
    """The held-out losses of the first fit count too, so the best round stays the best."""
    X, y, _ = noisy_table(5)
    model = StumpBoostingClassifier(
        loss,
        n_estimators=500,
        warm_start=True,
        validation_fraction=0.3,
        n_iter_no_change=5,
        random_state=0,
    ).fit(X, y)
    stumps, losses = model.stumps_, model.validation_losses_
    for _ in range(3):
        model.fit(X, y)
        assert_same_stumps(model.stumps_, stumps)
        np.testing.assert_allclose(model.validation_losses_, losses, rtol=1e-9)


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("n_rows_per_block", [65536, pytest.param(50, marks=pytest.mark.slow)])
def test_warm_start_with_other_labels(monkeypatch, loss, n_rows_per_block):
    """Large negative margins get correct weights: the loss decreases."""
    monkeypatch.setattr(blocks, "_BLOCK_ROWS", n_rows_per_block)
    monkeypatch.setattr(blocks, "_BLOCK_ROWS_SINGLE", n_rows_per_block)
    X, y, _ = noisy_table(3)
    y = (X[:, 0] + X[:, 1] > 1024).astype(int)
    model = StumpBoostingClassifier(loss, n_estimators=3000, warm_start=True).fit(X, y)
    margin = (1 - 2 * y) * model.decision_function(X)
    assert margin.max() < -5
    model.set_params(n_estimators=3050).fit(X, 1 - y)
    after = (1 - 2 * y) * model.decision_function(X)
    with np.errstate(over="ignore"):
        assert BOOSTING_LOSSES[loss](after).sum() < BOOSTING_LOSSES[loss](margin).sum()


def test_a_perfect_stump_stays_the_only_one_in_a_warm_start():
    X, y, _ = noisy_table(0)
    X[:, 2] = y
    for seed in range(50):  # until the perfect feature is drawn first
        model = StumpBoostingClassifier(
            n_estimators=1, features="random", warm_start=True, random_state=seed
        ).fit(X, y)
        if model.stumps_.error[0] == 0:
            break
    model.set_params(n_estimators=3).fit(X, y)
    assert model.stumps_.feature.tolist() == [2]
    assert model.estimator_weights_.tolist() == [1.0]


@pytest.mark.parametrize("loss", BOOSTING_LOSSES)
@pytest.mark.parametrize("patience", [1, 5])
def test_early_stopping_keeps_the_best_round(loss, patience):
    X, y, weight = noisy_table(5)
    params = {"validation_fraction": 0.3, "n_iter_no_change": patience, "random_state": 0}
    model = StumpBoostingClassifier(loss, n_estimators=2000, **params).fit(X, y, weight)
    losses, best = model.validation_losses_, np.argmin(model.validation_losses_)
    assert len(losses) == best + 1 + patience < 2000
    assert len(model.estimator_weights_) == best + 1
    longer = StumpBoostingClassifier(loss, n_estimators=best + 1, **params).fit(X, y, weight)
    assert_same_stumps(model.stumps_, longer.stumps_)


def test_validation_losses_are_those_of_the_held_out_rows():
    X, y, weight = noisy_table(6)
    params = {"n_estimators": 12, "n_iter_no_change": 100, "random_state": 3}
    model = StumpBoostingClassifier(validation_fraction=0.25, **params).fit(X, y, weight)
    rows = np.arange(len(y))
    train, test = train_test_split(rows, test_size=0.25, stratify=y, random_state=model._fit_seed)
    separate = StumpBoostingClassifier(**params).fit(X[train], y[train], weight[train])
    staged = list(separate.staged_decision_function(X[test]))
    losses = np.exp(-(2 * y[test] - 1) * np.array(staged))
    expected = np.average(losses, axis=1, weights=weight[test])
    np.testing.assert_allclose(model.validation_losses_, expected, rtol=1e-10)
