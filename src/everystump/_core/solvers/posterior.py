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

so that features which are nearly independent need few samples (Siden et al., 2018).  Those that are
not are coupled in their leading directions (`everystump._core.solvers.couplings`), which leaves a
smaller remainder, or none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, eigvalsh_tridiagonal

from everystump._core import chainloops
from everystump._core.solvers.couplings import Couplings, NewtonBlocks, coupling_cost
from everystump._core.solvers.newton_system import conjugate_gradients, reduced_product
from everystump._core.solvers.preconditioner import BlockPreconditioner
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.rows import Rows

# The largest squared error of a sample in the norm of H.  By the inequality of Cauchy and Schwarz,
# no linear function of the sample is off by more than the root of it, in standard deviations.
_MAX_ERROR = 1e-3
_MAX_PRODUCTS = 5000


class InaccurateSampleError(ArithmeticError):
    """Conjugate gradients do not reach the accuracy of a sample."""


class Sample(NamedTuple):
    """A sample of the posterior, minus its mode."""

    weights: np.ndarray
    intercept: float
    free_intercept: float  # the part of the intercept that is independent of the weights
    remainder: np.ndarray  # the weights minus the solution with M, of which the variance is known
    explained: float  # its expectation is the effective number of parameters, intercept included


class ErrorNorm:
    """Stops when the squared error in the norm of H is small.

    It is at most ``r' M^-1 r`` divided by the smallest eigenvalue of ``M^-1 H``, which is estimated
    by that of the tridiagonal matrix of the Lanczos process: the steps determine it.
    """

    def __init__(self) -> None:
        self._sizes: list[float] = []
        self._decreases: list[float] = []
        self._smallest = 1.0  # the last estimate of the eigenvalue, which decreases with the steps

    def is_met(self, r: np.ndarray, rz: float, start: float, decrease: float) -> bool:
        """Whether a solution is accurate enough; see `newton_system.Stop`."""
        if self._sizes:
            self._decreases.append(decrease)
        self._sizes.append(rz)
        if rz > _MAX_ERROR * self._smallest or not self._decreases:
            return rz == 0.0
        self._smallest = self._smallest_eigenvalue()
        return rz <= _MAX_ERROR * self._smallest

    def _smallest_eigenvalue(self) -> float:
        sizes = np.array(self._sizes)
        ratios = sizes[1:-1] / sizes[:-2]
        inverse_lengths = sizes[:-1] / np.array(self._decreases)
        diagonal = inverse_lengths.copy()
        diagonal[1:] += ratios * inverse_lengths[:-1]
        beside = np.sqrt(ratios) * inverse_lengths[:-1]
        return float(eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))[0])


class Posterior:
    """The posterior at the current margins of the rows, in units where the prior is ``N(0, I)``."""

    def __init__(self, problem: Problem, rows: Rows) -> None:
        self._problem, self._rows = problem, rows
        self._terms, self._fit_intercept = problem.terms, problem.fit_intercept
        diagonal, joint = rows.curvature()
        total = float(joint[: problem.packing.starts[1]].sum()) or 1.0
        pull = problem.terms.zeros()
        if problem.fit_intercept:
            pull = problem.terms.rmatvec(diagonal)
        self._blocks = NewtonBlocks(diagonal, joint, pull, total)
        self._product = reduced_product(problem.terms, rows, pull, total)
        self._precondition = BlockPreconditioner(problem).factor(diagonal, joint)
        chains, n = self._terms.chains, self._terms.n_bins
        self._tree = chains.starts, chains.parents, chains.jumps
        self._factors = np.empty(n), np.empty(n)
        chainloops.factor(*self._tree, diagonal[:n], *self._factors)
        self._couplings: Couplings | None = None
        self.products = 0  # of all samples

    @property
    def product_cost(self) -> float:
        """The estimated seconds of a step of conjugate gradients."""
        codes = self._rows.n_active * self._rows.n_lookups
        return 0.8e-9 * codes + 2e-8 * self._terms.n_weights + 5e-5

    @property
    def coupling_cost(self) -> float:
        """The estimated seconds of `couple`; infinite if it is not possible (any more)."""
        if self._couplings or self._terms.interactions.terms or not self._fit_intercept:
            return np.inf
        return coupling_cost(self._problem, self._rows.n_active)

    def couple(self) -> None:
        """Couple the features in their leading directions, unless these are too ill-conditioned."""
        try:
            self._couplings = Couplings(
                self._problem, self._rows.active(), self._blocks, self._rows.n_threads
            )
        except LinAlgError:
            return
        self._precondition = self._solve_approximately

    @property
    def is_exact(self) -> bool:
        """Whether no simulation is needed."""
        return self._couplings is not None and self._couplings.is_complete

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a sample."""
        noise, total = self._rows.scatter_noise(int(rng.integers(2**63)))
        _, _, pull, k = self._blocks
        data = self._terms.rmatvec(noise) - pull * (total / k)
        rhs = data + rng.standard_normal(len(data))
        weights, n_products = conjugate_gradients(
            self._product, self._precondition, rhs, ErrorNorm(), _MAX_PRODUCTS
        )
        if n_products == _MAX_PRODUCTS:
            raise InaccurateSampleError
        self.products += n_products
        free = total / k if self._fit_intercept else 0.0
        n = self._terms.n_bins
        remainder = weights[:n] - self._solve_approximately(rhs[:n])
        explained = float(data @ weights) + self._fit_intercept
        return Sample(weights, free - float(pull @ weights) / k, free, remainder, explained)

    def _solve_chains(self, rhs: np.ndarray) -> np.ndarray:
        """Solve with the block of each chain."""
        out = np.empty_like(rhs)
        chainloops.solve(*self._tree, *self._factors, rhs, out)
        return out

    def _solve_approximately(self, rhs: np.ndarray) -> np.ndarray:
        """Solve with ``M``: the blocks of the chains, and what couples their leading directions."""
        out = self._solve_chains(rhs)
        return out if self._couplings is None else out + self._couplings.correction(rhs)

    def conditional_variances(self, shares: np.ndarray) -> np.ndarray:
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

    def known_variances(self, shares: np.ndarray, conditional: np.ndarray) -> np.ndarray:
        """Return the variances of `conditional_variances` not given other chains.

        They lack the mean square of the remainders of samples, unless they are exact.
        """
        variances = conditional.copy()
        if self._couplings is not None:
            self._couplings.curve_variances(shares, variances)
        return variances

    def intercept_variance(self, shares: np.ndarray) -> float:
        """Return the variance of the intercept plus the means of all curves.

        Unless it is exact, it is that of the free intercept only.
        """
        _, _, pull, k = self._blocks
        if not self.is_exact:
            return 1.0 / k
        direction = self._terms.chains.rmatvec(shares) - pull / k
        return 1.0 / k + float(direction @ self._solve_approximately(direction))

    @property
    def n_parameters(self) -> float:
        """The effective number of parameters, intercept included, if features are coupled."""
        return 1.0 if self._couplings is None else 1.0 + self._couplings.n_parameters
