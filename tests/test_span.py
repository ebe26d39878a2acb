"""Problems in the span of their rows: the same solutions as in the features' own weights."""

import numpy as np
import pandas as pd
import pytest
from small import Small

from everystump import StumpLogisticRegression, StumpSVC, StumpSVCCV
from everystump._core.chainloops import add_minima, mirror
from everystump._core.chains import Chains
from everystump._core.losses import Hinge, Logistic, SquaredHinge
from everystump._core.solvers import Gram, hinge, smooth
from everystump._core.solvers.conjugate import Stop
from everystump._core.solvers.newton import Newton
from everystump._core.solvers.point import Point
from everystump._core.solvers.span import SpanPoint, start_point

LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge, "logistic": Logistic}
ALL_LOSSES = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
BIAS = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])


class Always(Gram):
    """A kernel matrix that is always used."""

    def pays(self, *_):
        return True


def by_rows(small):
    return Always(small.chains, small.packing)


@BIAS
@ALL_LOSSES
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_the_span_of_the_rows_holds_the_optimum(loss, bias, C):
    small = Small(loss, bias=bias, C=C)
    found = small.solve(tol=1e-8, gram=by_rows(small))
    plain = Small(loss, bias=bias, C=C).solve(tol=1e-8)
    assert found.certificate.converged
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-8)
    objective = small.objective(found.weights, found.bias)
    assert found.certificate.primal == pytest.approx(objective, rel=1e-10)
    assert found.certificate.passes <= 5  # its solution is evaluated, and no more


@BIAS
def test_hard_margins_in_the_span(bias):
    small = Small(Hinge, bias=bias, C=np.inf, n=40)
    found = small.solve(tol=1e-6, gram=by_rows(small))
    margin = small.y * (small.votes @ found.weights + found.bias)
    assert found.certificate.converged
    assert margin.min() >= 1 - 1e-9
    plain = small.solve(tol=1e-6)
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-6)


@BIAS
@ALL_LOSSES
@pytest.mark.parametrize("C", [0.05, 300.0])
def test_warm_starts_cross_over(loss, bias, C):
    """From a solution in the span to one outside of it, and back."""
    first = Small(loss, bias=bias)
    inside, outside = (
        first.solve(tol=1e-4, gram=by_rows(first)),
        Small(loss, bias=bias).solve(tol=1e-4),
    )
    goal = Small(loss, bias=bias, C=C)
    best = goal.solve(tol=1e-8).certificate.primal
    ways = [(inside, None), (outside, by_rows(goal)), (inside, by_rows(goal))]
    for start, gram in ways:
        found = Small(loss, bias=bias, C=C).solve(tol=1e-8, start=start, gram=gram)
        assert found.certificate.converged
        assert found.certificate.primal == pytest.approx(best, rel=2e-8)


@BIAS
@ALL_LOSSES
def test_newtons_steps_are_the_same(loss, bias):
    small = Small(loss, bias=bias)
    steps = []
    for point in (
        Point(small.problem, small.rows),
        SpanPoint(small.problem, small.rows, by_rows(small)),
    ):
        if loss is Hinge:
            point.rows.smooth_at_box_center(3.0, 1.0)
        _, now = point.look()
        exactly = Stop(0.0, 1e-24, 1.0)
        dw, db = point.newton.direction(now, exactly)
        point.rows.set_direction(point.problem.space.matvec(dw), db)
        by_row = np.empty(len(small.y))
        for block in point.rows.blocks:
            by_row[block.index] = block.step
        steps.append((by_row, db, point.problem.space.dot(dw, dw)))
    for one, other in zip(*steps, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_a_matrix_that_rounding_leaves_singular_still_gives_a_descent():
    """Equal rows and a curvature so large that the ones of the diagonal vanish beside it."""
    small = Small(Hinge, n=40)
    small.rows.packing.codes[:, 1::2] = small.rows.packing.codes[:, ::2]
    point = SpanPoint(small.problem, small.rows, by_rows(small))
    point.rows.smooth_at_box_center(1e25, 1.0)
    point.place(point.weights, 0.0)
    point.rows.block.margin[:] = 1.0
    _, now = point.look()
    dw, db = point.newton.direction(now, Stop(0.0, 0.0, 0.0))
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


@BIAS
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_matrix_is_that_of_the_votes(bias, n_threads):
    small = Small(Hinge, bias=bias)
    for index in (np.arange(60), np.arange(59, 10, -1), np.array([3, 50, 7])):
        votes = small.votes[index]
        found = Gram(small.chains, small.packing).of(index, n_threads)
        np.testing.assert_allclose(found, votes @ votes.T, atol=1e-12)


def test_all_folds_and_all_costs_share_one_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), np.arange(40) % 2
    seen, matrix = [], Chains.kernel_matrix
    monkeypatch.setattr(Gram, "pays", lambda *_: True)
    monkeypatch.setattr(Chains, "kernel_matrix", lambda *a: seen.append(1) or matrix(*a))
    StumpSVCCV(Cs=[0.1, 1.0], cv=4).fit(X, y)
    assert len(seen) == 1


# When it is used


def table(n_rows, n_features):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, n_features))


@pytest.mark.parametrize(
    ("n_rows", "n_features", "effort", "C", "pays"),
    [
        (100, 300, hinge._EFFORT, 1.0, True),
        (100, 300, smooth._EFFORTS[False], 1.0, True),
        (600, 3, hinge._EFFORT, 1.0, False),
        (600, 3, smooth._EFFORTS[True], 1.0, False),
        (5000, 3, hinge._EFFORT, 1.0, False),
    ],
)
def test_wide_tables_of_few_rows_are_solved_by_rows(n_rows, n_features, effort, C, pays):
    X = table(n_rows, n_features)
    _, design = StumpSVC()._prepare(X, np.arange(n_rows) % 2, None)
    assert design.gram.pays(n_rows, C, effort) is pays


def test_weights_with_signs_stay_in_their_own_space():
    small = Small(Hinge)
    problem = type(small.problem)(
        small.chains, small.packing, Hinge, signs=np.ones(len(small.chains.jumps))
    )
    point = start_point(problem, small.rows, by_rows(small), hinge._EFFORT)
    assert isinstance(point.newton, Newton)


@pytest.mark.parametrize("machine", [StumpSVC, StumpLogisticRegression])
def test_categories_and_missing_values_in_the_span(machine, monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(40, 6)), columns=list("abcdef"))
    X = X.mask(rng.random(X.shape) < 0.2).assign(g=pd.Categorical(rng.integers(0, 5, size=40)))
    y = np.where(X["a"].fillna(1.0) > 0, "yes", "no")
    fits = []
    for way in (True, False):
        monkeypatch.setattr(Gram, "pays", lambda *_, way=way: way)
        fits.append(machine(10.0, tol=1e-9).fit(X, y))
    assert all(fit.certificate_.converged for fit in fits)
    assert fits[0].certificate_.passes < fits[1].certificate_.passes
    np.testing.assert_allclose(*[fit.decision_function(X) for fit in fits], atol=2e-3)
