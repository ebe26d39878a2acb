"""The posterior of the weights, against the inverse of Newton's matrix from its definition."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from everystump import StumpLogisticRegression, StumpRegressor, StumpSVC
from everystump._core import blocks
from everystump._core.solvers import couplings
from everystump._core.solvers.newton_system import conjugate_gradients
from everystump._core.solvers.posterior import Posterior
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.row_blocks import SolverBlocks
from everystump._core.solvers.rows import Rows
from everystump._core.standard_errors import FittedRows


def correlated_table(n, rng, n_features=3):
    """Return features with correlations of 0.5, and an additive function of them."""
    X = rng.normal(size=(n, n_features)) + rng.normal(size=(n, 1))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 3


class Explicit:
    """Newton's matrix of a fitted model without interactions, from the votes of every row."""

    def __init__(self, model, X, y, weight=None):
        table, self.design = model._training_design(X, y, weight)
        chains, bins = self.design.terms.chains, self.design.packing.codes.bins
        self.S = np.array([chains.matvec(e) for e in np.eye(len(chains.jumps))]).T
        entries = self.design.packing.flat_bins(bins)  # in any order of the features
        V = np.array([self.S[row].sum(axis=0) for row in entries])
        (target,), (scores,) = table.problems(), model._problem_scores(table)
        loss = model._loss_family()
        self.rows = FittedRows(loss, target, table.weight, table.sample_weight, scores, model.C)
        margin = loss.signs(target) * scores
        W = loss.for_rows(model.C * np.array(table.weight), target).curvature(margin)
        centered = V - (W @ V) / W.sum()
        self.data = (centered.T * W) @ centered
        self.inverse = np.linalg.inv(np.eye(len(self.S)) + self.data)
        self.starts = chains.starts
        weights = [column.weights / column.weights.sum() for column in self.design.columns.columns]
        self.curves = self.S.copy()
        for d, (a, b) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            self.curves[a:b] -= weights[d] @ self.S[a:b]

    @property
    def n_parameters(self):
        return 1 + np.trace(self.inverse @ self.data)

    def standard_errors(self, factor):
        variances = np.einsum("ij,jk,ik->i", self.curves, self.inverse, self.curves)
        scale = self.rows.C * self.rows.dispersion(self.n_parameters)
        return np.split(factor * np.sqrt(scale * variances), self.starts[1:-1])

    def posterior(self):
        problem = Problem(self.design.terms, self.design.packing, self.rows.loss)
        own = self.rows
        parts = SolverBlocks(
            self.design.packing, None, own.target, own.loss, own.weight, own.C, n_threads=1
        )
        rows = Rows(parts, own.C)
        rows.set_scores(own.scores)
        return Posterior(problem, rows)


@pytest.fixture(scope="module")
def explicit():
    rng = np.random.default_rng(0)
    X, f = correlated_table(300, rng)
    y = rng.random(300) < 1 / (1 + np.exp(-f))
    return Explicit(StumpLogisticRegression(max_bins=12).fit(X, y), X, y)


def test_samples_have_the_covariance_of_the_posterior(explicit):
    posterior, rng = explicit.posterior(), np.random.default_rng(1)
    samples = np.array([posterior.sample(rng).weights for _ in range(4000)])
    found, exact = samples.T @ samples / len(samples), explicit.inverse
    # Entries of the covariance of 4,000 samples have errors of at most sqrt(2 / 4000) = 0.022.
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert np.abs((found - exact) / scale).max() < 5 * 0.022
    assert np.trace(found) == pytest.approx(np.trace(exact), rel=0.02)


def test_effective_number_of_parameters(explicit):
    posterior, rng = explicit.posterior(), np.random.default_rng(1)
    found = np.mean([posterior.sample(rng).explained for _ in range(1000)])
    # The relative error of a sample is below sqrt(3 / n_parameters).
    n = explicit.n_parameters
    assert 3 < n < 30
    assert found == pytest.approx(n, rel=4 * np.sqrt(3 / n / 1000))


def shares_of(explicit):
    return np.concatenate([c.weights / c.weights.sum() for c in explicit.design.columns.columns])


def test_conditional_variances_are_those_given_the_other_features(explicit):
    """The inverse of a diagonal block, without any sampling."""
    found = explicit.posterior().conditional_variances(shares_of(explicit))
    matrix = np.eye(len(found)) + explicit.data
    for a, b in pairwise(explicit.starts):
        curves = explicit.curves[a:b, a:b]
        exact = np.diag(curves @ np.linalg.inv(matrix[a:b, a:b]) @ curves.T)
        np.testing.assert_allclose(found[a:b], exact, rtol=1e-9, atol=1e-12)


def test_remainders_are_conditional_means(explicit):
    """The mean of a feature's weights given the others: minus B^-1 times the rest of H w."""
    sample = explicit.posterior().sample(np.random.default_rng(3))
    matrix = np.eye(len(sample.weights)) + explicit.data
    for a, b in pairwise(explicit.starts):
        others = matrix[a:b] @ sample.weights - matrix[a:b, a:b] @ sample.weights[a:b]
        exact = -np.linalg.solve(matrix[a:b, a:b], others)
        # The error of a sample in the norm of the matrix is at most the root of 0.001.
        error = sample.remainder[a:b] - exact
        assert error @ matrix[a:b, a:b] @ error < 2e-3


def test_samples_of_nearly_collinear_features_are_accurate(monkeypatch):
    """Their error in the norm of the matrix, which bounds that of everything computed from them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1)) + 0.02 * rng.normal(size=(400, 4))
    y = X[:, 0] + rng.normal(size=400)
    explicit = Explicit(StumpRegressor(C=1e3, max_bins=25).fit(X, y), X, y)
    posterior, matrix = explicit.posterior(), np.eye(len(explicit.data)) + explicit.data
    rhs = []
    solve = conjugate_gradients
    monkeypatch.setattr(
        "everystump._core.solvers.posterior.conjugate_gradients",
        lambda product, precondition, b, *rest: (
            rhs.append(b),
            solve(product, precondition, b, *rest),
        )[1],
    )
    for seed in range(10):
        weights = posterior.sample(np.random.default_rng(seed)).weights
        error = weights - np.linalg.solve(matrix, rhs[-1])
        assert error @ matrix @ error < 2e-3


def dense_approximation(explicit, n_directions):
    """Return M^-1, and M^-1 + M^-1 (M - H) M^-1, for leading directions from their definition."""
    H = np.eye(len(explicit.data)) + explicit.data
    B, found = np.zeros_like(H), []
    for a, b in pairwise(explicit.starts):
        B[a:b, a:b] = H[a:b, a:b]
        values, vectors = np.linalg.eigh(explicit.data[a:b, a:b])
        for value, vector in zip(values, vectors.T, strict=True):
            direction = np.zeros(len(H))
            direction[a:b] = vector / np.sqrt(1 + value)
            found.append((value, direction))
    found.sort(key=lambda pair: -pair[0])
    Q = np.array([direction for _, direction in found[:n_directions]]).T
    M = B + B @ Q @ (Q.T @ H @ Q - np.eye(Q.shape[1])) @ Q.T @ B
    inverse = np.linalg.inv(M)
    return inverse, 2 * inverse - inverse @ H @ inverse


@pytest.mark.parametrize("n_directions", [3, 10, 22])
def test_couplings_against_their_definition(explicit, monkeypatch, n_directions):
    # One more than lead: the first one that does not is the threshold.
    monkeypatch.setattr(couplings, "_MAX_DIRECTIONS", n_directions + 1)
    posterior, shares = explicit.posterior(), shares_of(explicit)
    conditional = posterior.conditional_variances(shares)
    posterior.couple()
    assert not posterior.is_exact
    inverse, known = dense_approximation(explicit, n_directions)
    rhs = np.random.default_rng(0).normal(size=len(known))
    np.testing.assert_allclose(posterior._solve_approximately(rhs), inverse @ rhs, atol=1e-10)
    exact = np.einsum("ij,jk,ik->i", explicit.curves, known, explicit.curves)
    np.testing.assert_allclose(posterior.known_variances(shares, conditional), exact, atol=1e-10)
    assert posterior.n_parameters == pytest.approx(1 + np.trace(np.eye(len(known)) - inverse))


def test_what_is_known_and_what_is_simulated_add_up(explicit, monkeypatch):
    monkeypatch.setattr(couplings, "_MAX_DIRECTIONS", 6)
    posterior, shares, rng = explicit.posterior(), shares_of(explicit), np.random.default_rng(0)
    conditional = posterior.conditional_variances(shares)
    posterior.couple()
    known = posterior.known_variances(shares, conditional)
    remainders = np.array([posterior.sample(rng).remainder for _ in range(4000)])
    simulated = np.mean((remainders @ explicit.curves.T) ** 2, axis=0)
    exact = np.einsum("ij,jk,ik->i", explicit.curves, explicit.inverse, explicit.curves)
    # A variance of 4,000 samples has a relative error of 0.022.
    assert np.all(np.abs(known + simulated - exact) < 5 * 0.022 * simulated + 1e-3 * exact)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.999])
def test_standard_errors_of_few_bins_are_exact(C, correlation):
    rng = np.random.default_rng(0)
    X = np.sqrt(1 - correlation) * rng.normal(size=(400, 4))
    X += np.sqrt(correlation) * rng.normal(size=(400, 1))
    y = np.sin(X[:, 0]) + rng.normal(size=400)
    model = StumpRegressor(C=C, max_bins=20, tol=1e-2).fit(X, y).compute_bands(X, y)
    exact = Explicit(model, X, y).standard_errors(model.target_scale_)
    for found, errors in zip(model.standard_errors_, exact, strict=True):
        # Couplings with eigenvalues below 1e-5 are neglected.
        np.testing.assert_allclose(found.values, errors, rtol=1e-4)


def test_joint_columns_categories_and_missing_values_are_coupled():
    """Columns of few bins share codes, and the bins of a category are no path."""
    rng = np.random.default_rng(0)
    n = 500
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": np.where(rng.random(n) < 0.1, np.nan, x)})
    frame["job"] = pd.Categorical(np.array(list("abcd"))[np.digitize(x, [-1, 0, 1])])
    for k in range(4):
        frame[f"flag{k}"] = (x + rng.normal(size=n) > k - 1).astype(float)
    y = x + rng.normal(size=n)
    model = StumpRegressor(max_bins=30, C=10.0).fit(frame, y).compute_bands(frame, y)
    explicit = Explicit(model, frame, y)
    assert len(explicit.design.packing.members) < 6
    exact = explicit.standard_errors(model.target_scale_)
    for name, shape, errors in zip(frame, model.standard_errors_, exact, strict=True):
        if name == "job":  # the first bin is that of unknown levels
            np.testing.assert_allclose(shape.levels, errors[1:], rtol=1e-4)
        elif shape.missing is not None:
            assert shape.missing == pytest.approx(errors[-1], rel=1e-4)
            np.testing.assert_allclose(shape.values, errors[:-1], rtol=1e-4)
        else:
            np.testing.assert_allclose(shape.values, errors, rtol=1e-4)


@pytest.mark.parametrize("model", [StumpRegressor(), StumpSVC(loss="squared_hinge", C=0.1)])
def test_standard_errors_do_not_depend_on_the_number_of_threads(model, monkeypatch):
    """The noise of a row is a function of its number; blocks depend on the number of threads."""
    monkeypatch.setattr(couplings, "_MAX_BLOCK", 0)  # so that there are samples
    monkeypatch.setattr(blocks, "_BLOCK_ROWS", 70)
    monkeypatch.setattr(blocks, "_BLOCK_ROWS_SINGLE", 250)
    rng = np.random.default_rng(0)
    X, f = correlated_table(600, rng)
    y = f > 0.4 if isinstance(model, StumpSVC) else f
    one, two = (
        model.set_params(n_jobs=n_jobs).fit(X, y).compute_bands(X, y).standard_errors_
        for n_jobs in (1, 2)
    )
    assert two.intercept == pytest.approx(one.intercept, rel=1e-6)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a.values, b.values, rtol=1e-6)


def test_unsolvable_samples_are_an_error(monkeypatch):
    monkeypatch.setattr(couplings, "_MAX_BLOCK", 0)
    monkeypatch.setattr("everystump._core.solvers.posterior._MAX_PRODUCTS", 2)
    X, f = correlated_table(100, np.random.default_rng(0))
    model = StumpRegressor(C=50.0).fit(X, f)
    with pytest.raises(ValueError, match="C=50: the curvature is too ill-conditioned"):
        model.compute_bands(X, f)


@pytest.mark.parametrize(
    ("model", "is_class"),
    [
        (StumpRegressor(), False),
        (StumpRegressor(loss="huber"), False),
        (StumpRegressor(loss="poisson"), False),
        (StumpRegressor(loss="gamma"), False),
        (StumpLogisticRegression(), True),
        (StumpSVC(loss="squared_hinge"), True),
    ],
    ids=["squared", "huber", "poisson", "gamma", "logistic", "squared_hinge"],
)
def test_standard_errors_equal_those_of_the_explicit_matrix(model, is_class, monkeypatch):
    monkeypatch.setattr(couplings, "_MAX_DIRECTIONS", 20)
    rng = np.random.default_rng(0)
    X, f = correlated_table(600, rng)
    y = f + rng.normal(size=600)
    y = y > 0.4 if is_class else np.exp(y / 4)
    model.set_params(max_bins=20).fit(X, y).compute_bands(X, y, n_samples=100)
    factor = 1.0 if is_class or model.link_ == "log" else model.target_scale_
    exact = Explicit(model, X, y).standard_errors(factor)
    for found, errors in zip(model.standard_errors_, exact, strict=True):
        # Most of the variance is exact; the rest has a relative error of sqrt(2 / 100).
        np.testing.assert_allclose(found.values, errors, rtol=0.08)
        assert np.mean(found.values / errors) == pytest.approx(1.0, abs=0.03)


def test_squared_loss_is_the_posterior_of_a_gaussian_process():
    """The closed form with the kernel matrix: predictions at the training rows, minus a constant.

    With kernel K and noise s^2, the covariance of the scores is ``2 C s^2 (K - K (K + I/2C)^-1 K)``
    for the prior ``2 C s^2 K``, plus a flat prior for the intercept.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 1))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=80)
    model = StumpRegressor(C=0.5).fit(X, y).compute_bands(X, y)
    explicit = Explicit(model, X, y)
    K = explicit.design.terms.kernel_matrix(explicit.design.packing, explicit.design.packing.codes)
    noise = explicit.rows.dispersion(explicit.n_parameters) / 2
    prior = 2 * model.C * noise * (K + 1e6)  # a flat prior in the limit
    covariance = prior - prior @ np.linalg.solve(prior + noise * np.eye(80), prior)
    center = np.eye(80) - 1 / 80
    exact = model.target_scale_ * np.sqrt(np.diag(center @ covariance @ center))
    (errors,) = model.standard_errors_
    # One feature needs no sampling, but the noise depends on the sampled number of parameters.
    np.testing.assert_allclose(errors(X[:, 0]), exact, rtol=3e-3)
    ratio = errors(X[:, 0]) / exact
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)
