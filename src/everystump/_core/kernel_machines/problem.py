"""The training problem of a kernel machine, and its solution.

    min over f, b of   |f|^2 / 2 + sum over i of loss_i(y_i (f(x_i) + b))

in the reproducing kernel Hilbert space of the kernel.  With ``f = sum of a_i y_i K(x_i, .)`` and
``dual_i(a) = a - ridge_i a^2 / 2``, its dual is (Evgeniou et al., eq. 3)

    max over a of   sum over i of dual_i(a_i) - 1/2 sum over i, j of a_i a_j y_i y_j K(x_i, x_j)
    subject to      low_i <= a_i <= high_i,   and   sum of y_i a_i = 0   if there is an intercept b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core import losses
from everystump._core.losses import Hinge, LeastSquares, SquaredHinge
from everystump._core.solvers import Certificate

Loss = Hinge | SquaredHinge | LeastSquares
LOSSES: dict[str, type[Loss]] = {
    name: loss for name, loss in losses.LOSSES.items() if issubclass(loss, Loss)
}


@dataclass(frozen=True)
class KernelProblem:
    """The training problem, except for the kernel.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        The labels, 1 or -1.
    loss : Hinge, SquaredHinge or LeastSquares
        The loss of each row.
    fit_intercept : bool
        Whether ``b`` is free; otherwise it is 0.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        The maximum number of iterations.
    """

    y: np.ndarray
    loss: Loss
    fit_intercept: bool
    tol: float
    max_iter: int


@dataclass(frozen=True)
class KernelSolution:
    """A trained kernel machine.

    Attributes
    ----------
    a : ndarray of shape (n_rows,)
        The dual variables.
    b : float
        The intercept.
    margin : ndarray of shape (n_rows,)
        ``y_i (f(x_i) + b)``.
    certificate : Certificate
        The optimality certificate of ``a`` and ``b``.
    n_iter : int
        The number of iterations.
    """

    a: np.ndarray
    b: float
    margin: np.ndarray
    certificate: Certificate
    n_iter: int
