"""The end of every stump solver: what it returns, evaluated afresh.

Weights and bias, and the dual variables, are scaled as `bracket` says; then both problems are
evaluated at the scaled numbers themselves, each with a bound on the rounding of its sums.
"""

from __future__ import annotations

import numpy as np

from everystump._core.solvers.bracket import bracket
from everystump._core.solvers.certificate import (
    SAFETY_FACTOR,
    UNIT_ROUNDOFF,
    Values,
    certify,
    sum_rounding,
)
from everystump._core.solvers.problem import Problem, Solution
from everystump._core.solvers.rows import Rows, Slopes

# The loss of a margin, and its dual part, take exponentials and logarithms of a few units each; a
# dual variable that rounds to its upper limit counts 37 times, the logarithm of what is left to 1.
_LOSS_ROUNDING, _DUAL_ROUNDING = 16, 64


def finish(
    problem: Problem, rows: Rows, weights: np.ndarray, bias: float, tol: float, n_iter: int
) -> Solution:
    """Return the solution at the current point with its certificate.

    Margins are free of the rounding of many moves; the dual variables are what they were, scaled.
    """
    rows.place(problem.chains.matvec(weights), bias)
    now = bracket(problem, weights, rows.slopes(refit=False))
    dual_coef = rows.dual_coef(now.dual_scale)
    if problem.hard or now.primal_scale != 1.0:
        # No row is to be short of the margin, not even by a rounding.
        off = now.primal_scale * _margin_rounding(problem, weights, bias)
        scale = now.primal_scale * (1.0 + 4.0 * off)
        weights, bias = scale * weights, scale * bias
        rows.place(problem.chains.matvec(weights), bias)
    rows.set_duals(dual_coef)
    values = _values(problem, rows, weights, bias, rows.slopes(refit=False))
    return Solution(
        weights=weights,
        bias=bias,
        dual_coef=dual_coef,
        certificate=certify(values, tol, rows.passes),
        n_iter=n_iter,
        C=rows.C,
    )


def _margin_rounding(problem: Problem, weights: np.ndarray, bias: float) -> float:
    """Return by how much a margin may be off.

    A weight goes through the sums of its feature, twice if votes are centered, then through those
    of all features.
    """
    chains, n_features = problem.chains, len(problem.chains.starts) - 1
    n_operations = 2 * int(np.diff(chains.starts).max()) + n_features + 8
    return sum_rounding(n_operations) * (2 * float(chains.jumps @ np.abs(weights)) + abs(bias))


def _values(
    problem: Problem, rows: Rows, weights: np.ndarray, bias: float, slopes: Slopes
) -> Values:
    """Return both values of weights, bias and dual variables whose margins and slopes are given."""
    off = _margin_rounding(problem, weights, bias)
    parts = rows.map(lambda b: b.true_loss.total(b.margin - off), rows.n_rows)
    worst, norm = float(sum(parts)), float(weights @ weights)
    short = max(worst - slopes.loss, 0.0) if worst < np.inf else np.inf
    own = sum_rounding(rows.n_additions + _LOSS_ROUNDING) * worst
    sides = [problem.chains.rmatvec(table) for table in slopes.tables]
    reach = problem.project(sides[0] - sides[1])
    return Values(
        norm=norm,
        loss=slopes.loss,
        gain=float(slopes.duals.sum()),
        reach=float(reach @ reach),
        primal_rounding=SAFETY_FACTOR * (short + own) + sum_rounding(len(weights) + 4) * norm,
        dual_rounding=_dual_rounding(problem, rows, slopes, sides, reach),
    )


def _dual_rounding(
    problem: Problem, rows: Rows, slopes: Slopes, sides: list[np.ndarray], reach: np.ndarray
) -> float:
    """Return by how much the dual value may be too high.

    Dual variables that balance up to rounding stand for ones that balance exactly: those of one
    side are a little smaller, which changes the dual value by no more than its slope that way, and
    its curvature, say.
    """
    jumps, total = problem.chains.jumps, float(slopes.totals.sum())
    unit = sum_rounding(rows.n_additions + 2 * int(np.diff(problem.chains.starts).max()) + 8)
    square = float(reach @ reach)
    off = (unit + _DUAL_ROUNDING * UNIT_ROUNDOFF) * (total + float(np.abs(slopes.duals).sum()))
    off += 2 * unit * total * float(jumps @ np.abs(reach)) + sum_rounding(len(jumps) + 4) * square
    off += 2 * (unit * total) ** 2 * float(jumps @ jumps)
    if not problem.bias:
        return SAFETY_FACTOR * off
    left = slopes.totals - slopes.totals[::-1]
    excess = np.maximum(left, 0.0) + unit * total
    shares = np.divide(excess, slopes.totals, out=np.zeros(2), where=slopes.totals > 0)
    lost = [
        share * max(gain - float(reach @ side), 0.0) + share**2 * float(side @ side) / 2
        for share, gain, side in zip(np.minimum(shares, 1.0), slopes.duals, sides, strict=True)
    ]
    return SAFETY_FACTOR * ((1.0 + min(shares.max(), 1.0)) * off + max(lost))
