"""Active-set steps that bring a kernel machine from near its optimum to the optimum.

For the rows F between their limits, ``r`` the shortfall of their margins and ``c = y a``, solve

    [K_FF + ridge  1] [dc]   [  r  ]
    [     1'       0] [db] = [-sum c],

without the border if there is no intercept; drop the rows that reach a limit, add those whose slope
leads away from theirs, and solve again.  Residuals are computed from the coefficients in every
step, so rounding errors do not accumulate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix
from everystump._core.kernel_machines.problem import (
    KernelProblem,
    KernelSolution,
    solution_from_duals,
)
from everystump._core.solvers.box import JITTER, MAX_FREE_ROWS

_MAX_STEPS = 30
# Stop after this many steps that did not halve the gap.
_PATIENCE = 4
_RIDGE_FRACTION = 1e-2


def polish(gram: LazyKernelMatrix, problem: KernelProblem, start: KernelSolution) -> KernelSolution:
    """Return the best solution of a few active-set steps."""
    best = current = start
    free = _free(problem, start.a)
    system, n_idle, offset = None, 0, 0.0
    for _ in range(_MAX_STEPS):
        if not 0 < len(free) <= MAX_FREE_ROWS:
            break
        if system is None:
            system = _System.factorize(gram, problem, free)
            if system is None:
                break
        current, at_limit = system.step(gram, problem, current, offset)
        n_idle = 0 if current.certificate.gap < 0.5 * best.certificate.gap else n_idle + 1
        if current.certificate.gap < best.certificate.gap:
            best = current
        if n_idle > _PATIENCE or (best.certificate.converged and n_idle):
            break
        leaving = _leaving(problem, current, free)
        if at_limit.any():
            free, system = free[~at_limit], None
        elif len(leaving):
            free, system = np.sort(np.append(free, leaving)), None
        elif n_idle:
            offset = _offset(problem, current, free)
    return replace(best, n_iter=start.n_iter)


def _free(problem: KernelProblem, a: np.ndarray) -> np.ndarray:
    _, low, high = problem.loss.box()
    return np.flatnonzero((a > low) & (a < high))


def _leaving(problem: KernelProblem, current: KernelSolution, free: np.ndarray) -> np.ndarray:
    """Return the rows at a limit whose slope leads away from it."""
    ridge, low, high = problem.loss.box()
    slope = 1.0 - ridge * current.a - current.margin
    noise = np.abs(slope[free]).max(initial=0.0)
    leaving = ((current.a <= low) & (slope > noise)) | ((current.a >= high) & (slope < -noise))
    leaving[free] = False
    return np.flatnonzero(leaving)


def _offset(problem: KernelProblem, current: KernelSolution, free: np.ndarray) -> float:
    """Return an offset from margin 1, the kink of the hinge, which rounding keeps out of reach.

    A margin below the kink costs ``high - a`` per unit, one above it ``a``.
    """
    high, a = problem.loss.box().high[free], current.a[free]
    if np.isinf(high).any():
        return 0.0
    distance = float(np.abs(1.0 - current.margin[free]).max())
    return distance if a.sum() < (high - a).sum() else -distance


def _factorize(square: np.ndarray, jitter: float, smaller: float) -> tuple | None:
    """Return the Cholesky factor of a matrix with jitter on its diagonal, or None if singular.

    Jitter above the ridge slows convergence, so ``smaller`` is tried first.
    """
    for amount in (min(jitter, smaller) or jitter, jitter):
        matrix = square.copy()
        matrix[np.diag_indices_from(matrix)] += amount
        try:
            return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
    return None


class _System:
    """The factored linear system of the rows between their limits."""

    def __init__(self, free: np.ndarray, factor: tuple, border: np.ndarray | None) -> None:
        self._free, self._factor, self._border = free, factor, border

    @classmethod
    def factorize(
        cls, gram: LazyKernelMatrix, problem: KernelProblem, free: np.ndarray
    ) -> _System | None:
        """Factor the system; None if rounding makes it singular."""
        intercept = problem.fit_intercept
        square = gram.positive_definite_block(free) if intercept else gram.block(free)
        ridge, diagonal = problem.loss.box().ridge[free], np.einsum("ii->i", square)
        jitter = JITTER * float(diagonal.mean())
        diagonal += ridge
        factor = _factorize(square, jitter, _RIDGE_FRACTION * float(ridge.min()))
        if factor is None:
            return None
        return cls(free, factor, cho_solve(factor, np.ones(len(free))) if intercept else None)

    def step(
        self, gram: LazyKernelMatrix, problem: KernelProblem, current: KernelSolution, offset: float
    ) -> tuple[KernelSolution, np.ndarray]:
        """Return the solution after the step, and which rows reached a limit.

        The target of the margins is ``1 + offset``.
        """
        free, y = self._free, problem.y[self._free]
        ridge, low, high = (limit[free] for limit in problem.loss.box())
        target = 1.0 + offset - ridge * current.a[free]
        change = cho_solve(self._factor, y * (target - current.margin[free]))
        if self._border is not None:
            excess = float(change.sum()) + float(current.a @ problem.y)
            change -= excess / float(self._border.sum()) * self._border
        unclipped = current.a[free] + y * change
        a = current.a.copy()
        a[free] = np.clip(unclipped, low, high)
        return solution_from_duals(gram, problem, a), a[free] != unclipped
