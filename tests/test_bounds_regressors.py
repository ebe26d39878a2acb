"""Bounds and votes of classifiers reject regressors, which recognize their training rows."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from everystump import (
    LooBoundSearch,
    StumpRegressor,
    StumpRegressorCV,
    StumpSVC,
    SubsampleVotingClassifier,
    WeightedVoteClassifier,
    bounds,
)
from everystump.bounds._bound import UnsupportedModelError
from everystump.bounds._nested_overlap import training_overlap_of

STUMPS = StumpRegressor(n_jobs=1)
BOUNDS = [
    name
    for name in bounds.__all__
    if "fitted" in inspect.signature(getattr(bounds, name)).parameters
]


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.exp(X[:, 0]) + rng.random(n)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize(
    "model", [STUMPS, make_pipeline(StandardScaler(), STUMPS), LinearRegression()]
)
def test_bounds_of_a_regressor_raise_one_sentence(name, model):
    X, y = rows()
    fitted = clone(model).fit(X, y)
    with pytest.raises(UnsupportedModelError, match=f"is a regressor, and {name} ") as caught:
        getattr(bounds, name)(fitted, X, y)
    assert str(caught.value).endswith("or with its score on held-out samples.")


def test_all_bounds_are_tested():
    assert len(BOUNDS) == 12


@pytest.mark.parametrize("fitted", [3, "StumpSVC"])
def test_objects_that_are_no_estimators(fitted):
    with pytest.raises(ValueError, match="is not a kernel machine"):
        bounds.loo_bound(fitted, *rows())


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            LooBoundSearch(STUMPS, {"C": [1.0]}),
            r"^estimator=StumpRegressor\(n_jobs=1\) is a regressor, .*; use StumpRegressorCV",
        ),
        (
            SubsampleVotingClassifier([StumpSVC(), STUMPS]),
            r"^estimator contains StumpRegressor\(n_jobs=1\), .*; pass classifiers, or use Bagging",
        ),
        (
            WeightedVoteClassifier([("svc", StumpSVC()), ("number", STUMPS)]),
            r"^estimators: 'number' is a regressor, .*; pass classifiers, or use VotingRegressor",
        ),
    ],
)
def test_votes_and_searches_of_classifiers_reject_regressors(model, message):
    X, y = rows()
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(X, y > 1)
    assert "\n" not in str(caught.value)


MODELS = {
    "StumpRegressor": STUMPS,
    "StumpRegressorCV": StumpRegressorCV(Cs=[0.1, 1.0], cv=2, interactions=0, n_jobs=1),
    "pipeline": make_pipeline(StandardScaler(), STUMPS),
    "search": GridSearchCV(STUMPS, {"C": [0.1, 1.0]}, cv=2),
    "search of a pipeline": GridSearchCV(
        make_pipeline(StandardScaler(), STUMPS), {"stumpregressor__C": [0.1, 1.0]}, cv=2
    ),
    "vote": VotingRegressor([("stumps", STUMPS), ("line", LinearRegression())]),
    "logarithm": TransformedTargetRegressor(STUMPS, func=np.log, inverse_func=np.exp),
    "scaled target": TransformedTargetRegressor(
        make_pipeline(StandardScaler(), STUMPS), transformer=StandardScaler()
    ),
    "bagging": BaggingRegressor(STUMPS, 3, bootstrap=False, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_training_rows_are_recognized(name):
    X, y = rows()
    fitted = clone(MODELS[name]).fit(X, y)
    same = training_overlap_of(fitted, X, y)
    assert same.same_table and same.leakage is not None
    order = np.random.default_rng(1).permutation(len(y))
    assert training_overlap_of(fitted, X[order], y[order]).same_rows
    new = training_overlap_of(fitted, *rows(seed=1))
    assert new.n_matched == 0 and new.leakage is None
    assert training_overlap_of(fitted, X, y + 1.0).n_matched == 0


def test_frozen_regressors_and_frames():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abc"))
    fitted = make_pipeline(StandardScaler(), FrozenEstimator(clone(STUMPS).fit(X, y))).fit(X, y)
    assert training_overlap_of(fitted, X, y).n_matched == 0  # the frozen one was fitted unscaled
    pipeline = make_pipeline(StandardScaler(), STUMPS).fit(frame, y)
    assert training_overlap_of(pipeline, frame, y).same_table


@pytest.mark.parametrize("model", [LinearRegression(), GradientBoostingRegressor(n_estimators=2)])
def test_regressors_without_a_record(model):
    X, y = rows()
    assert training_overlap_of(model.fit(X, y), X, y) is None
