"""The posterior of multinomial models, against the dense inverse of Newton's matrix."""

import numpy as np
import pytest
from scipy.special import softmax
from test_posterior import correlated_table

from everystump import StumpLogisticRegression
from everystump._core import softmaxloops
from everystump._core.losses import Logistic
from everystump._core.solvers.multinomial_blocks import MultinomialBlocks
from everystump._core.solvers.multinomial_posterior import MultinomialPosterior
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.problem import Problem


def table_of_classes(n_classes, n=400, seed=0):
    """Return correlated features, and classes that depend on two of them."""
    rng = np.random.default_rng(seed)
    X, f = correlated_table(n, rng)
    f += rng.normal(size=n)
    return X, np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))


class Explicit:
    """Newton's matrix of all classes, from the votes of every row and their softmax.

    Intercepts are the last weight of each class.  A common shift of all classes is projected out.
    """

    def __init__(self, model, X, y, weight=None):
        self.model, n_classes = model, len(model.classes_)
        self.table, self.design = model._training_design(X, y, weight)
        terms = self.design.terms
        units = np.eye(terms.n_weights)
        self.S = np.array([terms.matvec(unit) for unit in units]).T
        scores = [self.design.scores(Weights(unit), np.arange(len(y))) for unit in units]
        self.scores = model.decision_function(X).T
        p, cost = softmax(self.scores, axis=0), model.C * np.array(self.table.weight)
        W = cost * (np.einsum("ki,kl->kli", p, np.eye(n_classes)) - np.einsum("ki,li->kli", p, p))
        self.votes = np.column_stack([*scores, np.full(len(y), float(model.fit_intercept))])
        self.data = np.einsum("ia,kli,ib->kalb", self.votes, W, self.votes, optimize=True)
        self.shape = self.data.shape[:2]
        prior = np.tile(np.append(np.ones(len(units)), 0.0), n_classes)
        matrix = self.data.reshape(2 * [np.prod(self.shape)]) + np.diag(prior)
        center = np.kron(np.eye(n_classes) - 1 / n_classes, np.eye(self.shape[1]))
        inverse = np.linalg.pinv(center @ matrix @ center, rcond=1e-11)
        self.inverse = inverse.reshape(self.data.shape)
        shares = [column.weights / column.weights.sum() for column in self.design.columns.columns]
        self.starts, self.shares = terms.chains.starts, np.concatenate(shares)
        self.curves = self.S[: terms.n_bins].copy()
        for share, a, b in zip(shares, self.starts[:-1], self.starts[1:], strict=True):
            if model.fit_intercept:
                self.curves[a:b] -= share @ self.S[a:b]

    def standard_errors(self, k):
        """Return the standard errors of the curves of a class at their bins."""
        own = self.inverse[k, :-1, k, :-1]
        variances = np.einsum("ij,jk,ik->i", self.curves, own, self.curves)
        return np.split(np.sqrt(self.model.C * variances), self.starts[1:-1])

    def intercept_error(self, k):
        row = np.append(self.shares @ self.S[: len(self.shares)], 1.0)
        return np.sqrt(self.model.C * row @ self.inverse[k, :, k] @ row)

    def posterior(self, n_threads=1):
        problem = Problem(
            self.design.terms, self.design.packing, Logistic, self.model.fit_intercept
        )
        cost = self.model.C * np.array(self.table.weight)
        blocks = MultinomialBlocks(
            self.design.packing, None, self.table.label, cost, self.shape[0], n_threads
        )
        rows = MultinomialRows(blocks)
        rows.set_row_scores(self.scores)
        return MultinomialPosterior(problem, rows)


class Weights:
    """Coefficients without an intercept."""

    intercept = 0.0

    def __init__(self, weights):
        self.weights = weights


@pytest.fixture(scope="module")
def explicit():
    X, y = table_of_classes(4, n=300)
    model = StumpLogisticRegression(max_bins=8, tol=1e-6, n_jobs=1).fit(X, y)
    return Explicit(model, X, y)


def test_noise_has_the_covariance_of_the_softmax():
    rng = np.random.default_rng(0)
    p, cost = rng.dirichlet(np.ones(70)), 2.5
    n = 40_000
    out = np.empty((70, n))
    softmaxloops.noise(np.tile(p[:, None], n), np.full(n, cost), np.arange(n), 7, out)
    exact = cost * (np.diag(p) - np.outer(p, p))
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    # 4,900 entries with errors of at most sqrt(2 / 40,000) = 0.007.
    assert np.abs((out @ out.T / n - exact) / scale).max() < 5 * 0.0071
    np.testing.assert_allclose(out.sum(axis=0), 0.0, atol=1e-12)
    assert np.abs(out.mean(axis=1) / np.sqrt(np.diag(exact))).max() < 5 / np.sqrt(n)


def test_noise_depends_on_the_row_and_the_seed_only():
    p, cost = np.full((3, 50), 1 / 3), np.ones(50)
    whole, part, other = (np.empty((3, n)) for n in (50, 20, 50))
    softmaxloops.noise(p, cost, np.arange(50), 3, whole)
    softmaxloops.noise(p[:, :20], cost[:20], np.arange(30, 50), 3, part)
    softmaxloops.noise(p, cost, np.arange(50), 4, other)
    np.testing.assert_array_equal(part, whole[:, 30:])
    assert np.mean(other == whole) < 0.5


def test_samples_have_the_covariance_of_the_posterior(explicit):
    posterior, rng = explicit.posterior(), np.random.default_rng(1)
    samples = []
    for _ in range(2000):
        parts = posterior.sample(rng)
        samples.append([np.append(part.weights, part.intercept) for part in parts])
    samples = np.array(samples).reshape(2000, -1)
    found = samples.T @ samples / len(samples)
    exact = explicit.inverse.reshape(found.shape)
    # A first weight of each feature has no effect and keeps its prior.
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert np.abs((found - exact) / scale).max() < 5.5 * np.sqrt(2 / 2000)
    assert np.trace(found) == pytest.approx(np.trace(exact), rel=0.02)


def test_effective_number_of_parameters(explicit):
    """The trace of the inverse times the curvature of the data, intercepts included."""
    posterior, rng = explicit.posterior(), np.random.default_rng(1)
    found = [sum(part.explained for part in posterior.sample(rng)) for _ in range(600)]
    size = np.prod(explicit.shape)
    data = explicit.data.reshape(size, size)
    exact = np.trace(explicit.inverse.reshape(size, size) @ data)
    assert 5 < exact < 60
    assert np.mean(found) == pytest.approx(exact, rel=4 * np.sqrt(3 / exact / 600))


def test_the_known_part_of_the_variances(explicit):
    """``2 G - G B G`` with dense matrices: at most the variance given the other features."""
    posterior = explicit.posterior()
    found = posterior.chain_variances(explicit.shares)
    n_classes, n = explicit.shape
    basis = posterior._basis
    matrix = explicit.data + np.einsum(
        "kl,ab->kalb", np.eye(n_classes), np.diag(np.append(np.ones(n - 1), 0.0))
    )
    # Without the intercepts, which are eliminated, in principal directions of the classes.
    rotated = np.einsum("kq,kalb,lr->qarb", basis, matrix, basis)
    q = basis.shape[1]
    own, cross = rotated[:, :-1, :, :-1], rotated[:, :-1, :, -1]
    pulled = cross.reshape(-1, q) @ np.linalg.solve(rotated[:, -1, :, -1], cross.reshape(-1, q).T)
    reduced = own - pulled.reshape(own.shape)
    for a, b in zip(explicit.starts[:-1], explicit.starts[1:], strict=True):
        B = reduced[:, a:b, :, a:b]
        G = np.zeros_like(B)
        for k in range(q):
            pull, total = cross[k, a:b, k], rotated[k, -1, k, -1]
            G[k, :, k] = np.linalg.inv(own[k, a:b, k, a:b] - np.outer(pull, pull) / total)
        size = q * (b - a)
        dense = [part.reshape(size, size) for part in (G, B)]
        exact = 2 * dense[0] - dense[0] @ dense[1] @ dense[0]
        best = np.linalg.inv(dense[1])
        assert np.linalg.eigvalsh(best - exact).min() > -1e-9
        for k in range(n_classes):
            rows = np.einsum("q,ib->iqb", basis[k], explicit.curves[a:b, a:b]).reshape(b - a, -1)
            expected = np.einsum("ij,jk,ik->i", rows, exact, rows)
            np.testing.assert_allclose(found[k, a:b], expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("n_classes", [3, 6])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_standard_errors_equal_those_of_the_dense_inverse(n_classes, C):
    X, y = table_of_classes(n_classes, n=600)
    model = StumpLogisticRegression(C=C, max_bins=16, tol=1e-6).fit(X, y)
    model.compute_bands(X, y, n_samples=150)
    exact = Explicit(model, X, y)
    for k, own in enumerate(model.standard_errors_):
        ratios = [a.values / b for a, b in zip(own, exact.standard_errors(k), strict=True)]
        # The simulated part has a relative error of sqrt(2 / 150), and is a fraction of the whole.
        np.testing.assert_allclose(np.concatenate(ratios), 1.0, rtol=0.1)
        assert np.mean(np.concatenate(ratios)) == pytest.approx(1.0, abs=0.02)
        # The error of the intercept is simulated alone.
        assert own.intercept == pytest.approx(exact.intercept_error(k), rel=4 / np.sqrt(300))


def test_the_default_number_of_samples_reaches_its_accuracy():
    X, y = table_of_classes(4, n=600)
    model = StumpLogisticRegression(max_bins=16, tol=1e-6).fit(X, y).compute_bands(X, y)
    exact = Explicit(model, X, y)
    for k, own in enumerate(model.standard_errors_):
        for found, errors in zip(own, exact.standard_errors(k), strict=True):
            # On average over a curve, 3%.
            assert np.sqrt(np.mean((found.values / errors - 1) ** 2)) < 0.06


def test_without_an_intercept_all_is_simulated():
    X, y = table_of_classes(3, n=300)
    model = StumpLogisticRegression(fit_intercept=False, max_bins=8, tol=1e-6).fit(X, y)
    model.compute_bands(X, y, n_samples=400)
    exact = Explicit(model, X, y)
    for k, own in enumerate(model.standard_errors_):
        for found, errors in zip(own, exact.standard_errors(k), strict=True):
            # Curves are extended to the ends of their range.
            np.testing.assert_allclose(found.values[1:-1], errors, rtol=5 / np.sqrt(800))


def test_scores_of_models_with_interactions():
    X, y = table_of_classes(3, n=150)
    model = StumpLogisticRegression(
        interactions=[(0, 1)], interaction_bins=4, max_bins=6, tol=1e-6
    ).fit(X, y)
    exact, rng = Explicit(model, X, y), np.random.default_rng(0)
    posterior, rows, n = exact.posterior(), np.arange(len(y)), 400
    squares = np.zeros((3, len(y)))
    for _ in range(n):
        squares += [exact.design.scores(part, rows) ** 2 for part in posterior.sample(rng)]
    expected = [
        np.einsum("ia,ab,ib->i", exact.votes, exact.inverse[k, :, k], exact.votes) for k in range(3)
    ]
    np.testing.assert_allclose(squares / n, expected, rtol=5 * np.sqrt(2 / n))
    errors = model.compute_bands(X, y, n_samples=20).standard_errors_
    assert all(np.all(own.surfaces[0].values > 0) for own in errors)


def test_threads_change_only_rounding(explicit):
    """The noise of a row depends on its number, not on its block."""
    one, other = (explicit.posterior(n_threads) for n_threads in (1, 3))
    first, second = (p.sample(np.random.default_rng(5)) for p in (one, other))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a.weights, b.weights, atol=1e-8)


def test_two_classes_as_a_multinomial_problem():
    """The difference of two scores has a prior of twice the variance: C is twice as large."""
    X, y = table_of_classes(2, n=500)
    binary = StumpLogisticRegression(C=1.0, max_bins=12, tol=1e-8).fit(X, y)
    binary.compute_bands(X, y, n_samples=400)
    table, design = binary._training_design(X, y, None)
    score = binary.decision_function(X)
    blocks = MultinomialBlocks(design.packing, None, table.label, np.full(len(y), 0.5), 2, 1)
    rows = MultinomialRows(blocks)
    rows.set_row_scores(np.array([-score, score]) / 2)
    posterior = MultinomialPosterior(Problem(design.terms, design.packing, Logistic), rows)
    shares = [column.weights / column.weights.sum() for column in design.columns.columns]
    known = posterior.chain_variances(np.concatenate(shares))
    np.testing.assert_allclose(known[0], known[1])
    # Of the difference, in units of C = 1/2: 4 times the variance of one score, times C.
    errors = np.split(np.sqrt(0.5 * 4 * known[0]), design.terms.chains.starts[1:-1])
    for curve, own in zip(binary.standard_errors_, errors, strict=True):
        assert np.all(own <= 1.05 * curve.values)
        assert np.mean(own / curve.values) > 0.6
