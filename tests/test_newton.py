"""Logistic and squared-hinge models against independent optimizers on explicit smooth stumps."""

import numpy as np
import pytest
from oracles import as_fitted, axis, density, smooth_stumps
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from everystump import StumpLogisticRegression, StumpSVC

MEASURES = ["lebesgue", "uniform", "rank", "mixed", "middle", "density"]
TIGHT = 1e-11


def logistic(margin, cost):
    """Return the value of the loss, its slope and its curvature."""
    p = expit(-margin)
    return cost @ np.logaddexp(0, -margin), -cost * p, cost * p * (1 - p)


def squared_hinge(margin, cost):
    """Return the value of the loss, its slope and its curvature."""
    short = np.maximum(0, 1 - margin)
    return cost @ short**2, -2 * cost * short, 2 * cost * (short > 0)


LOSSES = {
    "logistic": (logistic, StumpLogisticRegression, {}),
    "squared_hinge": (squared_hinge, StumpSVC, {"loss": "squared_hinge"}),
}


@pytest.fixture(params=[0, 1, 2])
def table(request):
    """Return 40 rows of 4 features: continuous, tied, two-valued, constant; weights."""
    rng = np.random.default_rng(request.param)
    X = np.column_stack(
        [rng.normal(size=40), rng.integers(0, 4, 40), rng.integers(0, 2, 40), np.full(40, 3.0)]
    )
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=40) > 1.5, 1, -1)
    return X, y, rng.choice([0.5, 1.0, 4.0], size=40)


def explicit(X, measure, weight, *, fit_intercept):
    """Return the axes and the explicit feature matrix, with a column of ones for the intercept."""
    limits = [None] * X.shape[1] if fit_intercept else [(x.min() - 1, x.max() + 2) for x in X.T]
    axes = [axis(x, measure, weight, pair) for x, pair in zip(X.T, limits, strict=True)]
    Phi = smooth_stumps(axes, fit_intercept)
    return (
        axes,
        np.hstack([Phi, np.ones((len(X), 1))]) if fit_intercept else Phi,
        None if fit_intercept else limits,
    )


def optimum(loss, Phi, y, cost, *, fit_intercept):
    """Minimize ``|w|^2 / 2 + loss`` by trust-region Newton steps; return the value and scores."""
    penalty = np.ones(Phi.shape[1])
    if fit_intercept:
        penalty[-1] = 0.0

    def value(w):
        return penalty @ w**2 / 2 + loss(y * (Phi @ w), cost)[0]

    def slope(w):
        return penalty * w + Phi.T @ (y * loss(y * (Phi @ w), cost)[1])

    def curvature(w):
        return np.diag(penalty) + Phi.T @ (Phi * loss(y * (Phi @ w), cost)[2][:, None])

    w = np.zeros(Phi.shape[1])
    for _ in range(3):
        w = minimize(value, w, jac=slope, hess=curvature, method="trust-exact", tol=1e-12).x
    return value(w), Phi @ w


def fit(name, X, y, weight, C, measure, limits, *, fit_intercept, tol=TIGHT):
    _, estimator, extra = LOSSES[name]
    model = estimator(
        C,
        measure=density if measure == "density" else measure,
        fit_intercept=fit_intercept,
        feature_range=limits,
        tol=tol,
        n_jobs=1,
        **extra,
    )
    return model.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_objective_and_scores_are_the_optimum(table, name, measure, fit_intercept, C):
    """Objective to 1e-8 and scores to 1e-4 of trust-region Newton's on the same features."""
    X, y, weight = table
    axes, Phi, limits = explicit(X, measure, weight, fit_intercept=fit_intercept)
    loss = LOSSES[name][0]
    best, scores = optimum(loss, Phi, y, C * weight, fit_intercept=fit_intercept)
    model = fit(name, X, y, weight, C, measure, limits, fit_intercept=fit_intercept)
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(best, rel=1e-8)
    assert certificate.dual <= best * (1 + 1e-10)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=0, atol=1e-4)
    energy = as_fitted(axes, model.shapes_).energy(axes, fit_intercept)
    primal = energy / 2 + loss(y * model.decision_function(X), C * weight)[0]
    assert certificate.primal == pytest.approx(primal, rel=1e-9)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_dual_variables_attain_the_dual_value(table, name, fit_intercept):
    """The dual variables are feasible and attain the dual value of the certificate.

    If the classes had to be balanced, the certificate has a lower bound of the dual value.
    """
    X, y, weight = table
    _, Phi, limits = explicit(X, "mixed", weight, fit_intercept=fit_intercept)
    model = fit(name, X, y, weight, 2.0, "mixed", limits, fit_intercept=fit_intercept, tol=1e-4)
    cost, a = 2.0 * weight, y * model.dual_coef_
    assert np.all(a >= 0)
    if name == "logistic":
        p = a / cost
        assert np.all(p < 1)
        part = -cost @ (p * np.log(p) + (1 - p) * np.log1p(-p))
    else:
        part = np.sum(a - a**2 / (4 * cost))
    dual_weights = Phi.T @ model.dual_coef_
    if fit_intercept:
        assert abs(dual_weights[-1]) <= 1e-10 * a.sum()
        dual_weights = dual_weights[:-1]
    dual, certificate = part - dual_weights @ dual_weights / 2, model.certificate_
    assert certificate.dual * (1 - 1e-9) <= dual <= certificate.primal * (1 + 1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scikit_learn_logistic_regression(table, fit_intercept):
    """The same scores as LogisticRegression on the explicit features, to 1e-5."""
    X, y, weight = table
    _, Phi, limits = explicit(X, "uniform", weight, fit_intercept=fit_intercept)
    Phi = Phi[:, :-1] if fit_intercept else Phi
    reference = LogisticRegression(
        C=0.7, solver="newton-cholesky", tol=1e-12, fit_intercept=fit_intercept
    )
    reference.fit(Phi, y, sample_weight=weight)
    model = fit("logistic", X, y, weight, 0.7, "uniform", limits, fit_intercept=fit_intercept)
    np.testing.assert_allclose(
        model.decision_function(X), reference.decision_function(Phi), atol=1e-5
    )
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(Phi), atol=1e-5)


def test_liblinear_squared_hinge(table):
    """The same scores as LinearSVC on the explicit features without an intercept, to 1e-4."""
    X, y, weight = table
    _, Phi, limits = explicit(X, "mixed", weight, fit_intercept=False)
    reference = LinearSVC(C=0.7, dual=False, tol=1e-10, fit_intercept=False, max_iter=10_000)
    reference.fit(Phi, y, sample_weight=weight)
    model = fit("squared_hinge", X, y, weight, 0.7, "mixed", limits, fit_intercept=False)
    np.testing.assert_allclose(
        model.decision_function(X), reference.decision_function(Phi), atol=1e-4
    )


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("exponent", [-9, 9])
def test_extreme_scales_converge(table, name, exponent):
    """Features scaled by 1e-9 and 1e9 have the optimum of unscaled ones."""
    X, y, weight = table
    for measure in ("uniform", "rank", "mixed", "middle"):
        plain = fit(name, X, y, weight, 1.0, measure, None, fit_intercept=True)
        scaled = fit(name, X * 10.0**exponent, y, weight, 1.0, measure, None, fit_intercept=True)
        assert scaled.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("C", [2.0**-15, 2.0**15])
def test_extreme_costs_converge(table, name, C):
    """The gap is at most 1e-6, and the objective is the optimum to 1e-6."""
    X, y, weight = table
    _, Phi, _ = explicit(X, "mixed", weight, fit_intercept=True)
    best, _ = optimum(LOSSES[name][0], Phi, y, C * weight, fit_intercept=True)
    model = fit(name, X, y, weight, C, "mixed", None, fit_intercept=True, tol=1e-6)
    assert model.certificate_.converged
    assert model.certificate_.primal <= best * (1 + 2e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_squared_hinge_with_infinite_cost_is_the_hard_margin(fit_intercept):
    """With C=inf both hinges are the same problem; the optima agree to 1e-6."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    params = {"fit_intercept": fit_intercept, "measure": "rank", "tol": 1e-7, "n_jobs": 1}
    squared = StumpSVC(np.inf, loss="squared_hinge", **params).fit(X, y)
    plain = StumpSVC(np.inf, **params).fit(X, y)
    assert np.min(y * squared.decision_function(X)) >= 1 - 1e-9
    assert squared.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-6)
