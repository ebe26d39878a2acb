"""The posterior of the weights, against the inverse of Newton's matrix from its definition."""

import numpy as np
import pytest

from everystump import StumpLogisticRegression, StumpRegressor, StumpSVC
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
        entries = self.design.packing.flat_bins(bins)
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


def test_chain_variances_are_those_given_the_other_features(explicit):
    """The inverse of a diagonal block, without any sampling."""
    shares = np.concatenate([c.weights / c.weights.sum() for c in explicit.design.columns.columns])
    found = explicit.posterior().chain_variances(shares)
    matrix = np.eye(len(shares)) + explicit.data
    for a, b in zip(explicit.starts[:-1], explicit.starts[1:], strict=True):
        curves = explicit.curves[a:b, a:b]
        exact = np.diag(curves @ np.linalg.inv(matrix[a:b, a:b]) @ curves.T)
        np.testing.assert_allclose(found[a:b], exact, rtol=1e-9, atol=1e-12)


def test_conditional_means(explicit):
    """The mean of a feature's weights given the others: minus B^-1 times the rest of H w."""
    sample = explicit.posterior().sample(np.random.default_rng(3))
    matrix = np.eye(len(sample.weights)) + explicit.data
    for a, b in zip(explicit.starts[:-1], explicit.starts[1:], strict=True):
        others = matrix[a:b] @ sample.weights - matrix[a:b, a:b] @ sample.weights[a:b]
        exact = -np.linalg.solve(matrix[a:b, a:b], others)
        # The system is solved to a squared relative error of about 0.001.
        assert np.linalg.norm(sample.chain_means[a:b] - exact) < 0.05 * np.linalg.norm(
            sample.weights
        )


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
def test_standard_errors_equal_those_of_the_explicit_matrix(model, is_class):
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
