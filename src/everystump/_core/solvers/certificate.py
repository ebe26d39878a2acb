"""The optimality certificate that comes with every solution, evaluated afresh from it.

`certify` is the one place where certificates are made.  A solver returns coefficients; what they
add up to is computed from them alone, never taken over from the search that found them, together
with a bound on the rounding of these sums, which holds in whatever order they are taken (Higham,
2002, Accuracy and Stability of Numerical Algorithms, chapters 3 and 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum

import numpy as np

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2  # the relative rounding of one operation
# Bounds on rounding are sums themselves: by how much they are widened for their own rounding.
SAFETY_FACTOR = 1.01
# By so much the values of a search, whose rounding is not known, may contradict each other.
_CONTRADICTION = 1e-9


class InseparableError(ValueError):
    """The stumps that may vote do not separate the classes, as a hard margin asks."""


@dataclass(frozen=True)
class Certificate:
    """How far a solution can be from the optimum.

    All values are evaluated from the returned coefficients, and rounding is on the safe side:
    ``primal`` is raised and ``dual`` lowered by a bound on the rounding of the sums behind them.
    Kernel values, bins and sample weights count as exact as they are stored.

    Attributes
    ----------
    primal : float
        Value of the primal problem at the solution: the optimum is no higher.
    dual : float
        Value of the dual problem at the solution's dual variables: the optimum is no lower.
    gap : float
        ``(primal - dual) / primal``, the relative duality gap.
    converged : bool
        Whether ``gap`` is at most the tolerance asked for.
    passes : float
        How often all codes of all rows were read on the way.
    rounding : float
        The most, as a share of ``primal``, that ``primal`` is above and ``dual`` below what exact
        arithmetic would give.  Where it exceeds the tolerance, the gap asked for cannot be shown.

    Examples
    --------
    >>> from everystump._core.solvers.certificate import Values, certify
    >>> certify(Values(norm=2.0, loss=1.0, gain=2.0, reach=1.0), tol=0.3, passes=12.0)
    Certificate(primal=2.0, dual=1.5, gap=0.25, converged=True, passes=12.0, rounding=0.0)
    """

    primal: float
    dual: float
    gap: float
    converged: bool
    passes: float
    rounding: float = 0.0


@dataclass(frozen=True)
class Values:
    """Both problems at returned coefficients: weights or a function, bias, dual variables.

    Attributes
    ----------
    norm : float
        ``|f|^2`` of the returned function.
    loss : float
        The loss of its margins.
    gain : float
        The sum of ``dual_i(a_i)`` over the returned dual variables, which are within their limits.
    reach : float
        ``|v(a)|^2`` of the function that the dual variables make.
    imbalance : float
        By how much the dual value is too high at most because ``sum of y a`` is not 0.
    primal_rounding, dual_rounding : float
        How far off these numbers may be by rounding, for each problem, that of their sum included.
    """

    norm: float
    loss: float
    gain: float
    reach: float
    imbalance: float = 0.0
    primal_rounding: float = 0.0
    dual_rounding: float = 0.0


def certify(values: Values, tol: float, passes: float = 0.0) -> Certificate:
    """Return the certificate of a solution.

    The optimum is no higher than the primal value of the returned function, and by weak duality no
    lower than the dual value of the returned dual variables.
    """
    primal = exact_sum((values.norm / 2, values.loss, values.primal_rounding))
    dual = exact_sum((values.gain, -values.reach / 2, -values.imbalance, -values.dual_rounding))
    # What was moved by its rounding to the safe side may have been off to that side before.
    off = 2 * max(values.primal_rounding, values.dual_rounding)
    rounding = float(off / primal) if 0.0 < primal < math.inf else 0.0
    gap = relative_gap(primal, dual)
    if dual > primal:  # rounding is all that is known, unless something else is wrong
        gap = rounding if dual <= primal * (1.0 + rounding) else math.inf
    return Certificate(primal, dual, gap, gap <= tol, passes, rounding)


def relative_gap(primal: float, dual: float) -> float:
    """Return ``|primal - dual| / primal``; the values of our problems are never negative.

    Values that are no finite numbers, or that contradict each other by more than rounding, prove
    nothing.
    """
    if not (math.isfinite(primal) and math.isfinite(dual)) or primal < 0.0:
        return math.inf
    if primal == 0.0:
        return 0.0 if dual == 0.0 else math.inf
    gap = 1.0 - dual / primal
    return abs(float(gap)) if gap >= -_CONTRADICTION else math.inf


def exact_sum(terms: Iterable[float]) -> float:
    """Return a sum that is rounded once, not a number where that is beyond all numbers."""
    try:
        return fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def sum_rounding(n_operations: float) -> float:
    """Return the most that a plain sum rounds by, relative to the sizes of its terms.

    A term must go through no more than so many operations, the additions among them; a sum of n
    products in any order takes n.
    """
    return SAFETY_FACTOR * n_operations * UNIT_ROUNDOFF
