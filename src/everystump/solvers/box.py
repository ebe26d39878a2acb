"""Kernel machines without a bias (Evgeniou et al., eq. 3), for losses with a quadratic dual.

    max over a of   sum over i of dual_i(a_i) - 1/2 sum over i, j of a_i a_j y_i y_j K(x_i, x_j)
    subject to      low_i <= a_i <= high_i,      dual_i(a) = a - ridge_i a^2 / 2

The margin of row i is ``y_i (f(x_i) + b)``, ``f = sum of a_j y_j K(x_j, .)``; the constant ``b`` is
given.  Rows are taken in groups: those that violate the optimality conditions most are solved for
by greedy coordinate ascent, one Newton step on those between their limits, and so on, while the
others rest.  A group is all rows if their products fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from everystump.jit import kernel
from everystump.losses import Box
from everystump.solvers.certificate import Certificate
from everystump.solvers.problem import Progress

_FIRST_ACCURACY = 0.1
_FINER = 0.1
_FINEST = 1e-14
MOST_FREE = 4000
_JITTER = 1e-13
_STEPS_A_ROW = 3
_MOST_VISITS = 100
_LENGTHS = 0.5 ** np.arange(10)
_WORTH = 0.1


class Products(Protocol):
    """The kernel matrix of the rows."""

    @property
    def width(self) -> int:
        """How many rows of it may be asked for at once."""

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of the matrix."""


class QuadraticLoss(Protocol):
    """A record of `everystump.losses` that has a ``box``."""

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return each row's part of the dual value."""

    def box(self) -> Box:
        """Return the limits of the dual variables."""


@dataclass(frozen=True)
class WholeMatrix:
    """A kernel matrix that is in memory."""

    square: np.ndarray

    @property
    def width(self) -> int:
        """All rows may be asked for."""
        return len(self.square)

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of the matrix."""
        return self.square if len(index) == len(self.square) else self.square[index]


@dataclass(frozen=True)
class BoxSolution:
    """Dual variables, none negative except for least squares, margins, and the proof."""

    a: np.ndarray
    margin: np.ndarray
    certificate: Certificate
    n_iter: int


def solve_box(
    products: Products,
    sign: np.ndarray,
    loss: QuadraticLoss,
    *,
    b: float = 0.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    progress: Progress = lambda n_iter, primal, dual: None,
) -> BoxSolution:
    """Solve the problem to a relative duality gap of ``tol``.

    Parameters
    ----------
    products : Products
        The kernel matrix.
    sign : ndarray of shape (n_rows,)
        The labels, 1 or -1.
    loss : QuadraticLoss
        The loss of each row.
    b : float, default=0.0
        A constant that is added to all scores.
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=1000
        Groups of rows at most.
    start : (ndarray, ndarray) of shape (n_rows,), optional
        Dual variables to start from, within their limits, and the margins that they make.
    progress : callable, optional
        Told of each group.

    Returns
    -------
    BoxSolution
        The dual variables and their certificate.
    """
    box = loss.box()
    given = (np.zeros(len(sign)), b * sign) if start is None else start
    a, margin = given[0].copy(), given[1].copy()
    group = np.empty(0, dtype=int)
    accuracy, passes = _FIRST_ACCURACY, 0.0
    for n_iter in range(max_iter + 1):
        certificate = _certify(loss, sign, a, margin, b, tol, passes)
        progress(n_iter, certificate.primal, certificate.dual)
        if certificate.converged or n_iter == max_iter or accuracy < _FINEST:
            break
        violation = _violation(box, a, margin)
        if n_iter:
            accuracy = min(accuracy, _FINER * violation.max())
        group = _choose(violation, a, box, group, products.width)
        _solve_group(products, sign, box, group, a, margin, accuracy)
        passes += len(group) / len(sign)
    return BoxSolution(a, margin, certificate, n_iter)


def _certify(
    loss: QuadraticLoss,
    sign: np.ndarray,
    a: np.ndarray,
    margin: np.ndarray,
    b: float,
    tol: float,
    passes: float,
) -> Certificate:
    shift = b * float(a @ sign)
    half_norm = 0.5 * (float(a @ margin) - shift)
    primal = half_norm + loss.total(margin)
    dual = float(loss.dual(a).sum()) - half_norm - shift
    return Certificate.of(primal, dual, tol, passes)


def _violation(box: Box, a: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """Return by how much each row's slope points to where its ``a`` may still go."""
    slope = 1.0 - box.ridge * a - margin
    up = np.where(a < box.high, slope, 0.0)
    down = np.where(a > box.low, -slope, 0.0)
    return np.maximum(np.maximum(up, down), 0.0)


def _choose(
    violation: np.ndarray, a: np.ndarray, box: Box, last: np.ndarray, width: int
) -> np.ndarray:
    """Return the next group: the worst rows, and of the last group those between their limits."""
    if width >= len(a):
        return np.arange(len(a))
    free = last[(a[last] > box.low[last]) & (a[last] < box.high[last])]
    key = violation.copy()
    # Those that were just solved for stay as long as half of the room is left for others.
    key[free[: width // 2]] = np.inf
    return np.sort(np.argpartition(-key, width)[:width])


def _solve_group(
    products: Products,
    sign: np.ndarray,
    box: Box,
    group: np.ndarray,
    a: np.ndarray,
    margin: np.ndarray,
    accuracy: float,
) -> None:
    """Solve for the rows of ``group`` while the others rest; change ``a`` and ``margin``."""
    rows = products.rows(group)
    whole = len(group) == len(a)
    square = rows if whole else np.ascontiguousarray(rows[:, group])
    part = Box(*(limit[group] for limit in box))
    own, own_margin, own_sign = a[group], margin[group], sign[group]
    for _ in range(_MOST_VISITS):
        most = _STEPS_A_ROW * len(group)
        climb(square, own_sign, *part, own, own_margin, accuracy, most)
        if _violation(part, own, own_margin).max() <= accuracy:
            break
        if not _newton_step(square, own_sign, part, own, own_margin):
            break
    if accuracy < _FIRST_ACCURACY:
        _newton_step(square, own_sign, part, own, own_margin)
    change = own - a[group]
    a[group] = own
    if whole:
        margin[:] = own_margin
    else:
        margin += sign * ((change * own_sign) @ rows)


def _newton_step(
    square: np.ndarray, sign: np.ndarray, box: Box, a: np.ndarray, margin: np.ndarray
) -> bool:
    """Go to the optimum over the rows between their limits, or as far as the limits allow."""
    free = np.flatnonzero((a > box.low) & (a < box.high))
    if not 0 < len(free) <= MOST_FREE:
        return False
    matrix = square[np.ix_(free, free)]
    matrix *= sign[free]
    matrix *= sign[free, None]
    diagonal = np.einsum("ii->i", matrix)
    diagonal += box.ridge[free] + _JITTER * diagonal.mean()
    slope = 1.0 - box.ridge[free] * a[free] - margin[free]
    try:
        step = cho_solve(cho_factor(matrix, lower=True, check_finite=False), slope)
    except LinAlgError:
        return False
    moved = _within(box, free, a, step, matrix, slope)
    margin += sign * (((moved - a[free]) * sign[free]) @ square[free])
    a[free] = moved
    return True


def _within(
    box: Box,
    free: np.ndarray,
    a: np.ndarray,
    step: np.ndarray,
    matrix: np.ndarray,
    slope: np.ndarray,
) -> np.ndarray:
    """Return where a step leads that stops at the limits, shortened until the dual value rises."""
    low, high, here = box.low[free], box.high[free], a[free]
    for length in _LENGTHS:
        moved = np.clip(here + length * step, low, high)
        change = moved - here
        gain = float(slope @ change)
        if gain - 0.5 * float(change @ (matrix @ change)) >= _WORTH * gain:
            return moved
    return here


@kernel
def climb(
    square: np.ndarray,
    sign: np.ndarray,
    ridge: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    a: np.ndarray,
    margin: np.ndarray,
    accuracy: float,
    most: int,
) -> int:
    """Raise the dual value by one ``a`` at a time, always the one that gains most.

    Ends when no slope within the limits exceeds ``accuracy``, or after ``most`` steps; changes
    ``a`` and ``margin`` and returns the number of steps.
    """
    n = len(a)
    for n_steps in range(most):
        best, best_gain, best_step, worst = -1, 0.0, 0.0, 0.0
        for i in range(n):
            slope = 1.0 - ridge[i] * a[i] - margin[i]
            room = high[i] - a[i] if slope > 0.0 else low[i] - a[i]
            if room == 0.0:
                continue
            worst = max(worst, abs(slope))
            bend = square[i, i] + ridge[i]
            step = slope / bend if bend > 0.0 else room
            if abs(step) > abs(room):
                step = room
            gain = step * (slope - 0.5 * bend * step)
            if gain > best_gain:
                best, best_gain, best_step = i, gain, step
        if best < 0 or worst <= accuracy:
            return n_steps
        target = a[best] + best_step
        if best_step == high[best] - a[best]:
            target = high[best]
        elif best_step == low[best] - a[best]:
            target = low[best]
        change = (target - a[best]) * sign[best]
        a[best] = target
        for j in range(n):
            margin[j] += sign[j] * change * square[best, j]
    return most
