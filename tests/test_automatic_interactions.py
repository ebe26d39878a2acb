"""interactions="auto": how many pairs there are, and which of them remain."""

import numpy as np
import pytest

from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpRegressorCV,
    StumpSVC,
    StumpSVCCV,
)
from everystump.bounds import loo_bound
from everystump.estimators import _interactions


def one_pair_matters(n=500, n_features=5, seed=0):
    """Return a table in which only features 0 and 1 interact, and feature 2 has an effect."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, n_features))
    return X, 3 * X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=n) > 0


@pytest.mark.parametrize(("n_classes", "n_pairs"), [(2, 8), (3, 4), (4, 3), (9, 2)])
def test_the_number_of_pairs_depends_on_the_number_of_classes(monkeypatch, n_classes, n_pairs):
    """At most 8 pairs and 12 surfaces, but at least 2 pairs."""
    limits = {"_MAX_AUTO": 8, "_MAX_AUTO_SURFACES": 12, "_MIN_AUTO": 2, "_NEGLIGIBLE": 0.0}
    for name, value in limits.items():
        monkeypatch.setattr(_interactions, name, value)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(180, 5)), np.arange(180) % n_classes
    model = StumpLogisticRegression(interactions="auto", tol=0.1).fit(X, y)
    assert len(model.interactions_) == n_pairs
    assert len(StumpLogisticRegression(interactions=9, tol=0.1).fit(X, y).interactions_) == 9


@pytest.mark.parametrize(
    "estimator",
    [
        StumpLogisticRegression(interaction_strength=0.5, tol=1e-7),
        StumpSVC(interaction_strength=0.5, tol=1e-7),
        StumpSVC(interaction_strength=0.5, tol=1e-7, loss="squared_hinge", fit_intercept=False),
    ],
)
def test_the_model_is_optimal_for_the_remaining_pairs(estimator, monkeypatch):
    X, y = one_pair_matters()
    monkeypatch.setattr(_interactions, "_NEGLIGIBLE", 0.2)
    model = estimator.set_params(interactions="auto").fit(X, y)
    assert (0, 1) in model.interactions_
    assert len(model.interactions_) < 10
    assert model.certificate_.gap <= 1e-7
    listed = estimator.set_params(interactions=model.interactions_)
    scores, primal = model.decision_function(X), model.certificate_.primal
    listed.fit(X, y)
    # Both objectives are within 1e-7 of the same optimum, and so are scores to about its root.
    np.testing.assert_allclose(primal, listed.certificate_.primal, rtol=3e-7)
    np.testing.assert_allclose(scores, listed.decision_function(X), atol=0.02)


@pytest.mark.parametrize("strength", [0.5, [0.1, 0.5]])
def test_the_score_of_a_bound_is_that_of_the_model(strength):
    X, y = one_pair_matters(120)
    model = StumpSVCCV(
        Cs=[0.02, 0.2],
        selection="loo-bound",
        interactions=[(0, 1)],
        interaction_strength=strength,
        tol=1e-7,
    ).fit(X, y)
    assert model.best_score_ == pytest.approx(1 - loo_bound(model, X, y).value)


@pytest.mark.parametrize("cls", [StumpLogisticRegressionCV, StumpSVCCV])
def test_remaining_pairs_are_important(cls):
    X, y = one_pair_matters()
    model = cls(interactions="auto").fit(X, y)
    names = [f"x{d} × x{e}" for d, e in model.interactions_]
    importance = model.explain_global().set_index("feature")["importance"]
    assert "x0 × x1" in names
    # The second fit changes importances a little.
    assert importance[names].min() >= 0.9 * _interactions._NEGLIGIBLE * importance.max()
    assert [s.features for s in model.shapes_.surfaces] == model.interactions_
    assert model.certificate_.gap <= model.tol


@pytest.mark.parametrize("interactions", [10, [(0, 1), (2, 3), (3, 4)]])
def test_requested_pairs_remain(interactions, monkeypatch):
    monkeypatch.setattr(_interactions, "_NEGLIGIBLE", 0.9)
    X, y = one_pair_matters()
    model = StumpLogisticRegression(interactions=interactions, interaction_strength=0.5).fit(X, y)
    n = interactions if isinstance(interactions, int) else len(interactions)
    assert len(model.interactions_) == n


def test_a_model_without_important_pairs_is_additive(monkeypatch):
    monkeypatch.setattr(_interactions, "_NEGLIGIBLE", 1.0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] > 0
    model = StumpLogisticRegression(interactions="auto", tol=1e-6).fit(X, y)
    additive = StumpLogisticRegression(tol=1e-6).fit(X, y)
    assert model.interactions_ == []
    assert model.interaction_strength_ == 0.0
    np.testing.assert_allclose(model.certificate_.primal, additive.certificate_.primal, rtol=3e-6)
    np.testing.assert_allclose(model.decision_function(X), additive.decision_function(X), atol=0.02)


def test_a_hard_margin_keeps_its_pairs(monkeypatch):
    """Without them there may be none."""
    monkeypatch.setattr(_interactions, "_NEGLIGIBLE", 0.9)
    X, y = one_pair_matters(60, 3)
    model = StumpSVC(C=np.inf, interactions="auto", interaction_strength=1.0).fit(X, y)
    assert len(model.interactions_) == 3


def test_triples_are_dropped_like_pairs(monkeypatch):
    monkeypatch.setattr(_interactions, "_NEGLIGIBLE", 0.3)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] + X[:, 2]) % 2 == 1
    model = StumpLogisticRegression(
        interactions="auto", max_interaction_order=3, interaction_strength=1.0
    ).fit(X, y)
    assert model.interactions_ == [(0, 1, 2)]
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("n", [40, 60])
def test_a_pair_that_carries_the_model_is_kept_in_small_tables(n):
    """On few samples, purified surfaces are almost 0 at the samples."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 2)), rng.normal(size=(2000, 2))
    model = StumpLogisticRegressionCV().fit(X, X.prod(axis=1) > 0)
    assert model.interactions_ == [(0, 1)]
    assert model.score(new, new.prod(axis=1) > 0) > 0.85


@pytest.mark.parametrize("how", [{"interactions": [(0, 1)]}, {"interactions": 1}])
def test_c_is_chosen_with_interactions_of_a_given_strength(how):
    """The best C of useless curves is tiny, and would leave nothing of the interaction."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 3))
    y = X[:, 0] * X[:, 1]
    model = StumpRegressorCV(interaction_strength=1.0, **how).fit(X, y)
    assert model.interactions_ == [(0, 1)] and model.interaction_strength_ == 1.0
    assert model.cv_results_["chosen"] < 0.01 < model.C_
    results = model.refined_cv_results_
    assert (
        model.C_ == results["chosen"] == results["param_C"][np.argmax(results["mean_test_score"])]
    )
    assert np.all(results["param_interaction_strength"] == 1.0)
    assert model.best_score_ == results["mean_test_score"].max()
    assert model.score(X, y) > 0.99 and model.certificate_.converged


@pytest.mark.parametrize("parameters", [{}, {"interaction_strength": 1.0}])
def test_a_small_pair_that_helps_remains(parameters):
    """Its standard deviation is below 1% of that of the curve, but the noise is still smaller."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = 100 * X[:, 0] + X[:, 1] * X[:, 2] + 0.02 * rng.normal(size=400)
    model = StumpRegressorCV(**parameters).fit(X, y)
    assert (1, 2) in model.interactions_
    assert model.interaction_strength_ > 0
    assert model.C_ in model.refined_cv_results_["param_C"]
    assert model.best_score_ == model.refined_cv_results_["mean_test_score"].max()


@pytest.mark.parametrize("cv_class", [StumpSVCCV, StumpLogisticRegressionCV])
@pytest.mark.parametrize("weight", [1.0, 1e-3])
@pytest.mark.parametrize("feature_weights", ["equal", "adaptive"])
def test_no_interactions_have_the_scores_of_the_chosen_cost(cv_class, weight, feature_weights):
    """With a small C, a fit that starts elsewhere may be another one within the tolerance."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=40) > 0
    model = cv_class(feature_weights=feature_weights)
    if cv_class is StumpSVCCV:
        model.set_params(loss="squared_hinge")
    model.fit(X, y, sample_weight=np.full(40, weight))
    costs, strengths = model.cv_results_, model.interaction_cv_results_
    at = list(costs["param_C"]).index(costs["chosen"])
    for k in range(5):  # the same fits, continued
        alone, known = (r[f"split{k}_test_score"] for r in (strengths, costs))
        assert alone[0] == pytest.approx(known[at], abs=0.03)


def test_paths_of_samples_with_weights_over_many_decades():
    """What rounding in the span of the rows leaves is solved with the weights of the features."""
    rng = np.random.default_rng(815)
    n = int(rng.integers(15, 50))
    X = np.round(2 * rng.normal(size=(n, 3)))
    y = X[:, 0] * X[:, 1] + rng.normal(size=n) > 0
    model = StumpLogisticRegressionCV()  # a warning would be an error
    model.fit(X, y, sample_weight=10.0 ** rng.uniform(-8, 8, n))
    assert model.certificate_.converged
