"""Interior-point method for the dual, where coordinate ascent stalls.

    min over a of   a'(Q + ridge) a / 2 - sum of a,     0 <= a <= high,   y'a = 0,    Q = y K y'

Mehrotra's predictor-corrector method, with dual variables in units of the largest cost.  Each step
factors a matrix of all rows; a few dozen steps come close to the optimum for any scale of features
and costs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix
from everystump._core.kernel_machines.problem import KernelProblem
from everystump._core.solvers.box import JITTER

# Stop at steps shorter than this, or where the mean complementarity is this small relative to the
# mean dual variable.
_MIN_STEP, _MIN_COMPLEMENTARITY = 1e-6, 1e-13
_MAX_STEPS = 100
_STEP_FRACTION = 0.99  # of the distance to the nearest limit
# A dual variable is at its limit if its distance is this small relative to the multiplier.
_AT_LIMIT = 1e-3


class _Iterate(NamedTuple):
    """Dual variables, distances to the upper limits, multipliers of both limits, intercept."""

    a: np.ndarray
    slack: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    b: float

    def moved(self, step: _Iterate, length: float) -> _Iterate:
        """Return the iterate after a step of the given length."""
        pairs: Any = zip(self, step, strict=True)
        return _Iterate(*(x + length * dx for x, dx in pairs))

    def max_length(self, step: _Iterate) -> float:
        """Return the largest length of a step, 1 at most, that stays within the limits."""
        pairs = zip(self[:4], step[:4], strict=True)
        return min(1.0, *(-(x[dx < 0] / dx[dx < 0]).max(initial=-1.0) for x, dx in pairs))

    @property
    def complementarity(self) -> float:
        """The mean product of multipliers and distances to the limits."""
        has_upper = np.isfinite(self.slack)
        total = self.a @ self.lower + self.slack[has_upper] @ self.upper[has_upper]
        return float(total) / (len(self.a) + int(has_upper.sum()))

    @property
    def upper_products(self) -> np.ndarray:
        """Distances to the upper limits times multipliers, 0 where there is no limit."""
        has_upper = np.isfinite(self.slack)
        return np.where(has_upper, self.slack, 0.0) * self.upper


def solve_interior_point(
    gram: LazyKernelMatrix, problem: KernelProblem, max_iter: int
) -> tuple[np.ndarray, int]:
    """Return dual variables close to the optimum, and the number of steps.

    Those close to a limit are set to it.
    """
    ridge, _, high = problem.loss.box()
    unit = float(problem.loss.cost.max())
    system = _System(gram, problem, unit * ridge, unit)
    slack = high / unit
    a = np.where(np.isinf(slack), 1.0, 0.5 * slack)
    current = _Iterate(a, slack - a, *system.first_multipliers(a, np.isfinite(slack)), 0.0)
    n_iter = 0
    while n_iter < min(max_iter, _MAX_STEPS):
        if current.complementarity <= _MIN_COMPLEMENTARITY * float(current.a.mean()):
            break
        n_iter += 1
        try:
            step = system.step(current)
        except LinAlgError:
            break
        length = _STEP_FRACTION * current.max_length(step)
        current = current.moved(step, length)
        if length < _MIN_STEP:
            break
    a = np.where(current.a < _AT_LIMIT * current.lower, 0.0, current.a)
    return np.where(current.slack < _AT_LIMIT * current.upper, high, unit * a), n_iter


class _System:
    """Newton's equations of the interior-point method."""

    def __init__(
        self, gram: LazyKernelMatrix, problem: KernelProblem, ridge: np.ndarray, unit: float
    ) -> None:
        rows = np.arange(gram.n_rows)
        intercept, y = problem.fit_intercept, problem.y
        Q = gram.positive_definite_block(rows) if intercept else gram.block(rows)
        Q *= unit * y
        Q *= y[:, None]
        Q[np.diag_indices_from(Q)] += ridge
        self._Q, self._y, self._fit_intercept = Q, y, intercept
        self._jitter = JITTER * float(Q.diagonal().mean())

    def first_multipliers(
        self, a: np.ndarray, has_upper: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return positive multipliers of the lower and the upper limits at dual variables ``a``."""
        slope = self._Q @ a - 1.0
        offset = max(1.0, float(np.abs(slope).mean()))
        lower = np.maximum(slope, 0.0) + offset
        return lower, np.where(has_upper, np.maximum(-slope, 0.0) + offset, 0.0)

    def step(self, current: _Iterate) -> _Iterate:
        """Return the corrected step."""
        matrix = self._Q.copy()
        matrix[np.diag_indices_from(matrix)] += (
            current.lower / current.a + current.upper / current.slack + self._jitter
        )
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        border = cho_solve(factor, self._y, check_finite=False) if self._fit_intercept else None
        predictor = self._solve(
            current, factor, border, -current.a * current.lower, -current.upper_products
        )
        mean = current.complementarity
        center = (
            current.moved(predictor, current.max_length(predictor)).complementarity / mean
        ) ** 3
        target = center * mean
        has_upper = np.isfinite(current.slack)
        lower = target - current.a * current.lower - predictor.a * predictor.lower
        upper = np.where(has_upper, target - predictor.slack * predictor.upper, 0.0)
        return self._solve(current, factor, border, lower, upper - current.upper_products)

    def _solve(
        self,
        current: _Iterate,
        factor: tuple,
        border: np.ndarray | None,
        lower: np.ndarray,
        upper: np.ndarray,
    ) -> _Iterate:
        """Return the step that changes distances times multipliers by ``lower`` and ``upper``."""
        slope = self._Q @ current.a - 1.0 + current.b * self._y - current.lower + current.upper
        rhs = lower / current.a - upper / current.slack - slope
        da, db = cho_solve(factor, rhs, check_finite=False), 0.0
        if border is not None:
            db = float(self._y @ (current.a + da)) / float(self._y @ border)
            da = da - db * border
        return _Iterate(
            da,
            np.where(np.isinf(current.slack), 0.0, -da),
            (lower - current.lower * da) / current.a,
            (upper + current.upper * da) / current.slack,
            db,
        )
