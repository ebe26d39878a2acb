"""Kernel machines without a bias (Evgeniou et al., eq. 3), for losses with a quadratic dual.

    max over a of   sum over i of dual_i(a_i) - 1/2 sum over i, j of a_i a_j y_i y_j K(x_i, x_j)
    subject to      low_i <= a_i <= high_i,      dual_i(a) = a - ridge_i a^2 / 2

The margin of row i is ``y_i (f(x_i) + b)``, ``f = sum of a_j y_j K(x_j, .)``; the constant ``b`` is
given.  Coordinate ascent takes the ``a_i`` of the steepest slopes, a Newton step all that lie
between their limits.  Both need rows of the kernel matrix for the rows that they move only: these
are held, and others are fetched, the worst violators of the optimality conditions first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from everystump._core.jit import jit
from everystump._core.losses import Box, QuadraticLoss
from everystump._core.solvers.certificate import Certificate, relative_gap
from everystump._core.solvers.evaluation import evaluate
from everystump._core.solvers.problem import Progress
from everystump._core.solvers.products import Products

# How far a violation is to fall before others are fetched, and once there are none to fetch.
_ROUGHLY, _WELL = 0.5, 0.1
# Violations below this are rounding.
_FIRST_ACCURACY, _FINEST = 0.1, 1e-14
# A gap that was evaluated afresh must fall by this factor each time, or rounding keeps it up.
_BETTER = 0.9
# Rows are fetched so many at a time, or a share of all if that is more.
_LEAST_BATCH, _BATCHES = 256, 32
# After so many steps a row, a Newton step gets further than more of them; so often at most.
_STEPS_A_ROW, _MOST_VISITS = 3, 20
# The most rows for whose matrix a Newton step is worth its cubic cost.
MAX_FREE_ROWS = 4000
# Relative to the diagonal: makes matrices of equal rows invertible.
JITTER = 1e-13
# Newton steps are shortened until the dual value rises by this share of what its slope promises.
_LENGTHS, _WORTH = 0.5 ** np.arange(10), 0.1


def row_batch_size(n_rows: int) -> int:
    """Return how many rows of the matrix are asked for at once."""
    return max(_LEAST_BATCH, n_rows // _BATCHES)


class _Held:
    """The rows of the kernel matrix that are at hand."""

    def __init__(self, products: Products, n_rows: int) -> None:
        self._products = products
        whole = products.whole
        self._complete = whole is not None
        self.rows = np.empty((products.width, n_rows)) if whole is None else whole
        self.index = np.arange(n_rows if self._complete else 0)

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        return len(self.index) == len(self.rows)

    def fetch(self, violation: np.ndarray, free: np.ndarray) -> bool:
        """Fetch the worst violators that are not at hand; tell whether there were any."""
        if self._complete:
            return False
        missing = violation.copy()
        missing[self.index] = 0.0
        worst = np.argsort(-missing)[: min(row_batch_size(len(missing)), -(-len(self.rows) // 2))]
        worst = worst[missing[worst] > 0]
        if len(worst) == 0:
            return False
        slots = self._slots(len(worst), violation, free)
        self.rows[slots] = self._products.rows(worst)
        self.index[slots] = worst
        return True

    def _slots(self, count: int, violation: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return places for new rows: empty ones, else those of the rows that matter least."""
        held = len(self.index)
        empty = np.arange(held, min(held + count, len(self.rows)))
        need = violation[self.index] + np.where(free[self.index], np.inf, 0.0)
        spare = np.argsort(need)[: count - len(empty)]
        self.index = np.append(self.index, empty)
        return np.concatenate([spare, empty])


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
    held = _Held(products, len(sign))
    accuracy, best = _FIRST_ACCURACY, np.inf
    for n_iter in range(max_iter + 1):
        primal, dual = _running_values(loss, sign, a, margin, b)
        progress(n_iter, primal, dual)
        last = not np.isfinite(primal) or n_iter == max_iter or accuracy < _FINEST
        if last or relative_gap(primal, dual) <= tol:
            found = evaluate(products, sign, loss, a, b, tol)
            if last or found.certificate.converged or not found.certificate.gap < _BETTER * best:
                break
            # The steps so far have rounded the margins: go on from what they are.
            best, margin = found.certificate.gap, found.margin.copy()
        violation = _violation(box, a, margin)
        fetched = held.fetch(violation, (a > box.low) & (a < box.high))
        rough = fetched and not held.full
        accuracy = violation.max() * (_ROUGHLY if rough else _WELL)
        _solve_held(held, sign, box, a, margin, accuracy, polish=not rough)
    return BoxSolution(a, found.margin, found.certificate, n_iter)


def _solve_held(
    held: _Held,
    sign: np.ndarray,
    box: Box,
    a: np.ndarray,
    margin: np.ndarray,
    accuracy: float,
    polish: bool,
) -> None:
    """Bring the violations of the rows at hand below ``accuracy``."""
    most = _STEPS_A_ROW * len(held.index)
    for _ in range(_MOST_VISITS):
        n_steps = climb(held.rows, held.index, sign, *box, a, margin, accuracy, most)
        if n_steps == most or polish:
            _newton_step(held, sign, box, a, margin)
        if n_steps < most:
            break


def _running_values(
    loss: QuadraticLoss, sign: np.ndarray, a: np.ndarray, margin: np.ndarray, b: float
) -> tuple[float, float]:
    """Return the primal and the dual value, as far as the steps so far have rounded the margins."""
    shift = b * float(a @ sign)
    half_norm = 0.5 * (float(a @ margin) - shift)
    return half_norm + loss.total(margin), float(loss.dual(a).sum()) - half_norm - shift


def _violation(box: Box, a: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """Return by how much each row's slope points to where its ``a`` may still go."""
    slope = 1.0 - box.ridge * a - margin
    up = np.where(a < box.high, slope, 0.0)
    down = np.where(a > box.low, -slope, 0.0)
    return np.maximum(np.maximum(up, down), 0.0)


def _newton_step(
    held: _Held, sign: np.ndarray, box: Box, a: np.ndarray, margin: np.ndarray
) -> None:
    """Go to the optimum over the rows between their limits, or as far as the limits allow."""
    inside = (a > box.low) & (a < box.high)
    slots = np.flatnonzero(inside[held.index])
    if not 0 < len(slots) <= MAX_FREE_ROWS:
        return
    free = held.index[slots]
    matrix = held.rows[np.ix_(slots, free)]
    matrix *= sign[free]
    matrix *= sign[free, None]
    diagonal = np.einsum("ii->i", matrix)
    diagonal += box.ridge[free] + JITTER * diagonal.mean()
    slope = 1.0 - box.ridge[free] * a[free] - margin[free]
    _, step, failed = dposv(matrix, slope, lower=True)
    if failed:
        return
    moved = _within(box, free, a, step, matrix, slope)
    _add_rows(held.rows, slots, (moved - a[free]) * sign[free], sign, margin)
    a[free] = moved


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


@jit
def _add_rows(
    rows: np.ndarray, slots: np.ndarray, change: np.ndarray, sign: np.ndarray, margin: np.ndarray
) -> None:
    """Add ``sign * (change @ rows[slots])`` to ``margin``."""
    for k in range(len(slots)):
        row = rows[slots[k]]
        for j in range(len(margin)):
            margin[j] += sign[j] * change[k] * row[j]


@jit
def climb(
    rows: np.ndarray,
    index: np.ndarray,
    sign: np.ndarray,
    ridge: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    a: np.ndarray,
    margin: np.ndarray,
    accuracy: float,
    most: int,
) -> int:
    """Raise the dual value by one ``a`` at a time, those first whose slopes are steep.

    ``rows[s]`` is row ``index[s]`` of the kernel matrix; others rest.  Each sweep takes the rows
    whose slope within the limits exceeds half the steepest of the sweep before.  Ends when none
    exceeds ``accuracy``, or after ``most`` steps; changes ``a`` and ``margin`` and returns the
    number of steps.
    """
    n_steps, level = 0, 0.5
    while True:
        steepest = 0.0
        for s in range(len(index)):
            i = index[s]
            slope = 1.0 - ridge[i] * a[i] - margin[i]
            limit = high[i] if slope > 0.0 else low[i]
            if a[i] == limit:
                continue
            steepest = max(steepest, abs(slope))
            if abs(slope) <= level:
                continue
            bend = rows[s, i] + ridge[i]
            target = a[i] + slope / bend if bend > 0.0 else limit
            if (slope > 0.0) == (target > limit):
                target = limit
            change = (target - a[i]) * sign[i]
            a[i] = target
            for j in range(len(margin)):
                margin[j] += sign[j] * change * rows[s, j]
            n_steps += 1
            if n_steps == most:
                return n_steps
        if not steepest > accuracy:
            return n_steps
        level = max(accuracy, 0.5 * steepest)
