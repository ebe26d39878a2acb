"""The optimality certificate (duality gap) of every solution, evaluated from the solution itself.

All certificates are made by `certify`.  A solver returns coefficients; the values of both problems
are computed from these alone, not taken from the solver's iterations, together with a bound on the
rounding error of the sums, which holds for any order of summation (Higham, 2002,
Accuracy and Stability of Numerical Algorithms, chapters 3 and 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum

import numpy as np

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2  # the relative rounding of one operation
# Bounds on rounding are sums themselves; this factor covers their own rounding.
SAFETY_FACTOR = 1.01
# Primal and dual values during a search, whose rounding is unknown, may cross by this fraction.
_MAX_CROSSING = 1e-9


class InseparableError(ValueError):
    """The stumps of the ensemble do not separate the classes, as a hard margin requires."""


@dataclass(frozen=True)
class Certificate:
    """A bound on how far the objective of a solution is above the optimum.

    All values are evaluated from the returned coefficients and account for rounding errors:
    ``primal`` is raised and ``dual`` is lowered by a bound on the rounding of the sums behind them.
    Kernel values, bins and sample weights are taken as exact as stored.

    Attributes
    ----------
    primal : float
        Value of the primal problem at the solution: an upper bound on the optimum.
    dual : float
        Value of the dual problem at the solution's dual variables: a lower bound on the optimum.
    gap : float
        ``(primal - dual) / primal``, the relative duality gap.
    converged : bool
        Whether ``gap`` is at most the required tolerance.
    passes : float
        The number of passes over all codes of all rows that the solver made.
    rounding : float
        A bound, as a fraction of ``primal``, on how far ``primal`` is above and ``dual`` below the
        value in exact arithmetic.  If it exceeds the tolerance, convergence cannot be verified.

    Examples
    --------
    >>> from everystump._core.solvers.certificate import ObjectiveTerms, certify
    >>> terms = ObjectiveTerms(norm=2.0, loss=1.0, dual_loss=2.0, dual_norm=1.0)
    >>> certify(terms, tol=0.3, passes=12.0)
    Certificate(primal=2.0, dual=1.5, gap=0.25, converged=True, passes=12.0, rounding=0.0)
    """

    primal: float
    dual: float
    gap: float
    converged: bool
    passes: float
    rounding: float = 0.0


@dataclass(frozen=True)
class ObjectiveTerms:
    """The terms of both objectives at the returned coefficients, with bounds on their rounding."""

    norm: float  # |f|^2 of the returned function
    loss: float  # the summed loss of its margins
    dual_loss: float  # the sum of dual_i(a_i), each a_i within its limits
    dual_norm: float  # |v(a)|^2 of the function of the dual variables
    imbalance: float = 0.0  # a bound on the excess of the dual value if sum of y a is not 0
    primal_rounding: float = 0.0
    dual_rounding: float = 0.0


def certify(terms: ObjectiveTerms, tol: float, passes: float = 0.0) -> Certificate:
    """Return the certificate of a solution.

    The optimum is at most the primal value of the returned function and, by weak duality, at least
    the dual value of the returned dual variables.
    """
    primal = exact_sum((terms.norm / 2, terms.loss, terms.primal_rounding))
    dual = exact_sum(
        (terms.dual_loss, -terms.dual_norm / 2, -terms.imbalance, -terms.dual_rounding)
    )
    # The error of a value may have had the same sign as its correction, hence the factor.
    error = 2 * max(terms.primal_rounding, terms.dual_rounding)
    rounding = float(error / primal) if 0.0 < primal < math.inf else 0.0
    gap = relative_gap(primal, dual)
    if dual > primal:  # possible only by rounding, unless there is a bug
        gap = rounding if dual <= primal * (1.0 + rounding) else math.inf
    return Certificate(primal, dual, gap, gap <= tol, passes, rounding)


def relative_gap(primal: float, dual: float) -> float:
    """Return ``|primal - dual| / primal``; primal values are never negative.

    The gap is infinite if a value is not finite, or if the values cross by more than rounding.
    """
    if not (math.isfinite(primal) and math.isfinite(dual)) or primal < 0.0:
        return math.inf
    if primal == 0.0:
        return 0.0 if dual == 0.0 else math.inf
    gap = 1.0 - dual / primal
    return abs(float(gap)) if gap >= -_MAX_CROSSING else math.inf


def exact_sum(terms: Iterable[float]) -> float:
    """Return a sum that is rounded once, NaN if it overflows."""
    try:
        return fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def sum_rounding(n_operations: float) -> float:
    """Return a bound on the rounding of a plain sum, relative to the sum of its absolute terms.

    A term goes through at most ``n_operations``, additions included; a sum of n products in any
    order takes n.
    """
    return SAFETY_FACTOR * n_operations * UNIT_ROUNDOFF
