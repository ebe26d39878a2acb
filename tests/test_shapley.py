"""Contributions are interventional Shapley values, and curves are partial dependences.

The Shapley values are computed from their definition, over all subsets of the features.
"""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from sklearn.inspection import partial_dependence

from everystump import StumpBoostingRegressor, StumpLogisticRegression, StumpRegressor, StumpSVC

pytest.importorskip("pandas", reason="explanations are pandas frames")

N_FEATURES = 4


def table(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES))
    X[:, 1] = rng.integers(0, 4, n)
    score = X[:, 0] + (X[:, 1] - 1.5) * X[:, 2] + np.abs(X[:, 3])
    return X, score


def shapley_values(f, x, background):
    """Return the Shapley values of the game in which a coalition S plays f(x_S, b_rest), averaged.

    The mean over the background samples b is that of the interventional (marginal) SHAP values.
    """
    features = range(len(x))

    def play(coalition):
        rows = background.copy()
        rows[:, list(coalition)] = x[list(coalition)]
        return f(rows).mean()

    values = np.zeros(len(x))
    for d in features:
        others = [other for other in features if other != d]
        for size in range(len(others) + 1):
            weight = factorial(size) * factorial(len(x) - size - 1) / factorial(len(x))
            for coalition in combinations(others, size):
                values[d] += weight * (play((*coalition, d)) - play(coalition))
    return values


def contributions(model, X):
    """Return the contributions of the features only, and those of the interactions."""
    parts = model.explain_local(X).drop(columns=["intercept", "score"]).to_numpy()
    return parts[:, :N_FEATURES], parts[:, N_FEATURES:]


MODELS = {
    "logistic": lambda X, s: StumpLogisticRegression().fit(X, s > 1),
    "svc": lambda X, s: StumpSVC().fit(X, s > 1),
    "regressor": lambda X, s: StumpRegressor().fit(X, s),
    "boosting": lambda X, s: StumpBoostingRegressor(n_estimators=30).fit(X, s),
}


def score_function(model):
    return getattr(model, "decision_function", model.predict)


@pytest.mark.parametrize("name", MODELS)
def test_contributions_of_additive_models_are_shapley_values(name):
    """The contribution minus its mean over the background; the sum is exact, up to rounding."""
    X, score = table()
    model = MODELS[name](X, score)
    background, rows = table(1, 15)[0], table(2, 5)[0]
    expected = np.array([shapley_values(score_function(model), x, background) for x in rows])
    found = contributions(model, rows)[0] - contributions(model, background)[0].mean(axis=0)
    assert np.abs(found - expected).max() < 1e-9
    assert np.ptp(expected, axis=0).max() > 0.1


@pytest.mark.parametrize("name", ["logistic", "svc", "regressor"])
def test_no_mean_is_subtracted_if_the_background_is_the_training_set(name):
    """The curves of convex ensembles have mean 0 there."""
    X, score = table()
    model = MODELS[name](X, score)
    x = table(2, 1)[0]
    expected = shapley_values(score_function(model), x[0], X)
    assert np.abs(contributions(model, x)[0][0] - expected).max() < 1e-9


def test_shapley_values_divide_interactions_among_their_features():
    """Each feature of a pair gets half of what the pair adds with it, in both orders of joining."""
    X, score = table()
    model = StumpLogisticRegression(interactions=[(1, 2)]).fit(X, score > 1)
    background, rows = table(1, 15)[0], table(2, 5)[0]
    (surface,) = model.shapes_.surfaces
    curves, pair = contributions(model, rows)
    base, base_pair = contributions(model, background)
    found = curves - base.mean(axis=0)
    for i, x in enumerate(rows):
        both = pair[i, 0]
        assert both == pytest.approx(float(surface(x[None, 1:3])[0]), abs=1e-12)
        nothing = base_pair.mean()
        only = {}
        for d in (1, 2):
            mixed = background.copy()
            mixed[:, d] = x[d]
            only[d] = surface(mixed[:, 1:3]).mean()
        found[i, 1] += (only[1] - nothing + both - only[2]) / 2
        found[i, 2] += (only[2] - nothing + both - only[1]) / 2
        expected = shapley_values(model.decision_function, x, background)
        assert np.abs(found[i] - expected).max() < 1e-9
        total = model.decision_function(x[None])[0] - model.decision_function(background).mean()
        assert expected.sum() == pytest.approx(total, abs=1e-9)
    assert np.abs(pair).max() > 0.01  # so that explain_local, which keeps the pair, differs


@pytest.mark.parametrize("name", ["logistic", "svc", "regressor", "boosting"])
def test_partial_dependence_is_the_curve_plus_a_constant(name):
    X, score = table()
    model = MODELS[name](X, score)
    rows = table(3, 40)[0]
    response = "auto" if name in ("regressor", "boosting") else "decision_function"
    f = score_function(model)
    for d in range(N_FEATURES):
        found = partial_dependence(
            model, rows, [d], kind="average", method="brute", response_method=response
        )
        curve = model.shapes_[d]
        constant = f(rows).mean() - curve(rows[:, d]).mean()
        expected = curve(found["grid_values"][0]) + constant
        assert np.abs(found["average"][0] - expected).max() < 1e-9


def test_partial_dependence_adds_the_mean_of_interactions():
    X, score = table()
    model = StumpLogisticRegression(interactions=[(1, 2)]).fit(X, score > 1)
    found = partial_dependence(
        model, X, [2], kind="average", method="brute", response_method="decision_function"
    )
    (surface,) = model.shapes_.surfaces
    grid, curve = found["grid_values"][0], model.shapes_[2]

    def mean_surface(value):
        rows = X.copy()
        rows[:, 2] = value
        return surface(rows[:, 1:3]).mean()

    means = np.array([mean_surface(value) for value in grid])
    others = model.decision_function(X).mean() - curve(X[:, 2]).mean() - surface(X[:, 1:3]).mean()
    assert np.abs(found["average"][0] - (curve(grid) + means + others)).max() < 1e-9
    assert np.ptp(means) > 1e-3


def test_partial_dependence_display_draws_the_curve():
    pytest.importorskip("matplotlib", reason="a plot of scikit-learn")
    import matplotlib

    matplotlib.use("Agg")
    from sklearn.inspection import PartialDependenceDisplay

    X, score = table()
    model = StumpRegressor().fit(X, score)
    display = PartialDependenceDisplay.from_estimator(model, X, [0], method="brute")
    line = display.lines_[0, 0]
    expected = model.shapes_[0](line.get_xdata()) + model.shapes_.intercept
    # The other curves have mean 0 over the training samples.
    assert np.abs(line.get_ydata() - expected).max() < 1e-9
