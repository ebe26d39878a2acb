"""Primal and dual values around the optimum, from what the rows tell about the current point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump.solvers.certificate import Values, certify, relative_gap, sum_rounding
from everystump.solvers.problem import Problem, Solution
from everystump.solvers.rows import Rows, Slopes

_WIDER = 1.01


@dataclass(frozen=True)
class Bracket:
    """Both values at one point, and how the point must be scaled to reach them.

    Attributes
    ----------
    primal, dual : float
        The values.
    primal_scale : float
        Factor of weights and bias that reaches ``primal``.
    dual_scale : ndarray of shape (2,)
        Factors of the dual variables of positive and negative rows that reach ``dual``.
    reach : ndarray
        ``P(v(a))`` of the scaled dual variables.
    residual : ndarray
        ``v(a) - w`` without the scaling.
    imbalance : float
        ``sum of y a`` without the scaling, 0 if there is no bias to balance for.
    total : float
        ``sum of a`` without the scaling.
    """

    primal: float
    dual: float
    primal_scale: float
    dual_scale: np.ndarray
    reach: np.ndarray
    residual: np.ndarray
    imbalance: float
    total: float

    @property
    def gap(self) -> float:
        """The relative duality gap, a little wider: the certificate will allow for rounding."""
        return _WIDER * relative_gap(self.primal, self.dual)


def bracket(problem: Problem, weights: np.ndarray, slopes: Slopes) -> Bracket:
    """Bracket the optimum between a primal and a dual value at the current point.

    Primal: the point as it is or, if all rows are on their right side, scaled until none is
    short of the margin.  Dual: each ``dual_i`` is concave and 0 at 0, so shrinking the variables
    of one side until both balance, and then all of them along the ray, keeps at least that share
    of their parts; ``P`` goes along with the ray.
    """
    collect, dot = problem.space.collect, problem.space.dot
    sides = collect(slopes.tables[0]), collect(slopes.tables[1])
    scale = np.ones(2)
    if problem.bias:
        least = slopes.totals.min()
        scale = np.divide(least, slopes.totals, out=np.zeros(2), where=slopes.totals > 0)
    reach = problem.project(scale[0] * sides[0] - scale[1] * sides[1])
    square, gain = dot(reach, reach), float(scale @ slopes.duals)
    ray = 0.0
    if gain > 0:
        ray = gain / square if square > 0 else np.inf
        ray = ray if problem.hard else min(1.0, ray)
    energy = dot(weights, weights) / 2
    primal, primal_scale = energy + slopes.loss, 1.0
    if problem.loss.flat_beyond_one and slopes.least_margin > 0:
        scaled = energy / slopes.least_margin**2
        if scaled < primal:
            primal, primal_scale = scaled, 1.0 / slopes.least_margin
    return Bracket(
        primal=primal,
        dual=ray * gain - ray**2 * square / 2 if ray < np.inf else np.inf,
        primal_scale=primal_scale,
        dual_scale=ray * scale,
        reach=ray * reach if square > 0 else reach,
        residual=sides[0] - sides[1] - weights,
        imbalance=float(slopes.totals[0] - slopes.totals[1]) if problem.bias else 0.0,
        total=float(slopes.totals.sum()),
    )


def finish(
    problem: Problem, rows: Rows, weights: np.ndarray, bias: float, tol: float, n_iter: int
) -> Solution:
    """Return the solution at the current point, its certificate evaluated afresh.

    Margins are free of the rounding of many moves; the dual variables stay what they were.
    """
    rows.place(problem.chains.spread(weights), bias)
    slopes = rows.slopes(refit=False)
    now = bracket(problem, weights, slopes)
    return Solution(
        weights=now.primal_scale * weights,
        bias=now.primal_scale * bias,
        dual_coef=rows.dual_coef(now.dual_scale),
        certificate=certify(_values(problem, rows, weights, bias, slopes, now), tol, rows.passes),
        n_iter=n_iter,
        C=rows.C,
    )


def _values(
    problem: Problem, rows: Rows, weights: np.ndarray, bias: float, slopes: Slopes, now: Bracket
) -> Values:
    """Return both values of the point as it is scaled, with bounds on their rounding.

    Dual variables that balance up to rounding stand for ones that balance exactly, a rounding away.
    """
    chains, scale = problem.chains, now.primal_scale
    size = float(chains.jumps @ np.abs(weights)) + abs(bias)
    off = scale * size * sum_rounding(len(weights))
    norm, loss = scale**2 * float(weights @ weights), slopes.loss if scale == 1.0 else 0.0
    if problem.hard:
        # What is a rounding short of the margin would meet it with weights that much larger.
        short = norm * off
    else:
        worst = rows.each(lambda b: b.true_loss.total(scale * b.margin - off), rows.n_rows)
        short = float(sum(worst)) - loss
    reach, total = float(now.reach @ now.reach), float(now.dual_scale @ slopes.totals)
    parts = float(now.dual_scale @ (slopes.totals + np.abs(slopes.duals)))
    spread = total * float(chains.jumps @ np.abs(now.reach))
    return Values(
        norm=norm,
        loss=loss,
        gain=float(now.dual_scale @ slopes.duals),
        reach=reach,
        primal_rounding=max(short, 0.0) + sum_rounding(rows.n_rows) * (norm + loss),
        dual_rounding=sum_rounding(rows.n_rows + len(weights)) * (parts + 2 * spread),
    )
