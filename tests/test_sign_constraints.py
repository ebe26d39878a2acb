"""Monotonic curves against other solvers, and their certificates."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from column_examples import numbers
from hypothesis import given
from hypothesis import strategies as st
from oracles import axis, search
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from small_problem import ALL_LOSSES, Small
from test_solvers import EXACTLY

from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
)
from everystump._core.chains import Chains
from everystump._core.losses import Hinge, Logistic, SquaredHinge
from everystump._core.measures import Masses
from everystump._core.solvers.certificate import InseparableError
from everystump._core.solvers.duality import primal_dual
from everystump._core.solvers.newton_system import TermNewtonSystem, hessian_diagonal
from everystump._core.solvers.sign_constraints import SignConstraints
from everystump._tables.frames import Feature
from everystump._tables.monotonic import check_monotonic_cst
from everystump.bounds import loo_bound

ESTIMATORS = {
    "hinge": (StumpSVC(tol=1e-8, n_jobs=1), Hinge),
    "squared hinge": (StumpSVC(loss="squared_hinge", tol=1e-8, n_jobs=1), SquaredHinge),
    "logistic": (StumpLogisticRegression(multi_class="ovr", tol=1e-8, n_jobs=1), Logistic),
}
ALL = pytest.mark.parametrize("estimator, loss", ESTIMATORS.values(), ids=ESTIMATORS)
SMOOTH = pytest.mark.parametrize(
    "estimator, loss",
    [ESTIMATORS["squared hinge"], ESTIMATORS["logistic"]],
    ids=["squared", "logistic"],
)


def wavy(n, seed=0, n_features=3):
    """Return a table whose best curves go up and down."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = np.where(np.sin(3 * X).sum(axis=1) + 0.5 * rng.normal(size=n) > 0, 1, -1)
    return X, y


@dataclass(frozen=True)
class Dense:
    """The problem in plain NumPy: a column of votes and a sign for each edge."""

    V: np.ndarray
    signs: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    loss: type

    @classmethod
    def from_data(cls, X, y, constraint, C, loss, weight=None):
        axes = [axis(x, "mixed", weight) for x in X.T]
        columns = [
            (a.code[:, None] > np.arange(len(a.inside))) * np.sqrt(2 * a.inside) for a in axes
        ]
        signs = np.repeat(constraint, [len(a.inside) for a in axes])
        weight = np.ones(len(y)) if weight is None else weight
        return cls(np.hstack(columns), signs, y, C * weight, loss)

    def project(self, v):
        return np.where(self.signs * v < 0, 0.0, v)

    def primal(self, w, b):
        assert np.all(self.signs * w >= 0)
        return w @ w / 2 + self.loss(self.cost).total(self.y * (self.V @ w + b))

    def dual(self, dual_coef):
        """Return the dual value of signed dual variables, after checking that they are allowed."""
        a = self.y * dual_coef
        assert np.all(a >= 0)
        assert self.loss is SquaredHinge or np.all(a <= self.cost * (1 + 1e-12))
        assert abs(dual_coef.sum()) <= 1e-9 * a.sum()
        v = self.project(self.V.T @ dual_coef)
        return self.loss(self.cost).dual(a).sum() - v @ v / 2

    def weights_of(self, model):
        """Return the increments of the fitted curves at every edge, as weights."""
        rises = np.concatenate([np.diff(shape.values) for shape in model.shapes_.shapes])
        jumps = self.V.max(axis=0)
        return np.where(np.abs(rises) < 1e-13 * np.abs(rises).max(initial=1.0), 0.0, rises / jumps)

    @property
    def bounds(self):
        limits = {1: (0, None), -1: (None, 0), 0: (None, None)}
        return [*(limits[int(s)] for s in self.signs), (None, None)]

    def optimum_of_smooth(self):
        """Minimize by L-BFGS-B with bounds."""
        record = self.loss(self.cost)

        def value(x):
            w, b = x[:-1], x[-1]
            margin = self.y * (self.V @ w + b)
            pull = self.y * record.slope(margin)
            return w @ w / 2 + record.total(margin), np.append(w - self.V.T @ pull, -pull.sum())

        options = {"maxiter": 50_000, "maxfun": 200_000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 50}
        start = np.zeros(len(self.signs) + 1)
        found = minimize(value, start, jac=True, bounds=self.bounds, options=options)
        return found.fun

    def optimum_of_hinge(self):
        """Minimize ``|w|^2 / 2 + cost' slack`` under linear constraints by SLSQP."""
        n, p = self.V.shape
        yV = self.y[:, None] * np.hstack([self.V, np.ones((n, 1))])
        rows = np.hstack([yV, np.eye(n)])
        gradient = np.concatenate([np.zeros(p + 1), self.cost])
        ones = np.concatenate([np.ones(p), np.zeros(n + 1)])
        found = minimize(
            lambda x: (ones * x) @ x / 2 + gradient @ x,
            np.concatenate([np.zeros(p + 1), np.ones(n)]),
            jac=lambda x: ones * x + gradient,
            bounds=[*self.bounds, *[(0, None)] * n],
            constraints={"type": "ineq", "fun": lambda x: rows @ x - 1, "jac": lambda x: rows},
            method="SLSQP",
            options={"maxiter": 2000, "ftol": 1e-13},
        )
        slack = np.maximum(1 - yV @ found.x[: p + 1], 0.0)
        return self.cost @ slack + found.x[:p] @ found.x[:p] / 2


def check_certificate(model, dense, tol):
    """Check both values of the certificate in plain NumPy, and the signs of the curves."""
    certificate = model.certificate_
    assert certificate.converged
    primal = dense.primal(dense.weights_of(model), _intercept(model))
    dual = dense.dual(model.dual_coef_)
    assert primal == pytest.approx(certificate.primal, rel=1e-7)
    assert certificate.dual <= dual * (1 + 1e-9)
    assert dual <= primal * (1 + 1e-9)
    assert primal - dual <= (tol + 1e-7) * primal


def _intercept(model):
    """Return the score where all curves are at their first value."""
    return float(model.shapes_.intercept + sum(s.values[0] for s in model.shapes_.shapes))


def turns(model):
    """Return the largest decrease and the largest increase of each curve."""
    rises = [np.diff(shape.values) for shape in model.shapes_.shapes]
    return np.array([(r.min(initial=0.0), r.max(initial=0.0)) for r in rises])


@SMOOTH
@pytest.mark.parametrize("C", [2.0**-5, 1.0, 30.0])
def test_smooth_losses_reach_the_optimum_of_a_general_solver(estimator, loss, C):
    X, y = wavy(40)
    constraint = [1, -1, 0]
    model = clone(estimator).set_params(C=C, monotonic_cst=constraint).fit(X, y)
    optimum = Dense.from_data(X, y, constraint, C, loss).optimum_of_smooth()
    assert model.certificate_.primal == pytest.approx(optimum, rel=1e-6)
    free = clone(estimator).set_params(C=C).fit(X, y)
    assert free.certificate_.primal < optimum * (1 - 1e-3)


@pytest.mark.parametrize("C", [2.0**-5, 1.0, 30.0])
def test_the_hinge_reaches_the_optimum_of_a_general_solver(C):
    X, y = wavy(24, seed=3)
    X = np.round(X, 1)
    constraint = [1, -1, 0]
    model = StumpSVC(C, tol=1e-8, monotonic_cst=constraint, n_jobs=1).fit(X, y)
    optimum = Dense.from_data(X, y, constraint, C, Hinge).optimum_of_hinge()
    assert model.certificate_.primal == pytest.approx(optimum, rel=1e-6)
    assert StumpSVC(C, tol=1e-8, n_jobs=1).fit(X, y).certificate_.primal < optimum * (1 - 1e-3)


@ALL
@pytest.mark.parametrize("log2_C", [-9, 0, 7, 15])
def test_certificates_hold_in_plain_numpy(estimator, loss, log2_C):
    X, y = wavy(150, seed=1)
    constraint = [1, 0, -1]
    model = clone(estimator).set_params(C=2.0**log2_C, monotonic_cst=constraint, tol=1e-5).fit(X, y)
    check_certificate(model, Dense.from_data(X, y, constraint, 2.0**log2_C, loss), 1e-5)
    falls, rises = turns(model).T
    assert falls[0] == 0.0 < rises[0]
    assert rises[2] == 0.0 > falls[2]
    assert falls[1] < 0.0 < rises[1]


@ALL
def test_a_constraint_that_holds_anyway_changes_nothing(estimator, loss):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(3000, 2)).astype(float)
    y = rng.random(3000) < expit(2 * (X[:, 0] - 2) - (X[:, 1] - 2))
    free = clone(estimator).set_params(C=0.01).fit(X, y)
    assert np.all(turns(free)[[0, 1], [0, 1]] == 0.0)
    held = clone(free).set_params(monotonic_cst=[1, -1]).fit(X, y)
    assert held.certificate_.primal == pytest.approx(free.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(held.decision_function(X), free.decision_function(X), atol=1e-3)


@ALL
def test_zeros_are_no_constraint(estimator, loss):
    X, y = wavy(100)
    free = clone(estimator).fit(X, y)
    zeros = clone(estimator).set_params(monotonic_cst=[0, 0, 0]).fit(X, y)
    np.testing.assert_array_equal(free.decision_function(X), zeros.decision_function(X))


@ALL
def test_a_constraint_against_the_data_makes_the_curve_flat(estimator, loss):
    X, y = wavy(200, n_features=1)
    y = np.where(X[:, 0] > 0, 1, -1)
    model = clone(estimator).set_params(monotonic_cst=["decreasing"]).fit(X, y)
    np.testing.assert_allclose(model.shapes_.shapes[0].values, 0.0, atol=1e-6)
    check_certificate(model, Dense.from_data(X, y, [-1], 1.0, loss), 1e-8)


@ALL
def test_negated_features_negate_the_constraint(estimator, loss):
    X, y = wavy(120, seed=5)
    up = clone(estimator).set_params(monotonic_cst=[1, 1, 0], measure="rank").fit(X, y)
    down = clone(up).set_params(monotonic_cst=[-1, -1, 0]).fit(-X, y)
    other = clone(up).set_params(monotonic_cst=[-1, -1, 0]).fit(X, -y)
    expected = pytest.approx(up.certificate_.primal, rel=1e-7)
    assert down.certificate_.primal == expected
    assert other.certificate_.primal == expected


@ALL
def test_a_weight_is_a_number_of_rows(estimator, loss):
    X, y = wavy(80, seed=2)
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    estimator = clone(estimator).set_params(monotonic_cst=[1, -1, 1])
    weighted = clone(estimator).fit(X, y, sample_weight=times.astype(float))
    repeated = clone(estimator).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-7)
    assert np.all(turns(weighted)[[0, 2], 0] == 0.0)


@ALL
def test_every_class_against_the_rest_is_constrained(estimator, loss):
    X, y = wavy(150, seed=4)
    label = np.where(X[:, 2] > 0.7, "c", np.where(y > 0, "a", "b"))
    model = clone(estimator).set_params(monotonic_cst=[1, 0, -1], tol=1e-5).fit(X, label)
    for k, name in enumerate("abc"):
        alone = clone(model).fit(X, label == name)
        assert model.certificate_[k].primal == pytest.approx(alone.certificate_.primal, rel=1e-4)
        values = [shape.values for shape in model.shapes_[k].shapes]
        assert np.all(np.diff(values[0]) >= 0)
        assert np.all(np.diff(values[2]) <= 0)


@SMOOTH
def test_joint_columns_keep_their_signs(estimator, loss):
    rng = np.random.default_rng(0)
    X = (rng.random((200, 24)) < 0.3).astype(float)
    X[:, 12:] = np.where(rng.random((200, 12)) < 0.1, 1 - X[:, :12], X[:, :12])
    y = np.where(X @ rng.normal(size=24) + 0.5 * rng.normal(size=200) > 0, 1, -1)
    constraint = rng.choice([-1, 0, 1], size=24)
    model = clone(estimator).set_params(monotonic_cst=constraint, C=4.0).fit(X, y)
    dense = Dense.from_data(X, y, constraint, 4.0, loss)
    assert model.certificate_.primal == pytest.approx(dense.optimum_of_smooth(), rel=1e-6)
    check_certificate(model, dense, 1e-8)
    assert 3 < np.sum(dense.weights_of(model)[constraint != 0] == 0.0) < 20


def test_the_certificate_of_the_hinge_on_joint_columns():
    rng = np.random.default_rng(1)
    X = (rng.random((300, 40)) < 0.3).astype(float)
    y = np.where(X @ rng.normal(size=40) + 0.3 * rng.normal(size=300) > 0, 1, -1)
    constraint = rng.choice([-1, 1], size=40)
    model = StumpSVC(2.0, monotonic_cst=constraint, tol=1e-7, n_jobs=1).fit(X, y)
    check_certificate(model, Dense.from_data(X, y, constraint, 2.0, Hinge), 1e-7)


def separable(n=120):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.where(np.tanh(X[:, 0]) + X[:, 1] - X[:, 2] ** 3 > 0, 1, -1)


def test_the_hard_margin_is_monotonic_and_the_limit_of_soft_ones():
    X, y = separable()
    constraint = [1, 1, -1]
    hard = StumpSVC(np.inf, monotonic_cst=constraint, tol=1e-7, n_jobs=1).fit(X, y)
    assert np.min(y * hard.decision_function(X)) >= 1 - 1e-9
    assert hard.certificate_.converged
    assert np.all(turns(hard)[[0, 1, 2], [0, 0, 1]] == 0.0)
    large = StumpSVC(1e6, monotonic_cst=constraint, tol=1e-7, n_jobs=1).fit(X, y)
    assert hard.certificate_.primal == pytest.approx(large.certificate_.primal, rel=1e-5)
    free = StumpSVC(np.inf, tol=1e-7, n_jobs=1).fit(X, y)
    assert hard.certificate_.primal > 1.01 * free.certificate_.primal


def test_constraints_against_the_data_have_no_hard_margin():
    X, y = separable()
    with pytest.raises(InseparableError, match=r"no ensemble with these monotonic curves"):
        StumpSVC(np.inf, monotonic_cst=[-1, -1, 1], n_jobs=1).fit(X, y)


@st.composite
def tables(draw):
    """Draw a small table, constraints, weights, a measure and a cost."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    n, d = draw(st.integers(6, 40)), draw(st.integers(1, 4))
    kinds = [draw(st.sampled_from(["normal", "ties", "cauchy", "two"])) for _ in range(d)]
    make = {
        "normal": lambda: rng.normal(size=n),
        "ties": lambda: rng.integers(0, 4, size=n).astype(float),
        "cauchy": lambda: rng.standard_cauchy(size=n),
        "two": lambda: rng.choice([-1.0, 3.0], size=n),
    }
    X = np.column_stack([make[kind]() for kind in kinds])
    X[:2] = [[-1.0] * d, [3.0] * d]
    y = np.where(rng.normal(size=n) + draw(st.sampled_from([0.0, 1.0])) * X[:, 0] > 0, 1, -1)
    y[:2] = -1, 1
    weight = rng.choice([0.5, 1.0, 3.0], size=n) if draw(st.booleans()) else None
    constraint = [draw(st.sampled_from([-1, 0, 1, 1])) for _ in range(d)]
    return X, y, weight, constraint, 2.0 ** draw(st.integers(-9, 15))


@ALL
@search(40)
@given(tables())
def test_certificates_of_random_tables(estimator, loss, case):
    X, y, weight, constraint, C = case
    model = clone(estimator).set_params(C=C, monotonic_cst=constraint, tol=1e-5)
    model.fit(X, y, sample_weight=weight)
    check_certificate(model, Dense.from_data(X, y, constraint, C, loss, weight), 1e-5)


@ALL_LOSSES
@pytest.mark.parametrize("ratio", [1 / 16, 0.5, 2.0, 16.0])
def test_a_warm_start_leads_to_the_same_optimum(loss, ratio):
    cold, start = constrained(loss, C=2.0), constrained(loss, C=2.0 / ratio).solve()
    warm = constrained(loss, C=2.0).solve(start=start)
    optimum = cold.solve().certificate
    assert warm.certificate.converged
    assert warm.certificate.primal == pytest.approx(optimum.primal, rel=1e-7)
    again = constrained(loss, C=2.0).solve(start=warm, tol=1e-6)
    assert again.n_iter <= 3


def constrained(loss, **arguments):
    """Return the problem of `Small` with curves 0 and 2 increasing and curve 3 decreasing."""
    small = Small(loss, **arguments)
    signs = small.terms.chains.edge_signs(np.array([1, 0, 1, -1, 0]))
    small.problem = replace(small.problem, signs=signs)
    return small


@pytest.mark.parametrize("loss", [SquaredHinge, Logistic])
def test_newton_steps_with_active_signs_are_the_dense_solution(loss):
    small = constrained(loss)
    rng = np.random.default_rng(3)
    w, b = 0.3 * rng.normal(size=len(small.terms.chains.jumps)), 0.2
    scale = rng.choice([1.0, 0.3, 1e-4], size=len(w))
    small.move_to(w, b)
    A, rhs, e, h, k = small.newton(w, b, loss(small.C * small.weight))
    active = A - np.eye(len(w)) + np.diag(scale**-2.0)
    current = primal_dual(small.problem, w, small.rows.sums())
    system = TermNewtonSystem(small.problem, small.rows)
    np.testing.assert_allclose(hessian_diagonal(small.problem, small.rows), np.diag(A))
    for products in (0, 10**9):
        system.products = products
        dw, db = system.direction(current, EXACTLY, scale)
        np.testing.assert_allclose(dw, np.linalg.solve(active, rhs), atol=1e-8)
        assert db == pytest.approx((e - h @ dw) / k, abs=1e-8)


def test_the_slope_and_curvature_of_smoothed_signs():
    rng = np.random.default_rng(0)
    signs, w = np.array([0, 1, -1, 1, 0, -1]), rng.normal(size=6)
    constraints = SignConstraints(signs)
    constraints.set_penalty(np.full(6, 5.0))
    constraints.recenter(rng.normal(size=6), 2.0)
    constraints.set_penalty(np.full(6, 5.0))
    dw, t = rng.normal(size=6), 1e-6
    assert constraints.directional_slope(w, dw, 0.0) == pytest.approx(constraints.force(w) @ dw)
    change = (constraints.force(w + t * dw) - constraints.force(w)) / t
    np.testing.assert_allclose(-change, (constraints.jump_factors(w) ** -2 - 1) * dw, atol=1e-6)
    assert np.all(signs * constraints.force(w) >= 0)
    assert np.any(constraints.force(w) != 0)


@pytest.mark.parametrize("estimator", [StumpSVCCV, StumpLogisticRegressionCV])
def test_the_path_is_constrained_and_gives_the_single_model(estimator):
    X, y = wavy(150)
    Cs = [2.0**-6, 2.0**-2, 4.0, 64.0]
    model = estimator(
        Cs=Cs, cv=3, feature_weights="equal", monotonic_cst=[1, -1, 0], n_jobs=1, tol=1e-6
    ).fit(X, y)
    assert np.max(model.cv_results_["max_gap"]) <= 1e-5
    single = model._fixed_c_estimator(model.C_, model._fitted_measure()).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), single.decision_function(X), rtol=0, atol=1e-9
    )
    assert np.all(turns(model)[[0, 1], [0, 1]] == 0.0)


def test_names_and_directions_as_strings():
    X, y = wavy(80)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name = StumpSVC(monotonic_cst={"c": "decreasing", "a": 1}, n_jobs=1).fit(frame, y)
    by_position = StumpSVC(monotonic_cst=["increasing", 0, -1], n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(by_name.dual_coef_, by_position.dual_coef_)
    assert turns(by_position)[0, 0] == 0.0 == turns(by_position)[2, 1]


def test_a_series_is_matched_by_its_index():
    X, y = wavy(80)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_index = StumpSVC(monotonic_cst=pd.Series({"c": -1, "a": 1}), n_jobs=1).fit(frame, y)
    by_name = StumpSVC(monotonic_cst={"c": -1, "a": 1}, n_jobs=1).fit(frame, y)
    np.testing.assert_array_equal(by_index.dual_coef_, by_name.dual_coef_)
    in_order = StumpSVC(monotonic_cst=pd.Series([1, 0, -1]), n_jobs=1).fit(frame, y)
    np.testing.assert_array_equal(in_order.dual_coef_, by_name.dual_coef_)


def test_edge_signs():
    columns = [numbers(3), numbers(1), numbers(2, missing=1.0)]
    masses = [Masses(np.ones(column.n_bins - 1)) for column in columns]
    chains = Chains.from_columns(columns, masses, centered=False)
    signs = chains.edge_signs(np.array([1, -1, -1]))
    np.testing.assert_array_equal(signs, [0, 1, 1, 0, 0, -1, 0])
    assert chains.edge_signs(None) is None
    assert check_monotonic_cst(None, [Feature()] * 3) is None
    assert check_monotonic_cst(np.zeros(3), [Feature()] * 3) is None


@pytest.mark.parametrize("estimator", [StumpSVC(), StumpLogisticRegression()])
def test_missing_values_are_not_constrained(estimator):
    """The curve must increase against the data; rows with a missing value are the positive ones."""
    X, y = wavy(200)
    X[:, 0] = np.arange(200.0)
    y = np.where(X[:, 0] < 100, 1, -1)
    X[y > 0, 0] = np.where(np.arange(100) % 2, np.nan, X[y > 0, 0])
    model = clone(estimator).set_params(monotonic_cst=["increasing", 0, 0]).fit(X, y)
    shape = model.shapes_[0]
    assert model.certificate_.converged
    assert np.all(np.diff(shape.values) >= 0) and shape.missing > shape.values.max() + 0.1


def test_a_category_has_no_order():
    X, y = wavy(20)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(b=list("xy") * 10)
    with pytest.raises(ValueError, match=r"monotonic_cst=.*'b' is a category, .* no order"):
        StumpSVC(monotonic_cst={"b": 1}).fit(frame, y)


BAD = {
    "short": ([1, 0], r"monotonic_cst=\[1, 0\] has 2 entries, but X has 3 features; pass one"),
    "two": ([2, 0, 0], r"monotonic_cst contains 2; use -1, 0 or 1"),
    "half": ([0.5, 0, 0], r"monotonic_cst contains 0\.5; use"),
    "nan": ([np.nan, 0, 0], r"monotonic_cst contains nan; use"),
    "word": (["up", 0, 0], r"monotonic_cst contains 'up'; use .* \"increasing\""),
    "none inside": ([None, 0, 0], r"monotonic_cst contains None; use"),
    "rows": ([[1, 0, 0]], r"must be a list with one entry per feature"),
    "nameless": ({"a": 1}, r"monotonic_cst=\{'a': 1\} has feature names, .* list of 3 entries"),
}


@pytest.mark.parametrize("estimator", [StumpSVC, StumpLogisticRegressionCV])
@pytest.mark.parametrize("constraint, message", BAD.values(), ids=BAD)
def test_invalid_constraints_raise(estimator, constraint, message):
    with pytest.raises(ValueError, match=message):
        estimator(monotonic_cst=constraint).fit(*wavy(20))


def test_an_unknown_name_raises():
    X, y = wavy(20)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    message = r"monotonic_cst contains the name 'd', .* \['a', 'b', 'c'\]"
    with pytest.raises(ValueError, match=message):
        StumpSVC(monotonic_cst={"d": 1}).fit(frame, y)


def test_constraints_need_an_intercept():
    with pytest.raises(
        ValueError, match=r"fit_intercept=False cannot be combined with monotonic_cst"
    ):
        StumpSVC(fit_intercept=False, monotonic_cst=[1, 0, 0]).fit(*wavy(20))


def test_bounds_do_not_apply():
    X, y = wavy(30)
    model = StumpSVC(monotonic_cst=[1, 0, 0], n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match=r"monotonic_cst=\[1, 0, 0\]: the bounds are for kernel"):
        loo_bound(model, X, y)
    with pytest.raises(ValueError, match=r"monotonic_cst=.* cross-validation"):
        StumpSVCCV(selection="loo-bound", monotonic_cst=[1, 0, 0]).fit(X, y)
