"""The losses of boosting, each a function of the margin ``m = y f(x)`` (Sugiyama, section 30.3.2).

Boosting asks a loss for the weights of the rows, ``-loss'(m)`` up to a factor, and for the step
along a stump that minimises the summed loss.  The weights of all three are functions of
``exp(-rate m)``; a common factor ``scale`` keeps them far from underflow however large the margins
grow: ``odds = scale exp(-rate m)``.  A loss that ``has_bounded_weights`` gives
no row a weight above 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np

from everystump._core import rowloops
from everystump._core.boosting.search import Stump

# A kernel of `rowloops` that returns minus the slope, and the curvature, of the loss after a step.
DerivativeKernel = Callable[[np.ndarray, np.ndarray, np.ndarray, float, float], tuple[float, float]]
# The same for all rows, given the kernel and the step.
Along = Callable[[DerivativeKernel, float], tuple[float, float]]

# The search ends when Newton's method would move by less than this.
_ENOUGH = 1e-10
_MOST_STEPS = 100


class BoostingLoss(Protocol):
    """What the loop asks of a loss."""

    rate: ClassVar[float]
    has_bounded_weights: ClassVar[bool]

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each margin."""

    def weight(self, odds: np.ndarray, scale: float) -> np.ndarray:
        """Return the weight of each row, times a common factor."""

    def step(self, stump: Stump, along: Along) -> float:
        """Return how far to go along a stump."""


class Exponential:
    """``exp(-m)``: AdaBoost."""

    rate: ClassVar[float] = 1.0
    has_bounded_weights: ClassVar[bool] = False

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each margin."""
        with np.errstate(over="ignore"):
            return np.exp(-margin)

    def weight(self, odds: np.ndarray, scale: float) -> np.ndarray:
        """Return the weight of each row."""
        return odds

    def step(self, stump: Stump, along: Along) -> float:
        """Return ``log((1 - R) / R) / 2``."""
        return 0.5 * stump.log_odds


class _LineSearched:
    """A loss whose best step has no closed form."""

    rate: ClassVar[float] = 2.0
    has_bounded_weights: ClassVar[bool] = True
    slopes: ClassVar[Any]

    def step(self, stump: Stump, along: Along) -> float:
        """Return the root of the slope, by Newton's method inside a bracket."""
        t, low, high = 0.25 * stump.log_odds, 0.0, np.inf
        for _ in range(_MOST_STEPS):
            slope, curvature = along(self.slopes, t)
            if abs(slope) <= _ENOUGH * curvature:
                break
            low, high = (t, high) if slope > 0 else (low, t)
            far = min(2 * t + 1, high)
            t = t + slope / curvature if curvature > 0 else np.inf
            if not low < t < far:
                t = far if high == np.inf else (low + high) / 2
        return t


class Mada(_LineSearched):
    """``1/2 - m`` for ``m <= 0``, ``exp(-2 m) / 2`` beyond: MadaBoost."""

    slopes = staticmethod(rowloops.mada_along)

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each margin."""
        return np.where(margin <= 0, 0.5 - margin, 0.5 * np.exp(-2 * np.maximum(margin, 0.0)))

    def weight(self, odds: np.ndarray, scale: float) -> np.ndarray:
        """Return the weight of each row."""
        return np.minimum(odds, scale)


class Logistic(_LineSearched):
    """``log(1 + exp(-2 m))``: LogitBoost."""

    slopes = staticmethod(rowloops.logistic_along)

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each margin."""
        return np.logaddexp(0.0, -2 * margin)

    def weight(self, odds: np.ndarray, scale: float) -> np.ndarray:
        """Return the weight of each row."""
        return odds / (1 + odds / scale)


LOSSES: dict[str, BoostingLoss] = {
    "exponential": Exponential(),
    "logistic": Logistic(),
    "mada": Mada(),
}
