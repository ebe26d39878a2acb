"""Losses of a margin ``m = y f(x)``: total, slope, curvature, and the dual of each.

A record belongs to some rows and carries their ``cost``, C times the sample weights.  ``slope``
is ``-d loss / d m``, never negative; at the optimum it is the row's dual variable ``a``.
``dual(a)`` is the row's part of the dual problem, ``min over m of loss(m) + a m``.
``flat_beyond_one`` says whether a margin of 1 or more costs nothing, ``climbs`` whether a large C
is best reached from smaller ones.  Where ``dual(a)`` is ``a - ridge a^2 / 2`` between two limits,
``box`` gives these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import entr, xlog1py

from everystump import logisticloops, rowloops


class Box(NamedTuple):
    """A quadratic dual, ``a - ridge a^2 / 2`` for ``low <= a <= high``, of each row."""

    ridge: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Hinge:
    """``cost * max(0, 1 - m)``; an infinite cost is the hard margin."""

    flat_beyond_one: ClassVar[bool] = True
    climbs: ClassVar[bool] = False
    cost: np.ndarray

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        if np.isinf(self.cost[0]):
            return np.inf if margin.min() < 1.0 else 0.0
        return rowloops.hinge_total(margin, self.cost)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return ``a``, the dual part of ``0 <= a <= cost``."""
        return a

    def box(self) -> Box:
        """Return the limits of ``a``."""
        none = np.zeros_like(self.cost)
        return Box(none, none, self.cost)


@dataclass(frozen=True)
class SmoothedHinge:
    """The hinge within an augmented Lagrangian, a piecewise quadratic.

    ::

        max over 0 <= a <= cost of  a (1 - m) - (a - anchor)^2 / (2 sharpness)

    It is the hinge's proximal smoothing around the dual variables ``anchor``.
    """

    cost: np.ndarray
    anchor: np.ndarray
    sharpness: np.ndarray

    def slope(self, margin: np.ndarray) -> np.ndarray:
        """Return the maximising ``a``."""
        out = np.empty_like(margin)
        rowloops.smoothed_hinge_slope(margin, self.cost, self.anchor, self.sharpness, out)
        return out

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        """Return ``sharpness`` where ``a`` is strictly between its bounds, else 0."""
        out = np.empty_like(margin)
        rowloops.smoothed_hinge_curvature(margin, self.cost, self.anchor, self.sharpness, out)
        return out

    def along(self, margin: np.ndarray, step: np.ndarray, t: float) -> float:
        """Return the sum of ``slope(margin + t step) step``."""
        return rowloops.smoothed_hinge_along(
            margin, step, t, self.cost, self.anchor, self.sharpness
        )


class _Smooth:
    """What a loss with a slope everywhere can do without knowing more of itself."""

    def slope(self, margin: np.ndarray) -> np.ndarray:
        """Return minus the derivative."""
        raise NotImplementedError

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        raise NotImplementedError

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual part of slopes ``a``."""
        raise NotImplementedError

    def look(self, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the slope, its dual part, and the summed loss."""
        a = self.slope(margin)
        return a, self.dual(a), self.total(margin)

    def along(self, margin: np.ndarray, step: np.ndarray, t: float) -> float:
        """Return the sum of ``slope(margin + t step) step``."""
        return float(self.slope(margin + t * step) @ step)


@dataclass(frozen=True)
class SquaredHinge(_Smooth):
    """``cost * max(0, 1 - m)^2``."""

    flat_beyond_one: ClassVar[bool] = True
    # Its slope has corners, over which Newton's method stumbles from afar.
    climbs: ClassVar[bool] = True
    cost: np.ndarray

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        return float(self.cost @ _short(margin) ** 2)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        """Return minus the derivative."""
        return 2.0 * self.cost * _short(margin)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        """Return the second derivative, 0 beyond the margin."""
        return 2.0 * self.cost * (margin < 1.0)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual part of ``a >= 0``."""
        return a - a * a / (4.0 * self.cost)

    def box(self) -> Box:
        """Return the limits of ``a`` and its ridge."""
        return Box(0.5 / self.cost, np.zeros_like(self.cost), np.full_like(self.cost, np.inf))


@dataclass(frozen=True)
class LeastSquares:
    """``cost * (1 - m)^2``, the squared distance of the score from the label."""

    cost: np.ndarray

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        return float(self.cost @ (1.0 - margin) ** 2)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual part of any ``a``."""
        return a - a * a / (4.0 * self.cost)

    def box(self) -> Box:
        """Return the ridge of ``a``, which has no limits."""
        free = np.full_like(self.cost, np.inf)
        return Box(0.5 / self.cost, -free, free)


@dataclass(frozen=True)
class Logistic(_Smooth):
    """``cost * log(1 + exp(-m))``."""

    flat_beyond_one: ClassVar[bool] = False
    climbs: ClassVar[bool] = False
    cost: np.ndarray

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        return logisticloops.total(margin, self.cost)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        """Return minus the derivative."""
        out = np.empty_like(margin)
        logisticloops.slope(margin, self.cost, out)
        return out

    def look(self, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the slope, its dual part, and the summed loss."""
        slope, dual = np.empty_like(margin), np.empty_like(margin)
        return slope, dual, logisticloops.look(margin, self.cost, slope, dual)

    def along(self, margin: np.ndarray, step: np.ndarray, t: float) -> float:
        """Return the sum of ``slope(margin + t step) step``."""
        return logisticloops.along(margin, step, t, self.cost)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        """Return the second derivative."""
        out = np.empty_like(margin)
        logisticloops.curvature(margin, self.cost, out)
        return out

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the entropy of ``a / cost``, the dual part of ``0 <= a <= cost``."""
        p = a / self.cost
        return self.cost * (entr(p) - xlog1py(1.0 - p, -p))


def _short(margin: np.ndarray) -> np.ndarray:
    """Return how much each margin is short of 1."""
    short = 1.0 - margin
    return np.maximum(short, 0.0, out=short)
