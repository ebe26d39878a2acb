"""Kernel machines without an intercept (Evgeniou et al., eq. 3), for losses with a quadratic dual.

    max over a of   sum over i of dual_i(a_i) - 1/2 sum over i, j of a_i a_j y_i y_j K(x_i, x_j)
    subject to      low_i <= a_i <= high_i,      dual_i(a) = a - ridge_i a^2 / 2

The margin of row i is ``y_i (f(x_i) + b)``, ``f = sum of a_j y_j K(x_j, .)``; the constant ``b`` is
fixed.  Coordinate ascent changes the ``a_i`` of the steepest slopes, a Newton step all that are
strictly between their limits.  Both need only the rows of the kernel matrix that belong to the
``a_i`` they change: these are cached, and others are fetched, the largest violations of the
optimality conditions first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from everystump._core.dual_box import Box
from everystump._core.jit import jit
from everystump._core.losses import QuadraticLoss
from everystump._core.solvers.certificate import Certificate, relative_gap
from everystump._core.solvers.kernel_certificate import (
    KernelProducts,
    evaluate_expansion,
    fixed_intercept,
)
from everystump._core.solvers.problem import Progress, no_progress

# Violations are reduced by the first factor before more rows are fetched, else by the second.
_ROUGH_REDUCTION, _FINE_REDUCTION = 0.5, 0.1
# The initial accuracy; violations below the second number are rounding errors.
_FIRST_ACCURACY, _MIN_ACCURACY = 0.1, 1e-14
# The evaluated gap must fall by this factor each time; otherwise rounding prevents progress.
_GAP_REDUCTION = 0.9
# The number of rows to fetch at a time: at least the first number, or all rows divided by the
# second.
_MIN_BATCH, _N_BATCHES = 256, 32
# The number of steps per row after which a Newton step is more effective, and the maximum number of
# rounds.
_STEPS_PER_ROW, _MAX_ROUNDS = 3, 20
# With more rows than this, a Newton step is not worth its cubic cost.
MAX_FREE_ROWS = 4000
# Relative to the diagonal: makes the matrix invertible despite equal rows.
JITTER = 1e-13
# Newton steps are shortened until the dual value rises by this fraction of the predicted increase.
_LENGTHS, _MIN_INCREASE = 0.5 ** np.arange(10), 0.1


def row_batch_size(n_rows: int) -> int:
    """Return the number of rows of the matrix that are computed at a time."""
    return max(_MIN_BATCH, n_rows // _N_BATCHES)


class _RowCache:
    """The rows of the kernel matrix that are in memory."""

    def __init__(self, products: KernelProducts, n_rows: int) -> None:
        self._products = products
        dense = products.dense_if_cheap
        self._complete = dense is not None
        self.rows = np.empty((products.width, n_rows)) if dense is None else dense
        self.index = np.arange(n_rows if self._complete else 0)

    @property
    def full(self) -> bool:
        """Whether no more rows fit."""
        return len(self.index) == len(self.rows)

    def fetch(self, violation: np.ndarray, free: np.ndarray) -> bool:
        """Fetch the uncached rows of the largest violations; return whether there were any."""
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
        """Return slots for new rows: empty ones first, then those of the least needed rows."""
        n_cached = len(self.index)
        empty = np.arange(n_cached, min(n_cached + count, len(self.rows)))
        need = violation[self.index] + np.where(free[self.index], np.inf, 0.0)
        spare = np.argsort(need)[: count - len(empty)]
        self.index = np.append(self.index, empty)
        return np.concatenate([spare, empty])


@dataclass(frozen=True)
class BoxSolution:
    """Dual variables, non-negative except for least squares, margins, and the certificate."""

    a: np.ndarray
    margin: np.ndarray
    certificate: Certificate
    n_iter: int


def solve_box(
    products: KernelProducts,
    sign: np.ndarray,
    loss: QuadraticLoss,
    *,
    b: float = 0.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    progress: Progress = no_progress,
) -> BoxSolution:
    """Solve the problem to a relative duality gap of ``tol``; ``sign`` holds labels 1 and -1.

    ``max_iter`` limits the rounds of fetching and solving.  ``start`` are dual variables within
    their limits, and their margins.
    """
    box = loss.box()
    initial = (np.zeros(len(sign)), b * sign) if start is None else start
    a, margin = initial[0].copy(), initial[1].copy()
    cache = _RowCache(products, len(sign))
    accuracy, best = _FIRST_ACCURACY, np.inf
    for n_iter in range(max_iter + 1):
        primal, dual = _running_values(loss, sign, a, margin, b)
        progress(n_iter, primal, dual)
        last = not np.isfinite(primal) or n_iter == max_iter or accuracy < _MIN_ACCURACY
        if last or relative_gap(primal, dual) <= tol:
            evaluated = evaluate_expansion(
                products, sign, loss, a, tol, fixed_intercept(b, a * sign)
            )
            gap = evaluated.certificate.gap
            if last or evaluated.certificate.converged or not gap < _GAP_REDUCTION * best:
                break
            # Continue from the evaluated margins, free of the rounding of the steps so far.
            best, margin = gap, evaluated.margin.copy()
        violation = _violation(box, a, margin)
        fetched = cache.fetch(violation, (a > box.low) & (a < box.high))
        rough = fetched and not cache.full
        accuracy = violation.max() * (_ROUGH_REDUCTION if rough else _FINE_REDUCTION)
        _solve_cached(cache, sign, box, a, margin, accuracy, newton=not rough)
    return BoxSolution(a, evaluated.margin, evaluated.certificate, n_iter)


def _solve_cached(
    cache: _RowCache,
    sign: np.ndarray,
    box: Box,
    a: np.ndarray,
    margin: np.ndarray,
    accuracy: float,
    newton: bool,
) -> None:
    """Reduce the violations of the cached rows below ``accuracy``."""
    max_steps = _STEPS_PER_ROW * len(cache.index)
    for _ in range(_MAX_ROUNDS):
        n_steps = coordinate_ascent(
            cache.rows, cache.index, sign, *box, a, margin, accuracy, max_steps
        )
        if n_steps == max_steps or newton:
            _newton_step(cache, sign, box, a, margin)
        if n_steps < max_steps:
            break


def _running_values(
    loss: QuadraticLoss, sign: np.ndarray, a: np.ndarray, margin: np.ndarray, b: float
) -> tuple[float, float]:
    """Return the primal and the dual value at margins that carry the rounding of many steps."""
    shift = b * float(a @ sign)
    half_norm = 0.5 * (float(a @ margin) - shift)
    return half_norm + loss.total(margin), float(loss.dual(a).sum()) - half_norm - shift


def _violation(box: Box, a: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """Return the slope of each row in the direction in which its ``a`` can still move, or 0."""
    slope = 1.0 - box.ridge * a - margin
    up = np.where(a < box.high, slope, 0.0)
    down = np.where(a > box.low, -slope, 0.0)
    return np.maximum(np.maximum(up, down), 0.0)


def _newton_step(
    cache: _RowCache, sign: np.ndarray, box: Box, a: np.ndarray, margin: np.ndarray
) -> None:
    """Move all ``a`` strictly between their limits toward their joint optimum."""
    inside = (a > box.low) & (a < box.high)
    slots = np.flatnonzero(inside[cache.index])
    if not 0 < len(slots) <= MAX_FREE_ROWS:
        return
    free = cache.index[slots]
    matrix = cache.rows[np.ix_(slots, free)]
    matrix *= sign[free]
    matrix *= sign[free, None]
    diagonal = np.einsum("ii->i", matrix)
    diagonal += box.ridge[free] + JITTER * diagonal.mean()
    slope = 1.0 - box.ridge[free] * a[free] - margin[free]
    _, step, failed = dposv(matrix, slope, lower=True)
    if failed:
        return
    moved = _clipped_step(box, free, a, step, matrix, slope)
    _add_rows(cache.rows, slots, (moved - a[free]) * sign[free], sign, margin)
    a[free] = moved


def _clipped_step(
    box: Box,
    free: np.ndarray,
    a: np.ndarray,
    step: np.ndarray,
    matrix: np.ndarray,
    slope: np.ndarray,
) -> np.ndarray:
    """Return ``a`` after a step, clipped at the limits and shortened until the dual value rises."""
    low, high, current = box.low[free], box.high[free], a[free]
    for length in _LENGTHS:
        moved = np.clip(current + length * step, low, high)
        change = moved - current
        gain = float(slope @ change)
        if gain - 0.5 * float(change @ (matrix @ change)) >= _MIN_INCREASE * gain:
            return moved
    return current


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
def coordinate_ascent(
    rows: np.ndarray,
    index: np.ndarray,
    sign: np.ndarray,
    ridge: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    a: np.ndarray,
    margin: np.ndarray,
    accuracy: float,
    max_steps: int,
) -> int:
    """Raise the dual value by changing one ``a`` at a time, those of the steepest slopes first.

    ``rows[s]`` is row ``index[s]`` of the kernel matrix; other rows do not change.  Each sweep
    visits the rows whose slope within the limits exceeds half the steepest of the previous sweep.
    Stops when none exceeds ``accuracy``, or after ``max_steps``; updates ``a`` and ``margin`` in
    place and returns the number of steps.
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
            curvature = rows[s, i] + ridge[i]
            target = a[i] + slope / curvature if curvature > 0.0 else limit
            if (slope > 0.0) == (target > limit):
                target = limit
            change = (target - a[i]) * sign[i]
            a[i] = target
            for j in range(len(margin)):
                margin[j] += sign[j] * change * rows[s, j]
            n_steps += 1
            if n_steps == max_steps:
                return n_steps
        if not steepest > accuracy:
            return n_steps
        level = max(accuracy, 0.5 * steepest)
