"""Loops that evaluate losses at many margins; the last three are for boosting.

Those of the logistic loss are vectorized: exponentials and logarithms are branch-free polynomials,
accurate to a few units in the last place.  All quantities are computed from ``u = exp(-|m|)``:

    sigmoid(-m) = u / (1 + u) for m >= 0, else 1 / (1 + u),
    log(1 + exp(-m)) = max(-m, 0) + log(1 + u).
"""

from __future__ import annotations

import math

import numpy as np

from everystump._core.jit import jit, jit_fused, jit_reassociated

_BLOCK = 1024
# Beyond this margin the exponential is subnormal and is taken as 0.
_MAX_MARGIN = 708.0
_LOG2_E = 1.4426950408889634
# log(2) in two parts: the product of the first and an integer of up to 11 bits is exact.
_LOG_2_HIGH, _LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


@jit_reassociated
def hinge_total(margin, cost):
    """Return the sum of ``cost max(0, 1 - margin)`` for finite costs."""
    total = 0.0
    for i in range(margin.shape[0]):
        total += cost[i] * max(1.0 - margin[i], 0.0)
    return total


@jit
def smoothed_hinge_slope(margin, cost, center, penalty, out):
    """Write ``clip(center + penalty (1 - margin), 0, cost)``."""
    for i in range(margin.shape[0]):
        a = center[i] + penalty[i] * (1.0 - margin[i])
        out[i] = min(max(a, 0.0), cost[i])


@jit
def smoothed_hinge_curvature(margin, cost, center, penalty, out):
    """Write ``penalty`` where the slope is strictly between 0 and ``cost``, else 0."""
    for i in range(margin.shape[0]):
        a = center[i] + penalty[i] * (1.0 - margin[i])
        out[i] = penalty[i] if (a > 0.0) & (a < cost[i]) else 0.0


@jit_reassociated
def smoothed_hinge_directional_slope(margin, step, t, cost, center, penalty):
    """Return the sum of ``slope(margin + t step) * step``."""
    total = 0.0
    for i in range(margin.shape[0]):
        a = center[i] + penalty[i] * (1.0 - margin[i] - t * step[i])
        total += min(max(a, 0.0), cost[i]) * step[i]
    return total


@jit_fused
def exp_minus_abs(margin, bits, out):
    """Write ``exp(-|margin|)``: a power of 2 times the Taylor series at a small remainder."""
    for i in range(margin.shape[0]):
        x = max(-abs(margin[i]), -_MAX_MARGIN)
        exponent = np.floor(x * _LOG2_E + 0.5)
        r = (x - exponent * _LOG_2_HIGH) - exponent * _LOG_2_LOW
        # |r| <= log(2) / 2, where the terms after r^13 / 13! are below the last digit.
        p = 1 / 6227020800.0
        p = p * r + 1 / 479001600.0
        p = p * r + 1 / 39916800.0
        p = p * r + 1 / 3628800.0
        p = p * r + 1 / 362880.0
        p = p * r + 1 / 40320.0
        p = p * r + 1 / 5040.0
        p = p * r + 1 / 720.0
        p = p * r + 1 / 120.0
        p = p * r + 1 / 24.0
        p = p * r + 1 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        out[i] = p * r + 1.0
        # The bit pattern of the power of 2.
        power_of_2 = np.int64(np.int32(exponent) + 1023) << 52
        bits[i] = power_of_2 if abs(margin[i]) <= _MAX_MARGIN else 0
    power = bits.view(np.float64)
    for i in range(margin.shape[0]):
        out[i] *= power[i]


@jit_fused
def _log_1_plus(u):
    """Return ``log(1 + u) = 2 artanh(u / (2 + u))`` for ``0 <= u <= 1``."""
    s = u / (2.0 + u)
    q = s * s
    # q <= 1/9, where the terms after q^17 / 35 are below the last digit.
    p = 1 / 35.0
    p = p * q + 1 / 33.0
    p = p * q + 1 / 31.0
    p = p * q + 1 / 29.0
    p = p * q + 1 / 27.0
    p = p * q + 1 / 25.0
    p = p * q + 1 / 23.0
    p = p * q + 1 / 21.0
    p = p * q + 1 / 19.0
    p = p * q + 1 / 17.0
    p = p * q + 1 / 15.0
    p = p * q + 1 / 13.0
    p = p * q + 1 / 11.0
    p = p * q + 1 / 9.0
    p = p * q + 1 / 7.0
    p = p * q + 1 / 5.0
    p = p * q + 1 / 3.0
    return 2.0 * s * (p * q + 1.0)


@jit_reassociated
def _sum(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i]
    return total


@jit_fused
def logistic_slope_dual_total(margin, cost, slope, dual):
    """Write minus the derivative and its dual term; return the summed loss.

    At ``a = slope`` the dual term is ``loss(m) + a m``, to second order in the rounding of ``a``.
    """
    bits, workspace = np.empty(_BLOCK, dtype=np.int64), np.empty(_BLOCK)
    total = 0.0
    for lo in range(0, margin.shape[0], _BLOCK):
        m, c = margin[lo : lo + _BLOCK], cost[lo : lo + _BLOCK]
        a, d = slope[lo : lo + _BLOCK], dual[lo : lo + _BLOCK]
        u = workspace[: m.shape[0]]
        exp_minus_abs(m, bits[: m.shape[0]], u)
        for i in range(m.shape[0]):
            loss = max(-m[i], 0.0) + _log_1_plus(u[i])
            p = (u[i] if m[i] >= 0.0 else 1.0) / (1.0 + u[i])
            a[i] = c[i] * p
            d[i] = c[i] * (loss + p * m[i])
            u[i] = c[i] * loss
        total += _sum(u)
    return total


@jit_fused
def logistic_total(margin, cost):
    """Return the summed loss."""
    bits, workspace = np.empty(_BLOCK, dtype=np.int64), np.empty(_BLOCK)
    total = 0.0
    for lo in range(0, margin.shape[0], _BLOCK):
        m, c = margin[lo : lo + _BLOCK], cost[lo : lo + _BLOCK]
        u = workspace[: m.shape[0]]
        exp_minus_abs(m, bits[: m.shape[0]], u)
        for i in range(m.shape[0]):
            u[i] = c[i] * (max(-m[i], 0.0) + _log_1_plus(u[i]))
        total += _sum(u)
    return total


@jit
def logistic_dual(a, cost, out):
    """Write the entropy of ``a / cost`` times the cost."""
    for i in range(a.shape[0]):
        p = a[i] / cost[i]
        entropy = 0.0
        if p > 0.0:
            entropy -= p * math.log(p)
        if p < 1.0:
            entropy -= (1.0 - p) * math.log1p(-p)
        out[i] = cost[i] * entropy


@jit_fused
def logistic_slope(margin, cost, out):
    """Write minus the derivative."""
    bits = np.empty(_BLOCK, dtype=np.int64)
    for lo in range(0, margin.shape[0], _BLOCK):
        m, c, u = margin[lo : lo + _BLOCK], cost[lo : lo + _BLOCK], out[lo : lo + _BLOCK]
        exp_minus_abs(m, bits[: m.shape[0]], u)
        for i in range(m.shape[0]):
            u[i] = c[i] * (u[i] if m[i] >= 0.0 else 1.0) / (1.0 + u[i])


@jit_fused
def logistic_curvature(margin, cost, out):
    """Write the second derivative, ``u / (1 + u)^2``."""
    bits = np.empty(_BLOCK, dtype=np.int64)
    for lo in range(0, margin.shape[0], _BLOCK):
        m, c, u = margin[lo : lo + _BLOCK], cost[lo : lo + _BLOCK], out[lo : lo + _BLOCK]
        exp_minus_abs(m, bits[: m.shape[0]], u)
        for i in range(m.shape[0]):
            u[i] = c[i] * u[i] / ((1.0 + u[i]) * (1.0 + u[i]))


@jit_fused
def logistic_directional_slope(margin, step, t, cost):
    """Return the sum of ``slope(margin + t step) * step``."""
    bits, workspace, moved = np.empty(_BLOCK, dtype=np.int64), np.empty(_BLOCK), np.empty(_BLOCK)
    total = 0.0
    for lo in range(0, margin.shape[0], _BLOCK):
        s, c = step[lo : lo + _BLOCK], cost[lo : lo + _BLOCK]
        m, u = moved[: s.shape[0]], workspace[: s.shape[0]]
        for i in range(s.shape[0]):
            m[i] = margin[lo + i] + t * s[i]
        exp_minus_abs(m, bits[: s.shape[0]], u)
        for i in range(s.shape[0]):
            u[i] = s[i] * (c[i] * (u[i] if m[i] >= 0.0 else 1.0) / (1.0 + u[i]))
        total += _sum(u)
    return total


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
    inverse = 1.0 / factor
    for i in range(odds.shape[0]):
        after = odds[i] * (factor if vote[i] > 0.0 else inverse)
        slope += vote[i] * cost[i] * min(after, scale)
        curvature += cost[i] * (2.0 * after if after < scale else 0.0)
    return slope, curvature


@jit_reassociated
def logistic_derivatives(odds, vote, cost, factor, scale):
    """Return the same as `mada_derivatives` for the weight ``odds / (1 + odds / scale)``."""
    slope = 0.0
    curvature = 0.0
    inverse = 1.0 / factor
    unit = 1.0 / scale
    for i in range(odds.shape[0]):
        after = odds[i] * (factor if vote[i] > 0.0 else inverse)
        complement = 1.0 / (1.0 + after * unit)
        weight = cost[i] * after * complement
        slope += vote[i] * weight
        curvature += 2.0 * weight * complement
    return slope, curvature
