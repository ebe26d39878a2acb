"""Primal and dual values at the current iterate, which enclose the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core.solvers.certificate import relative_gap
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.rows import RowSums

_GAP_FACTOR = 1.01


@dataclass(frozen=True)
class PrimalDual:
    """Both values at one point, and how the point must be scaled to attain them.

    Attributes
    ----------
    primal, dual : float
        The values.
    primal_scale : float
        Factor of weights and intercept that attains ``primal``.
    dual_scale : ndarray of shape (2,)
        Factors of the dual variables of positive and negative rows that attain ``dual``.
    dual_weights : ndarray
        ``P(v(a))`` of the scaled dual variables.
    residual : ndarray
        ``v(a) - w`` without the scaling.
    imbalance : float
        ``sum of y a`` without the scaling, 0 if there is no intercept.
    total : float
        ``sum of a`` without the scaling.
    """

    primal: float
    dual: float
    primal_scale: float
    dual_scale: np.ndarray
    dual_weights: np.ndarray
    residual: np.ndarray
    imbalance: float
    total: float

    @property
    def gap(self) -> float:
        """The relative duality gap, slightly enlarged to allow for rounding in the certificate."""
        return _GAP_FACTOR * relative_gap(self.primal, self.dual)


def primal_dual(problem: Problem, weights: np.ndarray, sums: RowSums) -> PrimalDual:
    """Return a primal and a dual value at the current point.

    Primal: the point as it is or, if all margins are positive and the loss is 0 beyond 1, scaled
    until all margins are at least 1.  Dual: each ``dual_i`` is concave and 0 at 0, so scaling the
    variables of one class down until both classes balance, and then all of them along the ray,
    keeps at least that fraction of their terms; ``P`` commutes with the scaling.
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
