"""The certified solution of a stump ensemble: both problems evaluated at the returned values.

Weights, intercept and dual variables are scaled by the factors that `primal_dual` found; then both
problems are evaluated at the scaled numbers, each with a bound on the rounding error of its sums.
"""

from __future__ import annotations

import numpy as np

from everystump._core.solvers.certificate import (
    SAFETY_FACTOR,
    UNIT_ROUNDOFF,
    ObjectiveTerms,
    certify,
    sum_rounding,
)
from everystump._core.solvers.duality import primal_dual
from everystump._core.solvers.problem import Problem, Solution
from everystump._core.solvers.rows import Rows, RowSums

# The loss of a margin and its dual term use exponentials and logarithms, each with an error of a
# few units; for a dual variable that rounds to its upper limit, it counts up to 37 times, the
# logarithm of the difference.
_LOSS_ROUNDING, _DUAL_ROUNDING = 16, 64


def certified_solution(
    problem: Problem, rows: Rows, weights: np.ndarray, intercept: float, tol: float, n_iter: int
) -> Solution:
    """Return the solution at the current iterate with its certificate.

    Margins are recomputed, free of the rounding of many steps; the dual variables are the rows'
    current ones, scaled.
    """
    rows.set_margins(problem.chains.matvec(weights), intercept)
    current = primal_dual(problem, weights, rows.sums(refit=False))
    dual_coef = rows.dual_coef(current.dual_scale)
    if problem.hard or current.primal_scale != 1.0:
        # No margin may be below 1, not even by a rounding error.
        error = current.primal_scale * _margin_rounding(problem, weights, intercept)
        scale = current.primal_scale * (1.0 + 4.0 * error)
        weights, intercept = scale * weights, scale * intercept
        rows.set_margins(problem.chains.matvec(weights), intercept)
    rows.set_duals(dual_coef)
    terms = _objective_terms(problem, rows, weights, intercept, rows.sums(refit=False))
    return Solution(
        weights=weights,
        intercept=intercept,
        dual_coef=dual_coef,
        certificate=certify(terms, tol, rows.passes),
        n_iter=n_iter,
        C=rows.C,
    )


def _margin_rounding(problem: Problem, weights: np.ndarray, intercept: float) -> float:
    """Return a bound on the rounding error of a margin.

    A weight goes through the sums of its feature, twice if votes are centered, then through the
    sum over the features.
    """
    chains = problem.chains
    n_operations = 2 * chains.longest + chains.n_features + 8
    return sum_rounding(n_operations) * (2 * float(chains.jumps @ np.abs(weights)) + abs(intercept))


def _objective_terms(
    problem: Problem, rows: Rows, weights: np.ndarray, intercept: float, sums: RowSums
) -> ObjectiveTerms:
    """Return the terms of both objectives, given the sums over the rows at these margins."""
    error = _margin_rounding(problem, weights, intercept)
    worst, norm = rows.loss_at_shift(-error), float(weights @ weights)
    loss_error = max(worst - sums.loss, 0.0) if worst < np.inf else np.inf
    loss_error += sum_rounding(rows.n_additions + _LOSS_ROUNDING) * worst
    by_class = [problem.chains.rmatvec(table) for table in sums.tables]
    dual_weights = problem.project(by_class[0] - by_class[1])
    return ObjectiveTerms(
        norm=norm,
        loss=sums.loss,
        dual_loss=float(sums.duals.sum()),
        dual_norm=float(dual_weights @ dual_weights),
        primal_rounding=SAFETY_FACTOR * loss_error + sum_rounding(len(weights) + 4) * norm,
        dual_rounding=_dual_rounding(problem, rows, sums, by_class, dual_weights),
    )


def _dual_rounding(
    problem: Problem,
    rows: Rows,
    sums: RowSums,
    by_class: list[np.ndarray],
    dual_weights: np.ndarray,
) -> float:
    """Return a bound on how much too high the dual value may be.

    Dual variables that balance up to rounding stand for nearby ones that balance exactly: those of
    one class are slightly smaller, which changes the dual value by at most its slope and its
    curvature in that direction.
    """
    jumps, total = problem.chains.jumps, float(sums.totals.sum())
    unit = sum_rounding(rows.n_additions + 2 * problem.chains.longest + 8)
    square = float(dual_weights @ dual_weights)
    error = (unit + _DUAL_ROUNDING * UNIT_ROUNDOFF) * (total + float(np.abs(sums.duals).sum()))
    error += 2 * unit * total * float(jumps @ np.abs(dual_weights))
    error += sum_rounding(len(jumps) + 4) * square
    error += 2 * (unit * total) ** 2 * float(jumps @ jumps)
    if not problem.fit_intercept:
        return SAFETY_FACTOR * error
    excess = np.maximum(sums.totals - sums.totals[::-1], 0.0) + unit * total
    cuts = np.divide(excess, sums.totals, out=np.zeros(2), where=sums.totals > 0)
    lost = [
        cut * max(gain - float(dual_weights @ v), 0.0) + cut**2 * float(v @ v) / 2
        for cut, gain, v in zip(np.minimum(cuts, 1.0), sums.duals, by_class, strict=True)
    ]
    return SAFETY_FACTOR * ((1.0 + min(cuts.max(), 1.0)) * error + max(lost))
