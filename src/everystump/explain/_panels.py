"""The heat maps of an interaction: one for two features, some slices for three."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel
from everystump._core.surfaces import Axis, Surface
from everystump._explanations.terms import name_terms
from everystump._tables.frames import Feature
from everystump.explain._display import truncate

_N_SLICES = 3
_MAX_LENGTH = 16


@dataclass(frozen=True, eq=False)
class SurfacePanel:
    """A heat map of two features.

    Attributes
    ----------
    title : str
        The interaction; for a slice, followed by the value of the third feature.
    names : (str, str)
        The features on the horizontal and on the vertical axis.
    surface : Surface
        The contributions; its first axis is the horizontal one.
    features : (Feature, Feature)
        The kinds of the features, with the names of levels.
    weights : ndarray or None
        The weight of the samples at each grid point of the surface; None if unknown.
    densities : (RowDensity or None, RowDensity or None)
        The distribution of the samples in each feature; None if unknown.
    curves : (Shape, Shape)
        The curves of the features, by which levels are sorted.
    half_widths : ndarray or None
        Half the width of the band at each grid point of the surface; None without bands.
    """

    title: str
    names: tuple[str, str]
    surface: Surface
    features: tuple[Feature, Feature]
    weights: np.ndarray | None
    densities: tuple[RowDensity | None, RowDensity | None]
    curves: tuple[Shape, Shape]
    half_widths: np.ndarray | None = None


def make_panels(
    model: ShapeModel,
    surface: Surface,
    names: Sequence[str],
    features: Sequence[Feature],
    weights: np.ndarray | None,
    densities: Sequence[RowDensity | None],
    half_widths: np.ndarray | None = None,
) -> list[SurfacePanel]:
    """Return the heat maps of an interaction of a model, given what is known of all features.

    ``weights`` and ``half_widths`` are given at the grid points of the surface, see `SurfacePanel`.

    Three features are drawn as two at some values of the third: at the most frequent levels of a
    category, else at quantiles.
    """
    (title,) = name_terms(names, [surface.features])
    if surface.order == 2:
        grids = _Grids(surface, weights, half_widths)
        return [_panel(model, title, grids, names, features, densities)]
    s = _sliced_axis(surface)
    d = surface.features[s]
    others = [j for j in range(3) if j != s]
    panels = []
    for k in _slices(surface.axes[s], None if weights is None else _marginal(weights, s)):
        part = Surface(
            tuple(surface.features[j] for j in others),
            tuple(surface.axes[j] for j in others),
            np.take(surface.values, k, axis=s),
        )
        inside, half = (
            None if values is None else np.take(values, k, axis=s)
            for values in (weights, half_widths)
        )
        at = f"{truncate(str(names[d]), _MAX_LENGTH)} = {_value(surface.axes[s], features[d], k)}"
        grids = _Grids(part, inside, half)
        panels.append(_panel(model, f"{title}\n{at}", grids, names, features, densities))
    return panels


class _Grids(NamedTuple):
    """A surface of two features, and what is known at its grid points."""

    surface: Surface
    weights: np.ndarray | None
    half_widths: np.ndarray | None

    def transpose(self) -> _Grids:
        """Return the same with the axes swapped."""
        # The features of a surface ascend, so the numbers of this one are 0 and 1.
        surface = Surface((0, 1), self.surface.axes[::-1], self.surface.values.T)
        return _Grids(surface, *(None if own is None else own.T for own in self[1:]))


def _panel(
    model: ShapeModel,
    title: str,
    grids: _Grids,
    names: Sequence[str],
    features: Sequence[Feature],
    densities: Sequence[RowDensity | None],
) -> SurfacePanel:
    """Return a heat map; the levels of a category are on the vertical axis if there is a choice."""
    x, y = grids.surface.features
    first, second = grids.surface.axes
    if first.is_category and not second.is_category:
        x, y = y, x
        grids = grids.transpose()
    return SurfacePanel(
        title,
        (names[x], names[y]),
        grids.surface,
        (features[x], features[y]),
        grids.weights,
        (densities[x], densities[y]),
        (model[x], model[y]),
        grids.half_widths,
    )


def _sliced_axis(surface: Surface) -> int:
    """Return the axis to be sliced: the category with the fewest levels, else the last axis."""
    categories = [j for j, axis in enumerate(surface.axes) if axis.is_category]
    return min(categories, key=lambda j: len(surface.axes[j]), default=2)


def _marginal(weights: np.ndarray, j: int) -> np.ndarray:
    return weights.sum(axis=tuple(k for k in range(weights.ndim) if k != j))


def _slices(axis: Axis, weights: np.ndarray | None) -> list[int]:
    """Return the entries of an axis at which slices are drawn, in ascending order."""
    n = len(axis.knots)
    known = np.ones(n) if weights is None or not weights[:n].any() else weights[:n]
    if axis.is_category:
        return sorted(np.argsort(-known, kind="stable")[:_N_SLICES].tolist())
    shares = np.cumsum(known) / known.sum()
    quantiles = (np.arange(_N_SLICES) + 0.5) / _N_SLICES
    return np.unique(np.minimum(np.searchsorted(shares, quantiles), n - 1)).tolist()


def _value(axis: Axis, feature: Feature, k: int) -> str:
    if feature.levels is None:
        return f"{axis.knots[k]:.4g}"
    return truncate(str(feature.levels.tolist()[k]), _MAX_LENGTH)
