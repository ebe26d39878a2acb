"""Losses of regression: of a score ``m = f(x)`` and the target ``t`` of each row.

They have the methods of the losses of margins (`everystump._core.losses`), with ``y = 1`` for every
row; dual variables, which are positive where the score is below the target, have both signs.  Every
loss is 0 at its minimum, so that every dual term is 0 at 0.

Targets are scaled beforehand (`everystump._core.targets`), so that they are of the order of 1.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import xlog1py, xlogy

from everystump._core import regressionloops
from everystump._core.losses import KinkedLoss, Loss, SmoothLoss

# Scores beyond this number are taken as this number in exponentials, whose sums stay finite.
_MAX_SCORE = 600.0
# A bound on the rounding of a loss that is a difference of larger terms, relative to these.
_ROUNDING = 16 * float(np.finfo(np.float64).eps)
# Counts below this number are 0 in dual terms.
_TINY = 1e-250


@dataclass(frozen=True)
class RegressionLoss(Loss):
    """A loss of the scores of some rows; ``target`` has one number per row."""

    target: np.ndarray

    @classmethod
    def for_rows(cls, cost: np.ndarray, target: np.ndarray) -> Self:
        """Return the loss of rows."""
        return cls(cost, target)

    @staticmethod
    def signs(target: np.ndarray) -> np.ndarray:
        """Return 1: margins are scores."""
        return np.array(1, dtype=np.int8)

    @abstractmethod
    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""
        return float(self.per_row(margin).sum())

    def distance(self, margin: np.ndarray) -> np.ndarray:
        """Return the distance of each score from its target."""
        return np.abs(self.target - margin)

    def sides(self, positive: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where ``a`` is positive, and its absolute values."""
        return a > 0.0, np.abs(a)

    def total_within(self, margin: np.ndarray, radius: float) -> float:
        """Return the summed loss of the worst margins within ``radius``, which are its ends."""
        return float(np.maximum(self.per_row(margin - radius), self.per_row(margin + radius)).sum())


class SquaredLoss(RegressionLoss, SmoothLoss):
    """``cost * (m - t)^2``."""

    is_quadratic = True
    path_tolerance = 10.0

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        return self.cost * (margin - self.target) ** 2

    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return minus the derivative."""
        return np.multiply(2.0 * self.cost, self.target - margin, out=out)

    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the second derivative."""
        return np.multiply(2.0, self.cost, out=out)

    def typical_curvature(self, a: np.ndarray) -> np.ndarray:
        """Return the second derivative."""
        return 2.0 * self.cost

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual term of any ``a``."""
        return a * (self.target - a / (4.0 * self.cost))

    def dual_size(self, a: np.ndarray, dual: np.ndarray) -> float:
        """Return the sum of the absolute values of what is added up in the dual terms ``dual``."""
        return float(np.sum(np.abs(a * self.target) + a * a / (4.0 * self.cost)))


@dataclass(frozen=True)
class Huber(SquaredLoss):
    """``cost * (m - t)^2`` up to a distance of ``delta``, linear beyond it."""

    # The kinks of its slope slow Newton's method down if it starts far from the solution.
    needs_continuation = True
    is_quadratic = False
    path_tolerance = 3.0

    delta: float = 1.0

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        distance = np.abs(margin - self.target)
        near = np.minimum(distance, self.delta)
        return self.cost * near * (2.0 * distance - near)

    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return minus the derivative."""
        near = np.clip(self.target - margin, -self.delta, self.delta)
        return np.multiply(2.0 * self.cost, near, out=out)

    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the second derivative, 0 beyond ``delta``."""
        near = np.abs(margin - self.target) < self.delta
        return np.multiply(2.0 * self.cost, near, out=out)

    def typical_curvature(self, a: np.ndarray) -> np.ndarray:
        """Return the curvature where the slope is ``a``."""
        return np.where(np.abs(a) < 2.0 * self.delta * self.cost, 2.0 * self.cost, 0.0)


class _LogLinkLoss(RegressionLoss, SmoothLoss):
    """Half of a deviance, where ``m`` is the logarithm of the mean.

    Losses are computed from ``d = m - log t``, and dual terms from the relative slope ``u``, so
    that rounding errors vanish where the score is exact.
    """

    path_tolerance = 10.0

    def total_within(self, margin: np.ndarray, radius: float) -> float:
        """Return the summed loss of the worst margins, and of the rounding of its differences."""
        sizes = [self._size(margin + shift) for shift in (-radius, radius)]
        rounding = _ROUNDING * float(self.cost @ np.maximum(*sizes))
        return super().total_within(margin, radius) + rounding

    def _size(self, margin: np.ndarray) -> np.ndarray:
        """Return the absolute values of what is added up in the loss, with rounding of ``d``."""
        log_t = _log(self.target)
        d = np.abs(margin - log_t)
        return np.abs(self.slope(margin)) / self.cost * (1.0 + np.abs(log_t) + d) + self._linear(d)

    @abstractmethod
    def _linear(self, d: np.ndarray) -> np.ndarray:
        """Return the part of the loss that is linear in ``d``, without costs."""


class Poisson(_LogLinkLoss):
    """``cost * (exp(m) - t m - t + t log t)``, half the Poisson deviance of a log-link."""

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        t = self.target
        d = margin - _log(t)
        is_near = (t > 0.0) & (d < 1.0)
        near = np.where(is_near, d, 0.0)
        return self.cost * np.where(is_near, t * (np.expm1(near) - near), _exp(margin) - t - t * d)

    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return minus the derivative."""
        return np.multiply(self.cost, self.target - _exp(margin), out=out)

    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the second derivative."""
        return np.multiply(self.cost, _exp(margin), out=out)

    def typical_curvature(self, a: np.ndarray) -> np.ndarray:
        """Return the curvature where the slope is ``a``."""
        return np.maximum(self.cost * self.target - a, 0.0)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual term of ``a <= cost t``."""
        is_zero, level, u = self._relative_slope(a)
        logs = np.where(is_zero, xlogy(level, u), level * xlog1py(1.0 + u, u))
        return np.where(is_zero, level - logs, level * u - logs + a * _log(self.target))

    def dual_size(self, a: np.ndarray, dual: np.ndarray) -> float:
        """Return the sum of the absolute values of what is added up in the dual terms ``dual``."""
        is_zero, level, u = self._relative_slope(a)
        logs = np.where(is_zero, xlogy(level, u), level * xlog1py(1.0 + u, u))
        return float(np.sum(np.abs(a) * (1.0 + np.abs(_log(self.target))) + np.abs(logs)))

    def _relative_slope(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where targets are 0, the largest slopes, and slopes as fractions of these.

        Where targets are 0 there is no largest slope: the slope itself, and without its cost.
        """
        is_zero = self.target < _TINY
        level = self.cost * self.target
        u = np.maximum(-a / np.where(is_zero, 1.0, level), -1.0)
        slope = np.maximum(-a, 0.0)
        return is_zero, np.where(is_zero, slope, level), np.where(is_zero, slope / self.cost, u)

    def _linear(self, d: np.ndarray) -> np.ndarray:
        return self.target * d


class Gamma(_LogLinkLoss):
    """``cost * (t exp(-m) + m - 1 - log t)``, half the gamma deviance of a log-link."""

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        d = margin - np.log(self.target)
        return self.cost * (_expm1(-d) + d)

    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return minus the derivative."""
        return np.multiply(self.cost, _expm1(np.log(self.target) - margin), out=out)

    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the second derivative."""
        return np.multiply(self.cost, _exp(np.log(self.target) - margin), out=out)

    def typical_curvature(self, a: np.ndarray) -> np.ndarray:
        """Return the curvature where the slope is ``a``."""
        return np.maximum(self.cost + a, 0.0)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual term of ``a >= -cost``."""
        u = np.maximum(a / self.cost, -1.0)
        return self.cost * (u - xlog1py(1.0 + u, u)) + a * np.log(self.target)

    def dual_size(self, a: np.ndarray, dual: np.ndarray) -> float:
        """Return the sum of the absolute values of what is added up in the dual terms ``dual``."""
        u = np.maximum(a / self.cost, -1.0)
        logs = self.cost @ np.abs(xlog1py(1.0 + u, u))
        return float(logs + np.abs(a) @ (1.0 + np.abs(np.log(self.target))))

    def _linear(self, d: np.ndarray) -> np.ndarray:
        return d


@dataclass(frozen=True)
class PiecewiseLinear(RegressionLoss, KinkedLoss):
    """``cost * (above max(0, t - m - epsilon) + below max(0, m - t - epsilon))``.

    ``above`` and ``below`` weight targets above and below the scores: 1 and 1 for the absolute
    error, q and 1 - q for the quantile q.  Its dual term is ``a t - epsilon |a|`` for
    ``-below cost <= a <= above cost``.
    """

    above: float = 1.0
    below: float = 1.0
    epsilon: float = 0.0

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss of each row."""
        distance = self.target - margin
        upper = np.maximum(distance - self.epsilon, 0.0)
        lower = np.maximum(-distance - self.epsilon, 0.0)
        return self.cost * (self.above * upper + self.below * lower)

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return the dual term of ``a`` within its limits."""
        return a * self.target - self.epsilon * np.abs(a)

    def dual_size(self, a: np.ndarray, dual: np.ndarray) -> float:
        """Return the sum of the absolute values of what is added up in the dual terms ``dual``."""
        return float(np.abs(a) @ (np.abs(self.target) + self.epsilon))

    def typical_curvature(self, a: np.ndarray) -> np.ndarray:
        """Return the absolute slope: it falls to 0 over a distance of about 1."""
        return np.abs(a)

    def smoothed(self, center: np.ndarray, penalty: np.ndarray) -> SmoothedPiecewiseLinear:
        """Return the loss smoothed around the dual variables ``center``."""
        return SmoothedPiecewiseLinear(self, center, penalty)

    def box_center(self, unbounded: np.ndarray) -> np.ndarray:
        """Return the middle between 0 and the limit on the side of the target."""
        return self.cost * np.where(self.target > 0.0, self.above / 2, -self.below / 2)

    def clip(self, a: np.ndarray) -> np.ndarray:
        """Return the nearest dual variables within their limits."""
        return np.clip(a, -self.below * self.cost, self.above * self.cost)


@dataclass(frozen=True)
class SmoothedPiecewiseLinear:
    """A piecewise linear loss within an augmented Lagrangian, a piecewise quadratic.

    ::

        max over -below cost <= a <= above cost of
            a (t - m) - epsilon |a| - (a - center)^2 / (2 penalty)
    """

    loss: PiecewiseLinear
    center: np.ndarray
    penalty: np.ndarray

    @property
    def _arguments(self) -> tuple[Any, ...]:
        loss = self.loss
        limits = loss.above, loss.below, loss.epsilon
        return loss.cost, loss.target, *limits, self.center, self.penalty

    def slope(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the maximizing ``a``."""
        out = np.empty_like(margin) if out is None else out
        regressionloops.smoothed_slope(margin, *self._arguments, out)
        return out

    def curvature(self, margin: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return ``penalty`` where ``a`` changes with the margin, else 0."""
        out = np.empty_like(margin) if out is None else out
        regressionloops.smoothed_curvature(margin, *self._arguments, out)
        return out

    def directional_slope(self, margin: np.ndarray, step: np.ndarray, t: float) -> float:
        """Return the sum of ``slope(margin + t step) * step``."""
        return regressionloops.smoothed_directional_slope(margin, step, t, *self._arguments)


@dataclass(frozen=True)
class ParametricLoss:
    """A class of losses with values of its parameters, as a `LossFamily`."""

    loss: type[RegressionLoss]
    parameters: tuple[float, ...]

    @property
    def solver(self) -> str:
        """The solver for stump ensembles."""
        return self.loss.solver

    @property
    def zero_beyond_one(self) -> bool:
        """Whether the loss is 0 for margins of 1 or more."""
        return self.loss.zero_beyond_one

    @property
    def needs_continuation(self) -> bool:
        """Whether a large C is best reached by warm starts."""
        return self.loss.needs_continuation

    @property
    def path_tolerance(self) -> float:
        """The tolerance along a path of C, as a multiple of the final one."""
        return self.loss.path_tolerance

    @property
    def is_quadratic(self) -> bool:
        """Whether the curvature is the same everywhere."""
        return self.loss.is_quadratic

    @property
    def has_curvature(self) -> bool:
        """Whether there are second derivatives."""
        return self.loss.has_curvature

    @property
    def dispersion(self) -> float | None:
        """The variance of the slope divided by the mean curvature, if known."""
        return self.loss.dispersion

    def for_rows(self, cost: np.ndarray, target: np.ndarray) -> RegressionLoss:
        """Return the loss of rows."""
        return self.loss(cost, target, *self.parameters)

    def signs(self, target: np.ndarray) -> np.ndarray:
        """Return 1: margins are scores."""
        return self.loss.signs(target)


def _exp(score: np.ndarray) -> np.ndarray:
    """Return the exponential, of very large scores that of a limit."""
    return np.exp(np.minimum(score, _MAX_SCORE))


def _expm1(score: np.ndarray) -> np.ndarray:
    """Return the exponential minus 1, of very large scores that of a limit."""
    return np.expm1(np.minimum(score, _MAX_SCORE))


def _log(target: np.ndarray) -> np.ndarray:
    """Return the logarithm, 0 of targets that are 0."""
    return np.log(np.where(target > 0.0, target, 1.0))
