"""Losses of a margin ``m = y f(x)``: value, slope, curvature, and the dual of each.

A record belongs to some rows and carries their ``cost``, C times the sample weights.  ``slope``
is ``-d loss / d m``, never negative; at the optimum it is the row's dual variable ``a``.
``dual(a)`` is the row's part of the dual problem, ``min over m of loss(m) + a m``.
``flat_beyond_one`` says whether a margin of 1 or more costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlog1py, xlogy


@dataclass(frozen=True)
class Hinge:
    """``cost * max(0, 1 - m)``; an infinite cost is the hard margin."""

    flat_beyond_one: ClassVar[bool] = True
    cost: np.ndarray

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        short = 1.0 - margin
        return np.where(short > 0.0, self.cost, 0.0) * np.maximum(short, 0.0, out=short)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return ``a``, the dual part of ``0 <= a <= cost``."""
        return a


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
        a = 1.0 - margin
        a *= self.sharpness
        a += self.anchor
        return np.clip(a, 0.0, self.cost, out=a)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        """Return ``sharpness`` where ``a`` is strictly between its bounds, else 0."""
        a = 1.0 - margin
        a *= self.sharpness
        a += self.anchor
        return np.where((a > 0.0) & (a < self.cost), self.sharpness, 0.0)


@dataclass(frozen=True)
class SquaredHinge:
    """``cost * max(0, 1 - m)^2``."""

    flat_beyond_one: ClassVar[bool] = True
    cost: np.ndarray

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * np.maximum(1.0 - margin, 0.0) ** 2

    def slope(self, margin: np.ndarray) -> np.ndarray:
        """Return minus the derivative."""
        return 2.0 * self.cost * np.maximum(1.0 - margin, 0.0)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        """Return the second derivative, 0 beyond the margin."""
        return np.where(margin < 1.0, 2.0 * self.cost, 0.0)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual part of ``a >= 0``."""
        return a - a * a / (4.0 * self.cost)


@dataclass(frozen=True)
class Logistic:
    """``cost * log(1 + exp(-m))``."""

    flat_beyond_one: ClassVar[bool] = False
    cost: np.ndarray

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * np.logaddexp(0.0, -margin)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        """Return minus the derivative."""
        return self.cost * expit(-margin)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        """Return the second derivative."""
        return self.cost * expit(margin) * expit(-margin)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the entropy of ``a / cost``, the dual part of ``0 <= a <= cost``."""
        p = a / self.cost
        return -self.cost * (xlogy(p, p) + xlog1py(1.0 - p, -p))
