"""Losses of a margin ``m = y f``: value, slope, curvature, and the dual of each.

Each record carries what belongs to its own rows (``cost`` is C times the weights).  ``slope``
is ``-d loss / d m``, never negative: at the optimum it is the dual variable of the row.
``dual(a)`` is the row's part of the dual value, minus the conjugate of the loss at ``-a``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy


@dataclass(frozen=True)
class Hinge:
    """``cost * max(0, 1 - m)``; its slope jumps, so solvers smooth it (`SmoothedHinge`)."""

    cost: np.ndarray

    def value(self, margin):
        return self.cost * np.maximum(1.0 - margin, 0.0)

    def dual(self, a):
        return a


@dataclass(frozen=True)
class SmoothedHinge:
    cost: np.ndarray
    anchor: np.ndarray
    sharpness: float

    def value(self, margin):
        s = 1.0 - margin
        a = np.clip(self.anchor + self.sharpness * s, 0.0, self.cost)
        return a * s - (a - self.anchor) ** 2 / (2 * self.sharpness)

    def slope(self, margin):
        a = 1.0 - margin
        a *= self.sharpness
        a += self.anchor
        return np.clip(a, 0.0, self.cost, out=a)

    def curvature(self, margin):
        a = self.anchor + self.sharpness * (1.0 - margin)
        return np.where((a > 0.0) & (a < self.cost), self.sharpness, 0.0)


@dataclass(frozen=True)
class SquaredHinge:
    cost: np.ndarray

    def value(self, margin):
        return self.cost * np.maximum(1.0 - margin, 0.0) ** 2

    def slope(self, margin):
        return 2 * self.cost * np.maximum(1.0 - margin, 0.0)

    def curvature(self, margin):
        return np.where(margin < 1.0, 2 * self.cost, 0.0)

    def dual(self, a):
        return a - a * a / (4 * self.cost)


@dataclass(frozen=True)
class Logistic:
    cost: np.ndarray

    def value(self, margin):
        return self.cost * np.logaddexp(0.0, -margin)

    def slope(self, margin):
        return self.cost * expit(-margin)

    def curvature(self, margin):
        p = expit(-margin)
        return self.cost * p * (1.0 - p)

    def dual(self, a):
        p = a / self.cost
        return -self.cost * (xlogy(p, p) + xlogy(1.0 - p, 1.0 - p))
