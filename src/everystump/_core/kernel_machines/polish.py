"""The last steps of a machine: rows between their limits are put on the margin.

For the rows F between their limits, ``r`` what their margins lack and ``c = y a``, solve

    [K_FF + ridge  1] [dc]   [  r  ]
    [     1'       0] [db] = [-sum c],

without the border if there is no bias; drop the rows that reach a limit, add those that want to
leave theirs, and solve again.  What is lacking is evaluated from the coefficients every time, so
errors of the solution do not add up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from everystump._core.kernel_machines.gram import Gram
from everystump._core.kernel_machines.settle import solution_from_duals
from everystump._core.kernel_machines.task import Task, Trained
from everystump._core.solvers.box import JITTER, MAX_FREE_ROWS

_MOST_STEPS = 30
# After so many steps that brought the gap no lower there is no use in more.
_PATIENCE = 4
_LITTLE = 1e-2  # of the smallest ridge


def polish(gram: Gram, task: Task, rough: Trained) -> Trained:
    """Return the best machine on a few steps from a nearby one."""
    best = here = rough
    free = _free(task, rough.a)
    system, waited, offset = None, 0, 0.0
    for _ in range(_MOST_STEPS):
        if not 0 < len(free) <= MAX_FREE_ROWS:
            break
        if system is None:
            system = _System.of(gram, task, free)
            if system is None:
                break
        here, hit = system.step(gram, task, here, offset)
        waited = 0 if here.certificate.gap < 0.5 * best.certificate.gap else waited + 1
        if here.certificate.gap < best.certificate.gap:
            best = here
        if waited > _PATIENCE or (best.certificate.converged and waited):
            break
        wanting = _wanting(task, here, free)
        if hit.any():
            free, system = free[~hit], None
        elif len(wanting):
            free, system = np.sort(np.append(free, wanting)), None
        elif waited:
            offset = _offset(task, here, free)
    return replace(best, n_iter=rough.n_iter)


def _free(task: Task, a: np.ndarray) -> np.ndarray:
    _, low, high = task.loss.box()
    return np.flatnonzero((a > low) & (a < high))


def _wanting(task: Task, here: Trained, free: np.ndarray) -> np.ndarray:
    """Return the rows at a limit whose slope leads away from it."""
    ridge, low, high = task.loss.box()
    slope = 1.0 - ridge * here.a - here.margin
    off = np.abs(slope[free]).max(initial=0.0)
    away = ((here.a <= low) & (slope > off)) | ((here.a >= high) & (slope < -off))
    away[free] = False
    return np.flatnonzero(away)


def _offset(task: Task, here: Trained, free: np.ndarray) -> float:
    """Return by how much margins should miss the hinge's corner that they cannot meet exactly.

    The dual variables are rounded, so the margins miss it anyway; below it that costs ``high - a``,
    above it ``a``.
    """
    high, a = task.loss.box().high[free], here.a[free]
    if np.isinf(high).any():
        return 0.0
    off = float(np.abs(1.0 - here.margin[free]).max())
    return off if a.sum() < (high - a).sum() else -off


def _factored(square: np.ndarray, jitter: float, less: float) -> tuple | None:
    """Factor a matrix with some jitter on its diagonal, less of it where that will do.

    Jitter above the ridge slows the steps down.  None where rounding leaves the matrix singular.
    """
    for more in (min(jitter, less) or jitter, jitter):
        matrix = square.copy()
        matrix[np.diag_indices_from(matrix)] += more
        try:
            return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
    return None


class _System:
    """The factored system of the rows between their limits."""

    def __init__(self, free: np.ndarray, factor: tuple, ones: np.ndarray | None) -> None:
        self._free, self._factor, self._ones = free, factor, ones

    @classmethod
    def of(cls, gram: Gram, task: Task, free: np.ndarray) -> _System | None:
        """Factor the system; None where rounding leaves it singular."""
        square = gram.centered(free) if task.bias else gram.block(free)
        ridge, diagonal = task.loss.box().ridge[free], np.einsum("ii->i", square)
        jitter = JITTER * float(diagonal.mean())
        diagonal += ridge
        factor = _factored(square, jitter, _LITTLE * float(ridge.min()))
        if factor is None:
            return None
        ones = cho_solve(factor, np.ones(len(free))) if task.bias else None
        return cls(free, factor, ones)

    def step(
        self, gram: Gram, task: Task, here: Trained, offset: float
    ) -> tuple[Trained, np.ndarray]:
        """Return the machine after the step, and which rows reached a limit on the way.

        Margins are to be ``offset`` above 1.
        """
        free, sign = self._free, task.sign[self._free]
        ridge, low, high = (limit[free] for limit in task.loss.box())
        aim = 1.0 + offset - ridge * here.a[free]
        change = cho_solve(self._factor, sign * (aim - here.margin[free]))
        if self._ones is not None:
            left = float(change.sum()) + float(here.a @ task.sign)
            change -= left / float(self._ones.sum()) * self._ones
        wanted = here.a[free] + sign * change
        moved = here.a.copy()
        moved[free] = np.clip(wanted, low, high)
        return solution_from_duals(gram, task, moved), moved[free] != wanted
