"""Surfaces over the input columns of a pipeline instead of those of its last step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._core.surfaces import Axis, Surface, combine_surfaces, entry_positions
from everystump._pipelines.columns import (
    ColumnMapping,
    Mappings,
    smallest_preimage,
    unsupported_error,
)
from everystump._tables.frames import Feature


def fold_surfaces(
    model: ShapeModel, mappings: Mappings, features: Sequence[Feature]
) -> tuple[Surface, ...]:
    """Return the surfaces of the last step as surfaces over the input columns."""
    grouped: dict[tuple[int, ...], list[Surface]] = {}
    for surface in model.surfaces:
        folded = _fold(surface, surface.values, mappings, features, is_weight=False)
        grouped.setdefault(folded.features, []).append(folded)
    return tuple(
        parts[0] if len(parts) == 1 else combine_surfaces(parts, [1.0] * len(parts))
        for _, parts in sorted(grouped.items())
    )


def fold_weights(
    model: ShapeModel,
    weights: Sequence[np.ndarray],
    folded: Sequence[Surface],
    mappings: Mappings,
    features: Sequence[Feature],
) -> tuple[np.ndarray, ...]:
    """Return the weights of the training samples at the grid points of folded surfaces."""
    found: dict[tuple[int, ...], np.ndarray] = {}
    axes = {surface.features: surface.axes for surface in folded}
    for surface, own in zip(model.surfaces, weights, strict=True):
        part = _fold(surface, own, mappings, features, is_weight=True)
        if part.features not in found:  # the samples are the same in all of them
            total = np.zeros([len(axis) for axis in axes[part.features]])
            total[np.ix_(*map(entry_positions, part.axes, axes[part.features]))] = part.values
            found[part.features] = total
    return tuple(found[surface.features] for surface in folded)


class _MappedAxis(NamedTuple):
    """An axis over an input column; the new entries are matrices times the old ones."""

    axis: Axis
    values: np.ndarray
    weights: np.ndarray


def _fold(
    surface: Surface,
    values: np.ndarray,
    mappings: Mappings,
    features: Sequence[Feature],
    *,
    is_weight: bool,
) -> Surface:
    """Return values, or weights, at the entries of a surface as a surface over input columns."""
    sources = [mappings[d].source for d in surface.features]
    if len(set(sources)) < surface.order:
        raise unsupported_error(
            "the steps", f"use the same column twice in an interaction (columns {sources})"
        )
    mapped = [
        _map_axis(axis, mappings[d], features[d])
        for d, axis in zip(surface.features, surface.axes, strict=True)
    ]
    for j, own in enumerate(mapped):
        matrix = own.weights if is_weight else own.values
        values = np.moveaxis(np.tensordot(matrix, values, axes=(1, j)), 0, j)
    axes = tuple(own.axis for own in mapped)
    return Surface(tuple(range(surface.order)), axes, values).with_features(sources)


def _map_axis(axis: Axis, mapping: ColumnMapping, feature: Feature) -> _MappedAxis:
    """Return an axis of the last step as one over an input column."""
    n = len(axis.knots)
    knots, values, target = axis.knots, np.eye(len(axis))[:n], np.arange(n)
    if mapping.functions and not axis.is_category:
        knots, values, target = _compose(axis, mapping)
    fill, has_missing = mapping.fill_value, axis.has_missing
    if fill is not None:
        at = feature.level_index.get(fill, -1) if axis.is_category else fill
        values, has_missing = np.vstack([values, axis.shares(np.array([at]))]), True
    elif has_missing:
        values = np.vstack([values, np.eye(len(axis))[-1]])
    weights = np.zeros((len(values), len(axis)))
    weights[target, np.arange(n)] = 1.0
    if axis.has_missing:
        weights[-1, -1] = 1.0
    return _MappedAxis(Axis(knots, axis.is_category, has_missing), values, weights)


def _compose(axis: Axis, mapping: ColumnMapping) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the knots of an axis over the input, its entries, and where the old ones go.

    Knots with the same preimage become one, at which there is a jump.
    """
    distinct, index, counts = np.unique(axis.knots, return_inverse=True, return_counts=True)
    raw = smallest_preimage(mapping, distinct)
    first = np.flatnonzero(np.diff(raw, prepend=-np.inf) > 0.0)
    is_jump = np.add.reduceat(counts, first) > 1
    raw, repeats = raw[first], np.where(is_jump, 2, 1)
    last = np.cumsum(repeats) - 1
    mapped = mapping(raw)
    at = axis.shares(mapped)
    left = np.eye(len(axis))[np.searchsorted(axis.knots, distinct[first])]
    before = np.where((mapped >= distinct[first])[:, None], left, at)
    values = np.repeat(at, repeats, axis=0)
    values[last[is_jump] - 1] = before[is_jump]
    group = np.searchsorted(first, index, side="right") - 1
    is_left = np.append(axis.knots[1:] == axis.knots[:-1], False) & (first[group] == index)
    return np.repeat(raw, repeats), values, last[group] - is_left
