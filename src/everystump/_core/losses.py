"""Losses of a margin ``m = y f(x)``: one class per loss, which also names its solver.

A loss object belongs to some rows and holds their ``cost``, C times the sample weights.  Solvers
use these quantities, each an array with one entry per row unless it is a sum:

- ``total(m)``, the summed loss;
- ``slope(m) = -d loss / d m``, never negative for a classification loss; at the optimum it is the
  dual variable ``a`` of the row;
- ``curvature(m)``, the second derivative;
- ``dual(a) = min over m of loss(m) + a m``, the row's term of the dual objective (minus the convex
  conjugate at ``-a``), which is concave and 0 at 0.

The losses of regression, where ``m = f(x)`` and dual variables have both signs, are in
`everystump._core.regression_losses`; those of boosting, which define a step size instead, in
`everystump._core.boosting`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from everystump._core import lossloops
from everystump._core.dual_box import Box
from everystump._core.threads import thread_buffer

# A slope of at most this fraction of the largest cost is rounding error.
_ROUNDING = 1e-9


class LossFamily(Protocol):
    """What makes the losses of rows: a class of losses, or one with parameters.

    The attributes are those of `Loss`.
    """

    @property
    def solver(self) -> str:
        """The solver for stump ensembles."""

    @property
    def zero_beyond_one(self) -> bool:
        """Whether the loss is 0 for margins of 1 or more."""

    @property
    def needs_continuation(self) -> bool:
        """Whether a large C is best reached by warm starts."""

    @property
    def path_tolerance(self) -> float:
        """The tolerance along a path of C, as a multiple of the final one."""

    @property
    def is_quadratic(self) -> bool:
        """Whether the curvature is the same everywhere."""

    @property
    def has_curvature(self) -> bool:
        """Whether there are second derivatives."""

    @property
    def dispersion(self) -> float | None:
        """The variance of the slope divided by the mean curvature, if known."""

    def for_rows(self, cost: np.ndarray, target: np.ndarray) -> Any:
        """Return the loss of rows with these costs and targets.

        A target is a boolean, whether the row is positive, or the number to predict.
        """

    def signs(self, target: np.ndarray) -> np.ndarray:
        """Return the factors ``y`` of the scores in the margins."""


@dataclass(frozen=True)
class Loss(ABC):
    """A loss of the margins of some rows.

    Attributes
    ----------
    cost : ndarray of shape (n_rows,)
        C times the sample weights.
    solver : str
        The solver for stump ensembles, a key of `everystump._core.solvers.SOLVERS`; empty if the
        loss is available for kernel machines only.
    zero_beyond_one : bool
        Whether the loss is 0 for margins of 1 or more.
    needs_continuation : bool
        Whether a large C is best reached by warm starts from solutions for smaller ones.
    path_tolerance : float
        Models along a path of C are fitted to this multiple of the tolerance before selection.
    is_quadratic : bool
        Whether the curvature is the same everywhere, so that one exact Newton step is enough.
    has_curvature : bool
        Whether there are second derivatives.
    dispersion : float or None
        The variance of the slope divided by the mean curvature; None if it has to be estimated.
        It is 1 if the loss is the negative logarithm of a likelihood.
    """

    solver: ClassVar[str] = ""
    zero_beyond_one: ClassVar[bool] = False
    needs_continuation: ClassVar[bool] = False
    path_tolerance: ClassVar[float] = 3.0
    is_quadratic: ClassVar[bool] = False
    has_curvature: ClassVar[bool] = False
    dispersion: ClassVar[float | None] = None
    cost: np.ndarray

    @classmethod
    def for_rows(cls, cost: np.ndarray, target: np.ndarray) -> Self:
        """Return the loss of rows; their classes are in the signs of the margins."""
        return cls(cost)

    @staticmethod
    def signs(target: np.ndarray) -> np.ndarray:
        """Return 1 for positive rows and -1 for negative ones."""
        return np.where(target, np.int8(1), np.int8(-1))

    @abstractmethod
    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""

    @abstractmethod
    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual term of each row."""

    def sides(self, positive: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where ``y a`` is positive, given the positive rows, and its absolute values."""
        return positive, a

    def total_within(self, margin: np.ndarray, radius: float) -> float:
        """Return the summed loss of the worst margins within ``radius``."""
        return self.total(np.subtract(margin, radius, out=thread_buffer(len(margin))))

    def dual_size(self, a: np.ndarray, dual: np.ndarray) -> float:
        """Return the sum of the absolute values of what is added up in the dual terms ``dual``."""
        absolute = thread_buffer(len(a))
        return float(sum(np.abs(x, out=absolute).sum() for x in (a, dual)))

    def distance(self, margin: np.ndarray) -> np.ndarray:
        """Return the distance of each margin from 1."""
        return np.abs(1.0 - margin)

    def typical_curvature(self, a: np.ndarray) -> np.ndarray:
        """Return how fast the slope ``a`` of each row changes with its margin, roughly."""
        return a


class SmoothLoss(Loss):
    """A loss with a continuous slope."""

    solver = "newton"
    has_curvature = True

    @abstractmethod
    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return minus the derivative, written to ``out`` if given."""

    @abstractmethod
    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the second derivative, written to ``out`` if given."""

    def slope_dual_total(self, margin: np.ndarray, slope: np.ndarray, dual: np.ndarray) -> float:
        """Write the slope and its dual term; return the summed loss."""
        dual[:] = self.dual(self.slope(margin, slope))
        return self.total(margin)

    def directional_slope(self, margin: np.ndarray, step: np.ndarray, t: float) -> float:
        """Return the sum of ``slope(margin + t step) * step``."""
        return float(self.slope(margin + t * step) @ step)


class KinkedLoss(Loss):
    """A piecewise linear loss, which an augmented Lagrangian smooths around dual variables."""

    solver = "augmented_lagrangian"

    @abstractmethod
    def smoothed(self, center: np.ndarray, penalty: np.ndarray) -> Any:
        """Return the loss smoothed around the dual variables ``center``."""

    @abstractmethod
    def box_center(self, unbounded: np.ndarray) -> np.ndarray:
        """Return dual variables in the middle of their limits, ``unbounded`` if there are none."""

    @abstractmethod
    def clip(self, a: np.ndarray) -> np.ndarray:
        """Return the nearest dual variables within their limits."""


class QuadraticLoss(Loss):
    """A loss with a quadratic dual term, as needed to train kernel machines."""

    @abstractmethod
    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""

    @abstractmethod
    def box(self) -> Box:
        """Return the ridge and the limits of the dual variables."""

    def worst_within(self, margin: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Return the worst margins within ``radius``: those of highest loss."""
        return margin - radius


class Hinge(KinkedLoss, QuadraticLoss):
    """``cost * max(0, 1 - m)``; an infinite cost is the hard margin."""

    zero_beyond_one = True

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        if np.isinf(self.cost[0]):
            return np.inf if margin.min() < 1.0 else 0.0
        return lossloops.hinge_total(margin, self.cost)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return ``a``, the dual term of ``0 <= a <= cost``."""
        return a

    def smoothed(self, center: np.ndarray, penalty: np.ndarray) -> SmoothedHinge:
        """Return the hinge smoothed around the dual variables ``center``."""
        return SmoothedHinge(self.cost, center, penalty)

    def box_center(self, unbounded: np.ndarray) -> np.ndarray:
        """Return half of the costs, or ``unbounded`` for a hard margin."""
        return unbounded if np.isinf(self.cost[0]) else self.cost / 2

    def clip(self, a: np.ndarray) -> np.ndarray:
        """Return the dual variables of another C within their limits; they are not negative."""
        return np.minimum(self.cost, a)

    def box(self) -> Box:
        """Return the limits of ``a``."""
        zeros = np.zeros_like(self.cost)
        return Box(zeros, zeros, self.cost)

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * _shortfall(margin)

    def best_intercept(self, sign: np.ndarray, scores: np.ndarray) -> float:
        """Return the intercept of least loss for given scores, the middle one if there are several.

        The loss of a row has its kink at the intercept ``y - score``, where the summed slope
        rises by the row's cost; the best intercept is where the summed slope crosses 0.
        """
        kink = sign - scores
        order = np.argsort(kink, kind="stable")
        slope = np.cumsum(self.cost[order]) - self.cost[sign > 0].sum()
        slope[np.abs(slope) <= _ROUNDING * self.cost.max()] = 0.0
        first = int(np.argmax(slope >= 0.0))
        last = first + 1 if slope[first] == 0.0 and first + 1 < len(order) else first
        return float(kink[order[first]] + kink[order[last]]) / 2


@dataclass(frozen=True)
class SmoothedHinge:
    """The hinge within an augmented Lagrangian, a piecewise quadratic.

    ::

        max over 0 <= a <= cost of  a (1 - m) - (a - center)^2 / (2 penalty)

    It is the proximal smoothing of the hinge around the dual variables ``center``.
    """

    cost: np.ndarray
    center: np.ndarray
    penalty: np.ndarray

    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the maximizing ``a``."""
        out = np.empty_like(margin) if out is None else out
        lossloops.smoothed_hinge_slope(margin, self.cost, self.center, self.penalty, out)
        return out

    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return ``penalty`` where ``a`` is strictly between its limits, else 0."""
        out = np.empty_like(margin) if out is None else out
        lossloops.smoothed_hinge_curvature(margin, self.cost, self.center, self.penalty, out)
        return out

    def directional_slope(self, margin: np.ndarray, step: np.ndarray, t: float) -> float:
        """Return the sum of ``slope(margin + t step) * step``."""
        return lossloops.smoothed_hinge_directional_slope(
            margin, step, t, self.cost, self.center, self.penalty
        )


class SquaredHinge(SmoothLoss, QuadraticLoss):
    """``cost * max(0, 1 - m)^2``."""

    zero_beyond_one = True
    # The kinks of its slope slow Newton's method down if it starts far from the solution.
    needs_continuation = True

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        return float(self.cost @ _shortfall(margin) ** 2)

    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return minus the derivative."""
        return np.multiply(2.0 * self.cost, _shortfall(margin), out=out)

    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the second derivative, 0 beyond the margin."""
        return np.multiply(2.0 * self.cost, margin < 1.0, out=out)

    def typical_curvature(self, a: np.ndarray) -> np.ndarray:
        """Return the curvature where the slope is ``a``."""
        return np.where(a > 0.0, 2.0 * self.cost, 0.0)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual term of ``a >= 0``."""
        return a - a * a / (4.0 * self.cost)

    def box(self) -> Box:
        """Return the ridge and the limits of ``a``."""
        return Box(0.5 / self.cost, np.zeros_like(self.cost), np.full_like(self.cost, np.inf))

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * _shortfall(margin) ** 2

    def best_intercept(self, sign: np.ndarray, scores: np.ndarray) -> float:
        """Return the intercept of least loss for given scores, the middle one if there are several.

        It is the root of the summed slope, which is linear between neighboring kinks
        ``y - score``.  A positive row contributes below its kink, a negative row above.
        """
        kink = sign - scores
        order = np.argsort(kink, kind="stable")
        middle = kink[order[len(order) // 2]]  # differences from it keep their precision
        position, cost = kink[order] - middle, self.cost[order]
        positive = sign[order] > 0

        def active_sum(amount: np.ndarray) -> np.ndarray:
            negative_sum = np.cumsum(np.where(positive, 0.0, amount))
            passed = np.cumsum(np.where(positive, amount, 0.0))
            return negative_sum + amount[positive].sum() - passed

        weight, moment = active_sum(cost), active_sum(cost * position)
        slope = position * weight - moment
        first = int(np.argmax(slope >= 0.0))
        if slope[first] > 0.0 and first > 0:
            root = moment[first - 1] / weight[first - 1]
            return float(middle + np.clip(root, position[first - 1], position[first]))
        last = first + int(np.count_nonzero(slope[first:] == 0.0)) - 1
        return float(middle + (position[first] + position[max(first, last)]) / 2)


class LeastSquares(QuadraticLoss):
    """``cost * (1 - m)^2``, the squared distance of the score from the label."""

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        return float(self.cost @ (1.0 - margin) ** 2)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual term of any ``a``."""
        return a - a * a / (4.0 * self.cost)

    def box(self) -> Box:
        """Return the ridge of ``a``, which has no limits."""
        unlimited = np.full_like(self.cost, np.inf)
        return Box(0.5 / self.cost, -unlimited, unlimited)

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * (1.0 - margin) ** 2

    def worst_within(self, margin: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Return the worst margins within ``radius``, mirrored to below 1.

        The loss of a margin above 1 equals that of its mirror image below 1.
        """
        return np.minimum(margin, 2.0 - margin) - radius

    def best_intercept(self, sign: np.ndarray, scores: np.ndarray) -> float:
        """Return the intercept of least loss for given scores."""
        return float(np.average(sign - scores, weights=self.cost))


class Logistic(SmoothLoss):
    """``cost * log(1 + exp(-m))``."""

    # A warm start from another C is always followed by a Newton step, which is nearly exact.
    path_tolerance = 10.0
    dispersion = 1.0

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        return lossloops.logistic_total(margin, self.cost)

    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return minus the derivative."""
        out = np.empty_like(margin) if out is None else out
        lossloops.logistic_slope(margin, self.cost, out)
        return out

    def slope_dual_total(self, margin: np.ndarray, slope: np.ndarray, dual: np.ndarray) -> float:
        """Write the slope and its dual term; return the summed loss."""
        return lossloops.logistic_slope_dual_total(margin, self.cost, slope, dual)

    def directional_slope(self, margin: np.ndarray, step: np.ndarray, t: float) -> float:
        """Return the sum of ``slope(margin + t step) * step``."""
        return lossloops.logistic_directional_slope(margin, step, t, self.cost)

    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the second derivative."""
        out = np.empty_like(margin) if out is None else out
        lossloops.logistic_curvature(margin, self.cost, out)
        return out

    def typical_curvature(self, a: np.ndarray) -> np.ndarray:
        """Return the curvature where the slope is ``a``."""
        return a * (1.0 - np.minimum(a / self.cost, 1.0))

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the entropy of ``a / cost``, the dual term of ``0 <= a <= cost``."""
        out = np.empty_like(a)
        lossloops.logistic_dual(a, self.cost, out)
        return out


LOSSES: dict[str, type[Loss]] = {
    "hinge": Hinge,
    "least_squares": LeastSquares,
    "logistic": Logistic,
    "squared_hinge": SquaredHinge,
}


def _shortfall(margin: np.ndarray) -> np.ndarray:
    """Return ``max(0, 1 - margin)``."""
    shortfall = 1.0 - margin
    return np.maximum(shortfall, 0.0, out=shortfall)
