"""What kernel machines are trained for, and what comes of it."""

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
class Task:
    """What to train: signs 1 and -1, a loss for each row, with or without a bias, how well."""

    sign: np.ndarray
    loss: Loss
    bias: bool
    tol: float
    max_iter: int


@dataclass(frozen=True)
class Trained:
    """A trained machine on its own rows.

    Attributes
    ----------
    a : ndarray of shape (n_rows,)
        Dual variables.
    b : float
        The bias.
    margin : ndarray of shape (n_rows,)
        ``y_i (f(x_i) + b)``.
    certificate : Certificate
        The certificate, evaluated from ``a`` and ``b``.
    n_iter : int
        How many groups of rows were solved for.
    """

    a: np.ndarray
    b: float
    margin: np.ndarray
    certificate: Certificate
    n_iter: int
