"""The scale of the targets of a regression, so that C does not depend on their units.

Solvers get targets ``t = (y - center) / scale`` and return scores of these.  With an identity link
a score ``m`` predicts ``center + scale m``, with a log link ``scale exp(m)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from everystump._core.shapes import ShapeModel

# The interquartile range of a normal distribution with a standard deviation of 1.
_NORMAL_RANGE = 1.3489795003921634
# A scale below this fraction of the targets is only rounding error.
_MIN_RANGE = 1e-14

# What a prediction is of a score, which is its link of the prediction.
INVERSE_LINKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": np.positive,
    "log": np.exp,
}


@dataclass(frozen=True)
class TargetScale:
    """How targets are scaled, and scores turned into predictions."""

    center: float = 0.0
    scale: float = 1.0
    log_link: bool = False

    def scaled(self, y: np.ndarray) -> np.ndarray:
        """Return the targets of the solver."""
        return (y - self.center) / self.scale

    def predictions(self, scores: np.ndarray) -> np.ndarray:
        """Return predictions in the units of ``y``, given scores of the solver."""
        if self.log_link:
            return self.scale * np.exp(scores)
        return self.center + self.scale * scores

    def solver_scores(self, scores: np.ndarray) -> np.ndarray:
        """Return the scores of the solver, given those of the model: the inverse of `model`."""
        return (scores - self._shift) / self.factor

    @property
    def _shift(self) -> float:
        return float(np.log(self.scale)) if self.log_link else self.center

    def unscaled(self) -> TargetScale:
        """Return the scale of targets that have been scaled."""
        return TargetScale(log_link=self.log_link)

    @property
    def factor(self) -> float:
        """The factor of the scores of the solver in those of the model."""
        return 1.0 if self.log_link else self.scale

    def model(self, shapes: ShapeModel) -> ShapeModel:
        """Return the model of ``y``, or of its logarithm, given that of the scaled targets."""
        scaled = shapes if self.factor == 1.0 else self.factor * shapes
        return replace(scaled, intercept=scaled.intercept + self._shift)


def mean_scale(y: np.ndarray, weight: np.ndarray | None, *, center: bool) -> TargetScale:
    """Return the mean (0 without ``center``) and the standard deviation of the targets."""
    unit = _unit(y)
    x = y / unit
    mean = float(np.average(x, weights=weight)) if center else 0.0
    deviation = float(np.sqrt(np.average((x - mean) ** 2, weights=weight)))
    return TargetScale(unit * mean, _positive(unit * deviation, y))


def quantile_scale(
    y: np.ndarray, weight: np.ndarray | None, quantile: float, *, center: bool
) -> TargetScale:
    """Return a quantile (0 without ``center``) and a robust standard deviation of the targets.

    It is that of a normal distribution with the same interquartile range, or the standard
    deviation if that range is 0.
    """
    low, middle, high = weighted_quantiles(y, weight, (0.25, quantile, 0.75))
    deviation = high / _NORMAL_RANGE - low / _NORMAL_RANGE
    if deviation <= _MIN_RANGE * max(abs(low), abs(high)):
        deviation = mean_scale(y, weight, center=True).scale
    return TargetScale(middle if center else 0.0, _positive(deviation, y))


def log_scale(y: np.ndarray, weight: np.ndarray | None, *, center: bool) -> TargetScale:
    """Return the mean of the targets, for a log link; 1 without ``center``, as for counts."""
    if not center:
        return TargetScale(log_link=True)
    unit = _unit(y)
    return TargetScale(0.0, unit * float(np.average(y / unit, weights=weight)), log_link=True)


def weighted_quantiles(
    y: np.ndarray, weight: np.ndarray | None, quantiles: tuple[float, ...]
) -> list[float]:
    """Return the smallest values up to which there is at least this fraction of the weight.

    Examples
    --------
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), (0.25, 0.5, 1.0))
    [1.0, 2.0, 3.0]
    """
    if weight is None:
        ranks = [max(0, int(np.ceil(q * len(y) - 1e-9)) - 1) for q in quantiles]
        return np.partition(y, sorted(set(ranks)))[ranks].tolist()
    order = np.argsort(y, kind="stable")
    cumulative = np.cumsum(weight[order])
    goals = np.array(quantiles) * cumulative[-1] * (1.0 - 1e-12)
    found = np.minimum(np.searchsorted(cumulative, goals), len(y) - 1)
    return y[order[found]].tolist()


def _unit(y: np.ndarray) -> float:
    """Return the largest absolute target, by which sums of squares are kept finite."""
    return float(np.abs(y).max()) or 1.0


def _positive(scale: float, y: np.ndarray) -> float:
    """Return a scale, or 1 if it is only rounding error, as that of a constant."""
    return scale if scale > _MIN_RANGE * _unit(y) else 1.0
