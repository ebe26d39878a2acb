"""Dual variables by a path through the interior of their limits, where climbing stalls.

    min over a of   a'(Q + ridge) a / 2 - sum of a,     0 <= a <= high,   y'a = 0,    Q = y K y'

Mehrotra's predictor and corrector, in units of the highest cost so that dual variables are about 1.
Each step factors a matrix of all rows, and some tens of steps lead near the optimum whatever the
scales of features and costs are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from everystump._core.kernel_machines.gram import Gram
from everystump._core.kernel_machines.task import Task
from everystump._core.solvers.box import JITTER

# Steps of this length no longer lead anywhere; the path ends where limits are met this well, as a
# share of the mean dual variable.
_SHORTEST, _ENOUGH = 1e-6, 1e-13
_MOST_STEPS = 100
_BACK = 0.99  # of the way to the nearest limit
# A dual variable is at its limit if its distance is this small against the multiplier.
_CLEARLY = 1e-3


@dataclass(frozen=True)
class _Point:
    """Dual variables, their distances to the upper limits, multipliers of both limits, the bias."""

    a: np.ndarray
    slack: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    b: float

    def moved(self, step: _Point, length: float) -> _Point:
        """Return the point after some of a step."""
        return _Point(
            self.a + length * step.a,
            self.slack + length * step.slack,
            self.lower + length * step.lower,
            self.upper + length * step.upper,
            self.b + length * step.b,
        )

    def longest(self, step: _Point) -> float:
        """Return how much of a step stays within the limits, the whole of it at most."""
        pairs = (
            (self.a, step.a),
            (self.slack, step.slack),
            (self.lower, step.lower),
            (self.upper, step.upper),
        )
        shares = [-(of[to < 0] / to[to < 0]).max(initial=-1.0) for of, to in pairs]
        return min(1.0, *shares)

    @property
    def gap(self) -> float:
        """The mean product of multipliers and distances."""
        capped = np.isfinite(self.slack)
        total = self.a @ self.lower + self.slack[capped] @ self.upper[capped]
        return float(total) / (len(self.a) + int(capped.sum()))


def solve_interior_point(gram: Gram, task: Task, max_iter: int) -> tuple[np.ndarray, int]:
    """Return dual variables near the optimum, those next to a limit put on it, and the steps."""
    ridge, _, high = task.loss.box()
    unit = float(task.loss.cost.max())
    system = _System(gram, task, unit * ridge, unit)
    slack = high / unit
    a = np.where(np.isinf(slack), 1.0, 0.5 * slack)
    here = _Point(a, slack - a, *system.multipliers(a, np.isfinite(slack)), 0.0)
    n_iter = 0
    while n_iter < min(max_iter, _MOST_STEPS) and here.gap > _ENOUGH * float(here.a.mean()):
        n_iter += 1
        try:
            step = system.step(here)
        except LinAlgError:
            break
        length = _BACK * here.longest(step)
        here = here.moved(step, length)
        if length < _SHORTEST:
            break
    found = np.where(here.a < _CLEARLY * here.lower, 0.0, here.a)
    return np.where(here.slack < _CLEARLY * here.upper, high, unit * found), n_iter


class _System:
    """Newton's equations of the path."""

    def __init__(self, gram: Gram, task: Task, ridge: np.ndarray, unit: float) -> None:
        everything = np.arange(gram.n_rows)
        square = gram.centered(everything) if task.bias else gram.block(everything)
        square *= unit * task.sign
        square *= task.sign[:, None]
        square[np.diag_indices_from(square)] += ridge
        self._square, self._sign, self._bias = square, task.sign, task.bias
        self._jitter = JITTER * float(square.diagonal().mean())

    def multipliers(self, a: np.ndarray, capped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return multipliers of the lower and the upper limits that go with dual variables."""
        slope = self._square @ a - 1.0
        least = max(1.0, float(np.abs(slope).mean()))
        return np.maximum(slope, 0.0) + least, np.where(
            capped, np.maximum(-slope, 0.0) + least, 0.0
        )

    def step(self, here: _Point) -> _Point:
        """Return the corrected step."""
        matrix = self._square.copy()
        matrix[np.diag_indices_from(matrix)] += (
            here.lower / here.a + here.upper / here.slack + self._jitter
        )
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        ones = cho_solve(factor, self._sign, check_finite=False) if self._bias else None
        flat = self._square @ here.a - 1.0 + here.b * self._sign - here.lower + here.upper
        ahead = self._solve(here, factor, ones, flat, -here.a * here.lower, _times(here, -1.0))
        gap = here.gap
        share = (here.moved(ahead, here.longest(ahead)).gap / gap) ** 3
        capped = np.isfinite(here.slack)
        return self._solve(
            here,
            factor,
            ones,
            flat,
            share * gap - here.a * here.lower - ahead.a * ahead.lower,
            np.where(capped, share * gap - ahead.slack * ahead.upper, 0.0) + _times(here, -1.0),
        )

    def _solve(
        self,
        here: _Point,
        factor: tuple,
        ones: np.ndarray | None,
        flat: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
    ) -> _Point:
        """Return the step after which limits times multipliers change by ``lower``, ``upper``."""
        rhs = lower / here.a - upper / here.slack - flat
        da, db = cho_solve(factor, rhs, check_finite=False), 0.0
        if ones is not None:
            db = float(self._sign @ (here.a + da)) / float(self._sign @ ones)
            da = da - db * ones
        return _Point(
            da,
            np.where(np.isinf(here.slack), 0.0, -da),
            (lower - here.lower * da) / here.a,
            (upper + here.upper * da) / here.slack,
            db,
        )


def _times(here: _Point, factor: float) -> np.ndarray:
    """Return the upper limits' distances times multipliers, 0 where there is no limit."""
    capped = np.isfinite(here.slack)
    return factor * np.where(capped, np.where(capped, here.slack, 0.0) * here.upper, 0.0)
