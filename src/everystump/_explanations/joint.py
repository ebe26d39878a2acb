"""Surfaces over the joint distribution of samples in their features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from everystump._core.surfaces import Surface


class JointDensity(Protocol):
    """A joint distribution of samples in the features of a surface."""

    def evaluate(self, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
        """Return contributions of the surface, and the weight of the samples with each."""
        ...

    def missing_fraction(self, surface: Surface) -> float:
        """Return the fraction of samples with a missing value in some feature of the surface."""
        ...


@dataclass(frozen=True, eq=False)
class GridDensity:
    """The weight of samples at each grid point of a surface.

    Examples
    --------
    >>> from everystump._core.surfaces import Axis
    >>> axes = Axis(np.array([0.0, 1.0])), Axis(np.array([0.0]), has_missing=True)
    >>> surface = Surface((0, 1), axes, np.zeros((2, 2)))
    >>> GridDensity(np.array([[3.0, 1.0], [0.0, 0.0]])).missing_fraction(surface)
    0.25
    """

    weights: np.ndarray

    def evaluate(self, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
        """See `JointDensity`."""
        return surface.values.ravel(), self.weights.ravel()

    def missing_fraction(self, surface: Surface) -> float:
        """See `JointDensity`."""
        present = self.weights[tuple(slice(len(axis.knots)) for axis in surface.axes)]
        total = self.weights.sum()
        return float(1.0 - present.sum() / total) if total > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class SampleDensity:
    """Validated samples, all with the same weight."""

    X: Any

    def evaluate(self, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
        """See `JointDensity`."""
        return surface(self._columns(surface)), np.ones(len(self.X))

    def missing_fraction(self, surface: Surface) -> float:
        """See `JointDensity`."""
        return float(np.isnan(self._columns(surface)).any(axis=1).mean())

    def _columns(self, surface: Surface) -> np.ndarray:
        return np.column_stack([self.X[:, d] for d in surface.features])


def surface_std(surface: Surface, density: JointDensity | None) -> float:
    """Return the standard deviation of a surface over samples.

    Without a density, it is taken over the grid points of the surface.
    """
    if density is None:
        return float(np.std(surface.values))
    values, weights = density.evaluate(surface)
    if not weights.any():
        return 0.0
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def surface_mean(surface: Surface, weights: np.ndarray) -> float:
    """Return the mean of a surface, given the weight at each grid point."""
    return float(np.average(surface.values, weights=weights)) if weights.any() else 0.0
