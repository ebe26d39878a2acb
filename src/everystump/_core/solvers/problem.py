"""The optimization problem of a stump ensemble, its solution, and the kernel matrix of its rows.

    min over w, b of   |w|^2 / 2 + sum over rows i of loss_i(y_i f(x_i)),      f = gather(S w) + b

with margins ``m_i = y_i f(x_i)`` of classes ``y_i = +-1``; in regression ``y_i = 1``, and the loss
measures the distance of ``f(x_i)`` from a target.  ``w`` are the weights of the smooth stumps
(Theorem 5 of Lin & Li; P4 is the same problem over single stumps), ``S`` maps them to tables
(`everystump._core.terms`), and ``loss_i`` includes C.
With ``V = gather S`` the dual problem is

    max over a of   sum over i of dual_i(a_i) - |v(a)|^2 / 2,      v(a) = V'(y a) = S' scatter(y a),

subject to ``sum of y a = 0`` if there is an intercept ``b``.  At the optimum ``w = v(a)``.  If some
weights must have a certain sign, ``v(a)`` is replaced by its projection ``P(v(a))`` on the signs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from everystump._core.losses import LossFamily
from everystump._core.packing import Packing
from everystump._core.solvers.certificate import Certificate
from everystump._core.terms import Terms

# Estimated seconds (only ratios matter) per: entry of a matrix that is multiplied; entry and row of
# a matrix that is factored; code; bin; call.
_ENTRY, _FACTOR, _CODE, _BIN, _CALL = 5e-9, 2e-11, 1.5e-9, 1.5e-8, 5e-5
_MAX_ROWS = 4000
# A problem with more bins per row than this, and with C times a kernel value above this, takes many
# products: its features can separate the rows, and the solution almost does.
_MANY_BINS, _LARGE_KERNEL = 12, 10.0
# Called with the number of Newton steps, the primal and the dual value.
Progress = Callable[[int, float, float], None]


class Effort(NamedTuple):
    """A rough estimate of the work of a solver.

    The number of Newton steps, as if all rows were active in each, and of products with Newton's
    matrices, in ordinary and in hard problems.
    """

    steps: int
    products: int
    max_products: int


class KernelParts:
    """The parts of a kernel matrix, by the exponent of the strength of interactions, once known."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.matrices: dict[int, np.ndarray] = {}


class TableKernelMatrix:
    """The kernel matrix of the rows of a table, computed when it is first needed.

    It is shared by all problems on the table: all classes, folds and values of C, and up to its sum
    all strengths of interactions.
    """

    def __init__(self, terms: Terms, packing: Packing, parts: KernelParts | None = None) -> None:
        self._terms, self._packing = terms, packing
        self._parts = KernelParts() if parts is None else parts

    def with_strength(self, terms: Terms) -> TableKernelMatrix:
        """Return the matrix of the same terms with another strength of their interactions."""
        return TableKernelMatrix(terms, self._packing, self._parts)

    def is_faster(self, n_rows: int, C: float, effort: Effort) -> bool:
        """Whether a problem of ``n_rows`` rows is likely to be solved faster with the matrix."""
        if n_rows > _MAX_ROWS:
            return False
        n_bins = self._terms.n_weights
        large = C * self._terms.diameter**2 > 4 * _LARGE_KERNEL
        hard = large and n_bins > _MANY_BINS * n_rows
        n_products = effort.max_products if hard else effort.products
        matrix = self._terms.kernel_cost * n_rows**2
        step = _ENTRY * n_rows**2 + _FACTOR * n_rows**3 + 4 * _CALL
        product = _CODE * n_rows * self._packing.codes.n_lookups + _BIN * n_bins + _CALL
        with_matrix = (0.0 if self._parts.matrices else matrix) + effort.steps * step
        return with_matrix < (n_products + 2 * effort.steps) * product

    def submatrix(self, index: np.ndarray, n_threads: int) -> np.ndarray:
        """Return the matrix of some rows."""
        codes = self._packing.codes
        if len(index) < codes.n_rows / 2:
            return self._terms.kernel_matrix(self._packing, codes.take(index), n_threads)
        with self._parts.lock:
            if not self._parts.matrices:
                self._parts.matrices = self._terms.kernel_parts(self._packing, codes, n_threads)
        chosen = np.ix_(index, index)
        return self._terms.sum_kernels({k: m[chosen] for k, m in self._parts.matrices.items()})


def no_progress(n_iter: int, primal: float, dual: float) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Span:
    """The counterpart of `Terms` for weights ``V'c``, represented by ``(c, K c)``."""

    matrix: np.ndarray  # (n_rows, n_rows): the kernel matrix K = V V' of the rows

    def zeros(self) -> np.ndarray:
        """Return weights of 0."""
        return np.zeros((2, len(self.matrix)))

    @staticmethod
    def dot(u: np.ndarray, v: np.ndarray) -> float:
        """Return the inner product of two vectors of weights."""
        return float(u[0] @ v[1])

    @staticmethod
    def matvec(weights: np.ndarray) -> np.ndarray:
        """Return the "table" of the weights: the scores of the rows."""
        return weights[1]

    def rmatvec(self, coef: np.ndarray) -> np.ndarray:
        """Return the weights ``V'coef``."""
        return np.stack([coef, self.matrix @ coef])


@dataclass(frozen=True)
class Problem:
    """The optimization problem, except for its rows."""

    terms: Terms  # the operator S from weights to tables
    packing: Packing  # maps tables to the joint tables that the row loops use
    loss: LossFamily
    fit_intercept: bool = True  # whether the intercept b is free; otherwise it is 0
    hard: bool = False  # whether C is infinite, so that every margin must be at least 1
    # (n_weights,): 1 for weights that must not be negative, -1 for not positive ones, else 0.
    signs: np.ndarray | None = None
    # Set if weights are represented as combinations of the rows; then there are no signs.
    span: Span | None = None

    @property
    def operator(self) -> Terms | Span:
        """The operator from weights to tables (or scores), with its inner product."""
        return self.terms if self.span is None else self.span

    def project(self, weights: np.ndarray) -> np.ndarray:
        """Return the nearest weights that satisfy the sign constraints."""
        if self.signs is None:
            return weights
        return np.where(self.signs * weights < 0.0, 0.0, weights)


class Coefficients(Protocol):
    """What determines a model: weights and intercept."""

    @property
    def weights(self) -> np.ndarray:
        """The weights of all terms."""

    @property
    def intercept(self) -> float:
        """The intercept."""


@dataclass(frozen=True)
class Solution:
    """Weights, intercept, signed dual variables ``y a``, and the optimality certificate.

    ``C``, ``penalty`` and ``sign_penalty`` (of the augmented Lagrangian, for rows and for sign
    constraints) are used by warm starts for another C.
    """

    weights: np.ndarray
    intercept: float
    dual_coef: np.ndarray
    certificate: Certificate
    n_iter: int
    C: float
    penalty: float = 0.0
    sign_penalty: float = 0.0


@dataclass(frozen=True)
class SolverOptions:
    """The accuracy, the iteration limit and the optional inputs of a solver."""

    tol: float  # the relative duality gap to reach
    max_iter: int  # the maximum number of Newton steps
    progress: Progress = no_progress
    start: Solution | None = None  # the solution for another C, as a warm start
    kernel_matrix: TableKernelMatrix | None = None  # used if it makes the solution faster
