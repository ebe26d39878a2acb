"""Primal and dual values around the optimum, from what the rows tell about the current point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core.solvers.certificate import relative_gap
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.rows import Slopes

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
    rmatvec, dot = problem.space.rmatvec, problem.space.dot
    sides = rmatvec(slopes.tables[0]), rmatvec(slopes.tables[1])
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
    if problem.loss.zero_beyond_one and slopes.min_margin > 0:
        scaled = energy / slopes.min_margin**2
        if scaled < primal:
            primal, primal_scale = scaled, 1.0 / slopes.min_margin
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
