"""Importance of a term: the standard deviation of its contribution over samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel
from everystump._explanations.access import surface_weights, training_density
from everystump._explanations.joint import GridDensity, JointDensity, SampleDensity, surface_std
from everystump._tables.validation import check_rows


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


class Densities(NamedTuple):
    """The distribution of samples in each feature, and in the features of each surface.

    Entries are None where the distribution is unknown.
    """

    curves: Sequence[RowDensity | None]
    surfaces: Sequence[JointDensity | None] = ()


def term_densities(estimator: Any, models: Sequence[ShapeModel], X: Any = None) -> Densities:
    """Return the distribution of samples in the terms of a model; of the training ones by default.

    All shape models of an estimator have the same terms.
    """
    surfaces = models[0].surfaces
    if X is None:
        weights = surface_weights(estimator, len(surfaces))
        return Densities(training_density(estimator), [GridDensity(part) for part in weights])
    X = check_rows(estimator, X)
    return Densities(sample_densities(X), [SampleDensity(X)] * len(surfaces))


def importances(
    models: Iterable[ShapeModel],
    densities: Sequence[RowDensity | None],
    joint: Sequence[JointDensity | None] | None = None,
) -> list[list[float]]:
    """Return the importance of each term for each score: a list per score.

    The terms are those of `ShapeModel.terms`; ``joint`` are the distributions in the features of
    its surfaces.
    """
    return [
        [
            *(shape_std(shape, own) for shape, own in zip(model, densities, strict=True)),
            *(
                surface_std(surface, own)
                for surface, own in zip(
                    model.surfaces, joint or [None] * len(model.surfaces), strict=True
                )
            ),
        ]
        for model in models
    ]


def relative_importances(models: Sequence[ShapeModel], densities: Densities) -> np.ndarray:
    """Return the importance of each feature, scaled to sum to 1 unless all are 0.

    Importances are summed over the scores; that of an interaction is divided equally among its
    features.
    """
    by_term = np.sum(importances(models, densities.curves, densities.surfaces), axis=0)
    total = by_term[: len(models[0])]
    for surface, importance in zip(models[0].surfaces, by_term[len(total) :], strict=True):
        total[list(surface.features)] += importance / surface.order
    return total / total.sum() if total.any() else total
