"""StumpSVC against LIBSVM (with a bias) and a box solver (without), on random tables.

EVERYSTUMP_EXAMPLES=N searches N new tables in each test instead of a few fixed ones.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from oracles import (
    Machine,
    as_fitted,
    box_machine,
    expansion,
    hinge_machine,
    libsvm,
    positions,
    search,
    separable,
)
from random_tables import Case, cases

from everystump import StumpSVC

RECOMPUTED = 1e-6
TINY = 1e-9


def fit(case, X, y, weight, measure, limits, *, bias):
    model = StumpSVC(
        case.C,
        measure=measure,
        max_bins=max(2, len(X)),
        fit_intercept=bias,
        feature_range=limits,
        tol=case.tol,
        n_jobs=1,
    )
    return model.fit(X, y, sample_weight=weight)


def refused(case, axes, y, fit_it):
    """Prove that a hard margin is refused only where no stump ensemble separates the rows."""
    try:
        return fit_it(), False
    except ValueError as error:
        assert np.isinf(case.C)
        assert "no stump ensemble separates" in str(error)
        assert separable(axes, y) < 1e-7
        return None, True


def read(model, X, y, axes, cost, *, bias):
    """Return the fitted machine with both values computed from its curves and its duals."""
    curves, scores = as_fitted(axes, model.shapes_), model.decision_function(X)
    short = np.maximum(0, 1 - y * scores)
    if np.isinf(cost[0]):
        assert short.max() <= 1e-9
        loss = 0.0
    else:
        loss = float(cost @ short)
    reach = expansion(axes, model.dual_coef_)[0].energy(axes, bias)
    dual = float(np.abs(model.dual_coef_).sum()) - reach / 2
    return Machine(curves, scores, curves.energy(axes, bias) / 2 + loss, dual)


def check_certificate(model, ours, y, cost, tol, *, bias):
    """Prove that the certificate is true, to a relative 1e-6, and that the duals are feasible."""
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.gap <= tol
    scale = RECOMPUTED * certificate.primal
    assert ours.primal == pytest.approx(certificate.primal, abs=scale)
    assert ours.dual == pytest.approx(certificate.dual, abs=scale)
    a = y * model.dual_coef_
    assert np.all(a >= 0)
    assert np.all(a <= cost * (1 + TINY))
    if bias:
        assert abs(model.dual_coef_.sum()) <= TINY * a.sum()


def check_no_worse(ours, theirs, tol):
    """Prove that neither value is worse than the oracle's by more than ``tol``."""
    assert ours.primal <= theirs.primal * (1 + tol + RECOMPUTED)
    assert ours.dual >= theirs.dual - (tol + RECOMPUTED) * abs(ours.primal)


def check_close(ours, theirs, axes, *, bias):
    """Prove that both functions agree as strong convexity says they must.

    With D the better dual value, ``|f - f*|^2 <= 2 (P - D)`` for each, hence for their distance
    ``sqrt(2 g) + sqrt(2 g')``; scores (up to the bias) differ by no more than that times the
    distance of rows in the kernel's space.
    """
    if not np.isfinite(theirs.primal):
        return
    D = max(ours.dual, theirs.dual)
    rounding = 1e-10 * ours.primal
    near = sum(np.sqrt(2 * (max(m.primal - D, 0.0) + rounding)) for m in (ours, theirs))
    assert np.sqrt((ours.curves - theirs.curves).energy(axes, bias)) <= near
    off = ours.scores - theirs.scores
    reach = sum(a.inside.sum() + a.outside for a in axes)
    if bias:
        off, reach = off - off[0], 2 * np.abs(positions(axes) - positions(axes)[0]).sum(axis=1)
    assert np.all(np.abs(off) <= near * np.sqrt(reach) + 1e-9 * (1 + np.abs(ours.scores).max()))


def check_with_bias(case):
    X, y, weight = case.table()
    axes, measure, limits = case.stumps(X, weight, bias=True)
    cost = case.C * (np.ones(len(y)) if weight is None else weight)
    model, no_margin = refused(
        case, axes, y, lambda: fit(case, X, y, weight, measure, limits, bias=True)
    )
    if no_margin:
        return
    ours = read(model, X, y, axes, cost, bias=True)
    check_certificate(model, ours, y, cost, case.tol, bias=True)
    theirs = libsvm(axes, y, cost)
    check_no_worse(ours, theirs, case.tol)
    check_close(ours, theirs, axes, bias=True)


def check_without_bias(case):
    X, y, weight = case.table()
    axes, measure, limits = case.stumps(X, weight, bias=False)
    cost = case.C * (np.ones(len(y)) if weight is None else weight)
    model = fit(case, X, y, weight, measure, limits, bias=False)
    ours = read(model, X, y, axes, cost, bias=False)
    check_certificate(model, ours, y, cost, case.tol, bias=False)
    theirs = box_machine(axes, y, cost)
    check_no_worse(ours, theirs, case.tol)
    check_close(ours, theirs, axes, bias=False)


@given(cases())
@search(80)
def test_small_tables_with_a_bias(case):
    """Values, duals and scores as LIBSVM's on 5 to 40 rows, within the duality gaps."""
    check_with_bias(case)


@given(cases(hard=False))
@search(60)
def test_small_tables_without_a_bias(case):
    """Values, duals and scores as a projected Newton method's on the dual with K_S."""
    check_without_bias(case)


@given(cases(max_rows=300, max_features=60))
@search(12)
def test_wider_tables_with_a_bias(case):
    """The same on up to 300 rows and 60 features."""
    check_with_bias(case)


@given(cases(max_rows=150, max_features=60, hard=False))
@search(8)
def test_wider_tables_without_a_bias(case):
    """The same without a bias on up to 150 rows and 60 features."""
    check_without_bias(case)


@pytest.mark.parametrize("log2_C", [-8, 0, 4])
def test_two_thousand_rows(log2_C):
    """The same on 2,000 rows of all kinds of columns, weighted."""
    kinds = ("normal", "ties", "two", "rare", "constant", "heavy", "order", "normal")
    case = Case(2000, kinds, (0,) * 8, "signal", 3, 5, "mixed", log2_C, True, 1e-6, 0.0)
    check_with_bias(case)


@pytest.mark.parametrize("bias", [True, False])
def test_class_weights_are_costs(bias):
    """Class weights act as factors of C: the same optimum as LIBSVM with those costs."""
    X, y, _ = Case(60, ("normal",) * 3, (0,) * 3, "tiny", 0, 3, "rank", 0, False, 1, 0).table()
    case = Case(60, (), (), "", 0, 0, "rank", 1, False, 1e-8, 0.0)
    axes, _, _ = case.stumps(X, None, bias=bias)
    model = StumpSVC(
        case.C, measure="rank", class_weight="balanced", fit_intercept=bias, tol=1e-8, n_jobs=1
    ).fit(X, y)
    cost = case.C * len(y) / (2 * np.where(y > 0, (y > 0).sum(), (y < 0).sum()))
    ours = read(model, X, y, axes, cost, bias=bias)
    check_certificate(model, ours, y, cost, 1e-8, bias=bias)
    theirs = libsvm(axes, y, cost) if bias else box_machine(axes, y, cost)
    check_no_worse(ours, theirs, 1e-8)
    check_close(ours, theirs, axes, bias=bias)


@given(cases(hard=False))
@search(20)
def test_the_oracles_agree_with_the_kernel_matrix(case):
    """The oracle's curves are ``K_S beta`` and their energy ``beta' K_S beta``, to 1e-9."""
    from oracles import gram

    X, y, weight = case.table()
    assume(max(np.abs(case.scales), default=0) <= 3)
    axes, _, _ = case.stumps(X, weight, bias=False)
    K, beta = gram(axes), np.random.default_rng(case.seed).normal(size=len(y))
    curves, scores = expansion(axes, beta)
    np.testing.assert_allclose(scores, K @ beta, atol=1e-9 * (1 + np.abs(K).sum()))
    energy = curves.energy(axes, bias=False)
    assert energy == pytest.approx(beta @ K @ beta, abs=1e-9 * (1 + np.abs(K).sum()))
    assert hinge_machine(axes, y, np.ones(len(y)), beta, 0.0, bias=False).gap >= -1e-9 * energy
