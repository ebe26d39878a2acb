"""The arguments of interactions: names, numbers, mistakes, and what they choose."""

import numpy as np
import pandas as pd
import pytest

from everystump import StumpLogisticRegression, StumpLogisticRegressionCV, StumpSVC, StumpSVCCV
from everystump._selection.grid import exceeds_error


def make_frame(n=400, seed=0):
    """A table whose classes depend on the product of two features, and on nothing else."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    y = np.where(X.a * X.b + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    return X, y


@pytest.mark.parametrize(
    ("interactions", "message"),
    [
        ([("a", "b"), ("b", "a")], r"interactions: 'a' × 'b' is listed twice; remove one"),
        ([("a", "a")], r"interactions: \('a', 'a'\) contains a feature twice"),
        ([("a", "z")], r"interactions: X has no feature 'z'; choose one of 'a', 'b'"),
        ([(0, 4)], r"interactions: feature 4 does not exist; X has 4 features"),
        ([(0, -1)], r"interactions: feature -1 does not exist"),
        ([("a",)], "has 1 feature; list two or three"),
        (["ab"], r"interactions: 'ab' must be a pair"),
        ([(0, 1.5)], r"interactions: 1.5 is neither the name nor the number"),
        ("all", r"interactions='all' must be a number of interactions"),
        (-1, r"interactions=-1 must not be negative"),
    ],
)
def test_mistakes_get_one_clear_sentence(interactions, message):
    X, y = make_frame(60)
    with pytest.raises(ValueError, match=message):
        StumpLogisticRegression(interactions=interactions).fit(X, y)


def test_names_need_a_frame():
    X, y = make_frame(60)
    with pytest.raises(ValueError, match="X has no feature names"):
        StumpSVC(interactions=[("a", "b")]).fit(X.to_numpy(), y)


def test_names_and_numbers_mean_the_same():
    X, y = make_frame(200)
    by_name = StumpSVC(interactions=[("b", "a"), ("c", "a")]).fit(X, y)
    by_number = StumpSVC(interactions=[(0, 2), (0, 1)]).fit(X, y)
    assert by_name.interactions_ == by_number.interactions_ == [(0, 1), (0, 2)]
    np.testing.assert_array_equal(by_name.dual_coef_, by_number.dual_coef_)


@pytest.mark.parametrize("cls", [StumpLogisticRegression, StumpSVC])
def test_the_best_pair_is_the_one_that_matters(cls):
    X, y = make_frame()
    model = cls(interactions=1, interaction_strength=1.0).fit(X, y)
    assert model.interactions_ == [(0, 1)]
    assert model.score(X, y) > cls().fit(X, y).score(X, y) + 0.1
    assert model.certificate_.gap <= 1e-3


@pytest.mark.parametrize("cls", [StumpLogisticRegressionCV, StumpSVCCV])
def test_the_strength_is_chosen_on_a_path(cls):
    X, y = make_frame()
    model = cls(interactions=6).fit(X, y)
    assert len(model.interactions_) == 6
    assert not hasattr(model, "number_cv_results_")
    strengths = model.interaction_cv_results_["param_interaction_strength"]
    scores = model.interaction_cv_results_["mean_test_score"]
    chosen = model.interaction_cv_results_["chosen"]
    assert strengths[0] == 0.0
    assert chosen == strengths[np.argmax(scores)] > 0
    assert scores.max() > scores[0]
    # C is refined with the product of C and the strength fixed, from the value of the first path.
    refined = model.refined_cv_results_
    first = model.cv_results_["chosen"]
    assert first in refined["param_C"] and len(refined["param_C"]) >= 3
    means = refined["mean_test_score"]
    assert means[refined["param_C"] == first] == scores.max()
    assert model.C_ == refined["chosen"] == refined["param_C"][np.argmax(means)]
    assert model.interaction_strength_ * model.C_ == pytest.approx(chosen * first, rel=1e-12)
    assert model.best_score_ == means.max()


@pytest.mark.parametrize(
    "params", [{"Cs": [0.1, 1.0]}, {"interaction_strength": [0.1, 1.0]}, {"selection": "cv-1se"}]
)
def test_listed_values_are_not_refined(params):
    X, y = make_frame(200)
    model = StumpLogisticRegressionCV(interactions=[("a", "b")], **params).fit(X, y)
    assert not hasattr(model, "refined_cv_results_")
    assert model.C_ in model.cv_results_["param_C"]
    strengths = model.interaction_cv_results_["param_interaction_strength"]
    assert model.interaction_strength_ in strengths


def test_interactions_that_do_not_help_are_not_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
    model = StumpLogisticRegressionCV(interactions="auto", selection="cv-1se").fit(X, y)
    assert model.interactions_ == [] and model.interaction_strength_ == 0.0
    assert model.shapes_.surfaces == ()


def test_a_given_strength_needs_no_path():
    X, y = make_frame(200)
    model = StumpLogisticRegressionCV(interactions=2, interaction_strength=0.5).fit(X, y)
    assert model.interaction_strength_ == 0.5
    assert len(model.interactions_) == 2
    assert not hasattr(model, "interaction_cv_results_")


def test_monotonic_features_do_not_interact():
    X, y = make_frame(200)
    constraints = {"a": 1}
    model = StumpLogisticRegression(interactions="auto", monotonic_cst=constraints).fit(X, y)
    assert model.interactions_ == [(1, 2), (1, 3), (2, 3)]
    with pytest.raises(ValueError, match="feature 'a' has a monotonic constraint"):
        StumpLogisticRegression(interactions=[("a", "b")], monotonic_cst=constraints).fit(X, y)


def test_triples():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] + X[:, 2]) % 2 == 1
    pairs = StumpLogisticRegression(interactions="auto", interaction_strength=1.0).fit(X, y)
    listed = StumpLogisticRegression(interactions=[(0, 1, 2)], interaction_strength=1.0).fit(X, y)
    chosen = StumpLogisticRegression(
        interactions=1, max_interaction_order=3, interaction_strength=1.0
    ).fit(X, y)
    assert pairs.score(X, y) < 0.9
    assert listed.score(X, y) == 1.0
    assert (0, 1, 2) in chosen.interactions_


def test_several_classes_share_their_interactions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.select([X[:, 0] * X[:, 1] > 0.4, X[:, 0] * X[:, 1] < -0.4], ["high", "low"], "middle")
    model = StumpLogisticRegression(interactions=1, interaction_strength=1.0).fit(X, y)
    assert model.interactions_ == [(0, 1)]
    assert [len(shapes.surfaces) for shapes in model.shapes_] == [1, 1, 1]
    assert model.score(X, y) > 0.85


def test_weights_count_as_repeated_samples():
    X, y = make_frame(150)
    times = np.random.default_rng(1).integers(1, 4, size=len(X))
    repeated = np.repeat(np.arange(len(X)), times)
    options = {"interactions": "auto", "interaction_strength": 0.5, "tol": 1e-8}
    weighted = StumpLogisticRegression(**options).fit(X, y, sample_weight=times)
    plain = StumpLogisticRegression(**options).fit(X.iloc[repeated], y[repeated])
    np.testing.assert_allclose(
        weighted.decision_function(X), plain.decision_function(X), rtol=0, atol=2e-3
    )


def test_wide_tables_are_screened_within_bounds():
    """With 300 features there are 44,850 pairs; the one that matters is found."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 300))
    y = X[:, 7] * X[:, 211] > 0
    model = StumpLogisticRegression(C=0.1, interactions=5, interaction_strength=1.0).fit(X, y)
    assert (7, 211) in model.interactions_


def test_a_constant_feature_adds_nothing_to_an_interaction():
    X, y = make_frame(100)
    X["e"] = 1.0
    plain = StumpSVC(interactions=[("a", "b")], tol=1e-9).fit(X, y)
    model = StumpSVC(interactions=[("a", "b"), ("a", "e"), ("a", "b", "e")], tol=1e-9).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(X), rtol=0, atol=1e-3
    )
    assert not any(surface.values.any() for surface in model.shapes_.surfaces[1:])


def test_a_hard_margin_that_only_interactions_have():
    """The interactions are measured at an additive model with errors."""
    X = np.random.default_rng(0).integers(0, 2, size=(40, 4)).astype(float)
    y = X[:, 0] != X[:, 2]
    with pytest.raises(ValueError, match="no stump ensemble separates"):
        StumpSVC(np.inf).fit(X, y)
    model = StumpSVC(np.inf, interactions=1).fit(X, y)
    assert model.interactions_ == [(0, 2)]
    assert np.all((2 * y - 1) * model.decision_function(X) >= 1 - 1e-9)


@pytest.mark.parametrize(("C", "low"), [(1.0, -4), (2.0**21, -27)])
def test_paths_to_strong_interactions_converge(C, low):
    """Each fit starts from a weaker strength, whose dual variables have far larger scores."""
    X = np.repeat([[1.0, 3.0], [2.0, 1.0], [3.0, 3.0], [4.0, 1.0]], 4, axis=0)
    y = np.repeat([1, 2, 1, 2], 4)
    weight = np.where(np.arange(16) == 0, 10.0, 1.0)
    strengths = 2.0 ** np.arange(low, low + 17, 4)
    model = StumpLogisticRegressionCV(
        Cs=[C], cv=5, interactions="auto", interaction_strength=strengths
    ).fit(X, y, sample_weight=weight)
    assert model.interaction_cv_results_["max_gap"].max() <= 0.02


@pytest.mark.parametrize("strength", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("C", [1.0, 2.0**21])
def test_strong_interactions_and_large_costs_converge(C, strength):
    """Where rounding stops Newton's method in the span of the rows, it continues with weights."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(15, 4)), 3, axis=0), np.repeat(np.arange(15) % 2, 3)
    model = StumpLogisticRegression(C, interactions="auto", interaction_strength=strength)
    assert model.fit(X, y).certificate_.converged


def test_many_samples_use_a_single_split(monkeypatch):
    X, y = make_frame(300)
    monkeypatch.setattr("everystump.estimators._path._MAX_ROWS_OF_FOLDS", 200)
    model = StumpLogisticRegressionCV(Cs=[0.1, 1.0], feature_weights="equal").fit(X, y)
    assert model.cv_results_["n_splits"] == 5
    assert model.interaction_cv_results_["n_splits"] == 1
    assert (0, 1) in model.interactions_


@pytest.mark.parametrize(
    ("gains", "enough"),
    [
        ([0.1, 0.2, 0.1], True),
        ([0.3, -0.1, 0.1], False),  # 0.87 standard errors
        ([0.1, -0.1, 0.01], False),
        ([0.01], True),
        ([0.0], False),
    ],
)
def test_interactions_must_gain_one_standard_error(gains, enough):
    assert exceeds_error(np.array(gains)) is enough


@pytest.mark.parametrize("seed", range(4))
def test_interactions_without_main_effects_are_found(seed):
    """The additive model is useless, and its C small; the grid of strengths allows for it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(400, 3))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=400) > 0
    model = StumpLogisticRegressionCV(n_jobs=1).fit(X, y)
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize(
    ("cls", "strength"),
    [
        (StumpLogisticRegression, 1e300),
        (StumpLogisticRegressionCV, 1e300),
        (StumpLogisticRegressionCV, [0.1, 1e300]),
    ],
)
def test_strengths_too_large_for_floating_point_are_rejected(cls, strength):
    with pytest.raises(ValueError, match=r"interaction_strength.*(10000000000000|at most 1e\+13)"):
        cls(interactions=1, interaction_strength=strength).fit([[0, 1], [1, 0]] * 5, [0, 1] * 5)


def test_strengths_of_tiny_costs_can_be_requested():
    X, y = make_frame(60)
    model = StumpLogisticRegressionCV(Cs=[1e-16, 1e-15], feature_weights="equal").fit(X, y)
    tried = model.interaction_cv_results_["param_interaction_strength"]
    assert tried.max() <= 1e13
    same = StumpLogisticRegression(1e-16, interactions=1, interaction_strength=tried.max())
    assert same.fit(X, y).certificate_.converged
