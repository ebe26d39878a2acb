"""StumpRegressor against an explicit kernel in plain NumPy, LIBSVM and other solvers.

EVERYSTUMP_EXAMPLES=N searches N new tables in each test instead of a few fixed ones.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from interaction_oracles import make_ensemble
from oracles import search
from random_tables import KINDS
from regression_oracles import KINKED, SMOOTH, Loss, libsvm, objectives, solve_dense
from sklearn.kernel_ridge import KernelRidge

from everystump import StumpRegressor
from everystump._core.solvers.problem import TableKernelMatrix

RECOMPUTED = 1e-6
MEASURES = ("mixed", "rank", "uniform", "lebesgue", "middle")
LEVELS = {
    "levels": lambda rng, n: rng.integers(0, 5, size=n).astype(float),
    "rare levels": lambda rng, n: rng.geometric(0.25, size=n).astype(float),
}
ALL_KINDS = {**KINDS, **LEVELS}
TARGETS = {
    "noise": lambda rng, signal: rng.normal(size=len(signal)),
    "signal": lambda rng, signal: signal + 0.3 * rng.normal(size=len(signal)),
    "ties": lambda rng, signal: np.round(signal + rng.normal(size=len(signal))),
    "heavy": lambda rng, signal: signal + rng.standard_cauchy(size=len(signal)),
    "two": lambda rng, signal: (signal + rng.normal(size=len(signal)) > 0.3).astype(float),
}
COUNTS = {
    "counts": lambda rng, signal: rng.poisson(np.exp(signal)),
    "rare": lambda rng, signal: rng.poisson(0.2 * np.exp(signal)),
    "amounts": lambda rng, signal: rng.gamma(2.0, np.exp(signal)),
}


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
    seed: int
    loss: Loss
    missing: tuple = ()  # the features with missing values
    terms: tuple = ()
    target: str = "signal"
    unit: int = 0  # targets are in units of this power of 10
    offset: float = 0.0  # added to targets, in units of their standard deviation
    copies: int = 0  # rows that are repeated with another target
    measure: str = "mixed"
    log2_C: float = 0
    strength: float = 1.0
    cells: int = 32
    weighted: bool = False
    fit_intercept: bool = True
    tol: float = 1e-6

    @property
    def categories(self):
        return [d for d, kind in enumerate(self.kinds) if kind in LEVELS]

    def table(self):
        """Return X, targets and positive weights (None if not weighted)."""
        rng = np.random.default_rng(self.seed)
        X = np.column_stack([ALL_KINDS[kind](rng, self.n) for kind in self.kinds])
        centered = np.arctan(X - np.median(X, axis=0))
        signal = centered[:, 0] + (centered[:, 0] * centered[:, -1])
        y = self._targets(rng, signal)
        for d in self.missing:
            X[rng.permutation(self.n)[: max(1, self.n // 6)], d] = np.nan
        if self.copies:
            again = rng.integers(0, self.n, size=self.copies)
            X, y = np.vstack([X, X[again]]), np.append(y, self._targets(rng, signal)[again])
        weight = rng.choice([0.5, 1.0, 3.0, 10.0], size=len(y)) if self.weighted else None
        return X, y * 10.0**self.unit, weight

    def _targets(self, rng, signal):
        if not self.loss.has_log_link:
            y = TARGETS[self.target](rng, signal)
            return y + self.offset * (y.std() or 1.0)
        y = np.asarray(COUNTS[self.target](rng, signal), dtype=float)
        if self.loss.name == "gamma":
            return y + 0.1
        y[0] += 1.0
        return y

    def cost(self, weight, n):
        return 2.0**self.log2_C * (np.ones(n) if weight is None else weight)

    def estimator(self, **changes):
        params = {
            "C": 2.0**self.log2_C,
            "loss": self.loss.name,
            "quantile": self.loss.quantile,
            "epsilon": self.loss.epsilon,
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
        return StumpRegressor(**params)

    def ensemble(self, X, weight):
        return make_ensemble(
            X, weight, self.terms, self.measure, self.strength, self.cells, self.categories
        )


@st.composite
def cases(draw, losses=SMOOTH + KINKED, max_rows=40, with_terms=False):
    """Draw a case of up to five features, with pairs and triples if wanted."""
    d, name = draw(st.integers(2 if with_terms else 1, 5)), draw(st.sampled_from(losses))
    possible = [term for k in (2, 3) for term in combinations(range(d), k)]
    terms = st.lists(st.sampled_from(possible), min_size=1, max_size=4, unique=True)
    log_link = name in ("poisson", "gamma")
    return Case(
        n=draw(st.integers(6 if with_terms else 2, max_rows)),
        kinds=tuple(draw(st.sampled_from(sorted(ALL_KINDS))) for _ in range(d)),
        missing=tuple(k for k in range(d) if draw(st.sampled_from([False, False, True]))),
        seed=draw(st.integers(0, 2**20)),
        loss=Loss(
            name,
            draw(st.sampled_from([0.05, 0.3, 0.5, 0.9])),
            draw(st.sampled_from([None, 0.01, 0.3, 2.0])),
        ),
        terms=tuple(draw(terms)) if with_terms else (),
        target=draw(st.sampled_from(sorted(COUNTS if log_link else TARGETS))),
        unit=0 if log_link else draw(st.sampled_from([0, 0, -9, 12])),
        offset=0.0 if log_link else draw(st.sampled_from([0.0, 3.0, -50.0])),
        copies=draw(st.sampled_from([0, 0, 1, 3])),
        measure=draw(st.sampled_from(MEASURES)),
        log2_C=draw(st.integers(-12, 10)),
        strength=draw(st.sampled_from([1e-2, 1.0, 10.0])),
        cells=draw(st.sampled_from([2, 5, 32])),
        weighted=draw(st.booleans()),
        fit_intercept=draw(st.booleans()),
    )


def scaled(case, y, weight):
    """Return scaled targets, and the center and factor of scores."""
    center, scale = case.loss.scale(y, weight, fit_intercept=case.fit_intercept)
    shift, factor = (np.log(scale), 1.0) if case.loss.has_log_link else (center, scale)
    return (y - center) / scale, shift, factor


def energy_of(model, ensemble, factor):
    """Return the squared norm of the curves: the least one of stump weights that give them."""
    total = 0.0
    for feature, shape in zip(ensemble.plain, model.shapes_, strict=True):
        points = np.arange(len(feature.knots)) if feature.is_category else feature.knots
        points = np.append(points, [np.nan] * (len(feature.stumps) - len(points)))
        votes = np.sqrt(feature.mass / 2) * (2 * feature.stumps - 1)
        table = shape(points) / factor
        weights = np.linalg.lstsq(votes - votes[0], table - table[0], rcond=1e-12)[0]
        total += weights @ weights
    return total


def check_certificate(model, case, K, t, cost, factor):
    """Check feasibility and the dual value from the dual variables; return both values."""
    certificate, beta = model.certificate_, model.dual_coef_ / factor
    assert certificate.converged
    low, high = case.loss.limits(t, cost)
    slack = 1e-9 * (cost + np.abs(beta))
    assert np.all((beta >= low - slack) & (beta <= high + slack))
    if case.fit_intercept:
        assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    dual = float(case.loss.dual(t, beta, cost).sum()) - beta @ K @ beta / 2
    assert dual == pytest.approx(certificate.dual, abs=RECOMPUTED * certificate.primal + 1e-12)
    return certificate.primal, dual


def check_primal(model, case, ensemble, X, t, cost, shift, factor):
    """Check the primal value of additive curves.

    Without an intercept the norm of a category depends on how constants are divided.
    """
    if case.terms or (case.categories and not case.fit_intercept):
        return
    scores = (model._decision_function(model._check_samples(X)) - shift) / factor
    loss = float(cost @ case.loss.value(t, scores))
    primal = energy_of(model, ensemble, factor) / 2 + loss
    expected = model.certificate_.primal
    assert primal == pytest.approx(expected, rel=max(RECOMPUTED, case.tol), abs=1e-10)


def check(case):
    """Check the optimum and the certificate of a case."""
    X, y, weight = case.table()
    cost, ensemble = case.cost(weight, len(y)), case.ensemble(X, weight)
    model = case.estimator().fit(X, y, sample_weight=weight)
    K, (t, shift, factor) = ensemble.gram, scaled(case, y, weight)
    primal, dual = check_certificate(model, case, K, t, cost, factor)
    check_primal(model, case, ensemble, X, t, cost, shift, factor)
    solvers = [solve_dense(case.loss, K, t, cost, fit_intercept=case.fit_intercept)]
    if case.loss.is_kinked and case.loss.name != "quantile" and case.fit_intercept:
        solvers.append(libsvm(case.loss, K, t, cost))
    for beta, b in solvers:
        theirs = objectives(case.loss, K, t, cost, beta, b)
        assert primal <= theirs[0] * (1 + case.tol + RECOMPUTED) + 1e-12
        assert dual <= theirs[0] * (1 + 1e-8) + 1e-12
        low, high = case.loss.limits(t, cost)
        feasible = np.all((beta >= low) & (beta <= high))
        if feasible and (not case.fit_intercept or abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()):
            assert primal >= theirs[1] - 1e-7 * abs(theirs[1])
            assert dual >= theirs[1] - (case.tol + RECOMPUTED) * primal - 1e-12


@given(cases(losses=SMOOTH))
@search(100)
def test_smooth_losses(case):
    """Newton's method on the kernel matrix."""
    check(case)


@given(cases(losses=KINKED))
@search(100)
def test_kinked_losses(case):
    """An interior-point method, and LIBSVM for losses that are symmetric."""
    check(case)


@given(cases(with_terms=True))
@search(60)
def test_interactions(case):
    """The same with pairs and triples of features."""
    check(case)


@given(cases(max_rows=250))
@search(20)
def test_longer_tables(case):
    """The same on up to 250 rows."""
    check(case)


# A perfect fit: the optimum is 0, and rounding must not hide it.
CONSTANT_GAMMA = Case(6, ("normal",), 604135, Loss("gamma"), target="rare", log2_C=5)


@example(CONSTANT_GAMMA)
@given(cases(losses=("poisson", "gamma"), max_rows=12))
@search(10)
def test_log_links_of_few_rows(case):
    """The same on few rows, some with equal targets."""
    check(case)


@pytest.mark.parametrize("log2_C", [-8, -2, 0, 3, 8])
def test_squared_loss_is_kernel_ridge_regression(log2_C):
    """Without an intercept, ``KernelRidge(alpha=1 / (2 C))`` on the precomputed kernel."""
    kinds = ("normal", "ties", "levels")
    case = Case(40, kinds, 1, Loss("squared"), weighted=True, log2_C=log2_C, tol=1e-10)
    case = replace(case, fit_intercept=False)
    X, y, weight = case.table()
    K = case.ensemble(X, weight).gram
    ridge = KernelRidge(alpha=1 / (2 * 2.0**log2_C), kernel="precomputed")
    ridge.fit(K, y, sample_weight=weight)
    model = case.estimator().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), ridge.predict(K), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.dual_coef_, ridge.dual_coef_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", SMOOTH + KINKED)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_several_hundred_rows(name, fit_intercept):
    """The same on 301 rows of all kinds of columns, with missing values and weights."""
    kinds = ("normal", "ties", "two", "rare", "constant", "heavy", "order", "levels")
    target = "amounts" if name in ("poisson", "gamma") else "signal"
    case = Case(300, kinds, 5, Loss(name, 0.9), (0, 3, 7), target=target, copies=1, weighted=True)
    for log2_C in (-6, 2):
        check(replace(case, fit_intercept=fit_intercept, log2_C=log2_C))
