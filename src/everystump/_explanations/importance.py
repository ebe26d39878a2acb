"""Feature importance: the standard deviation of a shape function over samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel


def sample_densities(X: Any) -> tuple[RowDensity, ...]:
    """Return the density of validated samples in each feature."""
    densities = []
    for d in range(X.shape[1]):
        x = X[:, d]
        present = x[~np.isnan(x)].astype(np.float64)
        values, counts = np.unique(present, return_counts=True)
        missing = float(len(x) - len(present))
        densities.append(RowDensity(values, counts.astype(np.float64), missing))
    return tuple(densities)


def missing_fraction(density: RowDensity) -> float:
    """Return the fraction of samples whose value is missing."""
    return float(density.missing / (density.counts.sum() + density.missing))


def level_weights(density: RowDensity, n_levels: int) -> np.ndarray:
    """Return the weight of the samples of each level; unknown levels are not counted."""
    is_known = density.values >= 0
    return np.bincount(density.values[is_known].astype(int), density.counts[is_known], n_levels)


def evaluate_on_density(shape: Shape, density: RowDensity) -> tuple[np.ndarray, np.ndarray]:
    """Return the contributions at the values of a density, and the weights of these values."""
    values, weights = shape(density.values), density.counts
    if density.missing > 0:
        values = np.append(values, shape.at_missing())
        weights = np.append(weights, density.missing)
    return values, weights


def shape_std(shape: Shape, density: RowDensity | None) -> float:
    """Return the standard deviation of a shape function over samples.

    Without a density, it is taken over the knots or levels of the shape function.
    """
    if density is None:
        return float(np.std(shape.levels if shape.is_category else shape.values))
    values, weights = evaluate_on_density(shape, density)
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def importances(
    models: Iterable[ShapeModel], densities: Sequence[RowDensity | None]
) -> list[list[float]]:
    """Return the importance of each feature for each score: a list per score."""
    return [
        [shape_std(shape, density) for shape, density in zip(model, densities, strict=True)]
        for model in models
    ]


def relative_importances(
    models: Iterable[ShapeModel], densities: Sequence[RowDensity | None]
) -> np.ndarray:
    """Return importances summed over the scores and scaled to sum to 1, unless all are 0."""
    total = np.sum(importances(models, densities), axis=0)
    return total / total.sum() if total.any() else total
