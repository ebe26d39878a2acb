"""Certificates of stump ensembles against 60-digit arithmetic, from public attributes."""

from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import pytest
from oracles import seeds

from everystump import StumpLogisticRegression, StumpSVC

LOSSES = ["hinge", "squared_hinge", "logistic"]


def digits(values):
    return [Decimal(float(value)) for value in np.ravel(values)]


def balanced(coef):
    """Scale the larger class down so that both balance exactly."""
    sides = sum(c for c in coef if c > 0), -sum(c for c in coef if c < 0)
    return [c * min(sides) / (sides[0] if c > 0 else sides[1]) if c else c for c in coef]


@cache
def log_1_plus_exp(x):
    return (1 + x.exp()).ln()


@cache
def entropy(q):
    return -sum(p * p.ln() for p in (q, 1 - q) if p > 0)


def loss_and_dual_terms(loss, cost, margin, a):
    """Return the loss of each margin and the dual term of each dual variable."""
    short = [1 - m for m in margin]
    if loss == "hinge":
        return [c * max(0, d) for c, d in zip(cost, short, strict=True)], a
    if loss == "squared_hinge":
        lost = [c * max(0, d) ** 2 for c, d in zip(cost, short, strict=True)]
        return lost, [u - u * u / (4 * c) for c, u in zip(cost, a, strict=True)]
    lost = [c * log_1_plus_exp(-m) for c, m in zip(cost, margin, strict=True)]
    return lost, [c * entropy(u / c) for c, u in zip(cost, a, strict=True)]


def values(model, X, y, cost, loss):
    """Return the primal value of the curves, and the dual value of balanced dual variables.

    The mass of a gap is its length: the kernel is that of ``measure="lebesgue"``.
    """
    sign = [1 if label else -1 for label in y]
    score, coef = digits(model.intercept_) * len(y), digits(model.dual_coef_)
    coef = balanced(coef) if model.fit_intercept else coef
    half = 0 if model.fit_intercept else sum(coef) / 2
    norm, reach = Decimal(0), Decimal(0)
    for shape, column in zip(model.shapes_, X.T, strict=True):
        knots, curve = digits(shape.knots), digits(shape.values)
        bins = np.searchsorted(shape.knots, column)
        score = [s + curve[p] for s, p in zip(score, bins, strict=True)]
        for k in range(1, len(knots)):
            mass = 2 * (knots[k] - knots[k - 1])
            norm += (curve[k] - curve[k - 1]) ** 2 / mass
            beyond = sum(c for c, p in zip(coef, bins, strict=True) if p >= k)
            reach += mass * (beyond - half) ** 2
    margin = [s * f for s, f in zip(sign, score, strict=True)]
    a = [s * c for s, c in zip(sign, coef, strict=True)]
    lost, gain = loss_and_dual_terms(loss, digits(cost), margin, a)
    return norm / 2 + sum(lost), sum(gain) - reach / 2


def check(loss, X, y, weight, C, fit_intercept, tol):
    arguments = dict(C=C, tol=tol, fit_intercept=fit_intercept, measure="lebesgue")
    logistic = loss == "logistic"
    model = StumpLogisticRegression(**arguments) if logistic else StumpSVC(loss=loss, **arguments)
    model.fit(X, y, sample_weight=weight)
    claimed = model.certificate_
    assert claimed.converged
    with localcontext(prec=60):
        primal, dual = values(model, X, y, C * weight, loss)
        allowed = Decimal(claimed.rounding) * primal
        assert primal <= Decimal(claimed.primal) <= primal + allowed
        assert dual - allowed <= Decimal(claimed.dual) <= dual


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", seeds(3))
def test_certificates_hold_for_the_curves_and_dual_variables(loss, fit_intercept, seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([6, 12, 30]))
    values = np.cumsum(rng.choice([2.0, 8.0, 0.5, 18.0], 6))
    X, y = values[rng.integers(0, 6, (n_rows, 3))], rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    weight = 10.0 ** rng.uniform(-1, 1, n_rows)
    check(
        loss,
        X,
        y,
        weight,
        float(10.0 ** rng.uniform(-2, 4)),
        fit_intercept,
        10.0 ** -rng.integers(3, 9),
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_certificates_hold_for_rows_repeated_thousands_of_times(loss):
    """Equal terms are rounded alike, so their errors add up instead of canceling."""
    X = np.repeat([[0.0, 2.0], [2.0, 0.0], [4.0, 2.0], [2.0, 4.0]], 3000, axis=0)
    y = np.repeat([0, 1, 1, 0], 3000)
    y[::10] = 1 - y[::10]
    check(loss, X, y, np.full(len(y), 0.1), 0.7, True, 1e-3)


@pytest.mark.parametrize("gap", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_curves_attain_the_hard_margin(gap, fit_intercept):
    X, y = np.array([[0.0], [gap]]), [0, 1]
    model = StumpSVC(C=np.inf, measure="lebesgue", fit_intercept=fit_intercept).fit(X, y)
    assert model.certificate_.primal == pytest.approx(1 / gap, rel=1e-12)
    assert model.decision_function(X) @ [-1, 1] >= 2.0
