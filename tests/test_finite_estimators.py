"""The finite ensembles as scikit-learn estimators, and their errors for bad input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from bad_tables import BAD_TABLES, X0, Y0, assert_invalid, table, with_one
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from everystump import (
    BoostedStumpSVC,
    DecisionStumpClassifier,
    StumpBaggingClassifier,
    StumpBoostingClassifier,
    WeightedVoteClassifier,
)

KINDS = {
    "stump": DecisionStumpClassifier(n_jobs=1),
    "adaboost": StumpBoostingClassifier(n_estimators=20, n_jobs=1),
    "madaboost": StumpBoostingClassifier("mada", n_estimators=20, n_jobs=1),
    "logitboost": StumpBoostingClassifier("logistic", n_estimators=20, n_jobs=1),
    "bagging": StumpBaggingClassifier(30, random_state=0, n_jobs=1),
    "adaboost+svm": BoostedStumpSVC(30, n_jobs=1),
}
ENSEMBLES = [kind for kind in KINDS if kind != "stump"]


@pytest.fixture(params=KINDS)
def model(request):
    return clone(KINDS[request.param])


@pytest.fixture(params=ENSEMBLES)
def ensemble(request):
    return clone(KINDS[request.param])


BAD_PARAMETERS = {
    "features": (DecisionStumpClassifier("all"), r"'features' parameter .* Got 'all'"),
    "criterion": (DecisionStumpClassifier(criterion="log"), r"'criterion' parameter .* Got 'log'"),
    "leaf": (
        StumpBoostingClassifier(min_weight_fraction_leaf=0.6),
        r"'min_weight_fraction_leaf' parameter .* Got 0\.6",
    ),
    "loss": (StumpBoostingClassifier("hinge"), r"'loss' parameter .* Got 'hinge'"),
    "no rounds": (StumpBoostingClassifier(n_estimators=0), r"'n_estimators' parameter .* Got 0"),
    "half a round": (StumpBaggingClassifier(0.5), r"'n_estimators' parameter .* Got 0\.5"),
    "learning_rate": (
        StumpBoostingClassifier(learning_rate=0.0),
        r"'learning_rate' parameter .* Got 0\.0",
    ),
    "learning_rate too large": (
        StumpBoostingClassifier(learning_rate=2.0),
        r"'learning_rate' parameter .* Got 2\.0",
    ),
    "validation_fraction": (
        StumpBoostingClassifier(validation_fraction=1.0),
        r"'validation_fraction' parameter .* Got 1\.0",
    ),
    "validation rows": (
        StumpBoostingClassifier(validation_fraction=0.005),
        r"validation_fraction=0\.005: 90 rows of 2 classes are too few to hold out",
    ),
    "max_bins": (StumpBoostingClassifier(max_bins=1), r"'max_bins' parameter .* Got 1"),
    "max_bins word": (StumpBaggingClassifier(max_bins="all"), r"'max_bins' parameter .* Got 'all'"),
    "n_jobs": (StumpBaggingClassifier(n_jobs=0), r"n_jobs=0 has no meaning"),
    "C": (BoostedStumpSVC(C=0), r"'C' parameter of BoostedStumpSVC .* Got 0"),
    "huge C": (BoostedStumpSVC(C=1e100), r"C=1e\+100 times the sample weights .* keep it between"),
    "stages": (BoostedStumpSVC(30, stages=[10, 40]), r"stages=\[10, 40\] must be integers"),
    "stages of words": (BoostedStumpSVC(30, stages=["a"]), r"stages=\['a'\] must be integers"),
    "half stages": (BoostedStumpSVC(30, stages=[1.5]), r"stages=\[1\.5\] must be integers"),
    "members without names": (
        WeightedVoteClassifier([LogisticRegression()]),
        r"estimators=\[LogisticRegression\(\)\] must be \(name, estimator\) pairs",
    ),
    "no members": (WeightedVoteClassifier([]), r"estimators=\[\] has no classifiers"),
}


@pytest.mark.parametrize(("estimator", "match"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters(estimator, match):
    estimator = clone(estimator)
    assert_invalid(lambda: estimator.fit(*table()), match)
    assert not hasattr(estimator, "classes_")


@pytest.mark.parametrize(("X", "y", "weight", "match"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables(model, X, y, weight, match):
    assert_invalid(lambda: model.fit(X, y, sample_weight=weight), match)
    assert not hasattr(model, "shapes_")


def test_extreme_weight_ratios_are_rejected(model):
    weight = np.where(np.arange(90) < 45, 1e-13, 1e13)
    assert_invalid(
        lambda: model.fit(X0, Y0, sample_weight=weight),
        r"sample_weight times class_weight ranges from 1e-13 to 1e\+13; keep it within",
    )


def test_prediction_validates_its_samples(model):
    model.fit(X0, Y0)
    assert_invalid(lambda: model.predict(X0[:, :2]), r"X has 2 features, but .* is expecting 3")
    infinite = with_one(np.inf)
    assert_invalid(lambda: model.predict(infinite), r"X contains infinity in row 4, feature 1")


def test_unfitted_models_raise(model):
    for _ in range(2):
        for call in (lambda: model.predict(X0), lambda: model.estimator_weights_):
            with pytest.raises(NotFittedError, match="not fitted yet"):
                call()
        with pytest.raises(ValueError, match="infinity"):  # a fit that fails leaves it unfitted
            model.fit(with_one(np.inf), Y0)


def test_huge_weights_are_rejected(model):
    assert_invalid(
        lambda: model.fit(X0, Y0, sample_weight=np.full(90, 1e306)), r"ranges from 1e\+306 .* below"
    )


def test_one_stump_supports_two_classes():
    X, y = table(3)
    assert_invalid(
        lambda: DecisionStumpClassifier().fit(X, y),
        r"y has 3 classes; use StumpBoostingClassifier, or wrap .* OneVsRestClassifier",
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_keep_their_names(model, frame):
    X = frame({"age": X0[:, 0], "height": X0[:, 1], "weight": X0[:, 2]})
    model.fit(X, Y0)
    assert model.feature_names_in_.tolist() == ["age", "height", "weight"]
    plain = clone(model).fit(X0, Y0)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X0))


def test_multiclass_is_one_vs_rest(ensemble):
    X, y = table(3)
    names = np.array(["a", "b", "c"])
    ensemble.fit(X, names[y])
    assert len(ensemble.shapes_) == len(ensemble.estimator_weights_) == 3
    score = ensemble.decision_function(X)
    np.testing.assert_array_equal(ensemble.predict(X), names[score.argmax(axis=1)])
    for k in range(3):
        separate = clone(ensemble).fit(X, y == k)
        np.testing.assert_allclose(separate.decision_function(X), score[:, k], atol=1e-9)


def test_scores_are_the_vote_of_the_stumps(model):
    model.fit(X0, Y0)
    votes = np.array(list(model.stumps_.votes(X0)))
    vote = model.estimator_weights_ @ votes + (getattr(model, "intercept_", 0.0))
    np.testing.assert_allclose(model.decision_function(X0), vote, atol=1e-12)


def test_threads_change_nothing(model):
    a = clone(model).set_params(n_jobs=1).fit(X0, Y0)
    b = clone(model).set_params(n_jobs=3).fit(X0, Y0)
    np.testing.assert_array_equal(a.decision_function(X0), b.decision_function(X0))


def test_pickles(model):
    model.fit(X0, Y0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X0), model.decision_function(X0))


def test_sides_have_the_minimum_weight():
    """Without the constraint, the best stump separates three of 90 samples."""
    y = X0[:, 0] >= np.sort(X0[:, 0])[-3]
    thin = DecisionStumpClassifier().fit(X0, y)
    constrained = DecisionStumpClassifier(min_weight_fraction_leaf=0.1).fit(X0, y)
    assert np.sum(X0[:, thin.feature_] >= thin.threshold_) == 3
    assert np.isneginf(constrained.threshold_) or min(np.bincount(constrained.predict(X0))) >= 9


def test_silence_by_default(model, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X0, Y0).predict(X0)
    assert capsys.readouterr() == ("", "")


def test_verbose_counts_stumps(ensemble, capsys):
    ensemble.set_params(verbose=1).fit(X0, Y0)
    n = ensemble.n_estimators
    assert f"stump {n} of {n}" in capsys.readouterr().err


def test_large_training_sets_are_binned():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_001, 2)), rng.random(10_001) > 0.5
    model = StumpBoostingClassifier(n_estimators=2)
    assert model.fit(X[:10_000], y[:10_000]).exact_ is True
    assert model.fit(X, y).exact_ is False
    assert model.set_params(max_bins=20_000).fit(X, y).exact_ is True


def test_stumps_have_a_one_line_repr():
    model = StumpBoostingClassifier(n_estimators=50).fit(X0, Y0)
    assert repr(model.stumps_) == "<Stumps: 50 stumps on 3 features>"
    assert repr(model.shapes_.ensemble()).startswith("<Ensemble: ")


def test_verbose_prints_few_lines_to_a_pipe(capsys):
    BoostedStumpSVC(30, stages=range(5, 30, 5), verbose=1).fit(X0, Y0)
    lines = capsys.readouterr().err.splitlines()
    assert 6 * 2 <= len(lines) < 40
    assert sum("30 stumps" in line and "gap" in line for line in lines) >= 1
