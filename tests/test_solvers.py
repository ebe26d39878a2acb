"""Solvers and their parts on small problems, where everything can be written out densely."""

import numpy as np
import pytest
from column_examples import paths
from scipy.optimize import minimize
from small_problem import ALL_LOSSES, WITH_AND_WITHOUT_INTERCEPT, Small

from everystump._core import blocks
from everystump._core.chains import Chains
from everystump._core.columns import make_columns
from everystump._core.losses import Hinge, Logistic, SquaredHinge
from everystump._core.measures import Masses
from everystump._core.packing import pack
from everystump._core.solvers import solve
from everystump._core.solvers.certificate import ObjectiveTerms, certify, relative_gap
from everystump._core.solvers.duality import primal_dual
from everystump._core.solvers.newton_system import (
    StoppingRule,
    TermNewtonSystem,
    conjugate_gradients,
    line_search,
)
from everystump._core.solvers.preconditioner import BlockPreconditioner, _solver_of_few_rows
from everystump._core.solvers.problem import Problem, SolverOptions
from everystump._core.solvers.row_blocks import SolverBlocks
from everystump._core.solvers.rows import Rows
from everystump._core.terms import Terms

EXACTLY = StoppingRule(0.0, 1e-24, 1.0)


def random_point(small, seed=1, scale=0.3):
    rng = np.random.default_rng(seed)
    w = scale * rng.normal(size=len(small.terms.chains.jumps))
    return w, float(scale * rng.normal()) if small.fit_intercept else 0.0


# Conjugate gradients


@pytest.mark.parametrize("preconditioned", [True, False])
@pytest.mark.parametrize("n", [1, 10, 60])
def test_conjugate_gradients_solve_random_systems(n, preconditioned):
    rng = np.random.default_rng(n)
    B = rng.normal(size=(n, n))
    A = B @ B.T + np.diag(10.0 ** rng.uniform(0, 3, size=n))
    rhs = rng.normal(size=n)
    precondition = (lambda r: r / np.diag(A)) if preconditioned else (lambda r: r.copy())
    x, n_products = conjugate_gradients(
        lambda p: A @ p, precondition, rhs, StoppingRule(1e-22, 0.0, 0.0), 10 * n + 50
    )
    np.testing.assert_allclose(A @ x, rhs, atol=1e-9)
    assert n_products <= 3 * n + 20


def test_a_perfect_preconditioner_needs_one_product():
    A = np.diag([1.0, 10.0, 1e6])
    x, n_products = conjugate_gradients(
        lambda p: A @ p, lambda r: np.linalg.solve(A, r), np.ones(3), StoppingRule(1e-20, 0, 0), 10
    )
    assert n_products == 1
    np.testing.assert_allclose(x, 1 / np.diag(A))


@pytest.mark.parametrize(
    ("stop", "products"),
    [
        (StoppingRule(floor=1e9, target=0.0, relative=0.0), 0),
        (StoppingRule(floor=0.0, target=1e9, relative=1.0), 0),
        (StoppingRule(floor=0.0, target=1e9, relative=0.0), 7),
        (StoppingRule(floor=0.0, target=0.0, relative=1.0), 7),
    ],
)
def test_when_conjugate_gradients_stop(stop, products):
    """At the floor immediately; at the target only after the required reduction of the residual."""
    A = np.diag(np.arange(1.0, 101.0) ** 2)
    found = conjugate_gradients(lambda p: A @ p, lambda r: r.copy(), np.ones(100), stop, 7)[1]
    assert found == products


# Preconditioner


def test_preconditioner_is_the_diagonal_blocks_of_newtons_matrix():
    """With an intercept they are equal: one block per feature or joint column."""
    small = Small(Logistic)
    w, b = random_point(small)
    small.move_to(w, b)
    loss = Logistic(small.C * small.weight)
    A = small.newton(w, b, loss)[0]
    precondition = BlockPreconditioner(small.problem).factor(*small.rows.curvature())
    inverse = np.column_stack([precondition(unit) for unit in np.eye(len(A))])
    assert small.problem.packing.members == ((0,), (1,), (2, 3, 4))
    starts = small.terms.chains.starts
    blocks = np.zeros_like(A)
    for members in small.problem.packing.members:
        own = np.concatenate([np.arange(starts[d], starts[d + 1]) for d in members])
        blocks[np.ix_(own, own)] = A[np.ix_(own, own)]
    np.testing.assert_allclose(inverse @ blocks, np.eye(len(A)), atol=1e-9)


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
def test_preconditioner_is_symmetric_and_positive(loss, fit_intercept):
    small = Small(loss, fit_intercept=fit_intercept)
    small.smooth_loss()
    small.move_to(*random_point(small))
    precondition = BlockPreconditioner(small.problem).factor(*small.rows.curvature())
    inverse = np.column_stack(
        [precondition(unit) for unit in np.eye(len(small.terms.chains.jumps))]
    )
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-10)
    assert np.linalg.eigvalsh(inverse).min() > 0


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("rank", [0, 3, 5])
def test_solver_of_few_rows_is_accurate_at_every_scale(rank, scale):
    rng = np.random.default_rng(0)
    root = scale * rng.normal(size=(5, rank)) @ rng.normal(size=(rank, 40))
    residual = rng.normal(size=40)
    _, singular, basis = np.linalg.svd(root, full_matrices=False)
    shrink = singular**2 / (1.0 + singular**2)
    expected = residual - basis.T @ (shrink * (basis @ residual))
    np.testing.assert_allclose(_solver_of_few_rows(root)(residual), expected, atol=1e-12)


# Newton's step


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
def test_newton_steps_are_the_dense_solution(loss, fit_intercept):
    """Iterative and exact steps agree with a dense solve to 1e-8."""
    small = Small(loss, fit_intercept=fit_intercept)
    smooth_loss = small.smooth_loss()
    w, b = random_point(small)
    small.move_to(w, b)
    A, rhs, e, h, k = small.newton(w, b, smooth_loss)
    dw = np.linalg.solve(A, rhs)
    db = (e - h @ dw) / k if fit_intercept else 0.0
    current = primal_dual(small.problem, w, small.rows.sums())
    system = TermNewtonSystem(small.problem, small.rows)
    iterative = system._solve_iteratively(
        *small.rows.curvature(), current.residual, current.imbalance, EXACTLY, 500, None
    )
    exact = system._solve_exactly(current.residual, current.imbalance, None)
    for found in (iterative, exact):
        np.testing.assert_allclose(found[0], dw, atol=1e-8)
        assert found[1] == pytest.approx(db, abs=1e-8)


@WITH_AND_WITHOUT_INTERCEPT
def test_both_ways_to_solve_give_the_direction(fit_intercept):
    small = Small(Logistic, fit_intercept=fit_intercept)
    w, b = random_point(small)
    small.move_to(w, b)
    A, rhs, *_ = small.newton(w, b, Logistic(small.C * small.weight))
    current = primal_dual(small.problem, w, small.rows.sums())
    system = TermNewtonSystem(small.problem, small.rows)
    for last_products in (0, 10**6):
        system.products = last_products
        dw, _ = system.direction(current, EXACTLY)
        np.testing.assert_allclose(A @ dw, rhs, atol=1e-7)
        assert system.products == (int(0.9 * last_products) if last_products else system.products)


def test_without_curvature_the_step_is_the_residual():
    small = Small(SquaredHinge)
    small.rows.set_direction(np.zeros(len(small.terms.chains.jumps)), 0.0)
    for block in small.rows.parts.blocks:
        block.margin[:] = 2.0
    weights = np.ones(len(small.terms.chains.jumps))
    current = primal_dual(small.problem, weights, small.rows.sums())
    dw, db = TermNewtonSystem(small.problem, small.rows).direction(current, EXACTLY)
    np.testing.assert_array_equal(dw, current.residual)
    assert db == 0.0


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_line_search_finds_a_flat_point(loss, fit_intercept, length):
    """The derivative falls to at most 0.3 of its initial value for any length of the direction."""
    small = Small(loss, fit_intercept=fit_intercept)
    smooth_loss = small.smooth_loss()
    w, b = random_point(small)
    small.move_to(w, b)
    A, rhs, e, h, k = small.newton(w, b, smooth_loss)
    dw = length * np.linalg.solve(A, rhs)
    db = length * (e - h @ dw / length) / k if fit_intercept else 0.0
    V = small.votes
    margin, step = small.y * (V @ w + b), small.y * (V @ dw + db)

    def derivative(t):
        return (w + t * dw) @ dw - smooth_loss.slope(margin + t * step) @ step

    small.rows.set_direction(small.terms.matvec(dw), db)
    t = line_search(small.rows, w, dw)
    assert derivative(0.0) < 0 < t
    assert abs(derivative(t)) <= 0.31 * abs(derivative(0.0))


def test_line_search_does_not_go_uphill():
    small = Small(Logistic)
    w, b = random_point(small)
    small.move_to(w, b)
    dw = w - small.votes.T @ (
        small.y * Logistic(small.weight).slope(small.y * (small.votes @ w + b))
    )
    small.rows.set_direction(small.terms.matvec(dw), 0.0)
    assert line_search(small.rows, w, dw) == 0.0


# Primal and dual values, and the certificate


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_primal_and_dual_values_enclose_the_optimum(loss, fit_intercept, C):
    """primal >= optimum >= dual, and the scaled point attains the primal value."""
    small = Small(loss, fit_intercept=fit_intercept, C=C)
    best = small.solve().certificate
    assert best.gap <= 1e-9
    for seed in range(20):
        w, b = random_point(small, seed, scale=10.0 ** (seed % 5 - 3))
        rng = np.random.default_rng(seed)
        if loss is Hinge:
            center = small.C * small.weight * rng.uniform(size=len(small.y))
            small.rows.smooth_at(10.0 ** rng.uniform(-3, 3), center)
        small.move_to(w, b)
        current = primal_dual(small.problem, w, small.rows.sums())
        assert current.primal >= best.dual * (1 - 1e-12)
        assert current.dual <= best.primal * (1 + 1e-12)
        attained = small.objective(current.primal_scale * w, current.primal_scale * b)
        assert current.primal == pytest.approx(attained, rel=1e-10)


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
def test_the_dual_variables_attain_the_dual_value(loss, fit_intercept):
    """They are balanced if there is an intercept, within their box, and attain the dual value."""
    small = Small(loss, fit_intercept=fit_intercept)
    solution = small.solve(tol=1e-3)
    cost, a = small.C * small.weight, small.y * solution.dual_coef
    assert np.all(a >= 0)
    assert loss is SquaredHinge or np.all(a <= cost * (1 + 1e-12))
    v = small.votes.T @ solution.dual_coef
    attained = loss(cost).dual(a).sum() - v @ v / 2
    assert attained >= solution.certificate.dual * (1 - 1e-10)
    if fit_intercept:
        assert abs(solution.dual_coef.sum()) <= 1e-10 * a.sum()


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
def test_solution_is_the_optimum_of_a_generic_optimizer(loss, fit_intercept):
    """Smooth losses by BFGS, the dual of the hinge by SLSQP."""
    small = Small(loss, fit_intercept=fit_intercept, n=25)
    solution = small.solve()
    V, y, cost = small.votes, small.y, small.C * small.weight
    n_weights = V.shape[1]
    if loss is Hinge:
        Q = (V @ V.T) * np.outer(y, y)
        dual = minimize(
            lambda a: a @ Q @ a / 2 - a.sum(),
            cost / 2,
            jac=lambda a: Q @ a - 1,
            bounds=[(0, c) for c in cost],
            constraints=[{"type": "eq", "fun": lambda a: y @ a, "jac": lambda a: y}]
            * fit_intercept,
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        best = -dual.fun
    else:
        record = loss(cost)

        def value(p):
            return small.objective(p[:n_weights], p[-1] * fit_intercept)

        def gradient(p):
            w = p[:n_weights]
            a = y * record.slope(y * (V @ w + p[-1] * fit_intercept))
            return np.append(w - V.T @ a, -a.sum() * fit_intercept)

        found = minimize(value, np.zeros(n_weights + 1), jac=gradient, options={"gtol": 1e-9})
        best = found.fun
    assert solution.certificate.primal == pytest.approx(best, rel=1e-6)
    objective = small.objective(solution.weights, solution.intercept)
    assert solution.certificate.primal == pytest.approx(objective, rel=1e-10)


def test_relative_gap():
    assert relative_gap(2.0, 1.5) == 0.25
    assert relative_gap(2.0, 2.0 + 1e-12) == pytest.approx(5e-13, rel=1e-3)
    assert relative_gap(2.0, 2.5) == np.inf  # contradictory values
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(0.0, -1.0) == relative_gap(-1.0, -1.0) == np.inf
    assert relative_gap(np.inf, 1.0) == np.inf


@pytest.mark.parametrize(("primal", "dual"), [(1.0, np.nan), (np.nan, 1.0), (np.nan, np.nan)])
def test_nan_certifies_nothing(primal, dual):
    terms = ObjectiveTerms(norm=0.0, loss=primal, dual_loss=dual, dual_norm=0.0)
    assert not certify(terms, tol=1e-3).converged


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
def test_too_few_steps_are_reported(loss, fit_intercept):
    solution = Small(loss, fit_intercept=fit_intercept, C=100.0).solve(tol=1e-12, max_iter=1)
    assert solution.n_iter == 1
    assert not solution.certificate.converged
    assert solution.certificate.primal > solution.certificate.dual


@ALL_LOSSES
def test_progress_reports_converging_values(loss):
    small, calls = Small(loss), []
    solve(small.problem, small.rows, SolverOptions(1e-6, 1000, lambda *step: calls.append(step)))
    steps, primals, duals = np.array(calls).T
    assert steps[0] == 0 and np.all(np.diff(steps) >= 0)
    assert 1 - duals[-1] / primals[-1] <= 1e-6
    assert primals.min() >= duals.max() * (1 - 1e-12)


# Warm starts


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
@pytest.mark.parametrize("C", [0.01, 0.5, 2.0, 300.0])
def test_a_warm_start_leads_to_the_same_optimum(loss, fit_intercept, C):
    neighbor = Small(loss, fit_intercept=fit_intercept, C=1.0).solve(tol=1e-4)
    cold = Small(loss, fit_intercept=fit_intercept, C=C).solve(tol=1e-8)
    warm = Small(loss, fit_intercept=fit_intercept, C=C).solve(tol=1e-8, start=neighbor)
    assert warm.certificate.converged
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-8)
    assert warm.C == C


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
def test_a_warm_start_from_the_solution_itself_is_quick(loss, fit_intercept):
    cold = Small(loss, fit_intercept=fit_intercept).solve(tol=1e-6)
    warm = Small(loss, fit_intercept=fit_intercept).solve(tol=1e-6, start=cold)
    assert warm.n_iter < cold.n_iter
    assert warm.certificate.passes < cold.certificate.passes


# Hard margin


def hard(n=40, seed=0, fit_intercept=True):
    """Return a separable problem: distinct continuous features separate any labels."""
    return Small(Hinge, fit_intercept=fit_intercept, C=np.inf, n=n, seed=seed)


@WITH_AND_WITHOUT_INTERCEPT
def test_hard_margin_keeps_every_row(fit_intercept):
    small = hard(fit_intercept=fit_intercept)
    solution = small.solve(tol=1e-6)
    margin = small.y * (small.votes @ solution.weights + solution.intercept)
    assert solution.certificate.converged
    assert margin.min() >= 1 - 1e-9
    assert solution.certificate.primal == pytest.approx(solution.weights @ solution.weights / 2)


def test_a_hard_margin_needs_separable_rows():
    columns = make_columns(np.array([[0.0], [0.0], [1.0]]), max_bins=10)
    masses = [Masses(np.array([2.0]), 0.0)]
    chains = Chains.from_columns(paths(masses), masses, centered=False)
    packing = pack(columns.codes, columns.sizes)
    problem = Problem(Terms(chains), packing, Hinge, hard=True)
    positive = np.array([True, False, True])
    blocks = SolverBlocks(packing, np.arange(3), positive, Hinge, np.ones(3), np.inf, 1)
    rows = Rows(blocks, np.inf)
    with pytest.raises(ValueError, match=r"C=inf requires a hard margin, .* use a finite C"):
        solve(problem, rows, SolverOptions(1e-3, 1000))


# Rows


def in_blocks(monkeypatch, n_rows_per_block):
    monkeypatch.setattr(blocks, "_BLOCK_ROWS", n_rows_per_block)
    monkeypatch.setattr(blocks, "_BLOCK_ROWS_SINGLE", n_rows_per_block)
    monkeypatch.setattr(blocks, "_MIN_CODES_FOR_THREADS", 0)


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
@pytest.mark.parametrize("n_threads", [1, 3])
def test_blocks_of_rows_give_the_same_solution(monkeypatch, loss, fit_intercept, n_threads):
    whole = Small(loss, fit_intercept=fit_intercept)
    in_blocks(monkeypatch, 7)
    parts = Small(loss, fit_intercept=fit_intercept, n_threads=n_threads)
    assert (len(whole.rows.parts.blocks), len(parts.rows.parts.blocks)) == (1, 9)
    a, b = whole.solve(tol=1e-10), parts.solve(tol=1e-10)
    np.testing.assert_allclose(a.weights, b.weights, atol=1e-5)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=1e-9)
    assert b.certificate.converged


@ALL_LOSSES
def test_sums_over_rows_match_the_dense_formulas(monkeypatch, loss):
    in_blocks(monkeypatch, 11)
    small = Small(loss)
    cost, y = small.C * small.weight, small.y
    smooth_loss = small.smooth_loss()
    w, b = random_point(small)
    small.move_to(w, b)
    V = small.votes
    margin = y * (V @ w + b)
    a, W = smooth_loss.slope(margin), smooth_loss.curvature(margin)
    sums = small.rows.sums()
    by_class = np.stack([small.terms.rmatvec(table) for table in sums.tables])
    np.testing.assert_allclose(by_class, np.stack([V.T @ (a * (y > 0)), V.T @ (a * (y < 0))]))
    np.testing.assert_allclose(sums.totals, [a[y > 0].sum(), a[y < 0].sum()])
    dual = loss(cost).dual(a)
    np.testing.assert_allclose(sums.duals, [dual[y > 0].sum(), dual[y < 0].sum()])
    assert sums.loss == pytest.approx(loss(cost).total(margin))
    assert sums.pairing == pytest.approx(dual.sum() - a @ margin)
    assert sums.min_margin == pytest.approx(margin.min())
    assert small.rows.complementarity() == pytest.approx(a @ np.abs(1 - margin))
    distance = small.weight @ np.abs(1 - margin) / small.weight.sum()
    assert small.rows.mean_distance() == pytest.approx(distance)
    by_bin, joint = small.rows.curvature()
    np.testing.assert_allclose(small.terms.rmatvec(by_bin), V.T @ W, atol=1e-12)
    assert joint[: small.problem.packing.starts[1]].sum() == pytest.approx(W.sum())
    assert small.rows.n_active == np.count_nonzero(W)
    product = small.terms.rmatvec(small.rows.product(small.terms.matvec(w)))
    np.testing.assert_allclose(product, V.T @ (W * (V @ w)), atol=1e-10)
    small.rows.scale_duals(np.array([1.0, 0.5]))
    np.testing.assert_allclose(small.rows.dual_coef(), np.where(y > 0, a, -a / 2))


def test_a_subset_of_the_rows():
    """The optimum on some rows does not depend on the others, given the same chains."""
    small, index = Small(Logistic), np.arange(3, 50, 2)
    packing, y, weight = small.problem.packing, small.y, small.weight
    blocks = SolverBlocks(packing, index, y[index] > 0, Logistic, weight[index], 1.0, 1)
    solution = small.solve(rows=Rows(blocks, 1.0))
    left_out = np.setdiff1d(np.arange(60), index)
    np.testing.assert_array_equal(solution.dual_coef[left_out], 0.0)
    assert np.all(solution.dual_coef[index] != 0)
    margin = y[index] * (small.votes[index] @ solution.weights + solution.intercept)
    value = solution.weights @ solution.weights / 2 + Logistic(weight[index]).total(margin)
    assert solution.certificate.primal == pytest.approx(value, rel=1e-10)
    assert solution.certificate.converged
