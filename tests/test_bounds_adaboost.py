"""Bounds on AdaBoost: on random data, against closed forms, and with violated assumptions."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import search, seeds

from everystump import BoostedStumpSVC, StumpBoostingClassifier, StumpSVC
from everystump.bounds import boosting_training_bound, margin_distribution_bound
from everystump.datasets import make_twonorm

SEEDS = st.integers(0, 10_000)


def random_rows(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(4, 60), rng.integers(1, 5)
    X = np.round(rng.normal(size=(n, d)), rng.integers(0, 3))
    y = X @ rng.normal(size=d) + rng.normal(size=n) > 0
    y[:2] = [True, False]
    return X, y, rng


@pytest.mark.filterwarnings("ignore:StumpBoostingClassifier stopped")
@search(40)
@given(seed=SEEDS, n_estimators=st.integers(1, 60), features=st.sampled_from(["best", "random"]))
def test_bounds_of_adaboost_hold(seed, n_estimators, features):
    X, y, rng = random_rows(seed)
    weight = rng.uniform(0.1, 2.0, size=len(y))
    model = StumpBoostingClassifier(
        n_estimators=n_estimators, features=features, random_state=seed
    ).fit(X, y, sample_weight=weight)
    training = boosting_training_bound(model, X, y, sample_weight=weight)
    assert training.holds
    assert training.observed <= training.value * (1 + 1e-9)
    for theta in (-0.5, 0.0, 0.1, 0.5):
        margin = margin_distribution_bound(model, X, y, theta=theta, sample_weight=weight)
        assert margin.observed <= margin.value * (1 + 1e-9)
        assert margin.vacuous == (margin.value >= 1)


def fitted(**parameters):
    X, y, _ = random_rows(1)
    return StumpBoostingClassifier(n_estimators=15, **parameters).fit(X, y)


def test_closed_forms():
    """Equations 13 and 15 as explicit products."""
    model = fitted()
    errors = model.estimator_errors_
    expected = np.exp(-2 * np.sum((0.5 - errors) ** 2))
    np.testing.assert_allclose(boosting_training_bound(model).value, expected)
    theta = 0.2
    factors = np.sqrt(errors ** (1 - theta) * (1 - errors) ** (1 + theta))
    expected = 2.0 ** len(errors) * np.prod(factors)
    np.testing.assert_allclose(margin_distribution_bound(model, theta=theta).value, expected)


def test_many_rounds_do_not_overflow():
    """``2^T`` overflows from T = 1024 on."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.random(40) > 0.5
    model = StumpBoostingClassifier(n_estimators=3000).fit(X, y)
    bound = margin_distribution_bound(model, X, y)
    assert bound.observed <= bound.value < 1


@pytest.mark.parametrize("bound", [boosting_training_bound, margin_distribution_bound])
@pytest.mark.parametrize("parameters", [{"loss": "logistic"}, {"learning_rate": 0.5}])
def test_weights_other_than_adaboosts_are_violations(bound, parameters):
    found = bound(fitted(**parameters))
    assert not found.holds
    assert any("AdaBoost's weight" in text for text in found.assumptions)
    assert "Wang et al." in found.reference


@pytest.mark.parametrize("bound", [boosting_training_bound, margin_distribution_bound])
def test_the_weights_of_an_svm_are_violations(bound):
    X, y, _ = random_rows(1)
    assert not bound(BoostedStumpSVC(15).fit(X, y)).holds


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.parametrize("class_weight", [{False: 1.0, True: 30.0}, "balanced"])
def test_class_weights_count_in_the_observed_error(seed, class_weight):
    X, y, rng = random_rows(seed)
    weight = rng.uniform(0.1, 2.0, size=len(y))
    model = StumpBoostingClassifier(n_estimators=5, class_weight=class_weight)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "StumpBoostingClassifier stopped")
        model.fit(X, y, sample_weight=weight)
    bound = boosting_training_bound(model, X, y, sample_weight=weight)
    assert bound.holds
    assert bound.observed <= bound.value * (1 + 1e-9)


def test_held_out_rows_are_violations():
    X, y, _ = random_rows(1)
    model = StumpBoostingClassifier(validation_fraction=0.3, random_state=0).fit(X, y)
    assert boosting_training_bound(model).holds
    assert not boosting_training_bound(model, X, y).holds


@pytest.mark.parametrize("bound", [boosting_training_bound, margin_distribution_bound])
def test_rows_and_labels_must_be_given_together(bound):
    X, y, _ = random_rows(1)
    for rows in ((X,), (None, y)):
        with pytest.raises(ValueError, match="X and y must be passed together"):
            bound(fitted(), *rows)
    with pytest.raises(ValueError, match="y must have one of the classes"):
        bound(fitted(), X, y[:-1])
    with pytest.raises(ValueError, match=r"y must have one of the classes .*; row 0 has 'x'"):
        bound(fitted(), X, np.full(len(y), "x"))


def test_the_bound_of_a_perfect_stump_is_zero():
    model = StumpBoostingClassifier().fit([[0.0], [1.0]], [0, 1])
    assert margin_distribution_bound(model, [[0.0], [1.0]], [0, 1], theta=0.9).value == 0.0
    assert boosting_training_bound(model).holds
    assert margin_distribution_bound(model, theta=1.0).vacuous


def test_without_rows_nothing_is_observed():
    assert boosting_training_bound(fitted()).observed is None
    assert margin_distribution_bound(fitted()).observed is None


@pytest.mark.parametrize("bound", [boosting_training_bound, margin_distribution_bound])
def test_other_estimators_are_rejected(bound):
    X, y, _ = random_rows(1)
    with pytest.raises(ValueError, match=r"fitted=StumpSVC\(\) has no estimator_errors_"):
        bound(StumpSVC().fit(X, y))
    three = StumpBoostingClassifier(n_estimators=3).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match=r"fitted has 3 classes"):
        bound(three)


@pytest.mark.parametrize("theta", [1.5, "a", None, np.nan])
def test_invalid_theta(theta):
    with pytest.raises(ValueError, match=r"theta=.* must be a margin"):
        margin_distribution_bound(fitted(), theta=theta)


@pytest.mark.parametrize("weight", [np.ones(3), 0.0, -1.0])
def test_invalid_sample_weight(weight):
    X, y, _ = random_rows(1)
    weight = weight if np.ndim(weight) else np.full(len(y), weight)
    with pytest.raises(ValueError, match=r"sample_weight .* one number for each of the 30"):
        boosting_training_bound(fitted(), X, y, sample_weight=weight)


def test_rows_that_exceed_the_bound_are_a_violation():
    X, y = make_twonorm(60, random_state=0)
    y = y > 0
    model = StumpBoostingClassifier(n_estimators=40).fit(X, y)
    bound = boosting_training_bound(model, X, ~y)
    assert bound.observed > bound.value
    assert not bound.holds
