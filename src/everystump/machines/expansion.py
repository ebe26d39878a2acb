"""The fitted artefact of a kernel machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump.machines.kernel import Kernel

_BLOCK_ENTRIES = 2_000_000


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

    def evaluate(self, X: np.ndarray) -> np.ndarray:
        """Return the scores, (n_rows, n_outputs), some rows at a time."""
        out = np.empty((len(X), len(self.intercept)))
        step = max(1, _BLOCK_ENTRIES // max(1, len(self.kept)))
        for first in range(0, len(X), step):
            block = X[first : first + step]
            if len(self.kept):
                out[first : first + step] = self.kernel.between(block, self.kept) @ self.coef
            else:
                out[first : first + step] = 0.0
        return out + self.intercept
