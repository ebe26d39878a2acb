"""The problem that all solvers share, and what they return.

    min over w, b of   |w|^2 / 2 + sum over rows i of loss_i(y_i f(x_i)),      f = gather(S w) + b

``w`` are the weights of the smooth stumps (Theorem 5 of Lin & Li; P4 is the same problem over
single stumps), ``S`` spreads them into tables, and ``loss_i`` carries C.  Its dual is

    max over a of   sum over i of dual_i(a_i) - |v(a)|^2 / 2,      v(a) = S' scatter(y a),

with ``sum of y a = 0`` if there is a bias ``b``.  At the optimum ``w = v(a)``.  Where some weights
may have one sign only, the projection ``P(v(a))`` on the signs takes the place of ``v(a)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from everystump._core.chains import Chains
from everystump._core.losses import Loss
from everystump._core.packing import Packing
from everystump._core.solvers.certificate import Certificate

# Called with the number of Newton steps, the primal and the dual value.
Progress = Callable[[int, float, float], None]


@dataclass(frozen=True)
class Span:
    """What `Chains` are to weights in the span of the rows; see `everystump._core.solvers.span`.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, n_rows)
        The kernel matrix of the rows.
    """

    matrix: np.ndarray

    def zeros(self) -> np.ndarray:
        """Return weights of 0."""
        return np.zeros((2, len(self.matrix)))

    @staticmethod
    def dot(u: np.ndarray, v: np.ndarray) -> float:
        """Return the inner product of two vectors of weights."""
        return float(u[0] @ v[1])

    @staticmethod
    def matvec(weights: np.ndarray) -> np.ndarray:
        """Return the rows' scores, which are all that rows see of the weights."""
        return weights[1]

    def rmatvec(self, coef: np.ndarray) -> np.ndarray:
        """Return the weights ``V'coef``."""
        return np.stack([coef, self.matrix @ coef])


@dataclass(frozen=True)
class Problem:
    """Everything about the problem but its rows.

    Attributes
    ----------
    chains : Chains
        How weights spread into tables.
    packing : Packing
        How tables become the joint tables that rows see.
    loss : type
        The class of the rows' losses.
    bias : bool
        Whether ``b`` is free; otherwise it is 0.
    hard : bool
        Whether C is infinite, so that no row may be short of the margin.
    signs : ndarray of shape (n_bins,), optional
        1 where a weight must not be negative, -1 where it must not be positive, 0 elsewhere.
    span : Span, optional
        Given if weights are combinations of the rows; then no weight has a sign to keep.
    """

    chains: Chains
    packing: Packing
    loss: type[Loss]
    bias: bool = True
    hard: bool = False
    signs: np.ndarray | None = None
    span: Span | None = None

    @property
    def space(self) -> Chains | Span:
        """Where weights live: it spreads and collects them, and multiplies two of them."""
        return self.chains if self.span is None else self.span

    def project(self, weights: np.ndarray) -> np.ndarray:
        """Return the nearest weights that have their signs."""
        if self.signs is None:
            return weights
        return np.where(self.signs * weights < 0.0, 0.0, weights)


@dataclass(frozen=True)
class Solution:
    """Weights, bias, signed dual variables and the proof that they are good.

    ``C``, ``sharpness`` and ``stiffness`` say where a solver may resume for another C.
    """

    weights: np.ndarray
    bias: float
    dual_coef: np.ndarray
    certificate: Certificate
    n_iter: int
    C: float
    sharpness: float = 0.0
    stiffness: float = 0.0
