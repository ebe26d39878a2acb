"""Interactions against an explicit kernel in plain NumPy, LIBSVM and other solvers.

The kernel is ``sum of K_d + sum over terms of strength^(order - 1) times products of centered
K_d``; see `interaction_oracles`.  EVERYSTUMP_EXAMPLES=N searches N new tables in each test.
"""

import warnings
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from interaction_oracles import dual_of, loss_of, make_ensemble, objectives, solve_dense
from oracles import search, seeds
from random_tables import KINDS
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from everystump import StumpLogisticRegression, StumpLogisticRegressionCV, StumpSVC
from everystump._core.solvers.problem import TableKernelMatrix
from everystump.bounds import loo_bound
from everystump.explain import measure_interactions

RECOMPUTED = 1e-6
MEASURES = ("mixed", "rank", "uniform", "lebesgue", "middle")
LOSSES = ("hinge", "squared_hinge", "logistic")
LEVELS = {
    "levels": lambda rng, n: rng.integers(0, 5, size=n).astype(float),
    "rare levels": lambda rng, n: rng.geometric(0.25, size=n).astype(float),
}
ALL_KINDS = {**KINDS, **LEVELS}


@pytest.fixture(autouse=True, scope="module")
def both_ways():
    """Solve even numbers of rows in their span, odd ones with the weights of the terms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TableKernelMatrix, "is_faster", lambda _, n_rows, *__: n_rows % 2 == 0)
        yield


@dataclass(frozen=True)
class Case:
    """A problem described by a few values that Hypothesis draws."""

    n: int
    kinds: tuple
    missing: tuple  # whether each feature has missing values
    terms: tuple
    seed: int
    loss: str = "hinge"
    measure: str = "mixed"
    log2_C: float = 0
    strength: float = 1.0
    cells: int = 32
    weighted: bool = False
    fit_intercept: bool = True
    tol: float = 1e-7

    @property
    def categories(self):
        return [d for d, kind in enumerate(self.kinds) if kind in LEVELS]

    def table(self):
        """Return X, y in {-1, 1} and positive weights (None if not weighted)."""
        rng = np.random.default_rng(self.seed)
        X = np.column_stack([ALL_KINDS[kind](rng, self.n) for kind in self.kinds])
        product = (X[:, 0] - np.median(X[:, 0])) * (X[:, 1] - np.median(X[:, 1]))
        y = np.where(2 * (product > 0) + rng.normal(size=self.n) > 0.7, 1, -1)
        y[:2] = -1, 1
        for d in np.flatnonzero(self.missing):
            X[rng.permutation(self.n)[: max(1, self.n // 6)], d] = np.nan
        weight = rng.choice([0.5, 1.0, 3.0, 10.0], size=self.n) if self.weighted else None
        return X, y, weight

    def new_rows(self, X):
        """Return rows of values of all rows, some moved, also beyond the training range."""
        rng = np.random.default_rng(self.seed + 1)
        new = X[rng.integers(len(X), size=(45, X.shape[1])), np.arange(X.shape[1])]
        numbers = [d for d in range(X.shape[1]) if d not in self.categories]
        new[15:, numbers] += rng.normal(size=(30, len(numbers))) * np.nanstd(X[:, numbers], axis=0)
        return new

    def cost(self, weight):
        return 2.0**self.log2_C * (np.ones(self.n) if weight is None else weight)

    def estimator(self, **changes):
        params = {
            "C": 2.0**self.log2_C,
            "measure": self.measure,
            "max_bins": self.n + 1,
            "categorical_features": self.categories,
            "fit_intercept": self.fit_intercept,
            "interactions": list(self.terms),
            "interaction_strength": self.strength,
            "interaction_bins": self.cells,
            "tol": self.tol,
            "n_jobs": 1,
            **changes,
        }
        if self.loss == "logistic":
            return StumpLogisticRegression(**params)
        return StumpSVC(loss=self.loss, **params)

    def ensemble(self, X, weight):
        return make_ensemble(
            X, weight, self.terms, self.measure, self.strength, self.cells, self.categories
        )


@st.composite
def cases(draw, max_rows=40, losses=LOSSES, order=None):
    """Draw a case; pairs, triples or both of up to five features."""
    d = draw(st.integers(2, 5))
    orders = order or draw(st.sampled_from([(2,), (2,), (3,), (2, 3)]))
    possible = [term for k in orders for term in combinations(range(d), k)] or [(0, 1)]
    return Case(
        n=draw(st.integers(6, max_rows)),
        kinds=tuple(draw(st.sampled_from(sorted(ALL_KINDS))) for _ in range(d)),
        missing=tuple(draw(st.sampled_from([False, False, True])) for _ in range(d)),
        terms=tuple(draw(st.lists(st.sampled_from(possible), min_size=1, unique=True))),
        seed=draw(st.integers(0, 2**20)),
        loss=draw(st.sampled_from(losses)),
        measure=draw(st.sampled_from(MEASURES)),
        log2_C=draw(st.integers(-10, 10)),
        strength=draw(st.sampled_from([1e-3, 0.1, 1.0, 10.0])),
        cells=draw(st.sampled_from([2, 3, 5, 32])),
        weighted=draw(st.booleans()),
        fit_intercept=draw(st.booleans()),
    )


# The optimum


def check_certificate(model, case, K, y, cost):
    """Check feasibility and the dual value from the dual variables; return both values."""
    certificate, beta = model.certificate_, model.dual_coef_
    assert certificate.converged
    assert np.all(y * beta >= 0)
    if case.loss != "squared_hinge":
        assert np.all(y * beta <= cost * (1 + 1e-9))
    if case.fit_intercept:
        assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    dual = dual_of(case.loss, y * beta, cost) - beta @ K @ beta / 2
    assert dual == pytest.approx(certificate.dual, abs=RECOMPUTED * certificate.primal)
    return certificate.primal, dual


def check_function(model, ensemble, X, y, cost, case, values):
    """Check the fitted curves and surfaces against the function of the dual variables.

    By strong convexity the distance of both functions is at most ``sqrt(2 gap)``, and so are the
    differences of their scores, times the norm of a row in the kernel's space.
    """
    primal, dual = values
    near = np.sqrt(2 * (max(primal - dual, 0.0) + 1e-9 * primal))
    new = case.new_rows(X)
    scores = model.decision_function(new)
    off = scores - ensemble.kernel(new) @ model.dual_coef_
    limit = near * np.sqrt(ensemble.largest)
    if case.fit_intercept:
        off, limit = off - off[0], 2 * limit
    assert np.abs(off).max() <= limit + 1e-9 * (1 + np.abs(scores).max())
    if ensemble.is_exact:
        loss = loss_of(case.loss, y * model.decision_function(X), cost)
        norm = np.sqrt(max(2 * (primal - loss), 0.0))
        expected = np.sqrt(max(model.dual_coef_ @ ensemble.gram @ model.dual_coef_, 0.0))
        assert norm == pytest.approx(expected, abs=near + 1e-7 * np.sqrt(primal))


def check(case):
    """Check the optimum, the certificate and the fitted function of a case."""
    X, y, weight = case.table()
    cost, ensemble = case.cost(weight), case.ensemble(X, weight)
    model = case.estimator().fit(X, y, sample_weight=weight)
    K = ensemble.gram
    primal, dual = values = check_certificate(model, case, K, y, cost)
    beta, b = solve_dense(case.loss, K, y, cost, fit_intercept=case.fit_intercept)
    theirs = objectives(case.loss, K, y, cost, beta, b)
    assert primal <= theirs[0] * (1 + case.tol + RECOMPUTED)
    assert dual <= theirs[0] * (1 + 1e-9)
    if not case.fit_intercept or abs(beta.sum()) <= 1e-9 * np.abs(beta).sum():
        assert primal >= theirs[1] - 1e-8 * abs(theirs[1])
        assert dual >= theirs[1] - (case.tol + RECOMPUTED) * primal
    check_function(model, ensemble, X, y, cost, case, values)


# A feature of one value has no stumps.
CONSTANT = Case(12, ("constant", "normal", "ties"), (False,) * 3, ((0, 1), (0, 1, 2), (1, 2)), 0)
# The last of two cells of a category holds all levels but one.
SHARED = Case(40, ("rare levels", "rare levels"), (True, False), ((0, 1),), 1, cells=2)


@given(cases(losses=["hinge"]))
@example(CONSTANT)
@example(SHARED)
@search(70)
def test_hinge(case):
    """LIBSVM with an intercept, an interior-point method without."""
    check(case)


@given(cases(losses=["squared_hinge", "logistic"]))
@example(replace(CONSTANT, loss="squared_hinge"))
@example(replace(SHARED, loss="logistic", fit_intercept=False))
@search(70)
def test_smooth_losses(case):
    """Newton's method on the kernel matrix."""
    check(case)


@given(cases(max_rows=250))
@search(40)
def test_longer_tables(case):
    """The same on up to 250 rows, where features have more values than cells."""
    check(case)


def check_light_rows(case):
    """Check the certificate for weights over 12 decades against an attained objective.

    Cells of light rows have votes, although their variance is tiny: a kernel without them would
    have a larger dual value than any attainable objective.
    """
    X, y, _ = case.table()
    weight = 10.0 ** np.random.default_rng(case.seed).uniform(-12, 0, size=case.n)
    cost, K = case.cost(weight), case.ensemble(X, weight).gram
    with warnings.catch_warnings():
        # Without the kernel of the rows, costs of 10^12 can take more than max_iter steps.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = case.estimator().fit(X, y, sample_weight=weight)
    beta = model.dual_coef_
    a = y * beta if case.loss == "squared_hinge" else np.clip(y * beta, 0, cost)
    dual = dual_of(case.loss, a, cost) - beta @ K @ beta / 2
    certificate = model.certificate_
    assert dual == pytest.approx(certificate.dual, abs=RECOMPUTED * certificate.primal)
    solution = solve_dense(case.loss, K, y, cost, fit_intercept=case.fit_intercept)
    attained, _ = objectives(case.loss, K, y, cost, *solution)
    assert certificate.dual <= attained * (1 + 1e-9)
    if certificate.converged and attained >= 1e-9:
        assert certificate.primal <= attained * (1 + case.tol + RECOMPUTED)
    else:
        is_hard = case.loss == "squared_hinge" and not case.fit_intercept and case.n % 2 == 1
        assert attained < 1e-9 or is_hard


# Without the kernel of the rows, this one stops far from the optimum, and says so.
STALLED = Case(
    n=19,
    kinds=("constant", "constant", "normal"),
    missing=(False, True, False),
    terms=((0, 1), (1, 2), (0, 2)),
    seed=326,
    loss="squared_hinge",
    measure="lebesgue",
    cells=2,
    fit_intercept=False,
)
LIGHT = Case(40, ("normal", "ties", "rare levels"), (False,) * 3, ((0, 1), (0, 2)), 0)


@given(cases(losses=["squared_hinge", "logistic"], order=(2,)), st.sampled_from([10, 30, 40]))
@example(replace(LIGHT, loss="logistic"), 40)
@example(replace(LIGHT, loss="squared_hinge"), 40)
@example(STALLED, 40)
@search(50)
def test_weights_over_twelve_decades(case, log2_C):
    """With a C of 2^40, the lightest rows have costs of about 1."""
    check_light_rows(replace(case, log2_C=log2_C, tol=1e-6))


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("log2_C", range(-10, 11, 4))
def test_all_costs(loss, fit_intercept, log2_C):
    """The same for costs from 2^-10 to 2^10 and several strengths on one table of all kinds."""
    kinds = ("normal", "ties", "rare levels", "heavy", "two")
    terms = (*combinations(range(5), 2), (0, 1, 2), (2, 3, 4))
    case = Case(120, kinds, (True, False, True, False, False), terms, 3, loss, "mixed", log2_C)
    for strength in (0.01, 1.0, 30.0):
        check(replace(case, strength=strength, fit_intercept=fit_intercept, weighted=True))


@pytest.mark.parametrize("cls", [StumpLogisticRegression, StumpLogisticRegressionCV])
@pytest.mark.parametrize("seed", seeds(6))
def test_several_classes(cls, seed):
    """Each class has the optimum of its own problem, also at the end of both paths."""
    case = Case(60, ("normal", "ties", "rare levels"), (True, False, False), (), seed, "logistic")
    X, _, weight = replace(case, weighted=True).table()
    y = np.random.default_rng(seed).permutation(60) % 3
    chosen = {"Cs": [0.1, 1.0], "cv": 2, "feature_weights": "equal"}
    chosen = chosen if cls is StumpLogisticRegressionCV else {}
    model = cls(
        multi_class="ovr",
        interactions=[(0, 1), (1, 2)],
        interaction_bins=4,
        interaction_strength=[0.5, 5.0] if chosen else 0.5,
        categorical_features=case.categories,
        tol=1e-7,
        n_jobs=2,
        **chosen,
    ).fit(X, y, sample_weight=weight)
    ensemble = make_ensemble(
        X,
        weight,
        model.interactions_,
        getattr(model, "measure_", "mixed"),
        model.interaction_strength_,
        4,
        case.categories,
    )
    K, cost = ensemble.gram, getattr(model, "C_", 1.0) * weight
    for k, certificate in enumerate(model.certificate_):
        sign = np.where(y == k, 1, -1)
        beta = model.dual_coef_[k]
        dual = dual_of("logistic", sign * beta, cost) - beta @ K @ beta / 2
        best, _ = objectives(
            "logistic", K, sign, cost, *solve_dense("logistic", K, sign, cost, fit_intercept=True)
        )
        assert certificate.converged
        assert certificate.primal == pytest.approx(best, rel=RECOMPUTED)
        assert certificate.dual == pytest.approx(dual, abs=RECOMPUTED * best)


# The hard margin


def has_margin(K, y, *, fit_intercept):
    """Whether weights of at most 1 separate the rows by 1e-6 of their norm."""
    values, vectors = np.linalg.eigh(K)
    votes = vectors * np.sqrt(np.maximum(values, 0) / (values.max() or 1.0))
    if fit_intercept:
        votes = np.column_stack([votes, np.ones(len(y))])
    n, d = votes.shape
    sides = np.column_stack([-y[:, None] * votes, np.ones(n)])
    found = linprog(np.append(np.zeros(d), -1.0), sides, np.zeros(n), bounds=[(-1, 1)] * (d + 1))
    return -found.fun > 1e-6


@given(cases(max_rows=30, losses=["hinge"]))
@search(60)
def test_hard_margin(case):
    """Every row has a margin of 1, and the gap is that of the dual variables."""
    case = replace(case, cells=32, terms=tuple(t for t in case.terms if len(t) == 2) or ((0, 1),))
    X, y, weight = case.table()
    ensemble = case.ensemble(X, weight)
    try:
        model = case.estimator(C=np.inf).fit(X, y, sample_weight=weight)
    except ValueError as error:
        assert "no stump ensemble separates" in str(error)
        assert not has_margin(ensemble.gram, y, fit_intercept=case.fit_intercept)
        return
    assert ensemble.is_exact and model.exact_
    assert np.min(y * model.decision_function(X)) >= 1 - 1e-9
    cost = np.full(case.n, np.inf)
    values = check_certificate(model, case, ensemble.gram, y, cost)
    no_loss = np.zeros(case.n)
    check_function(model, ensemble, X, y, no_loss, case, values)


# Bounds


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", seeds(6))
def test_leave_one_out_bound(loss, seed):
    """With the kernel fixed, no leave-one-out error exceeds the bound, whose kernel is exact."""
    kinds, missing = ("ties", "levels", "two"), (True, False, False)
    terms = ((0, 1), (1, 2), (0, 1, 2)) if seed % 2 else ((0, 1), (0, 2))
    case = Case(16, kinds, missing, terms, seed, loss, log2_C=seed % 4 - 2, fit_intercept=False)
    X, y, _ = case.table()
    model = case.estimator(tol=1e-9).fit(X, y)
    K, cost = case.ensemble(X, None).gram, case.cost(None)
    (machine,) = model.kernel_ensembles(X, y)[0].machines
    np.testing.assert_allclose(machine.diagonal, np.diag(K), rtol=1e-9)
    assert machine.kappa >= np.diag(K).max() * (1 - 1e-12)
    margins = []
    for i in range(case.n):
        rest = np.arange(case.n) != i
        part = K[np.ix_(rest, rest)]
        beta, _ = solve_dense(loss, part, y[rest], cost[rest], fit_intercept=False)
        margins.append(y[i] * (K[i, rest] @ beta))
    bound = loo_bound(model, X, y)
    assert np.mean(np.array(margins) < -1e-6) <= bound.value
    assert bound.value == np.mean(y * model.dual_coef_ * np.diag(K) > y * (K @ model.dual_coef_))


def test_bounds_with_interactions_do_not_hold():
    """The cells and centers depend on the training rows, and a bound says so."""
    X, y, _ = Case(40, ("ties", "two"), (False, False), ((0, 1),), 0).table()
    parameters = {
        "measure": "lebesgue",
        "feature_range": (-5, 5),
        "fit_intercept": False,
        "tol": 1e-9,
    }
    additive = loo_bound(StumpSVC(**parameters).fit(X, y), X, y)
    model = StumpSVC(interactions=[(0, 1)], **parameters).fit(X, y)
    bound = loo_bound(model, X, y)
    reason = "interactions: their bins and their centers depend on the training samples"
    assert additive.holds and not bound.holds
    assert set(bound.violations) - set(additive.violations) == {reason}
    binned = StumpSVC(interactions=[(0, 1)], interaction_bins=2, **parameters).fit(X, y)
    assert any(text.startswith("max_bins or inter") for text in loo_bound(binned, X, y).violations)


@pytest.mark.parametrize("interactions", ["auto", 1])
def test_bounds_of_chosen_interactions_do_not_hold(interactions):
    """The labels chose between kernels, even if no interaction is left."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 2)).astype(float)
    y = X[:, 0] > 1
    parameters = {"measure": "uniform", "feature_range": (0, 3), "fit_intercept": False, "C": 0.1}
    assert loo_bound(StumpSVC(**parameters).fit(X, y), X, y).holds
    model = StumpSVC(interactions=interactions, **parameters).fit(X, y)
    bound = loo_bound(model, X, y)
    assert not bound.holds
    assert "interactions: the pairs were chosen on the training samples" in bound.violations


# The measure of interactions


def principal_votes(feature):
    """Return the centered stumps at each row, rotated to principal directions of the rows."""
    votes = np.sqrt(2 * feature.mass) * (feature.stumps - feature.share @ feature.stumps)
    values, directions = np.linalg.eigh((votes.T * feature.share) @ votes)
    return (votes @ directions[:, values > 1e-12 * values.max()])[feature.code]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", seeds(4))
def test_decrements(loss, seed):
    """They are those of the dense matrices of all products of stumps."""
    kinds, missing = ("normal", "rare levels", "normal", "heavy"), (True, False, False, False)
    terms = (*combinations(range(4), 2), *combinations(range(4), 3))
    case = Case(80, kinds, missing, terms, seed, loss, log2_C=-1, cells=6, weighted=seed % 2 == 0)
    X, y, weight = case.table()
    cost, ensemble = case.cost(weight), case.ensemble(X, weight)
    estimator = case.estimator(tol=0.01)
    additive = case.estimator(tol=0.01, interactions=0).fit(X, y, sample_weight=weight)
    a = np.abs(additive.dual_coef_)
    curvature = {"logistic": a * (1 - a / cost), "squared_hinge": 2 * cost * (a > 0)}
    W = curvature.get(loss, a)
    table = measure_interactions(
        X,
        y,
        estimator=estimator,
        interaction_strength=0.3,
        interaction_bins=6,
        max_interaction_order=3,
        sample_weight=weight,
    )
    found = dict(zip(table["features"], table["decrement"], strict=True))
    assert set(found) == set(terms)
    for term, features in ensemble.terms.items():
        V = np.ones((case.n, 1))
        for feature in features:
            votes = principal_votes(feature)
            V = (V[:, :, None] * votes[:, None, :]).reshape(case.n, -1)
        V = V * 0.3 ** ((len(term) - 1) / 2)
        g, H = V.T @ additive.dual_coef_, 1 + W @ V**2 - (W @ V) ** 2 / W.sum()
        assert found[term] == pytest.approx(np.sum(g**2 / H) / 2, rel=1e-6), term


@pytest.mark.slow
def test_the_pair_is_found_among_many_features_and_classes():
    """1,000 features have 499,500 pairs; three classes depend on one of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1000))
    y = np.digitize(X[:, 7] * X[:, 911], [-0.3, 0.3])
    model = StumpLogisticRegression(0.1, interactions=3, interaction_strength=1.0).fit(X, y)
    assert (7, 911) in model.interactions_
    assert len(model.interactions_) == 3
