"""Losses of a margin ``m = y f(x)``: total, slope, curvature, and the dual of each.

A record belongs to some rows and carries their ``cost``, C times the sample weights.  ``slope``
is ``-d loss / d m``, never negative; at the optimum it is the row's dual variable ``a``.
``dual(a)`` is the row's part of the dual problem, ``min over m of loss(m) + a m``.
``flat_beyond_one`` says whether a margin of 1 or more costs nothing, ``climbs`` whether a large C
is best reached from smaller ones.  Where ``dual(a)`` is ``a - ridge a^2 / 2`` between two limits,
``box`` gives these, ``each`` the loss of every row, ``worst_within`` the margins of highest loss
nearby, and ``best_bias`` the bias of least loss for given scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import entr, xlog1py

from everystump._core import logisticloops, rowloops

# A slope up to this share of the largest cost is rounding.
_ROUNDED = 1e-9


class Box(NamedTuple):
    """A quadratic dual, ``a - ridge a^2 / 2`` for ``low <= a <= high``, of each row."""

    ridge: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def is_linear(self) -> bool:
        """Whether the dual has no ridge, so that its optimum moves in jumps with the bias."""
        return not self.ridge.any()

    @property
    def is_unlimited(self) -> bool:
        """Whether there are no limits, so that every dual variable differs from 0."""
        return bool(np.isneginf(self.low).all())


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

    def each(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * _short(margin)

    def worst_within(self, margin: np.ndarray, off: np.ndarray) -> np.ndarray:
        """Return the margins of highest loss that are ``off`` from the given ones at most."""
        return margin - off

    def best_bias(self, sign: np.ndarray, scores: np.ndarray) -> float:
        """Return the bias of least loss for given scores, the middle one if there are several.

        The loss of a row has its corner at the bias ``y - score``; there the summed slope rises
        by the row's cost, and the best bias is where it passes 0.
        """
        corner = sign - scores
        order = np.argsort(corner, kind="stable")
        slope = np.cumsum(self.cost[order]) - self.cost[sign > 0].sum()
        slope[np.abs(slope) <= _ROUNDED * self.cost.max()] = 0.0
        first = int(np.argmax(slope >= 0.0))
        last = first + 1 if slope[first] == 0.0 and first + 1 < len(order) else first
        return float(corner[order[first]] + corner[order[last]]) / 2


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
        """Return the maximizing ``a``."""
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

    def each(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * _short(margin) ** 2

    def worst_within(self, margin: np.ndarray, off: np.ndarray) -> np.ndarray:
        """Return the margins of highest loss that are ``off`` from the given ones at most."""
        return margin - off

    def best_bias(self, sign: np.ndarray, scores: np.ndarray) -> float:
        """Return the bias of least loss for given scores, the middle one if there are several.

        It is the root of the summed slope, which is straight between neighboring corners
        ``y - score``.  Positive rows pull up until their corner, negative ones down from theirs on.
        """
        corner = sign - scores
        order = np.argsort(corner, kind="stable")
        middle = corner[order[len(order) // 2]]  # around which sums keep their digits
        at, own = corner[order] - middle, self.cost[order]
        up = sign[order] > 0

        def pulling(amount: np.ndarray) -> np.ndarray:
            down = np.cumsum(np.where(up, 0.0, amount))
            return down + amount[up].sum() - np.cumsum(np.where(up, amount, 0.0))

        weight, moment = pulling(own), pulling(own * at)
        slope = at * weight - moment
        first = int(np.argmax(slope >= 0.0))
        if slope[first] > 0.0 and first > 0:
            root = moment[first - 1] / weight[first - 1]
            return float(middle + np.clip(root, at[first - 1], at[first]))
        last = first + int(np.count_nonzero(slope[first:] == 0.0)) - 1
        return float(middle + (at[first] + at[max(first, last)]) / 2)


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

    def each(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * (1.0 - margin) ** 2

    def worst_within(self, margin: np.ndarray, off: np.ndarray) -> np.ndarray:
        """Return the margins below 1 of highest loss, ``off`` from the given ones at most.

        The loss of a margin above 1 is that of its mirror image below.
        """
        return np.minimum(margin, 2.0 - margin) - off

    def best_bias(self, sign: np.ndarray, scores: np.ndarray) -> float:
        """Return the bias of least loss for given scores."""
        return float(np.average(sign - scores, weights=self.cost))


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
