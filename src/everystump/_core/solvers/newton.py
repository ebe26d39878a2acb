"""Newton's method for smooth losses: logistic and squared hinge.

    min over w, b of   |w|^2 / 2 + sum over rows i of loss_i(y_i f(x_i))        (see `Problem`)

The dual variables are the slopes of the losses, so up to the balance of the two classes the duality
gap is ``|v(a) - w|^2 / 2``: Newton's residual itself.  Sign constraints are smoothed by an
augmented Lagrangian, which is recentered from time to time (see `SignConstraints`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from everystump._core.solvers.duality import PrimalDual
from everystump._core.solvers.iterate import Iterate, continue_outside_span, initial_iterate
from everystump._core.solvers.newton_system import StoppingRule
from everystump._core.solvers.problem import Effort, Problem, Solution, SolverOptions
from everystump._core.solvers.rows import Rows

# Continuation from a C of at most 16 in factors of 16, each solved to a gap of 0.1, took at most a
# third of the steps of a cold start at C = 2^15.
_FIRST_C, _C_FACTOR, _ROUGH_TOL = 16.0, 16.0, 0.1
# For losses with and without continuation.
_EFFORTS = {True: Effort(8, 60, 400), False: Effort(8, 40, 80)}
# Signs are recentered when the residual is at most this multiple of the cost of their smoothing.
_RECENTER_RATIO = 0.1
# Their penalty then grows by these factors: after more than _FEW_STEPS Newton steps, a few, one.
_FEW_STEPS = 3
_GROWTH_HARD, _GROWTH_FEW, _GROWTH_EASY = 1.5, 3.0, 10.0
# The solution for another C may satisfy the tolerance by chance, but all of its error is in the
# direction of that C: without a step it is accepted only at this fraction of the tolerance.
_UNCHANGED_FRACTION = 0.05


def solve_newton(problem: Problem, rows: Rows, options: SolverOptions) -> Solution:
    """Minimize the objective of `Problem` for a smooth loss."""
    tol, start = options.tol, options.start
    continued = problem.loss.needs_continuation
    iterate = initial_iterate(problem, rows, options.kernel_matrix, _EFFORTS[continued])
    if start is not None:
        iterate.warm_start(start)
        iterate.rescale()
        iterate.warm_start_constraints(start)
    Cs = _continuation(rows.C) if continued and start is None else [rows.C]
    accuracy = 0.0 if problem.loss.is_quadratic else problem.terms.direction_accuracy
    n_iter = steps = 0
    for C in Cs:
        goal = tol if Cs[-1] == C else _ROUGH_TOL
        iterate.rows.set_c(C)
        while True:
            _, current = iterate.evaluate()
            options.progress(n_iter, current.primal, current.dual)
            max_gap = goal if start is None or n_iter > 0 else _UNCHANGED_FRACTION * goal
            if current.gap <= max_gap or n_iter == options.max_iter:
                break
            # The primal value is far too high as long as many weights violate their signs.
            value = current.dual if iterate.constraints else current.primal
            floor = 0.1 * goal * value
            if steps > 0 and _is_recentering_due(iterate, current, floor):
                iterate.constraints.recenter(iterate.weights, _growth(steps))
                steps = 0
            iterate.newton_step(current, StoppingRule(floor, np.inf, accuracy))
            n_iter += 1
            steps += 1
            if iterate.problem.span is not None and iterate.step_length == 0.0:
                # Rounding errors are larger in the span of the rows, where the norm is a sum of
                # terms of both signs.
                return solve_newton(problem, rows, replace(options, kernel_matrix=None))
    solution = iterate.solution(tol, n_iter)
    if iterate.problem.span is None:
        return solution
    return continue_outside_span(solve_newton, problem, rows, options, solution)


def _is_recentering_due(iterate: Iterate, current: PrimalDual, floor: float) -> bool:
    """Whether most of the duality gap is due to the smoothing of the sign constraints."""
    if not iterate.constraints:
        return False
    cost = iterate.constraints.smoothing_cost(iterate.weights)
    return iterate.residual_gap(current) <= max(floor, _RECENTER_RATIO * cost)


def _growth(steps: int) -> float:
    """Return the growth of the penalty on the signs, given the Newton steps it took."""
    if steps > _FEW_STEPS:
        return _GROWTH_HARD
    return _GROWTH_FEW if steps > 1 else _GROWTH_EASY


def _continuation(C: float) -> list[float]:
    """Return increasing values of C up to a large one."""
    Cs = [C]
    while Cs[0] > _FIRST_C:
        Cs.insert(0, Cs[0] / _C_FACTOR)
    return Cs
