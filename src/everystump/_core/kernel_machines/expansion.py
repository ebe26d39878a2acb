"""The fitted kernel machine: a weighted sum of kernels at the support vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from everystump._core.kernel_machines.kernels import Kernel
from everystump._core.solvers import weighted_sum
from everystump._core.threads import thread_map

_BLOCK_ENTRIES = 1_000_000


@dataclass(frozen=True)
class Expansion:
    """``f(x) = sum of coef_j K(x_j, x) + intercept`` over the support vectors (eq. 2).

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    support_vectors : ndarray of shape (n_support, n_features) or (n_support,)
        The support vectors; for a precomputed kernel, their row indices.
    coef : ndarray of shape (n_support, n_outputs)
        Signed dual variables.
    intercept : ndarray of shape (n_outputs,)
        The intercepts.
    """

    kernel: Kernel
    support_vectors: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    @cached_property
    def linear_coef(self) -> np.ndarray:
        """The coefficients of the features, (n_features, n_outputs), for the linear kernel.

        Summed in twice the working precision: as the coefficients sum to 0, large offsets cancel.
        """
        return np.column_stack([weighted_sum(self.support_vectors, c) for c in self.coef.T])

    def evaluate(self, X: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return the scores, (n_rows, n_outputs), block by block."""
        out = np.tile(self.intercept, (len(X), 1))
        if len(self.support_vectors) == 0:
            return out
        if self.kernel.is_linear:
            out += X @ self.linear_coef
            return out
        step = max(1, _BLOCK_ENTRIES // len(self.support_vectors))

        def add(first: int) -> None:
            block = slice(first, first + step)
            out[block] += self.kernel.matrix(X[block], self.support_vectors) @ self.coef

        thread_map(add, range(0, len(X), step), n_threads)
        return out
