"""The solver of machines without an intercept against SciPy, closed forms and plain NumPy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from everystump._core.losses import Hinge, LeastSquares, SquaredHinge
from everystump._core.solvers.box import coordinate_ascent, solve_box
from everystump._core.solvers.kernel_certificate import DenseKernelMatrix

LOSSES = [Hinge, SquaredHinge, LeastSquares]


class Narrow:
    """A kernel matrix of which only some rows may be cached."""

    dense_if_cheap = None

    def __init__(self, square, width):
        self._square, self.width = square, width

    def rows(self, index):
        assert len(index) <= self.width
        return self._square[index]

    def scores(self, coef, extended=False):
        return DenseKernelMatrix(self._square).scores(coef, extended)


def gaussian(X, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


MATRICES = {
    "gaussian": gaussian,
    "nearly singular": lambda X: gaussian(X, 1e-3),
    "of rank 2": lambda X: X @ X.T,
    "of rank 1": lambda X: np.outer(X[:, 0], X[:, 0]),
    "identity": lambda X: np.eye(len(X)),
    "with empty rows": lambda X: gaussian(X) * np.outer(X[:, 0] > 0, X[:, 0] > 0),
}


def problem(seed, matrix="gaussian", n=25, log10_C=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    sign = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    cost = 10.0**log10_C * rng.choice([0.3, 1.0, 4.0], size=n)
    return MATRICES[matrix](X), sign, cost


def optimum(square, sign, loss, b=0.0):
    """Return the scores and the dual value at the optimum, by SciPy or a linear system."""
    ridge, low, high = loss.box()
    Q = square * np.outer(sign, sign) + np.diag(ridge)
    slope = 1.0 - b * sign
    a = np.linalg.solve(Q, slope) if np.isinf(low[0]) else bounded(Q, slope, low, high)
    return square @ (a * sign), float(slope @ a - 0.5 * a @ Q @ a)


def bounded(Q, slope, low, high):
    """Return the maximum of ``slope a - a'Qa / 2`` within limits, in units of Q's diagonal."""
    unit = 1.0 / np.sqrt(np.diag(Q) + 1e-3)
    Q, slope = unit[:, None] * Q * unit, unit * slope
    z = np.zeros(len(slope))
    for _ in range(4):  # L-BFGS-B may stop early in a narrow valley, but not if restarted there
        z = minimize(
            lambda z: (0.5 * z @ (Q @ z) - slope @ z, Q @ z - slope),
            z,
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([low, high]) / unit[:, None],
            options={"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-11},
        ).x
    return z * unit


def assert_solved(found, square, sign, loss, b=0.0):
    """Check limits, margins, certificate and scores.

    Scores of a gap g are within sqrt(2 g) norms of the optimum's, to which SciPy adds its own
    distance.
    """
    box, values = loss.box(), found.certificate
    assert np.all((found.a >= box.low) & (found.a <= box.high))
    scores = square @ (found.a * sign)
    size = 1.0 + np.abs(scores).max()
    np.testing.assert_allclose(found.margin, sign * (scores + b), atol=1e-8 * size)
    best, value = optimum(square, sign, loss, b)
    slack = 1e-8 * (1.0 + abs(value))
    assert values.dual - slack <= value <= values.primal + slack
    assert values.converged
    distance = np.sqrt(2 * (values.primal - values.dual + slack) * np.diag(square).max())
    np.testing.assert_allclose(scores, best, atol=2 * distance + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("log10_C", [-3.0, 0.0, 2.0])
def test_the_optimum_is_that_of_scipy(loss, matrix, log10_C):
    for seed in range(3):
        square, sign, cost = problem(seed, matrix, n=10 + 15 * seed, log10_C=log10_C)
        found = solve_box(DenseKernelMatrix(square), sign, loss(cost), tol=1e-9)
        assert_solved(found, square, sign, loss(cost))


@pytest.mark.parametrize("matrix", MATRICES)
def test_least_squares_is_a_linear_system(matrix):
    """``(K + I / (2 C)) (y a) = y``."""
    square, sign, cost = problem(0, matrix)
    found = solve_box(DenseKernelMatrix(square), sign, LeastSquares(cost), tol=1e-13)
    expected = sign * np.linalg.solve(square + np.diag(0.5 / cost), sign)
    np.testing.assert_allclose(found.a, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("width", [8, 17, 59])
def test_few_cached_rows_give_the_same_optimum(loss, width):
    for seed in range(3):
        square, sign, cost = problem(seed, n=60)
        found = solve_box(Narrow(square, width), sign, loss(cost), tol=1e-9, max_iter=5000)
        assert found.n_iter > 1
        assert_solved(found, square, sign, loss(cost))


@pytest.mark.parametrize("loss", LOSSES)
def test_few_cached_rows_of_a_singular_matrix(loss):
    square, sign, cost = problem(5, "of rank 2", n=60)
    found = solve_box(Narrow(square, 12), sign, loss(cost), tol=1e-6, max_iter=5000)
    assert_solved(found, square, sign, loss(cost))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-6])
def test_the_certificate_encloses_the_optimum(loss, tol):
    for seed in range(5):
        square, sign, cost = problem(seed, n=40)
        found = solve_box(DenseKernelMatrix(square), sign, loss(cost), tol=tol).certificate
        value = optimum(square, sign, loss(cost))[1]
        assert found.dual <= value * (1 + 1e-8)
        assert value <= found.primal * (1 + 1e-8)
        assert found.gap <= tol and found.converged


def test_too_few_rounds_are_reported():
    square, sign, cost = problem(0, n=60)
    found = solve_box(Narrow(square, 8), sign, Hinge(cost), tol=1e-9, max_iter=2)
    value = optimum(square, sign, Hinge(cost))[1]
    assert not found.certificate.converged
    assert found.n_iter == 2
    assert found.certificate.dual < value < found.certificate.primal


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("b", [-0.7, 0.4, 3.0])
def test_a_given_constant(loss, b):
    square, sign, cost = problem(1)
    found = solve_box(DenseKernelMatrix(square), sign, loss(cost), b=b, tol=1e-9)
    assert_solved(found, square, sign, loss(cost), b)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_at_the_optimum_takes_no_round(loss):
    square, sign, cost = problem(2)
    cold = solve_box(DenseKernelMatrix(square), sign, loss(cost), tol=1e-9)
    start = cold.a.copy(), cold.margin.copy()
    warm = solve_box(DenseKernelMatrix(square), sign, loss(cost), tol=1e-9, start=start)
    assert warm.n_iter == 0 < cold.n_iter
    np.testing.assert_array_equal(warm.a, cold.a)


@pytest.mark.parametrize("loss", LOSSES)
def test_any_start_leads_to_the_optimum_and_is_not_changed(loss):
    square, sign, cost = problem(3)
    a = np.random.default_rng(0).uniform(0, 1, size=len(sign)) * cost
    start = a.copy(), sign * (square @ (a * sign))
    found = solve_box(DenseKernelMatrix(square), sign, loss(cost), tol=1e-9, start=start)
    assert_solved(found, square, sign, loss(cost))
    np.testing.assert_array_equal(start[0], a)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_repeated_row_is_a_row_of_twice_the_cost(loss):
    square, sign, cost = problem(4)
    again = np.concatenate([np.arange(25), np.arange(10)])
    cost = np.ones(25)
    copies = solve_box(
        DenseKernelMatrix(square[np.ix_(again, again)]), sign[again], loss(cost[again]), tol=1e-11
    )
    heavy = solve_box(DenseKernelMatrix(square), sign, loss(np.bincount(again) * cost), tol=1e-11)
    np.testing.assert_allclose(copies.margin[:25], heavy.margin, atol=1e-4)
    assert copies.certificate.primal == pytest.approx(heavy.certificate.primal, rel=1e-9)


@pytest.mark.parametrize("loss", [Hinge, SquaredHinge])
def test_a_large_cost_is_the_hard_margin(loss):
    """With an invertible kernel all margins can be 1; a larger cost changes nothing."""
    square, sign, _ = problem(6, n=20)
    square += 0.1 * np.eye(20)
    hard = solve_box(DenseKernelMatrix(square), sign, loss(np.full(20, 1e8)), tol=1e-9)
    assert hard.margin.min() > 1 - 1e-4
    harder = solve_box(DenseKernelMatrix(square), sign, loss(np.full(20, 2e8)), tol=1e-9)
    np.testing.assert_allclose(harder.margin, hard.margin, atol=1e-3)


def test_a_small_cost_is_the_kernel_mean():
    """All margins are below 1, so every ``a`` is at its limit."""
    square, sign, cost = problem(7, log10_C=-4.0)
    found = solve_box(DenseKernelMatrix(square), sign, Hinge(cost), tol=1e-9)
    np.testing.assert_array_equal(found.a, cost)
    np.testing.assert_allclose(found.margin, sign * (square @ (sign * cost)))


def test_rows_that_do_not_interact_have_closed_forms():
    """``K = k I``: min(C, 1 / k), 2 C / (1 + 2 C k) for both squared losses."""
    k, C = np.array([0.5, 1.0, 4.0]), np.array([0.1, 5.0, 1.0])
    sign = np.array([1.0, -1.0, 1.0])
    expected = {Hinge: np.minimum(C, 1 / k), SquaredHinge: 2 * C / (1 + 2 * C * k)}
    expected[LeastSquares] = expected[SquaredHinge]
    for loss, a in expected.items():
        found = solve_box(DenseKernelMatrix(np.diag(k)), sign, loss(C), tol=1e-12)
        np.testing.assert_allclose(found.a, a, atol=1e-9)


def test_progress_reports_each_round():
    square, sign, cost = problem(0, n=60)
    calls = []
    found = solve_box(
        Narrow(square, 10), sign, Hinge(cost), tol=1e-6, progress=lambda *p: calls.append(p)
    )
    assert [n for n, _, _ in calls] == list(range(found.n_iter + 1))
    expected = found.certificate.primal, found.certificate.dual
    assert calls[-1][1:] == pytest.approx(expected, rel=found.certificate.rounding + 1e-12)
    assert np.all(np.diff([dual for _, _, dual in calls]) >= -1e-12)


def plain_ascent(square, index, sign, box, accuracy, most):
    a, margin = np.zeros(len(sign)), np.zeros(len(sign))
    n_steps, level, steepest = 0, 0.5, np.inf
    while steepest > accuracy:
        steepest = 0.0
        for i in index:
            slope = 1 - box.ridge[i] * a[i] - margin[i]
            best = np.clip(a[i] + slope / (square[i, i] + box.ridge[i]), box.low[i], box.high[i])
            if best == a[i]:
                continue
            steepest = max(steepest, abs(slope))
            if abs(slope) > level:
                margin += sign * sign[i] * (best - a[i]) * square[i]
                a[i] = best
                n_steps += 1
                if n_steps == most:
                    return n_steps, a, margin
        level = max(accuracy, steepest / 2)
    return n_steps, a, margin


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("most", [1, 7, 400])
@pytest.mark.parametrize("n_cached", [9, 25])
def test_coordinate_ascent_visits_the_steep_cached_rows(loss, most, n_cached):
    for seed in range(4):
        square, sign, cost = problem(seed)
        box = loss(cost).box()
        index = np.sort(np.random.default_rng(seed).permutation(25)[:n_cached])
        expected = plain_ascent(square, index, sign, box, 1e-3, most)
        a, margin = np.zeros(25), np.zeros(25)
        assert (
            coordinate_ascent(square[index], index, sign, *box, a, margin, 1e-3, most)
            == expected[0]
        )
        np.testing.assert_allclose(a, expected[1], atol=1e-12)
        np.testing.assert_allclose(margin, expected[2], atol=1e-12)
