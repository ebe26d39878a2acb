"""Newton's method for losses that have a slope everywhere: logistic and squared hinge."""

from __future__ import annotations

import numpy as np

from everystump.solvers.bracket import bracket, finish
from everystump.solvers.conjugate import Stop
from everystump.solvers.newton import Newton, line_search
from everystump.solvers.problem import Problem, Progress, Solution
from everystump.solvers.rows import Rows

# Climbing in steps of 16 from a C of at most 16, each rung to a gap of 0.1, took a third or less of
# the steps that a cold start at C = 2^15 did.
_FIRST_RUNG, _RUNG, _ROUGH = 16.0, 16.0, 0.1


def solve_smooth(
    problem: Problem,
    rows: Rows,
    *,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: Solution | None = None,
) -> Solution:
    """Minimise the objective of `Problem` for a smooth loss.

    The dual variables are the losses' slopes, so the duality gap is ``|v(a) - w|^2 / 2`` up to
    the balance of the two sides: Newton's residual itself.
    """
    chains, newton = problem.chains, Newton(problem, rows)
    weights, bias = np.zeros(len(chains.jumps)), 0.0
    if start is not None:
        weights, bias = start.weights, start.bias
        rows.place(chains.spread(weights), bias)
    rungs = _ladder(rows.C) if problem.loss.climbs and start is None else [rows.C]
    n_iter = 0
    for C in rungs:
        goal = tol if rungs[-1] == C else _ROUGH
        rows.charge(C)
        while True:
            now = bracket(problem, weights, rows.slopes())
            progress(n_iter, now.primal, now.dual)
            if now.gap <= goal or n_iter == max_iter:
                break
            stop = Stop(floor=0.1 * goal * now.primal, target=np.inf, relative=1e-2)
            dw, db = newton.direction(now, stop)
            rows.propose(chains.spread(dw), db)
            t = line_search(rows, weights, dw)
            weights, bias = weights + t * dw, bias + t * db
            rows.move(t)
            n_iter += 1
    return finish(problem, rows, weights, bias, tol, n_iter)


def _ladder(C: float) -> list[float]:
    """Return the values of C on the way up to a large one."""
    rungs = [C]
    while rungs[0] > _FIRST_RUNG:
        rungs.insert(0, rungs[0] / _RUNG)
    return rungs
