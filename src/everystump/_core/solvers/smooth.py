"""Newton's method for losses that have a slope everywhere: logistic and squared hinge."""

from __future__ import annotations

import numpy as np

from everystump._core.solvers.bracket import Bracket
from everystump._core.solvers.conjugate import Stop
from everystump._core.solvers.point import Point
from everystump._core.solvers.problem import Problem, Progress, Solution
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.span import Effort, Gram, start_point

# Climbing in steps of 16 from a C of at most 16, each rung to a gap of 0.1, took a third or less of
# the steps that a cold start at C = 2^15 did.
_FIRST_RUNG, _RUNG, _ROUGH = 16.0, 16.0, 0.1
# Of losses that climb and of others.
_EFFORTS = {True: Effort(8, 60, 400), False: Effort(8, 40, 80)}
# Edges with a sign are anchored anew when the residual is at most this many times their strain, and
# held more stiffly: by these factors after more than _FEW_STEPS Newton steps, a few, and one.
_INNER, _FEW_STEPS = 0.1, 3
# The solution for another C may be within the tolerance by chance, but all of its error points to
# that C: it is taken without a step only if it is this much better than asked for.
_UNTOUCHED = 0.05
_GROWTH_HARD, _GROWTH_FEW, _GROWTH_EASY = 1.5, 3.0, 10.0


def solve_smooth(
    problem: Problem,
    rows: Rows,
    *,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: Solution | None = None,
    gram: Gram | None = None,
) -> Solution:
    """Minimise the objective of `Problem` for a smooth loss.

    The dual variables are the losses' slopes, so the duality gap is ``|v(a) - w|^2 / 2`` up to
    the balance of the two sides: Newton's residual itself.  Edges with a sign are smoothed, and the
    smoothing is anchored anew from time to time (see `Edges`).  ``gram`` is the kernel matrix of
    the table, for use where it makes things quicker.
    """
    point = start_point(problem, rows, gram, _EFFORTS[problem.loss.needs_continuation])
    if start is not None:
        point.resume(start)
        point.lean(start)
    rungs = _ladder(rows.C) if problem.loss.needs_continuation and start is None else [rows.C]
    n_iter = steps = 0
    for C in rungs:
        goal = tol if rungs[-1] == C else _ROUGH
        point.rows.charge(C)
        while True:
            _, now = point.look()
            progress(n_iter, now.primal, now.dual)
            enough = goal if start is None or n_iter > 0 else _UNTOUCHED * goal
            if now.gap <= enough or n_iter == max_iter:
                break
            # The primal value is far too high as long as many weights have the wrong sign.
            floor = 0.1 * goal * (now.dual if point.edges else now.primal)
            if steps > 0 and _are_edges_due(point, now, floor):
                point.edges.anchor(point.weights, _growth(steps))
                steps = 0
            point.step(now, Stop(floor=floor, target=np.inf, relative=1e-2))
            n_iter += 1
            steps += 1
    return point.finish(tol, n_iter)


def _are_edges_due(point: Point, now: Bracket, floor: float) -> bool:
    """Tell whether the smoothing of the edges is what now keeps the values apart."""
    if not point.edges:
        return False
    return point.shortfall(now) <= max(floor, _INNER * point.edges.strain(point.weights))


def _growth(steps: int) -> float:
    """Return how much more stiffly edges are held that took so many steps to smooth."""
    if steps > _FEW_STEPS:
        return _GROWTH_HARD
    return _GROWTH_FEW if steps > 1 else _GROWTH_EASY


def _ladder(C: float) -> list[float]:
    """Return the values of C on the way up to a large one."""
    rungs = [C]
    while rungs[0] > _FIRST_RUNG:
        rungs.insert(0, rungs[0] / _RUNG)
    return rungs
