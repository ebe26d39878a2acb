"""The losses of regressors by name: their parameters, links, scales and default scorers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from sklearn.metrics import (
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
)

from everystump._core.losses import LossFamily
from everystump._core.regression_losses import (
    Gamma,
    Huber,
    ParametricLoss,
    PiecewiseLinear,
    Poisson,
    SquaredLoss,
)
from everystump._core.targets import TargetScale, log_scale, mean_scale, quantile_scale
from everystump._selection.scorers import Metric, r2

_R2 = Metric("r2", r2, sign=1, degree=0)
_ABSOLUTE = Metric("neg_mean_absolute_error", mean_absolute_error)


class RegressionSpec(ABC):
    """A loss as users choose it."""

    link: ClassVar[str] = "identity"
    metric: Metric = _ABSOLUTE

    @property
    def predicted_quantile(self) -> float | None:
        """The quantile that the loss predicts, None if it is the mean."""
        return 0.5

    @abstractmethod
    def family(self) -> LossFamily:
        """Return what makes the losses of samples, for scaled targets."""

    def scale(self, y: np.ndarray, weight: np.ndarray | None, *, center: bool) -> TargetScale:
        """Return the scale of the targets; raise if the loss does not allow them."""
        return quantile_scale(y, weight, 0.5, center=center)


class _Squared(RegressionSpec):
    metric = _R2
    predicted_quantile = None

    def family(self) -> LossFamily:
        return SquaredLoss

    def scale(self, y: np.ndarray, weight: np.ndarray | None, *, center: bool) -> TargetScale:
        return mean_scale(y, weight, center=center)


@dataclass(frozen=True)
class _Huber(RegressionSpec):
    delta: float

    def family(self) -> LossFamily:
        if self.delta == 0.0:
            raise ValueError(
                'epsilon=0: loss="huber" would be 0 for every prediction; use a positive epsilon, '
                'or loss="absolute".'
            )
        return ParametricLoss(Huber, (self.delta,))


@dataclass(frozen=True)
class _EpsilonInsensitive(RegressionSpec):
    epsilon: float

    def family(self) -> LossFamily:
        return ParametricLoss(PiecewiseLinear, (1.0, 1.0, self.epsilon))

    def scale(self, y: np.ndarray, weight: np.ndarray | None, *, center: bool) -> TargetScale:
        scale = super().scale(y, weight, center=center)
        low, high = float(y.min()), float(y.max())
        if center and high / 2 - low / 2 <= self.epsilon * scale.scale:
            # A constant is perfect: one in the middle, as the loss has a kink at the others.
            return replace(scale, center=low / 2 + high / 2)
        return scale


@dataclass(frozen=True)
class _Quantile(RegressionSpec):
    quantile: float

    def family(self) -> LossFamily:
        return ParametricLoss(PiecewiseLinear, (self.quantile, 1.0 - self.quantile, 0.0))

    @property
    def metric(self) -> Metric:  # type: ignore[override]
        """The pinball loss of the quantile."""
        return Metric("neg_mean_pinball_loss", partial(mean_pinball_loss, alpha=self.quantile))

    @property
    def predicted_quantile(self) -> float:
        """The quantile."""
        return self.quantile

    def scale(self, y: np.ndarray, weight: np.ndarray | None, *, center: bool) -> TargetScale:
        return quantile_scale(y, weight, self.quantile, center=center)


class _LogLink(RegressionSpec):
    link = "log"
    predicted_quantile = None
    name: ClassVar[str]

    def scale(self, y: np.ndarray, weight: np.ndarray | None, *, center: bool) -> TargetScale:
        self._check(y)
        return log_scale(y, weight, center=center)

    @abstractmethod
    def _check(self, y: np.ndarray) -> None:
        """Check the targets."""


class _Poisson(_LogLink):
    metric = Metric("neg_mean_poisson_deviance", mean_poisson_deviance)

    def family(self) -> LossFamily:
        return Poisson

    def _check(self, y: np.ndarray) -> None:
        if y.min() < 0 or not y.any():
            found = f"{y.min():g} is among them" if y.min() < 0 else "these are only zeros"
            raise ValueError(
                f'y: loss="poisson" needs targets that are not negative, and some above 0, but '
                f'{found}; use loss="squared".'
            )


class _Gamma(_LogLink):
    metric = Metric("neg_mean_gamma_deviance", mean_gamma_deviance, degree=0)

    def family(self) -> LossFamily:
        return Gamma

    def _check(self, y: np.ndarray) -> None:
        if y.min() <= 0:
            raise ValueError(
                f'y: loss="gamma" needs positive targets, and {y.min():g} is among them; use '
                f'loss="poisson" for targets with zeros, or loss="squared".'
            )


# The default of the parameter epsilon, in units of the scale of the targets.
_HUBER_DELTA, _TUBE = 0.5, 0.1


def make_spec(loss: str, quantile: float, epsilon: float | None) -> RegressionSpec:
    """Return the loss with a name and parameters.

    Examples
    --------
    >>> make_spec("absolute", 0.5, None).metric.name
    'neg_mean_absolute_error'
    """
    return REGRESSION_LOSSES[loss](quantile, epsilon)


REGRESSION_LOSSES = {
    "squared": lambda quantile, epsilon: _Squared(),
    "huber": lambda quantile, epsilon: _Huber(_HUBER_DELTA if epsilon is None else epsilon),
    "absolute": lambda quantile, epsilon: _EpsilonInsensitive(0.0),
    "quantile": lambda quantile, epsilon: _Quantile(quantile),
    "epsilon_insensitive": lambda quantile, epsilon: _EpsilonInsensitive(
        _TUBE if epsilon is None else epsilon
    ),
    "poisson": lambda quantile, epsilon: _Poisson(),
    "gamma": lambda quantile, epsilon: _Gamma(),
}
