"""The terms of a model: from the weights of all stumps, and of their products, to tables.

Weights and tables are flat arrays: first the chains of single features
(`everystump._core.chains`), then the interactions (`everystump._core.interactions`).  Solvers use
only the operator ``S`` from weights to tables, its transpose, and a few bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from everystump._core.chains import Chains
from everystump._core.codes import Codes
from everystump._core.interactions import NO_INTERACTIONS, Interactions
from everystump._core.packing import Packing

# Estimated seconds (only ratios matter) of a kernel value: per chain, feature and interaction.
_KERNEL_CHAIN, _KERNEL_FEATURE, _KERNEL_TERM = 5e-11, 3e-10, 1.5e-10


@dataclass(frozen=True, eq=False)
class Terms:
    """The operator of all terms of a model."""

    chains: Chains
    interactions: Interactions = NO_INTERACTIONS

    @cached_property
    def n_bins(self) -> int:
        """The number of weights and of table entries of the chains."""
        return len(self.chains.jumps)

    @cached_property
    def n_weights(self) -> int:
        """The number of weights."""
        return self.n_bins + self.interactions.n_weights

    @cached_property
    def n_entries(self) -> int:
        """The number of table entries."""
        return self.n_bins + self.interactions.n_entries

    def zeros(self) -> np.ndarray:
        """Return weights of 0."""
        return np.zeros(self.n_weights)

    @staticmethod
    def dot(u: np.ndarray, v: np.ndarray) -> float:
        """Return the inner product of two vectors of weights."""
        return float(u @ v)

    def scaled(self, factors: np.ndarray) -> Terms:
        """Return the terms whose jumps are multiplied by ``factors``, 1 for interactions."""
        return replace(self, chains=self.chains.scaled(factors[: self.n_bins]))

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        """Return the table ``S weights``."""
        table, n = np.empty(self.n_entries), self.n_bins
        self.chains.matvec(weights[:n], table[:n])
        self.interactions.matvec(weights[n:], table[n:])
        return table

    def rmatvec(self, sums: np.ndarray) -> np.ndarray:
        """Return ``S' sums``."""
        out, n = np.empty(self.n_weights), self.n_bins
        self.chains.rmatvec(sums[:n], out[:n])
        self.interactions.rmatvec(sums[n:], out[n:])
        return out

    @cached_property
    def diameter(self) -> float:
        """An upper bound on the distance between two rows in the norm of the kernel."""
        chains = self.chains.jumps @ self.chains.jumps
        norms = self.interactions.block_norms
        return float(np.sqrt(chains + 4 * norms @ norms))

    def magnitude(self, weights: np.ndarray) -> float:
        """Return an upper bound on the absolute values that are summed to the score of a row."""
        chains = float(self.chains.jumps @ np.abs(weights[: self.n_bins]))
        return chains + self.interactions.magnitude(weights[self.n_bins :])

    @cached_property
    def square_magnitude(self) -> float:
        """An upper bound on the squared norm of the votes on a row."""
        norms = self.interactions.block_norms
        return float(self.chains.jumps @ self.chains.jumps + norms @ norms)

    @cached_property
    def n_additions(self) -> int:
        """The largest number of additions between a weight and a score, or a sum and a weight."""
        chains = 2 * self.chains.longest + self.chains.n_features
        return chains + self.interactions.longest_sum + self.interactions.n_blocks

    def kernel_matrix(self, packing: Packing, codes: Codes, n_threads: int = 1) -> np.ndarray:
        """Return the kernel matrix of rows, given their codes."""
        return self.sum_kernels(self.kernel_parts(packing, codes, n_threads))

    def kernel_parts(
        self, packing: Packing, codes: Codes, n_threads: int = 1
    ) -> dict[int, np.ndarray]:
        """Return the parts of the kernel matrix, by the exponent of the strength."""
        chains = self.chains.kernel_matrix(packing.flat_bins(codes.bins), n_threads)
        return {0: chains, **self.interactions.kernel_parts(codes.cells, n_threads)}

    def sum_kernels(self, parts: dict[int, np.ndarray]) -> np.ndarray:
        """Return the kernel matrix, given its parts; the first one is overwritten."""
        total = parts[0]
        for exponent, part in parts.items():
            if exponent > 0:
                total += self.interactions.strength**exponent * part
        return total

    @property
    def direction_accuracy(self) -> float:
        """The accuracy to which Newton directions should be solved.

        With interactions, products are many and rough directions cheaper: on the magic and cover
        type tables, 0.1 took about two thirds of the products of 0.01.
        """
        return 0.1 if self.interactions.terms else 0.01

    def interaction_diagonal(self, curvature: np.ndarray, total: float) -> np.ndarray:
        """Return the diagonal of Newton's matrix for the weights of interactions.

        ``curvature`` is given by table entry, and ``total`` is its sum over the rows.
        """
        h = np.empty(self.interactions.n_weights)
        self.interactions.rmatvec(curvature, h)
        diagonal = self.interactions.hessian_diagonal(curvature) - h**2 / (total or 1.0)
        return 1.0 + np.maximum(diagonal, 0.0)

    @cached_property
    def kernel_cost(self) -> float:
        """The estimated seconds to compute the kernel of two rows; only ratios matter."""
        chains = _KERNEL_CHAIN * self.chains.n_features
        terms = self.interactions.terms
        features = {d for term in terms for d in term}
        return chains + _KERNEL_FEATURE * len(features) + _KERNEL_TERM * len(terms)
