"""Certificates against exact arithmetic at the returned coefficients."""

from fractions import Fraction

import numpy as np
import pytest
from oracles import seeds
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from everystump import KernelSVC, StumpLogisticRegression, StumpSVC
from everystump._core.kernel_machines.interior_point import solve_interior_point
from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix
from everystump._core.kernel_machines.kernels import make_kernel
from everystump._core.kernel_machines.problem import (
    LOSSES,
    KernelProblem,
    balance,
    solution_from_duals,
)
from everystump._core.losses import Hinge, LeastSquares, SquaredHinge
from everystump._core.solvers.certificate import ObjectiveTerms, certify
from everystump._core.solvers.kernel_certificate import (
    DenseKernelMatrix,
    RowSum,
    evaluate_expansion,
    fixed_intercept,
    linear_scores,
)


def exact(values):
    return [Fraction(float(value)) for value in np.ravel(values)]


def exact_values(model, X, y, cost):
    """Return primal and dual value at the returned coefficients of a linear machine."""
    sign = [1 if label else -1 for label in y]
    coef, intercept = exact(model.dual_coef_), Fraction(float(model.intercept_[0]))
    rows = [exact(row) for row in X]
    weights = [sum(c * row[d] for c, row in zip(coef, rows, strict=True)) for d in range(len(X.T))]
    scores = [sum(w * v for w, v in zip(weights, row, strict=True)) + intercept for row in rows]
    short = [1 - s * f for s, f in zip(sign, scores, strict=True)]
    a = [s * c for s, c in zip(sign, coef, strict=True)]
    norm, terms_of_rows = sum(w * w for w in weights), zip(exact(cost), short, a, strict=True)
    if model.loss == "hinge":
        terms = [(c * max(0, d), u) for c, d, u in terms_of_rows]
    elif model.loss == "squared_hinge":
        terms = [(c * max(0, d) ** 2, u - u * u / (4 * c)) for c, d, u in terms_of_rows]
    else:
        terms = [(c * d**2, u - u * u / (4 * c)) for c, d, u in terms_of_rows]
    return norm / 2 + sum(t for t, _ in terms), sum(t for _, t in terms) - norm / 2


def check_claims(model, X, y, cost):
    claimed = model.certificate_
    primal, dual = exact_values(model, X, y, cost)
    allowed = Fraction(claimed.rounding) * primal
    assert primal <= Fraction(claimed.primal) <= primal + allowed
    assert Fraction(claimed.dual) <= dual
    assert claimed.rounding <= claimed.gap * 2 + 1e-15


def integer_table(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.choice([6, 12, 30])), int(rng.integers(1, 4))
    X, y = rng.integers(0, 3, (n_rows, n_features)), rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    return X.astype(float), y


@pytest.mark.parametrize(
    ("seed", "C", "tol"), [(1345, 368956.80, 1e-3), (649, 240823.87, 1e-9), (2819, 29204.74, 1e-6)]
)
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_certificates_hold_for_the_returned_coefficients(seed, C, tol, loss, fit_intercept):
    X, y = integer_table(seed)
    model = KernelSVC("linear", C=C, loss=loss, tol=tol, fit_intercept=fit_intercept).fit(X, y)
    assert model.certificate_.converged
    check_claims(model, X, y, np.full(len(y), C))


@pytest.mark.parametrize("seed", seeds(8))
def test_certificates_hold_for_unscaled_rows_and_extreme_costs(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 2)) * 30 + 500 * rng.random()
    y, weight = np.arange(15) % 2, 10.0 ** rng.uniform(-2, 2, 15)
    loss = sorted(LOSSES)[seed % 3]
    model = KernelSVC("linear", C=1e4, loss=loss, tol=1e-6).fit(X, y, sample_weight=weight)
    check_claims(model, X, y, 1e4 * weight)


def unscaled(n_rows=100):
    rng = np.random.default_rng(5)
    X = (rng.normal(size=(n_rows, 1)) * 10 + 690).round()
    return X, np.arange(n_rows) % 5 // 3


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_unscaled_rows_and_a_large_cost_are_solved(fit_intercept):
    X, y = unscaled()
    # Without an intercept, the rounding of the dual variables alone leaves a gap of about 1e-6.
    tol = 1e-6 if fit_intercept else 1e-4
    model = KernelSVC("linear", C=506485.48, tol=tol, fit_intercept=fit_intercept).fit(X, y)
    assert model.certificate_.converged and model.n_iter_ < 200
    check_claims(model, X, y, np.full(len(y), model.C))


def test_max_iter_bounds_the_work_of_libsvm():
    X, y = unscaled()
    with pytest.warns(ConvergenceWarning, match="raise max_iter=1 "):
        model = KernelSVC("linear", C=506485.48, tol=1e-6, max_iter=1).fit(X, y)
    assert model.n_iter_ == 1 and not model.certificate_.converged
    check_claims(model, X, y, np.full(len(y), model.C))


def test_no_gap_is_certified_below_rounding():
    X, y = integer_table(1345)
    message = r"rounding \(.e-.. of the objective\) prevents verification of tol=1e-18; .* or scale"
    with pytest.warns(ConvergenceWarning, match=message):
        model = KernelSVC("linear", C=1e6, tol=1e-18).fit(X, y)
    assert not model.certificate_.converged and model.certificate_.gap > 1e-18
    with pytest.warns(ConvergenceWarning, match="rounding .* or lower C"):
        KernelSVC("precomputed", C=1e6, tol=1e-18).fit(X @ X.T, y)
    with pytest.warns(ConvergenceWarning, match="rounding .* or lower C"):
        StumpSVC(tol=1e-18, max_iter=20).fit(X, y)


@pytest.mark.parametrize("model", [StumpSVC, StumpLogisticRegression])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_stump_ensembles_report_their_rounding(model, fit_intercept):
    X, y = integer_table(1345)
    found = model(C=100.0, tol=1e-6, fit_intercept=fit_intercept).fit(X, y).certificate_
    assert found.converged and 0 < found.rounding <= 2 * found.gap


def test_rounding_is_on_the_safe_side():
    values = ObjectiveTerms(1.0, 1.0, 2.0, 1.0, 0.25, primal_rounding=0.5, dual_rounding=0.25)
    found = certify(values, tol=0.4)
    assert (found.primal, found.dual, found.gap) == (2.0, 1.0, 0.5)
    assert not found.converged and found.rounding == 0.5


def test_contradictory_values_do_not_converge():
    """A dual value above the primal value means that rounding was larger than stated."""
    within = certify(
        ObjectiveTerms(2.0, 0.0, 2.5, 2.0, primal_rounding=0.1, dual_rounding=0.3), tol=0.6
    )
    assert within.dual > within.primal and within.gap == within.rounding == 0.6 / 1.1
    beyond = certify(ObjectiveTerms(2.0, 0.0, 2.0 + 2e-10, 2.0), tol=1e-3)
    assert beyond.gap == np.inf and not beyond.converged


@pytest.mark.parametrize("n_terms", [100, 10_000, 100_000])
def test_rounding_bounds_of_sums_of_equal_terms(n_terms):
    """Their rounding errors add up."""
    for extended in (False, True):
        total = RowSum(1, extended)
        total.add(np.full((n_terms, 1), 0.1), np.arange(n_terms), np.ones(n_terms))
        found = total.scores()
        off = abs(n_terms * Fraction(0.1) - Fraction(float(found.value[0])))
        assert off <= Fraction(float(found.rounding[0]))
        assert found.rounding[0] <= 1e-12 * found.value[0]


@pytest.mark.parametrize("seed", seeds(8))
def test_the_imbalance_is_rounded_to_the_safe_side(seed):
    rng = np.random.default_rng(seed)
    a, sign, b = rng.random(10), np.where(rng.random(10) < 0.5, 1.0, -1.0), 1e9 * rng.random()
    loss = Hinge(np.ones(10))
    fit_intercept, matrix = fixed_intercept(b, a * sign), DenseKernelMatrix(np.zeros((10, 10)))
    claimed = evaluate_expansion(matrix, sign, loss, a, 1e-3, fit_intercept).certificate
    exact_dual = sum(exact(a)) - Fraction(b) * sum(exact(a * sign))
    assert Fraction(claimed.dual) <= exact_dual


@pytest.mark.parametrize("extended", [False, True])
def test_rounding_bounds_of_products(extended):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) + 1e4
    coef = 1e6 * rng.normal(size=20)
    coef[::4] = 0.0
    K = X @ X.T
    tables = exact(K), exact(coef)
    expected = [sum(tables[0][20 * i + j] * tables[1][j] for j in range(20)) for i in range(20)]
    found = DenseKernelMatrix(K).scores(coef, extended)
    off = [abs(v - Fraction(float(f))) for v, f in zip(expected, found.value, strict=True)]
    assert all(o <= Fraction(float(r)) for o, r in zip(off, found.rounding, strict=True))
    rows = [exact(row) for row in X]
    weights = [sum(c * r[d] for c, r in zip(tables[1], rows, strict=True)) for d in range(3)]
    expected = [sum(w * v for w, v in zip(weights, row, strict=True)) for row in rows]
    found = linear_scores(X, coef, extended)
    off = [abs(v - Fraction(float(f))) for v, f in zip(expected, found.value, strict=True)]
    assert all(o <= Fraction(float(r)) for o, r in zip(off, found.rounding, strict=True))
    if extended:
        assert np.all(found.rounding <= 1e-15 * np.abs(found.value) + 1e-12)


@pytest.mark.parametrize("loss", [Hinge, SquaredHinge, LeastSquares])
@pytest.mark.parametrize("seed", seeds(5))
def test_the_best_intercept_has_the_least_loss(loss, seed):
    rng = np.random.default_rng(seed)
    sign, scores = np.where(rng.random(30) < 0.4, 1.0, -1.0), 3 * rng.normal(size=30)
    record = loss(rng.random(30) + 0.1)

    def total(b):
        return record.total(sign * (scores + b))

    found = total(record.best_intercept(sign, scores))
    assert found <= minimize_scalar(total, bounds=(-20, 20), method="bounded").fun * (1 + 1e-9)


def test_the_best_intercept_with_rows_on_the_kink():
    """Both classes lie on their kinks; the rows of neither may be overlooked."""
    X = np.array([1.0, 2, 0, 2, 0, 0, 0, 0, 2, 2, 2, 0])[:, None]
    y = np.array([0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0])
    model = KernelSVC("linear", C=147257.15, loss="squared_hinge", tol=1e-12).fit(X, y)
    assert model.certificate_.converged
    separated = SquaredHinge(np.ones(4)).best_intercept(
        np.array([1.0, 1, -1, -1]), np.r_[3, 4, -3, -5]
    )
    assert separated == 0.0


def test_dual_variables_are_balanced_exactly():
    rng = np.random.default_rng(0)
    sign = np.where(np.arange(40) % 2, 1.0, -1.0)
    problem = KernelProblem(sign, Hinge(np.full(40, 10.0)), True, 1e-6, 100)
    a = rng.random(40)
    a[0] = 10.0
    a[1::2] *= a[::2].sum() / a[1::2].sum()
    left = abs(sum(exact(balance(problem, a) * sign)))
    assert left <= 1e-17 < abs(sum(exact(a * sign)))
    # Without a row between its limits nothing changes.
    costs = np.append(np.full(10, 0.1), 1.0)
    problem = KernelProblem(np.append(np.ones(10), -1.0), Hinge(costs), True, 1e-6, 100)
    np.testing.assert_array_equal(balance(problem, costs), costs)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_interior_point_method_converges(loss, fit_intercept):
    rng = np.random.default_rng(1)
    X, sign = rng.normal(size=(40, 2)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    problem = KernelProblem(sign, LOSSES[loss](rng.random(40) + 1.0), fit_intercept, 1e-4, 100)
    gram = LazyKernelMatrix(make_kernel("gaussian", X, gamma=0.5, weight=None), X, 1e9)
    a, n_iter = solve_interior_point(gram, problem, 100)
    assert n_iter < 40 and solution_from_duals(gram, problem, a).certificate.converged
