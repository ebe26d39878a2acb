"""Problems in the span of their rows: the same solutions as in the weights of the features."""

import numpy as np
import pandas as pd
import pytest
from small_problem import ALL_LOSSES, WITH_AND_WITHOUT_INTERCEPT, Small

from everystump import StumpLogisticRegression, StumpSVC, StumpSVCCV
from everystump._core.chainloops import add_minima, mirror
from everystump._core.chains import Chains
from everystump._core.losses import Hinge, Logistic
from everystump._core.solvers import augmented_lagrangian, newton
from everystump._core.solvers.iterate import Iterate, SpanIterate, initial_iterate
from everystump._core.solvers.newton_system import StoppingRule, TermNewtonSystem
from everystump._core.solvers.problem import TableKernelMatrix


class Always(TableKernelMatrix):
    """A kernel matrix that is always used."""

    def is_faster(self, *_):
        return True


def always(small):
    return Always(small.terms, small.packing)


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_the_span_of_the_rows_contains_the_optimum(loss, fit_intercept, C):
    small = Small(loss, fit_intercept=fit_intercept, C=C)
    found = small.solve(tol=1e-8, kernel_matrix=always(small))
    plain = Small(loss, fit_intercept=fit_intercept, C=C).solve(tol=1e-8)
    assert found.certificate.converged
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-8)
    objective = small.objective(found.weights, found.intercept)
    assert found.certificate.primal == pytest.approx(objective, rel=1e-10)
    assert found.certificate.passes <= 5  # only to evaluate the solution


@WITH_AND_WITHOUT_INTERCEPT
def test_hard_margins_in_the_span(fit_intercept):
    small = Small(Hinge, fit_intercept=fit_intercept, C=np.inf, n=40)
    found = small.solve(tol=1e-6, kernel_matrix=always(small))
    margin = small.y * (small.votes @ found.weights + found.intercept)
    assert found.certificate.converged
    assert margin.min() >= 1 - 1e-9
    plain = small.solve(tol=1e-6)
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-6)


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
@pytest.mark.parametrize("C", [0.05, 300.0])
def test_warm_starts_cross_over(loss, fit_intercept, C):
    """From a solution in the span to one outside of it, and back."""
    first = Small(loss, fit_intercept=fit_intercept)
    inside, outside = (
        first.solve(tol=1e-4, kernel_matrix=always(first)),
        Small(loss, fit_intercept=fit_intercept).solve(tol=1e-4),
    )
    goal = Small(loss, fit_intercept=fit_intercept, C=C)
    best = goal.solve(tol=1e-8).certificate.primal
    ways = [(inside, None), (outside, always(goal)), (inside, always(goal))]
    for start, matrix in ways:
        found = Small(loss, fit_intercept=fit_intercept, C=C).solve(
            tol=1e-8, start=start, kernel_matrix=matrix
        )
        assert found.certificate.converged
        assert found.certificate.primal == pytest.approx(best, rel=2e-8)


@WITH_AND_WITHOUT_INTERCEPT
@ALL_LOSSES
def test_newtons_steps_are_the_same(loss, fit_intercept):
    small = Small(loss, fit_intercept=fit_intercept)
    steps = []
    for iterate in (
        Iterate(small.problem, small.rows),
        SpanIterate(small.problem, small.rows, always(small)),
    ):
        if loss is Hinge:
            iterate.rows.smooth_at_box_center(3.0, 1.0)
        _, current = iterate.evaluate()
        exactly = StoppingRule(0.0, 1e-24, 1.0)
        dw, db = iterate.system.direction(current, exactly)
        iterate.rows.set_direction(iterate.problem.operator.matvec(dw), db)
        by_row = np.empty(len(small.y))
        for block in iterate.rows.parts.blocks:
            by_row[block.index] = block.step
        steps.append((by_row, db, iterate.problem.operator.dot(dw, dw)))
    for one, other in zip(*steps, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("factor", [-1.0, 1e-3, 1.0, 1e4])
def test_weights_of_a_wrong_scale_are_rescaled(factor):
    """Unless they raise the objective at any scale, they get a factor that is about the best."""
    small = Small(Logistic)
    iterate = SpanIterate(small.problem, small.rows, always(small))
    at_zero = iterate.evaluate()[1].primal
    iterate.warm_start(small.solve(tol=1e-6))
    optimum, weights = iterate.evaluate()[1].primal, iterate.weights
    iterate.move_to(factor * weights, factor * iterate.intercept)
    iterate.rescale()
    end = iterate.evaluate()[1].primal
    if factor < 0.0:
        assert end == at_zero
    else:
        assert optimum <= end < optimum + 0.3 * (at_zero - optimum)
    if factor == 1.0:
        np.testing.assert_array_equal(iterate.weights, weights)


def test_a_matrix_that_rounding_leaves_singular_still_gives_a_descent():
    """Equal rows and a curvature so large that rounding removes the ones on the diagonal."""
    small = Small(Hinge, n=40)
    small.rows.packing.codes.bins[:, 1::2] = small.rows.packing.codes.bins[:, ::2]
    iterate = SpanIterate(small.problem, small.rows, always(small))
    iterate.rows.smooth_at_box_center(1e25, 1.0)
    iterate.move_to(iterate.weights, 0.0)
    iterate.rows.block.margin[:] = 1.0
    _, current = iterate.evaluate()
    dw, db = iterate.system.direction(current, StoppingRule(0.0, 0.0, 0.0))
    assert np.isfinite(dw).all() and np.isfinite(db)


# The kernel matrix


@pytest.mark.parametrize("n_rows", [1, 2, 7, 128, 131])
@pytest.mark.parametrize("n_features", [4, 36])
def test_minima_are_those_of_numpy(n_rows, n_features):
    rng = np.random.default_rng(n_rows)
    x = rng.normal(size=(n_features, n_rows))
    out = np.zeros((n_rows, n_rows))
    middle = n_rows // 3
    add_minima(x, 0, middle, out)
    add_minima(x, middle, n_rows, out)
    mirror(out)
    np.testing.assert_allclose(
        out, np.minimum(x[:, :, None], x[:, None, :]).sum(axis=0), rtol=1e-12
    )


@WITH_AND_WITHOUT_INTERCEPT
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_matrix_is_that_of_the_votes(fit_intercept, n_threads):
    small = Small(Hinge, fit_intercept=fit_intercept)
    for index in (np.arange(60), np.arange(59, 10, -1), np.array([3, 50, 7])):
        votes = small.votes[index]
        found = TableKernelMatrix(small.terms, small.packing).submatrix(index, n_threads)
        np.testing.assert_allclose(found, votes @ votes.T, atol=1e-12)


def test_all_folds_and_all_costs_share_one_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), np.arange(40) % 2
    calls, matrix = [], Chains.kernel_matrix
    monkeypatch.setattr(TableKernelMatrix, "is_faster", lambda *_: True)
    monkeypatch.setattr(Chains, "kernel_matrix", lambda *a: calls.append(1) or matrix(*a))
    alone = {"interactions": 0, "feature_weights": "equal", "measure": "mixed"}
    StumpSVCCV(Cs=[0.1, 1.0], cv=4, **alone).fit(X, y)
    assert len(calls) == 1


# When it is used


def table(n_rows, n_features):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, n_features))


@pytest.mark.parametrize(
    ("n_rows", "n_features", "effort", "C", "is_faster"),
    [
        (100, 300, augmented_lagrangian._EFFORT, 1.0, True),
        (100, 300, newton._EFFORTS[False], 1.0, True),
        (600, 3, augmented_lagrangian._EFFORT, 1.0, False),
        (600, 3, newton._EFFORTS[True], 1.0, False),
        (5000, 3, augmented_lagrangian._EFFORT, 1.0, False),
    ],
)
def test_wide_tables_of_few_rows_are_solved_by_rows(n_rows, n_features, effort, C, is_faster):
    X = table(n_rows, n_features)
    _, design = StumpSVC()._prepare(X, np.arange(n_rows) % 2, None)
    assert design.kernel_matrix.is_faster(n_rows, C, effort) is is_faster


def test_sign_constraints_are_not_solved_in_the_span():
    small = Small(Hinge)
    problem = type(small.problem)(
        small.terms, small.packing, Hinge, signs=np.ones(len(small.terms.chains.jumps))
    )
    iterate = initial_iterate(problem, small.rows, always(small), augmented_lagrangian._EFFORT)
    assert isinstance(iterate.system, TermNewtonSystem)


@pytest.mark.parametrize("estimator", [StumpSVC, StumpLogisticRegression])
def test_categories_and_missing_values_in_the_span(estimator, monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(40, 6)), columns=list("abcdef"))
    X = X.mask(rng.random(X.shape) < 0.2).assign(g=pd.Categorical(rng.integers(0, 5, size=40)))
    y = np.where(X["a"].fillna(1.0) > 0, "yes", "no")
    fits = []
    for way in (True, False):
        monkeypatch.setattr(TableKernelMatrix, "is_faster", lambda *_, way=way: way)
        fits.append(estimator(10.0, tol=1e-9).fit(X, y))
    assert all(fit.certificate_.converged for fit in fits)
    assert fits[0].certificate_.passes < fits[1].certificate_.passes
    np.testing.assert_allclose(*[fit.decision_function(X) for fit in fits], atol=2e-3)
