"""Loops that evaluate a smoothed piecewise linear loss at many scores.

The dual variable of a row maximizes a concave function of one number: the free maximum ``z`` is
moved towards 0 by ``penalty epsilon``, at most up to 0, and then into its limits.
"""

from __future__ import annotations

from everystump._core.jit import jit, jit_reassociated


@jit
def smoothed_slope(margin, cost, target, above, below, epsilon, center, penalty, out):
    """Write the dual variable of each row."""
    for i in range(margin.shape[0]):
        z = center[i] + penalty[i] * (target[i] - margin[i])
        shift = penalty[i] * epsilon
        a = max(z - shift, 0.0) + min(z + shift, 0.0)
        out[i] = min(max(a, -below * cost[i]), above * cost[i])


@jit
def smoothed_curvature(margin, cost, target, above, below, epsilon, center, penalty, out):
    """Write ``penalty`` where the dual variable changes with the score, else 0."""
    for i in range(margin.shape[0]):
        z = center[i] + penalty[i] * (target[i] - margin[i])
        shift = penalty[i] * epsilon
        upper = (z > shift) & (z - shift < above * cost[i])
        lower = (z < -shift) & (z + shift > -below * cost[i])
        if epsilon == 0.0:
            upper = (z < above * cost[i]) & (z > -below * cost[i])
        out[i] = penalty[i] if upper | lower else 0.0


@jit_reassociated
def smoothed_directional_slope(
    margin, step, t, cost, target, above, below, epsilon, center, penalty
):
    """Return the sum of ``slope(margin + t step) * step``."""
    total = 0.0
    for i in range(margin.shape[0]):
        z = center[i] + penalty[i] * (target[i] - margin[i] - t * step[i])
        shift = penalty[i] * epsilon
        a = max(z - shift, 0.0) + min(z + shift, 0.0)
        total += min(max(a, -below * cost[i]), above * cost[i]) * step[i]
    return total
