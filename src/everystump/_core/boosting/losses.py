"""Losses for boosting, one record each (Sugiyama, section 30.3.2).

A loss is a function of the margin ``m = y f(x)``.  Boosting weights each row by ``-loss'(m)``, up
to a common factor, and minimizes the summed loss along each stump.  The weights are
functions of ``exp(-rate m)``, which is stored as ``odds = scale exp(-rate m)``: the common factor
``scale`` avoids underflow for large margins.

LogitBoost's loss is that of `everystump._core.losses.Logistic` at twice the margin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from everystump._core import lossloops
from everystump._core.boosting.search import Stump

# A loop that returns minus the first derivative of the summed loss after a step, and the second.
DerivativeLoop = Callable[[np.ndarray, np.ndarray, np.ndarray, float, float], tuple[float, float]]
# The same for all rows, given the loop and the step.
Derivatives = Callable[[DerivativeLoop, float], tuple[float, float]]

# The line search ends when a Newton step is shorter than this.
_MIN_STEP = 1e-10
_MAX_STEPS = 100


@dataclass(frozen=True)
class BoostingLoss:
    """A loss of boosting."""

    value: Callable[[np.ndarray], np.ndarray]  # maps margins to losses
    weight: Callable[[np.ndarray, float], np.ndarray]  # maps odds and scale to weights of rows
    rate: float  # the coefficient of the margin in odds
    max_weight_is_one: bool  # whether no weight exceeds 1, however small the margin
    # The derivatives of the summed loss along a stump; None if the best step is
    # log((1 - R) / R) / 2 for the weighted error R.
    derivatives: DerivativeLoop | None = None

    def step(self, stump: Stump, derivatives: Derivatives) -> float:
        """Return the step along a stump that minimizes the summed loss."""
        if self.derivatives is None:
            return 0.5 * stump.log_odds
        t, low, high = 0.25 * stump.log_odds, 0.0, np.inf
        for _ in range(_MAX_STEPS):  # Newton's method inside a bracket
            slope, curvature = derivatives(self.derivatives, t)
            if abs(slope) <= _MIN_STEP * curvature:
                break
            low, high = (t, high) if slope > 0 else (low, t)
            far = min(2 * t + 1, high)
            t = t + slope / curvature if curvature > 0 else np.inf
            if not low < t < far:
                t = far if high == np.inf else (low + high) / 2
        return t


def _exponential(margin: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.exp(-margin)


def _mada(margin: np.ndarray) -> np.ndarray:
    """Return ``1/2 - m`` for ``m <= 0``, ``exp(-2 m) / 2`` otherwise."""
    return np.where(margin <= 0, 0.5 - margin, 0.5 * np.exp(-2 * np.maximum(margin, 0.0)))


BOOSTING_LOSSES: dict[str, BoostingLoss] = {
    # AdaBoost
    "exponential": BoostingLoss(_exponential, lambda odds, scale: odds, 1.0, False),
    # LogitBoost
    "logistic": BoostingLoss(
        lambda margin: np.logaddexp(0.0, -2 * margin),
        lambda odds, scale: odds / (1 + odds / scale),
        2.0,
        True,
        lossloops.logistic_derivatives,
    ),
    # MadaBoost
    "mada": BoostingLoss(_mada, np.minimum, 2.0, True, lossloops.mada_derivatives),
}
