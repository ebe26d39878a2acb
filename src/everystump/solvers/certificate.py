"""The optimality certificate that comes with every solution, evaluated afresh from it.

`certify` is the one place where certificates are made.  A solver returns coefficients; what they
add up to is computed from them alone, never taken over from the search that found them, together
with a bound on the rounding of these sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

UNIT = float(np.finfo(np.float64).eps) / 2  # the relative rounding of one operation
# A sum of n terms is taken to round by at most so many times sqrt(n) units: the errors are of both
# signs, and this is several standard deviations.
_DEVIATIONS = 4.0
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
        Value of the dual problem at the solution's dual variables, or a little less where that is
        quicker to prove: the optimum is no lower.
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
    >>> from everystump.solvers.certificate import Values, certify
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
        How far off these numbers may be by rounding, for each problem.
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
    primal = values.norm / 2 + values.loss + values.primal_rounding
    dual = values.gain - values.reach / 2 - values.imbalance - values.dual_rounding
    gap = relative_gap(primal, dual)
    # What was moved by its rounding to the safe side may have been off to that side before.
    off = 2 * max(values.primal_rounding, values.dual_rounding)
    rounding = off / primal if 0.0 < primal < math.inf else 0.0
    return Certificate(float(primal), float(dual), gap, bool(gap <= tol), passes, float(rounding))


def relative_gap(primal: float, dual: float) -> float:
    """Return ``(primal - dual) / primal``; the values of our problems are never negative.

    Values that are no finite numbers, or that contradict each other, prove nothing.
    """
    if not (math.isfinite(primal) and math.isfinite(dual)) or dual > primal * (1 + _CONTRADICTION):
        return math.inf
    return float(max(0.0, 1.0 - dual / primal)) if primal > 0.0 else 0.0


def sum_rounding(n_terms: float) -> float:
    """Return the relative rounding of a plain sum of products, against its terms' sizes."""
    return _DEVIATIONS * UNIT * math.sqrt(n_terms + 1.0)
