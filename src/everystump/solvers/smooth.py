"""Newton's method for losses that have a slope everywhere: logistic and squared hinge."""

from __future__ import annotations

import numpy as np

from everystump.solvers.bracket import bracket, finish
from everystump.solvers.conjugate import Stop
from everystump.solvers.newton import Newton, line_search
from everystump.solvers.problem import Problem, Progress, Solution
from everystump.solvers.rows import Rows


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
    for n_iter in range(max_iter + 1):
        now = bracket(problem, weights, rows.slopes())
        progress(n_iter, now.primal, now.dual)
        if now.gap <= tol or n_iter == max_iter:
            break
        stop = Stop(floor=0.1 * tol * now.primal, target=np.inf, relative=1e-2)
        dw, db = newton.direction(now.residual, now.imbalance, stop)
        rows.propose(chains.spread(dw), db)
        t = line_search(rows, weights, dw)
        weights, bias = weights + t * dw, bias + t * db
        rows.move(t)
    return finish(problem, rows, weights, bias, tol, n_iter)
