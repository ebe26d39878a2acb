"""The record of a fitted model that all exporters read, independent of the estimator.

Every score is an intercept plus a sum of terms: curves of features, surfaces of two or three
features, curves of projections, kernel sums, and votes of other models.  Exporters depend on these
five kinds of terms only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from everystump._core.kernel_machines.registry import KERNELS, KernelSpec, count_cuts
from everystump._core.shapes import Shape, ShapeModel, combine_shapes
from everystump._core.surfaces import Surface, combine_surfaces
from everystump._tables.frames import Feature

# The curves of one score by the index of their feature, or of their direction.
Curves = Mapping[int, Shape]
# The surfaces of one score by their features.
Surfaces = Mapping[tuple[int, ...], Surface]


@dataclass(frozen=True, eq=False)
class Projection:
    """Curves over ``(x - center) . direction``: for each score, by the index of their direction."""

    features: np.ndarray  # indices of the features that are projected
    center: np.ndarray
    directions: np.ndarray  # (n_directions, n_used_features), scale included
    curves: tuple[Curves, ...]


@dataclass(frozen=True, eq=False)
class KernelSum:
    """``sum over j of weights[j] K(rows[j], x)``."""

    kernel: str  # a name of `KERNELS`, with the prefix "scaled_" if features are scaled
    parameters: Mapping[str, Any]  # of the kernel, and the ``scale`` of each feature
    features: np.ndarray  # indices of the features that the kernel compares
    rows: np.ndarray  # the support vectors, (n_support, n_used_features)
    weights: np.ndarray  # (n_support, n_scores)

    @property
    def spec(self) -> KernelSpec:
        """The formula of the kernel."""
        return KERNELS[self.kernel.removeprefix("scaled_")]

    def support_points(self) -> np.ndarray:
        """Return the support vectors, or the numbers of cuts up to their values."""
        cuts = self.parameters.get("cuts")
        return self.rows if cuts is None else count_cuts(self.rows, cuts)


@dataclass(frozen=True, eq=False)
class Vote:
    """The contribution of another model through its predicted class.

    It predicts its second class if its one score is positive, or the class with the largest score,
    the first one in a tie.
    """

    voter: Terms
    weights: np.ndarray  # (n_voter_classes, n_scores): added for each predicted class


class TargetFeature(NamedTuple):
    """The feature of a larger table that a model's feature becomes.

    ``levels`` are the indices of a category's levels there, where it may have more of them.
    """

    position: int
    levels: np.ndarray | None = None
    n_levels: int = 0

    def curve(self, shape: Shape) -> Shape:
        """Return a curve over the levels of the larger table."""
        return shape.with_levels(self.levels, self.n_levels) if shape.is_category else shape


@dataclass(frozen=True, eq=False)
class Terms:
    """The scores of a model: intercepts, and terms that are added to them."""

    intercepts: np.ndarray
    curves: tuple[Curves, ...]
    projections: tuple[Projection, ...] = ()
    kernel_sums: tuple[KernelSum, ...] = ()
    votes: tuple[Vote, ...] = ()
    surfaces: tuple[Surfaces, ...] = ()  # one entry per score, or none without interactions

    @property
    def n_scores(self) -> int:
        """The number of scores: one for two classes or for a regressor, else one per class."""
        return len(self.intercepts)

    @property
    def has_surfaces(self) -> bool:
        """Whether there are interactions, also in the models that vote."""
        return any(self.surfaces) or any(vote.voter.has_surfaces for vote in self.votes)

    @classmethod
    def from_constant(cls, intercepts: np.ndarray) -> Terms:
        """Return scores that are the same for all rows."""
        return cls(np.asarray(intercepts, dtype=np.float64), ({},) * len(intercepts))

    @classmethod
    def from_shapes(cls, models: Sequence[ShapeModel]) -> Terms:
        """Return one score per shape model, without terms that are zero everywhere."""
        intercepts = np.array([model.intercept for model in models])
        surfaces = tuple(
            {surface.features: surface for surface in model.surfaces if surface.values.any()}
            for model in models
        )
        return cls(
            intercepts,
            tuple(nonzero_curves(model) for model in models),
            surfaces=surfaces if any(surfaces) else (),
        )

    def used_features(self) -> set[int]:
        """Return the indices of the features that the scores depend on."""
        used = {d for curves in self.curves for d in curves}
        used.update(d for surfaces in self.surfaces for features in surfaces for d in features)
        used.update(*(p.features.tolist() for p in self.projections))
        used.update(*(s.features.tolist() for s in self.kernel_sums))
        return used.union(*(vote.voter.used_features() for vote in self.votes))

    def mix(self, weights: np.ndarray) -> Terms:
        """Return the scores ``weights @ scores``."""
        return Terms(
            weights @ self.intercepts,
            _mix_curves(self.curves, weights),
            tuple(replace(p, curves=_mix_curves(p.curves, weights)) for p in self.projections),
            tuple(replace(s, weights=s.weights @ weights.T) for s in self.kernel_sums),
            tuple(replace(v, weights=v.weights @ weights.T) for v in self.votes),
            _mix_surfaces(self.surfaces, weights),
        )

    def remap(self, targets: Sequence[TargetFeature]) -> Terms:
        """Return the same scores over the features of a larger table."""
        position = np.array([target.position for target in targets], dtype=int)
        return Terms(
            self.intercepts,
            tuple(
                {int(position[d]): targets[d].curve(shape) for d, shape in curves.items()}
                for curves in self.curves
            ),
            tuple(replace(p, features=position[p.features]) for p in self.projections),
            tuple(replace(s, features=position[s.features]) for s in self.kernel_sums),
            tuple(replace(v, voter=v.voter.remap(targets)) for v in self.votes),
            tuple(
                _index_surfaces(_remap_surface(surface, targets) for surface in surfaces.values())
                for surfaces in self.surfaces
            ),
        )


@dataclass(frozen=True, eq=False)
class ModelRecord:
    """A fitted model, ready to be exported."""

    estimator: str  # the name of its class
    features: tuple[Feature, ...]  # with names
    classes: list  # plain numbers, text or booleans; none for a regressor
    takes_missing: bool  # if not, rows with a missing value have no score
    log_odds: float | None  # the factor of scores that are log-odds; None without probabilities
    terms: Terms  # one score for two classes or for a regressor, else one per class
    # The function of a regressor's prediction that its score is; None for a classifier.
    link: str | None = None
    # Whether probabilities of several classes are the softmax of their scores, or else normalized
    # probabilities of each class against the rest.
    softmax: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        return [str(feature.name) for feature in self.features]

    def check_probability(self) -> None:
        """Raise if probabilities cannot be computed from scores."""
        if self.log_odds is None:
            other = "StumpLogisticRegression, or " if self.link is None else ""
            raise ValueError(
                f"probability=True: the scores of {self.estimator} are not log-odds; use "
                f"{other}probability=False."
            )


def is_text(feature: Feature) -> bool:
    """Whether the values of a feature are text; a category without levels counts as text."""
    return feature.levels is not None and (feature.n_levels == 0 or feature.kind == "text")


def nonzero_curves(model: ShapeModel) -> Curves:
    """Return the curves of a shape model by feature, without those that are zero everywhere."""
    return {d: shape for d, shape in enumerate(model) if shape.values.any() or shape.missing}


def sum_terms(parts: Sequence[Terms]) -> Terms:
    """Return the sum of scores over the same features, with one curve per feature."""
    return Terms(
        np.sum([part.intercepts for part in parts], axis=0),
        tuple(
            _sum_curves((1.0, curves) for curves in each)
            for each in zip(*(part.curves for part in parts), strict=True)
        ),
        tuple(p for part in parts for p in part.projections),
        tuple(s for part in parts for s in part.kernel_sums),
        tuple(v for part in parts for v in part.votes),
        _sum_surfaces(parts),
    )


def _mix_curves(curves: Sequence[Curves], weights: np.ndarray) -> tuple[Curves, ...]:
    return tuple(_sum_curves(zip(row.tolist(), curves, strict=True)) for row in weights)


def _sum_curves(parts: Iterable[tuple[float, Curves]]) -> Curves:
    """Return the weighted sum of curves, feature by feature."""
    by_feature: dict[int, list[tuple[float, Shape]]] = {}
    for weight, curves in parts:
        for d, shape in curves.items() if weight else ():
            by_feature.setdefault(d, []).append((weight, shape))
    return {d: _sum_shapes(*zip(*terms, strict=True)) for d, terms in by_feature.items()}


def _sum_shapes(weights: Sequence[float], shapes: Sequence[Shape]) -> Shape:
    if len(shapes) == 1 and weights[0] == 1.0:
        return shapes[0]
    return combine_shapes(shapes, weights)


def _index_surfaces(surfaces: Iterable[Surface]) -> Surfaces:
    return {surface.features: surface for surface in surfaces}


def _remap_surface(surface: Surface, targets: Sequence[TargetFeature]) -> Surface:
    """Return a surface over the features of a larger table."""
    own = [targets[d] for d in surface.features]
    n_levels = [
        target.n_levels if axis.is_category else 0
        for target, axis in zip(own, surface.axes, strict=True)
    ]
    wider = surface.with_levels([target.levels for target in own], n_levels)
    return wider.with_features([target.position for target in own])


def _mix_surfaces(surfaces: Sequence[Surfaces], weights: np.ndarray) -> tuple[Surfaces, ...]:
    if not surfaces:
        return ()
    return tuple(_weighted_surfaces(zip(row.tolist(), surfaces, strict=True)) for row in weights)


def _sum_surfaces(parts: Sequence[Terms]) -> tuple[Surfaces, ...]:
    each = [part.surfaces for part in parts if part.surfaces]
    return tuple(
        _weighted_surfaces((1.0, surfaces) for surfaces in scores)
        for scores in zip(*each, strict=True)
    )


def _weighted_surfaces(parts: Iterable[tuple[float, Surfaces]]) -> Surfaces:
    """Return the weighted sum of surfaces, term by term."""
    by_term: dict[tuple[int, ...], list[tuple[Surface, float]]] = {}
    for weight, surfaces in parts:
        for features, surface in surfaces.items() if weight else ():
            by_term.setdefault(features, []).append((surface, weight))
    return {
        features: combine_surfaces(*zip(*terms, strict=True)) for features, terms in by_term.items()
    }
