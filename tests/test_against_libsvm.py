"""StumpSVC against LIBSVM (with an intercept) and a box solver (without), on random tables.

EVERYSTUMP_EXAMPLES=N searches N new tables in each test instead of a few fixed ones.
"""

import numpy as np
import pytest
from hypothesis import example, given
from oracles import (
    Solution,
    as_fitted,
    box_solution,
    density,
    expansion,
    gram,
    hinge_solution,
    libsvm,
    positions,
    search,
    widest_margin,
)
from random_tables import Case, cases

from everystump import StumpSVC
from everystump._core.solvers.problem import TableKernelMatrix

RECOMPUTED = 1e-6
TINY = 1e-9


@pytest.fixture(autouse=True, scope="module")
def both_ways():
    """Solve even numbers of rows in their span, odd ones with the weights of the features."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TableKernelMatrix, "is_faster", lambda _, n_rows, *__: n_rows % 2 == 0)
        yield


def fit(case, X, y, weight, measure, limits, *, fit_intercept):
    model = StumpSVC(
        case.unit_cost,
        measure=measure,
        max_bins=max(2, len(X)),
        fit_intercept=fit_intercept,
        feature_range=limits,
        tol=case.tol,
        n_jobs=1,
    )
    return model.fit(X, y, sample_weight=weight)


def is_expected_error(error, case, axes, y, *, fit_intercept):
    """Whether the error is correct: a hard margin that no ensemble attains."""
    hard = np.isinf(case.unit_cost) and "no stump ensemble separates" in str(error)
    return hard and widest_margin(axes, y, fit_intercept=fit_intercept) < 1e-6


def read(model, X, y, axes, cost, *, fit_intercept):
    """Return the model's solution; its values are computed from curves and dual variables."""
    curves, scores = as_fitted(axes, model.shapes_), model.decision_function(X)
    slack = np.maximum(0, 1 - y * scores)
    if np.isinf(cost[0]):
        assert slack.max() <= 1e-9
        loss = 0.0
    else:
        loss = float(cost @ slack)
    energy = expansion(axes, model.dual_coef_)[0].energy(axes, fit_intercept)
    dual = float(np.abs(model.dual_coef_).sum()) - energy / 2
    return Solution(curves, scores, curves.energy(axes, fit_intercept) / 2 + loss, dual)


def check_certificate(model, ours, y, cost, tol, *, fit_intercept):
    """Check the certificate, to a relative 1e-6, and that the dual variables are feasible."""
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.gap <= tol
    scale = RECOMPUTED * certificate.primal
    assert ours.primal == pytest.approx(certificate.primal, abs=scale)
    assert ours.dual == pytest.approx(certificate.dual, abs=scale)
    a = y * model.dual_coef_
    assert np.all(a >= 0)
    assert np.all(a <= cost * (1 + TINY))
    if fit_intercept:
        assert abs(model.dual_coef_.sum()) <= TINY * a.sum()


def check_no_worse(ours, theirs, tol):
    """Check that neither value is worse than the oracle's by more than ``tol``."""
    assert ours.primal <= theirs.primal * (1 + tol + RECOMPUTED)
    assert ours.dual >= theirs.dual - (tol + RECOMPUTED) * abs(ours.primal)


def check_close(ours, theirs, axes, *, fit_intercept):
    """Check that both functions agree as strong convexity requires.

    With D the better dual value, ``|f - f*|^2 <= 2 (P - D)`` for each, hence for their distance
    ``sqrt(2 g) + sqrt(2 g')``; scores (up to the intercept) differ by no more than that times the
    distance of rows in the kernel's space.
    """
    if not np.isfinite(theirs.primal):
        return
    D = max(ours.dual, theirs.dual)
    rounding = 1e-10 * ours.primal
    near = sum(np.sqrt(2 * (max(m.primal - D, 0.0) + rounding)) for m in (ours, theirs))
    assert np.sqrt((ours.curves - theirs.curves).energy(axes, fit_intercept)) <= near
    off = ours.scores - theirs.scores
    reach = sum(a.inside.sum() + a.outside for a in axes)
    if fit_intercept:
        off, reach = off - off[0], 2 * np.abs(positions(axes) - positions(axes)[0]).sum(axis=1)
    assert np.all(np.abs(off) <= near * np.sqrt(reach) + 1e-9 * (1 + np.abs(ours.scores).max()))


def check(case, *, fit_intercept):
    X, y, weight = case.table()
    axes, measure, limits = case.stumps(X, weight, fit_intercept=fit_intercept)
    cost = case.unit_cost * (np.ones(len(y)) if weight is None else weight)
    try:
        model = fit(case, X, y, weight, measure, limits, fit_intercept=fit_intercept)
    except ValueError as error:
        assert is_expected_error(error, case, axes, y, fit_intercept=fit_intercept), error
        return
    ours = read(model, X, y, axes, cost, fit_intercept=fit_intercept)
    check_certificate(model, ours, y, cost, case.tol, fit_intercept=fit_intercept)
    theirs = libsvm(axes, y, cost) if fit_intercept else box_solution(axes, y, cost)
    check_no_worse(ours, theirs, case.tol)
    check_close(ours, theirs, axes, fit_intercept=fit_intercept)


@given(cases())
@search(80)
def test_small_tables_with_an_intercept(case):
    """Both values and the scores are LIBSVM's within the duality gaps, on about 5 to 40 rows."""
    check(case, fit_intercept=True)


# The kernel matrix is singular: rounding hides that no ensemble separates the classes.
SINGULAR = Case(
    n=28,
    kinds=("ties", "constant", "heavy", "two"),
    scales=(0, 0, 0, 0),
    labels="tiny",
    copies=0,
    seed=226,
    measure="rank",
    log2_C=17,
    weighted=False,
    tol=1e-6,
    widen=0.0,
)


@given(cases())
@example(SINGULAR)
@search(60)
def test_small_tables_without_an_intercept(case):
    """Both values and the scores are those of an interior-point method on the dual with K_S."""
    check(case, fit_intercept=False)


@given(cases(max_rows=300, max_features=60))
@search(12)
def test_wider_tables_with_an_intercept(case):
    """The same on up to 300 rows and 60 features."""
    check(case, fit_intercept=True)


@given(cases(max_rows=2000, max_features=60))
@search(4)
def test_long_tables_with_an_intercept(case):
    """The same on up to 2,000 rows and 60 features."""
    check(case, fit_intercept=True)


@given(cases(max_rows=150, max_features=60))
@search(8)
def test_wider_tables_without_an_intercept(case):
    """The same without an intercept on up to 150 rows and 60 features."""
    check(case, fit_intercept=False)


@pytest.mark.parametrize("log2_C", [-8, 0, 4])
def test_two_thousand_rows(log2_C):
    """The same on 2,000 rows of all kinds of columns, weighted."""
    kinds = ("normal", "ties", "two", "rare", "constant", "heavy", "order", "normal")
    case = Case(2000, kinds, (0,) * 8, "signal", 3, 5, "mixed", log2_C, True, 1e-6, 0.0)
    check(case, fit_intercept=True)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_class_weights_are_costs(fit_intercept):
    """Class weights act as factors of C: the same optimum as LIBSVM with those costs."""
    X, y, _ = Case(60, ("normal",) * 3, (0,) * 3, "tiny", 0, 3, "rank", 0, False, 1, 0).table()
    case = Case(60, (), (), "", 0, 0, "rank", 1, False, 1e-8, 0.0)
    axes, _, _ = case.stumps(X, None, fit_intercept=fit_intercept)
    model = StumpSVC(
        2.0,
        measure="rank",
        class_weight="balanced",
        fit_intercept=fit_intercept,
        tol=1e-8,
        n_jobs=1,
    ).fit(X, y)
    cost = 2.0 * len(y) / (2 * np.where(y > 0, (y > 0).sum(), (y < 0).sum()))
    ours = read(model, X, y, axes, cost, fit_intercept=fit_intercept)
    check_certificate(model, ours, y, cost, 1e-8, fit_intercept=fit_intercept)
    theirs = libsvm(axes, y, cost) if fit_intercept else box_solution(axes, y, cost)
    check_no_worse(ours, theirs, 1e-8)
    check_close(ours, theirs, axes, fit_intercept=fit_intercept)


@pytest.mark.parametrize("C", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_large_costs_on_inseparable_rows(C, fit_intercept):
    """The gap of 1e-6 is reached where equal rows with opposite labels have dual variables at C."""
    for seed in range(5):
        case = Case(30, ("ties", "normal"), (0, 0), "random", 2, seed, "uniform", 0, False, 1, 0)
        X, y, _ = case.table()
        model = StumpSVC(C, measure="uniform", fit_intercept=fit_intercept, tol=1e-6, n_jobs=1).fit(
            X, y
        )
        assert model.certificate_.converged


@pytest.mark.parametrize("measure", ["lebesgue", "uniform", "rank", "mixed", "middle"])
def test_inseparable_rows_raise(measure):
    """C=inf with equal rows of opposite labels is an error, in 100 random tables."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rng.integers(4, 60), rng.integers(1, 6)))
        y = rng.choice([-1, 1], size=len(X))
        copy = rng.integers(0, len(X), size=2)
        X, y = np.vstack([X, X[copy]]), np.append(y, -y[copy])
        with pytest.raises(ValueError, match="no stump ensemble separates"):
            StumpSVC(np.inf, measure=measure, n_jobs=1).fit(X, y)


def test_ends_of_equal_labels_are_inseparable_without_an_intercept():
    """Without mass outside, K_S gives both ends opposite values, so their labels must differ."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1, -1, -1, 1])
    for measure in ("lebesgue", "uniform", "rank", "mixed", "middle"):
        model = StumpSVC(np.inf, measure=measure, fit_intercept=False, n_jobs=1)
        with pytest.raises(ValueError, match="no stump ensemble separates"):
            model.fit(X, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_constant_features_have_no_hard_margin(fit_intercept):
    """There is no stump, so C=inf raises the same error."""
    with pytest.raises(ValueError, match="no stump ensemble separates"):
        StumpSVC(np.inf, fit_intercept=fit_intercept, n_jobs=1).fit(np.ones((4, 1)), [0, 0, 1, 1])


def test_a_hard_margin_ignores_weights():
    """Weights from 1e-9 to 1e9 do not change the optimum of the hard margin, to 1e-6."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    params = {"measure": "uniform", "tol": 1e-6, "n_jobs": 1}
    plain = StumpSVC(np.inf, **params).fit(X, y)
    weighted = StumpSVC(np.inf, **params).fit(X, y, sample_weight=10.0 ** np.linspace(-9, 9, 50))
    assert weighted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-6)


def test_features_of_extreme_scales_converge():
    """The certificate is within tol for features in units of 1e8 and 1e-3."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.column_stack([1e8 * rng.integers(0, 4, 37), 1e-3 * rng.permutation(37)])
        y = np.where(np.arange(37) % 12 == 1, 1, -1)
        model = StumpSVC(2.0**-10, measure="lebesgue", tol=1e-6, n_jobs=1).fit(X, y)
        assert model.certificate_.converged


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_density_is_followed_between_the_rows(fit_intercept):
    """Between rows curves follow Definition 1 in 32 linear pieces per gap: to 1e-3 here."""
    X, y = np.array([[0.0], [2.0], [4.0], [5.0]]), np.array([-1, 1, -1, 1])
    new = np.linspace(0, 5, 51)[:, None]
    model = StumpSVC(measure=density, fit_intercept=fit_intercept, tol=1e-12, n_jobs=1).fit(X, y)
    mass, mass_new = (x + x**3 / 3 for x in (X, new))
    K = np.ptp(mass) / 2 - np.abs(mass_new - mass.T)
    score = K @ model.dual_coef_
    if fit_intercept:
        score += model.decision_function(X[:1]) - score[0]
    np.testing.assert_allclose(model.decision_function(new), score, rtol=0, atol=1e-3)


@given(cases(max_exponent=3))
@search(20)
def test_the_oracles_agree_with_the_kernel_matrix(case):
    """The oracle's curves are ``K_S beta`` and their energy ``beta' K_S beta``, to 1e-9."""
    X, y, weight = case.table()
    axes, _, _ = case.stumps(X, weight, fit_intercept=False)
    K, beta = gram(axes), y * np.random.default_rng(case.seed).uniform(size=len(y))
    curves, scores = expansion(axes, beta)
    np.testing.assert_allclose(scores, K @ beta, atol=1e-9 * (1 + np.abs(K).sum()))
    energy = curves.energy(axes, fit_intercept=False)
    assert energy == pytest.approx(beta @ K @ beta, abs=1e-9 * (1 + np.abs(K).sum()))
    assert (
        hinge_solution(axes, y, np.ones(len(y)), beta, 0.0, fit_intercept=False).gap
        >= -1e-9 * energy
    )
