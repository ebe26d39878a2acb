"""The fitted artefact of a kernel machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump.machines.kernel import Kernel
from everystump.threads import share

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

    def evaluate(self, X: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return the scores, (n_rows, n_outputs), some rows at a time."""
        out = np.tile(self.intercept, (len(X), 1))
        if len(self.kept) == 0:
            return out
        step = max(1, _BLOCK_ENTRIES // len(self.kept))

        def add(first: int) -> None:
            block = slice(first, first + step)
            out[block] += self.kernel.between(X[block], self.kept) @ self.coef

        share(add, range(0, len(X), step), n_threads)
        return out
