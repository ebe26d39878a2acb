"""AdaBoost+SVM: against LIBSVM on the explicit votes, and Theorem 4 of Wang et al."""

import numpy as np
import pytest
from oracles import seeds
from sklearn.svm import SVC

from everystump import BoostedStumpSVC, StumpBoostingClassifier
from everystump.datasets import load_dataset, make_twonorm

TWO_NORM = make_twonorm(150, random_state=0)
FEW_VALUES = (np.round(TWO_NORM[0]), TWO_NORM[1])


def explicit_features(model, X):
    """The votes h_1(x), ..., h_T(x) as columns of -1 and +1."""
    return np.array(list(model.stumps_.votes(X))).T


@pytest.mark.parametrize("C", [0.01, 1.0, np.inf])
@pytest.mark.parametrize("features", ["best", "random"])
@pytest.mark.parametrize("data", [TWO_NORM, FEW_VALUES], ids=["no ties", "many ties"])
def test_equals_libsvm_on_the_votes(data, features, C):
    """Objectives agree to LIBSVM's own tolerance, scores to about its square root."""
    X, y = data
    model = BoostedStumpSVC(60, C=C, features=features, random_state=0, tol=1e-9).fit(X, y)
    Z, side = explicit_features(model, X), np.where(y == model.classes_[1], 1.0, -1.0)
    svc = SVC(C=1e8 if np.isinf(C) else C, kernel="linear", tol=1e-9).fit(Z, y)
    np.testing.assert_allclose(
        model.decision_function(X), svc.decision_function(Z), atol=1e-4, rtol=1e-4
    )
    beta = svc.coef_[0]
    slack = np.maximum(0, 1 - side * svc.decision_function(Z)).sum()
    objective = beta @ beta / 2 + (0 if np.isinf(C) else C * slack)
    np.testing.assert_allclose(model.certificate_.primal, objective, rtol=1e-5)
    np.testing.assert_allclose(model.estimator_weights_, beta, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, svc.intercept_, atol=2e-4)
    np.testing.assert_allclose(model.margin_, 1 / np.linalg.norm(beta), rtol=1e-4)


def test_sample_and_class_weights_are_those_of_libsvm():
    X, y = TWO_NORM
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y))
    model = BoostedStumpSVC(40, C=0.1, class_weight={0: 1.0, 1: 2.0}, tol=1e-9)
    y = (y == y.max()).astype(int)
    model.fit(X, y, sample_weight=weight)
    Z = explicit_features(model, X)
    svc = SVC(C=0.1, kernel="linear", tol=1e-9, class_weight={0: 1.0, 1: 2.0})
    svc.fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(Z), atol=1e-4)


def test_the_stumps_are_those_of_adaboost():
    X, y = TWO_NORM
    model = BoostedStumpSVC(40).fit(X, y)
    boosted = StumpBoostingClassifier(n_estimators=40).fit(X, y)
    for ours, theirs in zip(model.stumps_[:3], boosted.stumps_[:3], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(model.estimator_errors_, boosted.estimator_errors_)
    np.testing.assert_array_equal(model.boosting_weights_, boosted.estimator_weights_)


@pytest.mark.parametrize("seed", seeds(3))
def test_the_hard_margin_does_not_shrink(seed):
    """Theorem 4: more features, no smaller margin; each is found to a gap of 1e-6."""
    X, y = make_twonorm(100, random_state=seed)
    model = BoostedStumpSVC(200, C=np.inf, stages=range(10, 200, 10), tol=1e-6).fit(X, y)
    margins = np.array([stage.margin for stage in model.stages_])
    assert len(margins) > 10
    assert np.all(np.diff(margins) >= -1e-5 * margins[1:])
    assert margins[-1] > 1.5 * margins[0]


def test_the_soft_objective_does_not_rise():
    """The same theorem for a finite C: more stumps do not raise the objective."""
    heart = load_dataset("heart")
    model = BoostedStumpSVC(200, C=0.1, stages=range(10, 200, 10), tol=1e-6)
    model.fit(heart.data, heart.target)
    objective = np.array([stage.certificate.primal for stage in model.stages_])
    assert np.all(np.diff(objective) <= 1e-5 * objective[1:])


def test_a_stage_is_a_fit_with_fewer_rounds():
    X, y = TWO_NORM
    model = BoostedStumpSVC(60, C=0.1, stages=[20, 40]).fit(X, y)
    assert [stage.n_estimators for stage in model.stages_] == [20, 40, 60]
    scores = list(model.staged_decision_function(X))
    labels = list(model.staged_predict(X))
    for n, score, label in zip([20, 40, 60], scores, labels, strict=True):
        separate = BoostedStumpSVC(n, C=0.1).fit(X, y)
        np.testing.assert_allclose(score, separate.decision_function(X), atol=1e-12)
        np.testing.assert_array_equal(label, separate.predict(X))


def test_stages_without_a_hard_margin_are_left_out():
    X, y = TWO_NORM
    model = BoostedStumpSVC(200, C=np.inf, stages=[1, 2]).fit(X, y)
    assert [stage.n_estimators for stage in model.stages_] == [200]
    margin = np.where(y == model.classes_[1], 1, -1) * model.decision_function(X)
    assert margin.min() >= 1 - 1e-9


def test_too_few_stumps_for_a_hard_margin():
    X, y = TWO_NORM
    with pytest.raises(ValueError, match=r"n_estimators=2 rounds do not .* raise n_estimators"):
        BoostedStumpSVC(2, C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match=r"1 stumps of .*=9 rounds do not .*; use a finite C"):
        BoostedStumpSVC(9, C=np.inf).fit(np.zeros((5, 1)), [0, 0, 1, 1, 0])


def test_multiclass_has_one_svm_per_class():
    X = TWO_NORM[0]
    three = np.searchsorted([-1.0, 1.0], X[:, 0])
    model = BoostedStumpSVC(30, stages=[10]).fit(X, three)
    assert len(model.margin_) == len(model.certificate_) == len(model.boosting_weights_) == 3
    assert [len(stage.margin) for stage in model.stages_] == [3, 3]
    assert [score.shape for score in model.staged_decision_function(X)] == [(150, 3)] * 2


def test_only_constant_stumps():
    """Two equal columns of zeros: AdaBoost finds the majority, as does the intercept."""
    y = np.arange(9) < 3
    with pytest.warns(UserWarning, match="stopped after 1 of n_estimators=5 rounds") as caught:
        model = BoostedStumpSVC(5, stages=[2]).fit(np.zeros((9, 2)), y)
    assert caught[0].filename == __file__
    assert [stage.n_estimators for stage in model.stages_] == [1]
    np.testing.assert_array_equal(model.predict(np.zeros((9, 2))), False)
    np.testing.assert_array_equal(model.estimator_weights_, 0.0)
