"""The proof that comes with every solution: a primal and a dual value and what lies between."""

from __future__ import annotations

import math
from dataclasses import dataclass

_ROUNDING = 1e-9


class InseparableError(ValueError):
    """The stumps that may vote do not separate the classes, as a hard margin asks."""


@dataclass(frozen=True)
class Certificate:
    """How far a solution can be from the optimum.

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

    Examples
    --------
    >>> Certificate.of(primal=2.0, dual=1.5, tol=0.3, passes=12.0)
    Certificate(primal=2.0, dual=1.5, gap=0.25, converged=True, passes=12.0)
    """

    primal: float
    dual: float
    gap: float
    converged: bool
    passes: float

    @classmethod
    def of(cls, primal: float, dual: float, tol: float, passes: float) -> Certificate:
        """Return the certificate of a primal and a dual value."""
        gap = relative_gap(primal, dual)
        return cls(float(primal), float(dual), gap, bool(gap <= tol), passes)


def relative_gap(primal: float, dual: float) -> float:
    """Return ``(primal - dual) / primal``; the values of our problems are never negative.

    Values that are no finite numbers, or that contradict each other, prove nothing.
    """
    if not (math.isfinite(primal) and math.isfinite(dual)) or dual > primal * (1 + _ROUNDING):
        return math.inf
    return float(max(0.0, 1.0 - dual / primal)) if primal > 0.0 else 0.0
