"""Samples from the Laplace approximation of the posterior of a multinomial solution.

As for one score (`everystump._core.solvers.posterior`), with prior ``w_k ~ N(0, I)`` for the
weights of each class and Newton's matrix ``H`` of `everystump._core.solvers.multinomial_system`.
A common shift of the scores of all classes changes no probability, so what is sampled are the
differences from the mean of all classes: weights that sum to 0 over the classes, as the noise does.

    H w = z + V'(s - W1 M^+ e),      s_i = cost_i^(1/2) (diag(p_i^(1/2)) - p_i p_i'^(1/2)) s'_i

with ``z`` normal, ``s'`` random signs, and ``e`` and ``M`` the sums of ``s`` and ``W``.

For the weights ``u`` of a feature in all classes, let ``B`` be its block of ``H``, and ``G`` any
approximation of its inverse.  As ``r = (H w)_u`` has covariance ``B``, and covariance ``I`` with
``u``,

    Cov(u) = 2 G - G B G + Cov(u - G r),

where only the last term is simulated.  ``G`` is the inverse of ``B`` without what couples the
principal directions of the classes, a chain for each of them; with the inverse of ``B`` itself,
this is the law of total variance of the other module.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, helmert

from everystump._core import chainloops
from everystump._core.solvers.multinomial_duality import ClassOperator
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.multinomial_system import MAX_PRODUCTS, MultinomialMatrix
from everystump._core.solvers.posterior import ErrorNorm, InaccurateSampleError, Sample
from everystump._core.solvers.preconditioner import BlockPreconditioner
from everystump._core.solvers.problem import Problem


class MultinomialPosterior:
    """The posterior at the current scores of the rows, in units where the prior is ``N(0, I)``."""

    def __init__(self, problem: Problem, rows: MultinomialRows) -> None:
        self._rows, self._fit_intercept = rows, problem.fit_intercept
        self._operator = ClassOperator(problem, rows.n_classes, rows.n_threads)
        curvature = rows.probabilities().curvature
        self._matrix = MultinomialMatrix(self._operator, rows, curvature)
        self._precondition = self._matrix.factor(BlockPreconditioner(problem))
        # Principal directions of the differences from the mean of all classes.
        differences = helmert(rows.n_classes).T
        totals, directions = eigh(differences.T @ curvature @ differences)
        self._totals, self._basis = totals, differences @ directions
        chains, n = problem.terms.chains, problem.terms.n_bins
        self._chains, self._tree = chains, (chains.starts, chains.parents, chains.jumps)
        self._factors = [(np.empty(n), np.empty(n)) for _ in totals]
        tables = rows.packing.fold(rows.curvature_along(self._basis))
        for table, factors in zip(tables, self._factors, strict=True):
            chainloops.factor(*self._tree, table[:n], *factors)

    def sample(self, rng: np.random.Generator) -> list[Sample]:
        """Draw a sample; return the part of each class."""
        rows, matrix, operator = self._rows, self._matrix, self._operator
        shift = matrix.intercepts(rows.start_noise(int(rng.integers(2**63))))
        data = operator.rmatvec(rows.finish_product(-shift))
        prior = rng.standard_normal(data.shape)
        rhs = data + prior - prior.mean(axis=0)
        weights, n_products = matrix.solve(rhs, self._precondition, ErrorNorm())
        if n_products == MAX_PRODUCTS:
            raise InaccurateSampleError
        intercepts = shift - matrix.intercepts(rows.start_product(operator.matvec(weights)))
        n = len(self._chains.jumps)
        solved = self._basis @ self._solve_chains(self._basis.T @ rhs[:, :n])
        explained = np.sum(data * weights, axis=1) + self._fit_intercept * (1 - 1 / len(data))
        parts = zip(weights, intercepts, weights[:, :n] - solved, explained, strict=True)
        return [Sample(w, float(b), 0.0, rest, float(share)) for w, b, rest, share in parts]

    def _solve_chains(self, rhs: np.ndarray) -> np.ndarray:
        """Solve with the block of each chain in each principal direction."""
        out = np.empty_like(rhs)
        for factors, own, found in zip(self._factors, rhs, out, strict=True):
            chainloops.solve(*self._tree, *factors, own, found)
        return out

    def chain_variances(self, shares: np.ndarray) -> np.ndarray:
        """Return the part ``2 G - G B G`` of the variances, of shape (n_classes, n_bins).

        The variances are those of the table's entries minus their mean over the chain, weighted by
        ``shares``, which sum to 1 over each chain.  There must be an intercept.
        """
        chains, n = self._chains, len(shares)
        first, sizes = chains.starts[:-1], np.diff(chains.starts)
        curvature = self._rows.class_curvature(self._basis)[..., :n]
        variances = np.empty((len(self._basis), n))
        for k in range(chains.longest):
            entries = (first + k)[k < sizes]
            direction = -shares
            direction[entries] += 1.0
            rhs = np.broadcast_to(chains.rmatvec(direction), (len(self._totals), n))
            weights = self._solve_chains(rhs)
            tables = np.array([chains.matvec(own) for own in weights])
            # By direction and feature, and by pair of directions and feature.
            diagonal = np.add.reduceat(2 * direction * tables - weights**2, first, axis=1)
            curved = curvature * tables
            pulls = np.add.reduceat(curved, first, axis=2)
            pairs = np.add.reduceat(curved * tables[:, None], first, axis=2)
            found = self._by_class(diagonal, pairs, pulls)
            variances[:, entries] = found[:, k < sizes]
        return variances

    def _by_class(self, diagonal: np.ndarray, pairs: np.ndarray, pulls: np.ndarray) -> np.ndarray:
        """Return the variances of each class, given terms by direction and by pair of directions.

        ``pulls`` are sums over the rows of the curvature, which the intercepts compensate.
        """
        basis = self._basis
        inverse = np.divide(
            1.0, self._totals, out=np.zeros(len(self._totals)), where=self._totals > 0
        )
        moved = np.einsum("kr,qrf->kqf", basis, pulls)
        return (
            basis**2 @ diagonal
            - np.einsum("kq,kr,qrf->kf", basis, basis, pairs)
            + np.einsum("kqf,q->kf", moved**2, inverse)
        )
