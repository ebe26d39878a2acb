"""The training problem of a kernel machine, and its solution: intercept, margins, certificate.

    min over f, b of   |f|^2 / 2 + sum over i of loss_i(y_i (f(x_i) + b))

in the reproducing kernel Hilbert space of the kernel.  With ``f = sum of a_i y_i K(x_i, .)`` and
``dual_i(a) = a - ridge_i a^2 / 2``, its dual is (Evgeniou et al., eq. 3)

    max over a of   sum over i of dual_i(a_i) - 1/2 sum over i, j of a_i a_j y_i y_j K(x_i, x_j)
    subject to      low_i <= a_i <= high_i,   and   sum of y_i a_i = 0   if there is an intercept b.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import fsum

import numpy as np

from everystump._core import losses
from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix
from everystump._core.losses import Hinge, LeastSquares, SquaredHinge
from everystump._core.solvers.certificate import SAFETY_FACTOR, UNIT_ROUNDOFF, Certificate
from everystump._core.solvers.kernel_certificate import (
    Intercept,
    Scores,
    evaluate_expansion,
    fixed_intercept,
)

Loss = Hinge | SquaredHinge | LeastSquares
LOSSES: dict[str, type[Loss]] = {
    name: loss for name, loss in losses.LOSSES.items() if issubclass(loss, Loss)
}
# An imbalance up to this fraction of the dual variables is rounding error, and is corrected.
_ROUNDING = 1e-9
_MAX_CORRECTED = 8
# The change of the dual value by one row is an expression of fewer operations than this.
_MAX_OPERATIONS = 10


@dataclass(frozen=True)
class KernelProblem:
    """The training problem, except for the kernel."""

    y: np.ndarray  # (n_rows,): 1 or -1
    loss: Loss
    fit_intercept: bool  # whether b is free; otherwise it is 0
    tol: float  # the relative duality gap to reach
    max_iter: int


@dataclass(frozen=True)
class KernelSolution:
    """A trained kernel machine."""

    a: np.ndarray  # (n_rows,): the dual variables
    b: float  # the intercept
    margin: np.ndarray  # (n_rows,): y_i (f(x_i) + b)
    certificate: Certificate
    n_iter: int


def solution_from_duals(
    gram: LazyKernelMatrix, problem: KernelProblem, a: np.ndarray
) -> KernelSolution:
    """Return the solution with dual variables ``a``, each within its limits.

    The intercept is optimal for them.  If ``sum of y a`` is not 0, the certificate accounts for it.
    """
    intercept = fixed_intercept(0.0, a * problem.y)
    if problem.fit_intercept:
        a = balance(problem, a)
        intercept = partial(_best_intercept, gram, problem, a)
    evaluated = evaluate_expansion(gram, problem.y, problem.loss, a, problem.tol, intercept)
    return KernelSolution(a, evaluated.b, evaluated.margin, evaluated.certificate, 0)


def balance(problem: KernelProblem, a: np.ndarray) -> np.ndarray:
    """Return dual variables whose ``sum of y a`` is 0 up to the rounding of one of them.

    Large variables are corrected first, small ones then absorb what those cannot represent.
    """
    _, low, high = problem.loss.box()
    free = np.flatnonzero((a > low) & (a < high))
    excess = fsum(a * problem.y)
    if excess == 0.0 or abs(excess) > _ROUNDING * np.abs(a).sum() or len(free) == 0:
        return a
    out = a.copy()
    order = free[np.argsort(-np.abs(a[free]), kind="stable")]
    for j in order[np.unique(np.linspace(0, len(order) - 1, _MAX_CORRECTED).astype(int))]:
        corrected = out[j] - problem.y[j] * excess
        if excess != 0.0 and low[j] < corrected < high[j]:
            out[j] = corrected
            excess = fsum(out * problem.y)
    return out


def _best_intercept(
    gram: LazyKernelMatrix, problem: KernelProblem, a: np.ndarray, scores: Scores
) -> Intercept:
    """Return the intercept of least loss, with a bound on the cost of making ``sum of y a`` 0.

    One row between its limits can absorb the whole imbalance.  Without such a row, the dual value
    is linear in the intercept, and the best intercept is bounded by 1 plus the largest score.
    """
    y, loss = problem.y, problem.loss
    b = loss.best_intercept(y, scores.value)
    ridge, low, high = loss.box()
    excess = fsum(a * y)
    if excess == 0.0:
        return Intercept(b, 0.0, 0.0)
    moved = a - SAFETY_FACTOR * excess * y
    absorbing = np.flatnonzero((a > low) & (a < high) & (moved > low) & (moved < high))
    if len(absorbing):
        slope = y * (1.0 - ridge * a) - scores.value
        curvature = gram.diagonal + ridge
        decrease = excess * slope + excess**2 * curvature / 2
        size = abs(excess) * (1.0 + 2 * ridge * np.abs(a) + np.abs(scores.value))
        size += excess**2 * curvature
        rounding = abs(excess) * scores.rounding + _MAX_OPERATIONS * UNIT_ROUNDOFF * size
        best = absorbing[np.argmin((decrease + rounding)[absorbing])]
        return Intercept(b, float(decrease[best]), SAFETY_FACTOR * float(rounding[best]))
    primal = 0.5 * float((a * y) @ scores.value + np.abs(a) @ scores.rounding)
    margin = y * (scores.value + b)
    primal += loss.total(loss.worst_within(margin, scores.rounding))
    bound = abs(excess) * (1.0 + float(np.sqrt(2.0 * max(primal, 0.0) * gram.diagonal_bound)))
    return Intercept(b, bound, (SAFETY_FACTOR - 1.0) * bound)
