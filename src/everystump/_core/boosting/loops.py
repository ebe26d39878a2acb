"""Loops over margins and weights for boosting."""

from __future__ import annotations

from everystump._core.jit import jit, jit_reassociated


@jit
def advance(vote, step, rate, log_scale, lowest, highest, margin, out):
    """Add ``step * vote`` to each margin; write ``log_scale - rate * margin``, clipped."""
    for i in range(margin.shape[0]):
        margin[i] += step * vote[i]
        out[i] = min(max(log_scale - rate * margin[i], lowest), highest)


@jit_reassociated
def mada_derivatives(odds, vote, cost, factor, scale):
    """Return minus the slope of the summed loss after a step, and its curvature; see `advance`.

    ``odds`` are those before the step, which multiplies them by ``factor`` or divides them by it.
    The weight of a row is ``min(odds, scale)``.
    """
    slope = 0.0
    curvature = 0.0
    back = 1.0 / factor
    for i in range(odds.shape[0]):
        after = odds[i] * (factor if vote[i] > 0.0 else back)
        slope += vote[i] * cost[i] * min(after, scale)
        curvature += cost[i] * (2.0 * after if after < scale else 0.0)
    return slope, curvature


@jit_reassociated
def logistic_derivatives(odds, vote, cost, factor, scale):
    """Return the same as `mada_derivatives` for the weight ``odds / (1 + odds / scale)``."""
    slope = 0.0
    curvature = 0.0
    back = 1.0 / factor
    unit = 1.0 / scale
    for i in range(odds.shape[0]):
        after = odds[i] * (factor if vote[i] > 0.0 else back)
        complement = 1.0 / (1.0 + after * unit)
        weight = cost[i] * after * complement
        slope += vote[i] * weight
        curvature += 2.0 * weight * complement
    return slope, curvature
