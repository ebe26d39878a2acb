"""Edits of surfaces: constant regions and removed interactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._core.surfaces import Axis, Surface, combine_surfaces, entry_positions
from everystump._explanations.access import feature_names
from everystump._explanations.editing import Region, check_region
from everystump._explanations.joint import surface_mean
from everystump._explanations.terms import term_names
from everystump._tables.frames import Feature
from everystump._terms import Term

Weights = tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class Box:
    """A region of a surface: the samples that are in a region along each of its axes."""

    regions: tuple[Region, ...]
    description: str

    def split(self, surface: Surface) -> Surface:
        """Return the same surface with jumps at the ends of this region."""
        jumps = tuple(
            _jump_axis(axis, region)
            for axis, region in zip(surface.axes, self.regions, strict=True)
        )
        zero = Surface(surface.features, jumps, np.zeros([len(axis) for axis in jumps]))
        return combine_surfaces([surface, zero], [1.0, 0.0])

    def contains(self, surface: Surface) -> np.ndarray:
        """Return which grid points of a surface that `split` returned are in this region."""
        inside = np.ones(surface.values.shape, dtype=bool)
        for j, (axis, region) in enumerate(zip(surface.axes, self.regions, strict=True)):
            entries = np.full(len(axis), region.missing)
            entries[: len(axis.knots)] = _is_inside(axis.knots, region)
            inside &= entries.reshape(-1, *(1,) * (surface.order - 1 - j))
        return inside


def check_box(
    features: Sequence[Feature], term: Term, low: Any, high: Any, levels: Any, missing: Any
) -> Box:
    """Return the region of a surface that the arguments describe, or raise an error.

    Each argument has one entry per feature, or is None, or False for ``missing``.
    """
    (title,) = term_names(features, [term])
    columns = {
        "low": _entries("low", low, None, title, term),
        "high": _entries("high", high, None, title, term),
        "levels": _entries("levels", levels, None, title, term),
        "missing": _entries("missing", missing, False, title, term),
    }
    names = feature_names(features)
    regions, parts = [], []
    for j, d in enumerate(term):
        own = {name: entries[j] for name, entries in columns.items()}
        regions.append(check_region(features[d], names[d], **own))
        if regions[-1].description:
            parts.append(f"{names[d]}{regions[-1].description}")
    return Box(tuple(regions), f" for {' and '.join(parts)}" if parts else "")


class SurfaceEdit:
    """An edit of one surface in a region, for some or all classes.

    ``models`` are the edited models, and ``weights`` the weights of the training samples at the
    grid points of their surfaces.
    """

    def __init__(
        self, models: list[ShapeModel], weights: Weights, term: Term, title: str, box: Box
    ) -> None:
        self.title, self.description = title, box.description
        self._box = box
        self._t = models[0].terms.index(term) - len(models[0])
        own = models[0].surfaces[self._t].axes
        # The surfaces of all classes keep the same grid.
        self.models = [self._replaced(model, box.split(self._surface(model))) for model in models]
        axes = self._surface(self.models[0]).axes
        spread = np.zeros([len(axis) for axis in axes])
        spread[np.ix_(*map(entry_positions, own, axes))] = weights[self._t]
        self.weights = (*weights[: self._t], spread, *weights[self._t + 1 :])

    def set(self, k: int, value: float) -> None:
        """Make the surface of class ``k`` constant in the region."""
        surface = self._surface(self.models[k])
        values = np.where(self._box.contains(surface), value, surface.values)
        self.models[k] = self._replaced(self.models[k], replace(surface, values=values))

    def mean(self, k: int) -> float:
        """Return the mean of the surface of class ``k`` over the training samples in the region."""
        surface = self._surface(self.models[k])
        inside = np.where(self._box.contains(surface), self.weights[self._t], 0.0)
        if not inside.any():
            raise ValueError(
                f"feature={self.title!r} has no training samples{self.description} to average "
                f"over; widen the region, or use set_curve."
            )
        return surface_mean(surface, inside)

    def _surface(self, model: ShapeModel) -> Surface:
        return model.surfaces[self._t]

    def _replaced(self, model: ShapeModel, surface: Surface) -> ShapeModel:
        others = (*model.surfaces[: self._t], *model.surfaces[self._t + 1 :])
        return replace(model, surfaces=(*others, surface))


def remove_surfaces(
    models: list[ShapeModel], weights: Weights, removed: Sequence[int]
) -> tuple[list[ShapeModel], Weights, np.ndarray]:
    """Return the models without some surfaces, the weights of the others, and mean contributions.

    The mean contributions of the removed surfaces are added to the intercepts.
    """
    kept = [t for t in range(len(weights)) if t not in removed]
    means = np.zeros(len(models))
    edited = []
    for k, model in enumerate(models):
        means[k] = sum(surface_mean(model.surfaces[t], weights[t]) for t in removed)
        surfaces = tuple(model.surfaces[t] for t in kept)
        edited.append(replace(model, intercept=model.intercept + means[k], surfaces=surfaces))
    return edited, tuple(weights[t] for t in kept), means


def _entries(argument: str, value: Any, default: Any, title: str, term: Term) -> Sequence:
    if value is default:
        return [default] * len(term)
    if isinstance(value, tuple | list) and len(value) == len(term):
        return value
    example = ", ".join(["..."] + [repr(default)] * (len(term) - 1))
    raise ValueError(
        f"{argument}={value!r}: {title!r} has {len(term)} features; pass one entry for each of "
        f"them, such as {argument}=({example})."
    )


def _jump_axis(axis: Axis, region: Region) -> Axis:
    """Return an axis with jumps at the ends of a region; the same axis if it has no ends."""
    ends = [end for end in (region.low, region.high) if np.isfinite(end)]
    if axis.is_category or not ends or region.low == region.high:
        return axis
    return Axis(np.repeat(ends, 2))


def _is_inside(knots: np.ndarray, region: Region) -> np.ndarray:
    """Return which knots are in a region, whose ends are jumps: the first knot is left of it."""
    if region.levels is not None:
        return region.contains(knots)
    if region.low == region.high:
        return np.zeros(len(knots), dtype=bool)
    is_left = np.append(knots[1:] == knots[:-1], False)
    after_low = (knots > region.low) | ((knots == region.low) & ~is_left)
    before_high = (knots < region.high) | ((knots == region.high) & is_left)
    return after_low & before_high
