"""The fitted artefact of a kernel machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from everystump._core.kernel_machines.kernel import Kernel
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
    kept : ndarray
        The support vectors, as the kernel keeps them.
    coef : ndarray of shape (n_support, n_outputs)
        Signed dual variables.
    intercept : ndarray of shape (n_outputs,)
        The biases.
    """

    kernel: Kernel
    kept: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    @cached_property
    def weights(self) -> np.ndarray:
        """The sum of the support vectors, (n_features, n_outputs), for the linear kernel.

        In twice the precision: coefficients sum to 0, and what the vectors have in common cancels.
        """
        return np.column_stack([weighted_sum(self.kept, coef) for coef in self.coef.T])

    def evaluate(self, X: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return the scores, (n_rows, n_outputs), some rows at a time."""
        out = np.tile(self.intercept, (len(X), 1))
        if len(self.kept) == 0:
            return out
        if self.kernel.linear:
            out += X @ self.weights
            return out
        step = max(1, _BLOCK_ENTRIES // len(self.kept))

        def add(first: int) -> None:
            block = slice(first, first + step)
            out[block] += self.kernel.between(X[block], self.kept) @ self.coef

        thread_map(add, range(0, len(X), step), n_threads)
        return out
