"""Preconditioned conjugate gradients for ``A x = b``, ``A`` symmetric and positive definite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import daxpy

Operator = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class StoppingRule:
    """When a solution is accurate enough, given its residual ``r``.

    ``|r|^2 / 2`` is the contribution of the residual to the duality gap.  Stop when it is at most
    ``floor``, or when it is at most ``target`` and ``r' M^-1 r`` fell to the fraction ``relative``
    of its initial value.
    """

    floor: float
    target: float
    relative: float


def conjugate_gradients(
    product: Operator, precondition: Operator, rhs: np.ndarray, stop: StoppingRule, max_iter: int
) -> tuple[np.ndarray, int]:
    """Return the solution and the number of products."""
    x = np.zeros_like(rhs)
    r = rhs.copy()
    z = precondition(r)
    p = z.copy()
    start = rz = float(r @ z)
    for n_iter in range(max_iter):
        energy = float(r @ r) / 2
        if energy <= stop.floor or (energy <= stop.target and rz <= stop.relative * start):
            return x, n_iter
        q = product(p)
        curvature = float(p @ q)
        if not 0.0 < curvature < np.inf:  # lost to rounding; x is still a descent direction
            return x, n_iter
        length = rz / curvature
        daxpy(p, x, a=length)  # in place
        daxpy(q, r, a=-length)
        z = precondition(r)
        previous, rz = rz, float(r @ z)
        p *= rz / previous
        p += z
    return x, max_iter
