"""A fitted model in plain parts, whatever estimator it came from.

Every score is an intercept plus a sum of terms: curves of features, curves of projections, sums
over a kernel, and votes of other models.  The exporters know these four and no estimator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from everystump._core.shapes import Shape, ShapeModel, combine
from everystump._tables import Feature

# The curves of one score: the number of a feature (or of a direction) and its curve.
Curves = Mapping[int, Shape]


@dataclass(frozen=True, eq=False)
class Projection:
    """Curves over ``(x - centre) . direction``.

    Attributes
    ----------
    features : ndarray of int, shape (n_own_features,)
        The features that are projected.
    centre : ndarray of shape (n_own_features,)
        What is subtracted from them first.
    directions : ndarray of shape (n_directions, n_own_features)
        What they are multiplied with, scale included.
    curves : tuple of dict
        For each score, the curves of the directions by their number.
    """

    features: np.ndarray
    centre: np.ndarray
    directions: np.ndarray
    curves: tuple[Curves, ...]


@dataclass(frozen=True, eq=False)
class KernelSum:
    """``sum of weights[j] K(rows[j], x)``.

    Attributes
    ----------
    kernel : str
        "gaussian", "laplacian", "linear", "middle", "perceptron", "scaled_perceptron" or "stump".
    parameters : dict
        ``gamma`` of the first two, ``constant`` of the last three, the ``cuts`` of each feature of
        "middle", the ``scale`` of each feature of "scaled_perceptron".
    features : ndarray of int, shape (n_own_features,)
        The features that the kernel looks at.
    rows : ndarray of shape (n_support, n_own_features)
        The support vectors.
    weights : ndarray of shape (n_support, n_scores)
        Their weights in each score.
    """

    kernel: str
    parameters: Mapping[str, Any]
    features: np.ndarray
    rows: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Vote:
    """What a whole model adds by the class that it names.

    Attributes
    ----------
    voter : Body
        The model; it names its second class if its one score is positive, or the class of its
        largest score, the first of equals.
    weights : ndarray of shape (n_classes_of_voter, n_scores)
        What naming each class adds to each score.
    """

    voter: Body
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Body:
    """The scores of a model: intercepts, and terms that add to them."""

    intercepts: np.ndarray
    curves: tuple[Curves, ...]
    projections: tuple[Projection, ...] = ()
    sums: tuple[KernelSum, ...] = ()
    votes: tuple[Vote, ...] = ()

    @property
    def n_scores(self) -> int:
        """How many scores there are."""
        return len(self.intercepts)

    @classmethod
    def constant(cls, intercepts: np.ndarray) -> Body:
        """Return scores that are the same for all rows."""
        return cls(np.asarray(intercepts, dtype=np.float64), ({},) * len(intercepts))

    @classmethod
    def of_shapes(cls, models: Sequence[ShapeModel]) -> Body:
        """Return one score for each shape model; curves that add nothing are left out."""
        intercepts = np.array([model.intercept for model in models])
        return cls(intercepts, tuple(curves_of(model) for model in models))

    def features(self) -> set[int]:
        """Return the numbers of the features that the scores depend on."""
        used = {d for curves in self.curves for d in curves}
        for looked_at in [p.features for p in self.projections] + [s.features for s in self.sums]:
            used |= set(looked_at.tolist())
        return used.union(*(vote.voter.features() for vote in self.votes))

    def mixed(self, weights: np.ndarray) -> Body:
        """Return the scores ``weights @ scores``."""
        return Body(
            weights @ self.intercepts,
            _mixed(self.curves, weights),
            tuple(replace(p, curves=_mixed(p.curves, weights)) for p in self.projections),
            tuple(replace(s, weights=s.weights @ weights.T) for s in self.sums),
            tuple(replace(v, weights=v.weights @ weights.T) for v in self.votes),
        )

    def moved(self, places: Sequence[Place]) -> Body:
        """Return the same scores of a table in which each feature has another place."""
        position = np.array([place.position for place in places], dtype=int)
        return Body(
            self.intercepts,
            tuple(
                {int(position[d]): places[d].curve(shape) for d, shape in curves.items()}
                for curves in self.curves
            ),
            tuple(replace(p, features=position[p.features]) for p in self.projections),
            tuple(replace(s, features=position[s.features]) for s in self.sums),
            tuple(replace(v, voter=v.voter.moved(places)) for v in self.votes),
        )


class Place(NamedTuple):
    """Where a feature of one model stands in a larger table.

    ``numbers`` are those of a category's levels there, which may have more of them.
    """

    position: int
    numbers: np.ndarray | None = None
    n_levels: int = 0

    def curve(self, shape: Shape) -> Shape:
        """Return a curve over the levels of the larger table."""
        return shape.with_levels(self.numbers, self.n_levels) if shape.is_category else shape


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model, ready to be written in another language.

    Attributes
    ----------
    estimator : str
        The name of its class.
    features : tuple of Feature
        The columns of its table, each with a name.
    classes : list
        The labels, as plain numbers, words or truth values.
    takes_missing : bool
        Whether values may be missing; if not, rows that lack one have no score.
    log_odds : float or None
        The factor that makes a score a log-odds; None if it estimates none.
    body : Body
        One score for two classes, else one a class.
    """

    estimator: str
    features: tuple[Feature, ...]
    classes: list
    takes_missing: bool
    log_odds: float | None
    body: Body

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        return [str(feature.name) for feature in self.features]


def holds_text(feature: Feature) -> bool:
    """Tell whether the values of a feature are text, as those of no level at all may be."""
    return feature.levels is not None and (feature.n_levels == 0 or feature.kind == "text")


def curves_of(model: ShapeModel) -> Curves:
    """Return the curves of a shape model that add anything, by feature."""
    return {d: shape for d, shape in enumerate(model) if shape.values.any() or shape.missing}


def total(bodies: Sequence[Body]) -> Body:
    """Return the sum of scores of the same table, curves of one feature as one curve."""
    return Body(
        np.sum([body.intercepts for body in bodies], axis=0),
        tuple(
            _summed((1.0, curves) for curves in each)
            for each in zip(*(body.curves for body in bodies), strict=True)
        ),
        tuple(p for body in bodies for p in body.projections),
        tuple(s for body in bodies for s in body.sums),
        tuple(v for body in bodies for v in body.votes),
    )


def _mixed(curves: Sequence[Curves], weights: np.ndarray) -> tuple[Curves, ...]:
    return tuple(_summed(zip(row.tolist(), curves, strict=True)) for row in weights)


def _summed(parts: Iterable[tuple[float, Curves]]) -> Curves:
    """Return the weighted sum of curves, feature by feature."""
    found: dict[int, list[tuple[float, Shape]]] = {}
    for weight, curves in parts:
        for d, shape in curves.items() if weight else ():
            found.setdefault(d, []).append((weight, shape))
    return {d: _sum(*zip(*terms, strict=True)) for d, terms in found.items()}


def _sum(weights: Sequence[float], shapes: Sequence[Shape]) -> Shape:
    if len(shapes) == 1 and weights[0] == 1.0:
        return shapes[0]
    return combine([ShapeModel((shape,), 0.0) for shape in shapes], weights)[0]
