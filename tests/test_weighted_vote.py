"""Weighted votes of arbitrary classifiers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from everystump import DecisionStumpClassifier, StumpBoostingClassifier, WeightedVoteClassifier
from everystump.datasets import make_threenorm, make_twonorm

X, Y = make_twonorm(300, random_state=0)
X_OTHER, Y_OTHER = make_twonorm(300, random_state=1)


def prefit_members(labels=Y):
    members = {
        "boosting": StumpBoostingClassifier(n_estimators=20),
        "stump": DecisionStumpClassifier(),
        "coin": DummyClassifier(strategy="uniform", random_state=0),
    }
    return [(name, member.fit(X, labels)) for name, member in members.items()]


def test_weights_are_the_optimum_of_projected_gradients():
    """Weights agree to 1e-3, and the best member has the largest."""
    model = WeightedVoteClassifier(prefit_members(), prefit=True, C=1.0).fit(X_OTHER, Y_OTHER)
    votes = np.array(
        [2.0 * (v.predict(X_OTHER) == model.classes_[1]) - 1 for v in model.estimators_]
    )
    side = np.where(model.classes_[1] == Y_OTHER, 1.0, -1.0)
    best = _minimum(votes, side)
    np.testing.assert_allclose(model.weights_, best / best.sum(), atol=1e-3)
    assert model.weights_.argmax() == 0


def _minimum(votes, side):
    """Minimize by projected gradients: ``|w|^2 / 2 + sum of log(1 + exp(-y votes w))``."""
    w = np.zeros(len(votes))
    for _ in range(20_000):
        p = 1 / (1 + np.exp(side * (w @ votes)))
        w = np.maximum(0, w - 1e-3 * (w - votes @ (side * p)))
    return w


def test_members_below_chance_have_weight_zero():
    inverted = KNeighborsClassifier().fit(X, np.where(Y.max() == Y, Y.min(), Y.max()))
    model = WeightedVoteClassifier([*prefit_members(), ("inverted", inverted)], prefit=True)
    model.fit(X_OTHER, Y_OTHER)
    assert model.weights_[-1] == 0.0
    np.testing.assert_allclose(model.weights_.sum(), 1.0)


def test_members_given_unfitted_are_fitted_without_the_held_out_rows():
    members = [("near", KNeighborsClassifier(1)), ("line", LogisticRegression())]
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(300) < 0.3, rng.permutation(Y), Y)
    model = WeightedVoteClassifier(members, random_state=0).fit(X, noisy)
    assert model.estimators_[0].n_samples_fit_ == 225
    assert model.weights_[1] > 0.1
    assert not hasattr(members[0][1], "classes_")


def test_several_classes():
    rows, labels = make_threenorm(300, random_state=0)
    three = np.where(rows[:, 0] > 1, "far", np.where(labels == labels.max(), "up", "down"))
    members = [("boosting", StumpBoostingClassifier()), ("near", KNeighborsClassifier())]
    model = WeightedVoteClassifier(members, random_state=0).fit(rows, three)
    score = model.decision_function(rows)
    assert score.shape == (300, 3)
    np.testing.assert_allclose(score.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[score.argmax(axis=1)])


def test_perfect_members_have_finite_weights():
    members = [("a", KNeighborsClassifier(1)), ("b", KNeighborsClassifier(1))]
    rows, labels = np.repeat([[0.0], [9.0]], 20, axis=0), np.repeat([0, 1], 20)
    model = WeightedVoteClassifier(members, random_state=0).fit(rows, labels)
    np.testing.assert_allclose(model.weights_, 0.5, atol=1e-6)


def test_frames_reach_the_members_as_they_are():
    """A pipeline on a text column votes, and all members get the column names."""
    frame = pd.DataFrame({"x": X[:, 0], "word": np.where(X[:, 1] > 0, "high", "low")})
    words = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    members = [("words", make_pipeline(words, LogisticRegression())), ("coin", DummyClassifier())]
    model = WeightedVoteClassifier(members, random_state=0).fit(frame, Y)
    assert model.score(frame, Y) > 0.6
    assert model.feature_names_in_.tolist() == ["x", "word"]


def test_equal_weights_if_no_member_is_better_than_chance():
    inverted = LogisticRegression().fit(X, np.where(Y.max() == Y, Y.min(), Y.max()))
    with pytest.warns(UserWarning, match="no classifier is better than chance"):
        model = WeightedVoteClassifier([("inverted", inverted)], prefit=True).fit(X, Y)
    np.testing.assert_array_equal(model.weights_, 1.0)


def test_parameters_of_the_members_can_be_set():
    model = WeightedVoteClassifier([("line", LogisticRegression())])
    model.set_params(line__C=0.5)
    assert model.get_params()["line"].C == 0.5


@pytest.mark.parametrize("C", [0, -1.0, "a"])
def test_bad_costs(C):
    with pytest.raises(ValueError, match=r"'C' parameter of WeightedVoteClassifier"):
        WeightedVoteClassifier(prefit_members(), C=C).fit(X, Y)
