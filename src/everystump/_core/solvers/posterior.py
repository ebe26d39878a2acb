"""Samples from the Laplace approximation of the posterior of a solution.

With prior ``w ~ N(0, I)``, a flat one for the intercept, and ``W`` the curvature of the losses at
the solution, the posterior is normal with the inverse of Newton's matrix as its covariance:

    w ~ N(0, H^-1),      H = I + V'WV - h h'/k,      h = V'W1,  k = sum of W

around the solution.  A sample is found by perturbing the right-hand side and solving for it:
``H w = z + V'W^(1/2) s - h e/k`` has covariance ``H`` on its right if ``z`` is standard normal,
``s`` are random signs, and ``e = 1'W^(1/2) s``.  The solution is by conjugate gradients, with the
operators and the preconditioner of `everystump._core.solvers.newton_system`.

For a feature with weights ``u`` and block ``B`` of ``H``, the variance given all other weights is
known exactly, and by the law of total variance only the remainder has to be simulated:

    Cov(u) = B^-1 + Cov(E[u | others]),      E[u | others] = u - B^-1 (H w)_u

so that features which are nearly independent need few samples (Siden et al., 2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from everystump._core import chainloops
from everystump._core.solvers.newton_system import (
    StoppingRule,
    conjugate_gradients,
    reduced_product,
)
from everystump._core.solvers.preconditioner import BlockPreconditioner
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.rows import Rows

# Stop when the squared error in the norm of H is about this fraction of that of the sample.
_ACCURACY = StoppingRule(floor=0.0, target=np.inf, relative=1e-8)
_MAX_PRODUCTS = 500


class Sample(NamedTuple):
    """A sample of the posterior, minus its mode."""

    weights: np.ndarray
    intercept: float
    chain_means: np.ndarray  # the mean of the weights of each chain, given all other weights
    explained: float  # its expectation is the effective number of parameters, intercept included


class Posterior:
    """The posterior at the current margins of the rows, in units where the prior is ``N(0, I)``."""

    def __init__(self, problem: Problem, rows: Rows) -> None:
        self._terms, self._rows, self._fit_intercept = problem.terms, rows, problem.fit_intercept
        self._diagonal, joint = rows.curvature()
        self._total = float(joint[: problem.packing.starts[1]].sum()) or 1.0
        self._pull = problem.terms.zeros()
        if problem.fit_intercept:
            self._pull = problem.terms.rmatvec(self._diagonal)
        self._product = reduced_product(problem.terms, rows, self._pull, self._total)
        self._precondition = BlockPreconditioner(problem).factor(self._diagonal, joint)
        chains, n = self._terms.chains, self._terms.n_bins
        self._tree = chains.starts, chains.parents, chains.jumps
        self._factors = np.empty(n), np.empty(n)
        chainloops.factor(*self._tree, self._diagonal[:n], *self._factors)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a sample."""
        noise, total = self._rows.scatter_noise(int(rng.integers(2**63)))
        data = self._terms.rmatvec(noise) - self._pull * (total / self._total)
        rhs = data + rng.standard_normal(len(data))
        weights, _ = conjugate_gradients(
            self._product, self._precondition, rhs, _ACCURACY, _MAX_PRODUCTS
        )
        intercept = 0.0
        if self._fit_intercept:
            intercept = (total - float(self._pull @ weights)) / self._total
        n = self._terms.n_bins
        chain_means = weights[:n] - self._solve_chains(rhs[:n])
        explained = float(data @ weights) + self._fit_intercept
        return Sample(weights, intercept, chain_means, explained)

    def _solve_chains(self, rhs: np.ndarray) -> np.ndarray:
        """Solve with the block of each chain."""
        out = np.empty_like(rhs)
        chainloops.solve(*self._tree, *self._factors, rhs, out)
        return out

    def chain_variances(self, shares: np.ndarray) -> np.ndarray:
        """Return the variance of each bin of each chain, given all other chains.

        It is the variance of the table's entry minus the mean over the chain, weighted by
        ``shares``, which sum to 1 over each chain.  There must be an intercept.
        """
        chains = self._terms.chains
        first, sizes = chains.starts[:-1], np.diff(chains.starts)
        variances = np.empty(len(shares))
        for k in range(int(sizes.max())):
            entries = (first + k)[k < sizes]
            direction = -shares
            direction[entries] += 1.0
            table = chains.matvec(self._solve_chains(chains.rmatvec(direction)))
            means = np.add.reduceat(shares * table, first)
            variances[entries] = table[entries] - means[k < sizes]
        return np.maximum(variances, 0.0)
