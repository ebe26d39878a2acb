"""Primal and dual values, which enclose the optimum, and the certified solution.

Weights, intercept and dual variables are scaled by the factors that `primal_dual` finds; then both
problems are evaluated at the scaled numbers, each with a bound on the rounding error of its sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core.solvers.certificate import (
    SAFETY_FACTOR,
    UNIT_ROUNDOFF,
    ObjectiveTerms,
    certify,
    relative_gap,
    sum_rounding,
)
from everystump._core.solvers.problem import Problem, Solution
from everystump._core.solvers.row_blocks import CertificateSums, RowSums
from everystump._core.solvers.rows import Rows

_GAP_FACTOR = 1.01
# The loss of a margin and its dual term use exponentials and logarithms, each with an error of a
# few units; for a dual variable that rounds to its upper limit, it counts up to 37 times, the
# logarithm of the difference.
_LOSS_ROUNDING, _DUAL_ROUNDING = 16, 64


@dataclass(frozen=True)
class PrimalDual:
    """Both values at one point, and how the point must be scaled to attain them."""

    primal: float
    dual: float
    primal_scale: float  # of weights and intercept
    dual_scale: np.ndarray  # (2,): of the dual variables with positive and with negative y a
    dual_weights: np.ndarray  # P(v(a)) of the scaled dual variables
    residual: np.ndarray  # v(a) - w without the scaling
    imbalance: float  # sum of y a without the scaling, 0 if there is no intercept
    total: float  # sum of |a| without the scaling

    @property
    def gap(self) -> float:
        """The relative duality gap, slightly enlarged to allow for rounding in the certificate."""
        return _GAP_FACTOR * relative_gap(self.primal, self.dual)


def primal_dual(problem: Problem, weights: np.ndarray, sums: RowSums) -> PrimalDual:
    """Return a primal and a dual value at the current point.

    Primal: the point as it is or, if all margins are positive and the loss is 0 beyond 1, scaled
    until all margins are at least 1.  Dual: each ``dual_i`` is concave and 0 at 0, so scaling the
    variables of one sign of ``y a`` (of one class, in classification) down until both signs
    balance, and then all of them along the ray, keeps at least that fraction of their terms;
    ``P`` commutes with the scaling.
    """
    operator = problem.operator
    by_class = operator.rmatvec(sums.tables[0]), operator.rmatvec(sums.tables[1])
    scale = np.ones(2)
    if problem.fit_intercept:
        smaller = sums.totals.min()
        scale = np.divide(smaller, sums.totals, out=np.zeros(2), where=sums.totals > 0)
    dual_weights = problem.project(scale[0] * by_class[0] - scale[1] * by_class[1])
    square, gain = operator.dot(dual_weights, dual_weights), float(scale @ sums.duals)
    ray = 0.0
    if gain > 0:
        ray = gain / square if square > 0 else np.inf
        ray = ray if problem.hard else min(1.0, ray)
    half_norm = operator.dot(weights, weights) / 2
    primal, primal_scale = half_norm + sums.loss, 1.0
    if problem.loss.zero_beyond_one and sums.min_margin > 0:
        scaled = half_norm / sums.min_margin**2
        if scaled < primal:
            primal, primal_scale = scaled, 1.0 / sums.min_margin
    return PrimalDual(
        primal=primal,
        dual=ray * gain - ray**2 * square / 2 if ray < np.inf else np.inf,
        primal_scale=primal_scale,
        dual_scale=ray * scale,
        dual_weights=ray * dual_weights if square > 0 else dual_weights,
        residual=by_class[0] - by_class[1] - weights,
        imbalance=float(sums.totals[0] - sums.totals[1]) if problem.fit_intercept else 0.0,
        total=float(sums.totals.sum()),
    )


def certified_solution(
    problem: Problem,
    rows: Rows,
    weights: np.ndarray,
    intercept: float,
    tol: float,
    n_iter: int,
    current: PrimalDual | None = None,
) -> Solution:
    """Return the solution at the current iterate with its certificate.

    Margins are recomputed, free of the rounding of many steps; the dual variables are the rows'
    current ones, scaled.  ``current`` are the values at the iterate, if known for its weights.
    """
    rows.set_margins(problem.terms.matvec(weights), intercept)
    if current is None or problem.hard or current.primal_scale != 1.0:
        current = primal_dual(problem, weights, rows.sums(refit=False))
    rows.scale_duals(current.dual_scale)
    if problem.hard or current.primal_scale != 1.0:
        # No margin may be below 1, not even by a rounding error.
        error = current.primal_scale * _margin_rounding(problem, weights, intercept)
        scale = current.primal_scale * (1.0 + 4.0 * error)
        weights, intercept = scale * weights, scale * intercept
        rows.set_margins(problem.terms.matvec(weights), intercept)
    terms = _objective_terms(problem, rows, weights, intercept)
    return Solution(
        weights=weights,
        intercept=intercept,
        dual_coef=rows.dual_coef(),
        certificate=certify(terms, tol, rows.passes),
        n_iter=n_iter,
        C=rows.C,
    )


def _margin_rounding(problem: Problem, weights: np.ndarray, intercept: float) -> float:
    """Return a bound on the rounding error of a margin.

    A weight goes through the sums of its feature, twice if votes are centered, then through the
    sum over the features.
    """
    size = 2 * problem.terms.magnitude(weights) + abs(intercept)
    return sum_rounding(problem.terms.n_additions + 8) * size


def _objective_terms(
    problem: Problem, rows: Rows, weights: np.ndarray, intercept: float
) -> ObjectiveTerms:
    """Return the terms of both objectives at the rows' margins and dual variables."""
    found = rows.certificate_sums(_margin_rounding(problem, weights, intercept))
    sums, worst, norm = found.sums, found.worst_loss, float(weights @ weights)
    loss_error = max(worst - sums.loss, 0.0) if worst < np.inf else np.inf
    loss_error += sum_rounding(rows.n_additions + _LOSS_ROUNDING) * worst
    by_class = [problem.terms.rmatvec(table) for table in sums.tables]
    dual_weights = problem.project(by_class[0] - by_class[1])
    return ObjectiveTerms(
        norm=norm,
        loss=sums.loss,
        dual_loss=float(sums.duals.sum()),
        dual_norm=float(dual_weights @ dual_weights),
        primal_rounding=SAFETY_FACTOR * loss_error + sum_rounding(len(weights) + 4) * norm,
        dual_rounding=_dual_rounding(problem, rows, found, by_class, dual_weights),
    )


def _dual_rounding(
    problem: Problem,
    rows: Rows,
    found: CertificateSums,
    by_class: list[np.ndarray],
    dual_weights: np.ndarray,
) -> float:
    """Return a bound on the excess of the dual value due to rounding.

    Dual variables that balance up to rounding represent nearby ones that balance exactly: those
    of one class are slightly smaller, which changes the dual value by at most its slope and its
    curvature in that direction.  In regression, the sign of ``y a`` takes the place of the class.
    """
    terms, sums, total = problem.terms, found.sums, float(found.sums.totals.sum())
    unit = sum_rounding(rows.n_additions + terms.n_additions + 8)
    square = float(dual_weights @ dual_weights)
    error = (unit + _DUAL_ROUNDING * UNIT_ROUNDOFF) * found.dual_size
    error += 2 * unit * total * terms.magnitude(dual_weights)
    error += sum_rounding(len(dual_weights) + 4) * square
    error += 2 * (unit * total) ** 2 * terms.square_magnitude
    if not problem.fit_intercept:
        return SAFETY_FACTOR * error
    excess = np.maximum(sums.totals - sums.totals[::-1], 0.0) + unit * total
    reductions = np.divide(excess, sums.totals, out=np.zeros(2), where=sums.totals > 0)
    decreases = [
        reduction * max(gain - float(dual_weights @ v), 0.0) + reduction**2 * float(v @ v) / 2
        for reduction, gain, v in zip(
            np.minimum(reductions, 1.0), sums.duals, by_class, strict=True
        )
    ]
    return SAFETY_FACTOR * ((1.0 + min(reductions.max(), 1.0)) * error + max(decreases))
