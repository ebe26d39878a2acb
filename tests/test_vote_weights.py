"""Sample weights and probabilities of votes: against repeated rows, and against counts of votes."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from everystump import (
    KernelSVC,
    StumpBaggingClassifier,
    StumpLogisticRegression,
    StumpSVC,
    SubsampleVotingClassifier,
    WeightedVoteClassifier,
)
from everystump._tables import weighted_rows
from everystump._tables.row_hashes import hash_rows
from everystump._tables.weighted_rows import WeightedRows
from everystump.bounds import det_loo_bound

ESTIMATORS = {
    "kernel": KernelSVC(gamma=0.4, tol=1e-10),
    "stumps": StumpSVC(tol=1e-10, max_iter=5000),
    "takes no weights": KNeighborsClassifier(3),
}


def table(n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (n_classes == 3) * (X[:, 2] > 0.5)
    return X, y, rng.integers(0, 4, 40), rng.normal(size=(50, 3))


def vote(estimator, X, y, sample_weight=None, **parameters):
    params = {"n_estimators": 4, "random_state": 0, **parameters}
    return SubsampleVotingClassifier(estimator, **params).fit(X, y, sample_weight)


# Weights


@pytest.mark.parametrize("combine", ["mean", "svm"])
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_integer_weights_are_copies(name, n_classes, combine):
    X, y, weight, new = table(n_classes)
    outputs = "scores" if combine == "mean" else "votes"
    options = {"combine": combine, "outputs": outputs}
    weighted = vote(ESTIMATORS[name], X, y, weight, **options)
    again = np.random.default_rng(1).permutation(np.repeat(np.arange(40), weight))
    copied = vote(ESTIMATORS[name], X[again], y[again], **options)
    # Learned weights are those of an SVM up to its tolerance.
    np.testing.assert_allclose(
        weighted.decision_function(new),
        copied.decision_function(new),
        atol=1e-4 if combine == "mean" else 2e-3,
    )
    assert all(weight[rows].all() for rows in weighted.estimators_samples_)


def test_precomputed_products_with_weights_are_those_of_copies():
    X, y, weight, new = table()
    for estimator in (KernelSVC("precomputed", tol=1e-10), KernelSVC("precomputed", loss="hinge")):
        weighted = vote(estimator, rbf_kernel(X), y, weight, subsample=1.0, n_estimators=1)
        again = np.repeat(np.arange(40), weight)
        separate = KernelSVC("precomputed", tol=1e-10).fit(rbf_kernel(X[again]), y[again])
        found = weighted.decision_function(rbf_kernel(new, X))
        expected = separate.decision_function(rbf_kernel(new, X[again]))
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_other_weights_are_passed_to_the_members():
    X, y, _, new = table()
    weight = np.random.default_rng(0).random(40) + 0.1
    model = vote(ESTIMATORS["kernel"], X, y, weight)
    plain = vote(ESTIMATORS["kernel"], X, y)
    for estimator, rows, same in zip(
        model.estimators_, model.estimators_samples_, plain.estimators_samples_, strict=True
    ):
        separate = KernelSVC(gamma=0.4, tol=1e-10).fit(X[rows], y[rows], sample_weight=weight[rows])
        np.testing.assert_allclose(
            estimator.decision_function(new), separate.decision_function(new), atol=1e-5
        )
        np.testing.assert_array_equal(rows, same)


def test_other_weights_require_support_by_the_members():
    X, y, _, _ = table()
    weight = np.full(40, 0.5)
    with pytest.raises(ValueError, match=r"sample_weight contains 0\.5, but KNeighborsClassifier"):
        vote(KNeighborsClassifier(), X, y, weight)
    members = [("near", KNeighborsClassifier())]
    with pytest.raises(ValueError, match=r"sample_weight contains 0\.5, but KNeighborsClassifier"):
        WeightedVoteClassifier(members).fit(X, y, weight)


def test_bounds_are_not_for_weighted_votes():
    X, y, _, _ = table()
    model = vote(KernelSVC(gamma=0.4, fit_intercept=False), X, y, np.full(40, 2))
    with pytest.raises(ValueError, match="sample_weight: the bounds are for votes"):
        det_loo_bound(model, X, y)


def test_draws_do_not_depend_on_the_order_of_rows():
    X, y, _, new = table()
    order = np.random.default_rng(3).permutation(40)
    one, other = (vote(ESTIMATORS["kernel"], X[i], y[i]) for i in (slice(None), order))
    np.testing.assert_allclose(one.decision_function(new), other.decision_function(new), atol=1e-5)


def test_many_copies_are_drawn_at_once(monkeypatch):
    monkeypatch.setattr(weighted_rows, "_MAX_COPIES", 0)
    X, y, weight, _ = table()
    weight = 100.0 * weight
    rows = WeightedRows.from_hashes(hash_rows(X, y), weight)
    drawn = np.bincount(rows.sample(2000, np.random.RandomState(0)), minlength=40)
    assert drawn.sum() == 2000 and np.all(drawn <= weight)
    assert np.abs(drawn / 2000 - weight / weight.sum()).max() < 0.03


@pytest.mark.parametrize("prefit", [False, True])
def test_integer_weights_of_a_weighted_vote_are_copies(prefit):
    X, y, weight, new = table()
    members = [("tree", DecisionTreeClassifier(max_depth=2)), ("near", KNeighborsClassifier(3))]
    if prefit:
        members = [(name, member.fit(X, y)) for name, member in members]
    again = np.random.default_rng(1).permutation(np.repeat(np.arange(40), weight))
    options = {"prefit": prefit, "random_state": 0}
    weighted = WeightedVoteClassifier(members, **options).fit(X, y, weight)
    copied = WeightedVoteClassifier(members, **options).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.weights_, copied.weights_, atol=1e-4)
    np.testing.assert_array_equal(weighted.predict(new), copied.predict(new))


# Probabilities


def check_probabilities(model, X):
    found = model.predict_proba(X)
    assert found.shape == (len(X), len(model.classes_)) and np.all((found >= 0) & (found <= 1))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))
    return found


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_bagging_are_fractions_of_votes(n_classes):
    X, y, _, new = table(n_classes)
    model = StumpBaggingClassifier(20, random_state=0).fit(X, y)
    found = check_probabilities(model, new)
    shares = (1 + model.decision_function(new)) / 2
    if n_classes == 2:
        np.testing.assert_allclose(found[:, 1], shares)
        assert np.all(np.abs(20 * found - np.round(20 * found)) < 1e-9)
    else:
        np.testing.assert_allclose(found, shares / shares.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_votes(n_classes):
    X, y, _, new = table(n_classes)
    counted = vote(ESTIMATORS["kernel"], X, y, outputs="votes")
    outputs = np.array([estimator.predict(new) for estimator in counted.estimators_])
    shares = (outputs[:, :, None] == counted.classes_).mean(axis=0)
    np.testing.assert_allclose(check_probabilities(counted, new), shares)
    trees = vote(DecisionTreeClassifier(max_depth=2, random_state=0), X, y)
    mean = np.mean([tree.predict_proba(new) for tree in trees.estimators_], axis=0)
    np.testing.assert_allclose(check_probabilities(trees, new), mean)
    logistic = vote(StumpLogisticRegression(), X, y)
    found = check_probabilities(logistic, new)
    if n_classes == 2:
        mean = np.mean(
            [estimator.decision_function(new) for estimator in logistic.estimators_], axis=0
        )
        np.testing.assert_allclose(found[:, 1], expit(mean), rtol=1e-9)


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (KernelSVC(), {}),
        (LogisticRegression(), {}),
        (StumpLogisticRegression(), {"combine": "svm"}),
        ([StumpLogisticRegression(), StumpSVC()], {}),
    ],
)
def test_other_votes_have_no_probabilities(estimator, options):
    assert not hasattr(SubsampleVotingClassifier(estimator, **options), "predict_proba")


def test_probabilities_of_a_weighted_vote_are_weights():
    X, y, _, new = table(3)
    members = [("tree", DecisionTreeClassifier(max_depth=2)), ("none", DummyClassifier())]
    model = WeightedVoteClassifier(members, random_state=0).fit(X, y)
    np.testing.assert_allclose(check_probabilities(model, new), model.decision_function(new))
