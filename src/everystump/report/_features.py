"""The terms of a page: importance, distribution of the rows, and typical values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.gridweights import grid_weights
from everystump._core.shapes import Shape, ShapeModel
from everystump._core.surfaces import Surface
from everystump._explanations.importance import importances as shape_importances
from everystump._explanations.importance import level_weights, missing_fraction, sample_densities
from everystump._explanations.joint import GridDensity, JointDensity, SampleDensity
from everystump._terms import Term
from everystump._text import pluralize
from everystump.report._cells import level_cells, merge_levels
from everystump.report._encoding import encode_bytes, encode_flags

Densities = tuple[RowDensity, ...] | None


def row_density(model: Any, X: np.ndarray | None) -> Densities:
    """Return the distribution of the training rows, or else of ``X``; None if unknown."""
    density = getattr(model, "density_", None)
    return sample_densities(X) if density is None and X is not None else density


def surface_density(
    model: Any, models: list[ShapeModel], X: np.ndarray | None
) -> tuple[np.ndarray, ...] | None:
    """Return the weight of the training rows, or else of ``X``, at the grid points of surfaces."""
    surfaces, weights = models[0].surfaces, getattr(model, "surface_density_", ())
    if len(weights) == len(surfaces):
        return weights
    return None if X is None else grid_weights(surfaces, X)


def measure_importances(
    models: list[ShapeModel],
    X: np.ndarray | None,
    density: Densities,
    joint: tuple[np.ndarray, ...] | None,
    about: Mapping[str, Any],
) -> tuple[dict[Term, list[float]], str | None]:
    """Return the importance of each term for each score, and the rows it was measured on.

    These are rows that the model was not trained on, if there are any: those of ``X``, or those on
    which it was evaluated when it was fitted; else the training rows.
    """
    terms, stored = models[0].terms, about.get("importances")
    is_new = X is not None and about.get("rows") != "training"
    if stored and not is_new and len(stored["values"][0]) == len(terms):
        by_term = dict(zip(terms, np.transpose(stored["values"]).tolist(), strict=True))
        return by_term, pluralize(stored["n_rows"], "held-out row")
    used = sample_densities(X) if is_new and X is not None else density
    grids: Sequence[JointDensity] | None = None
    if is_new:
        grids = [SampleDensity(X)] * len(models[0].surfaces)
    elif joint is not None:
        grids = [GridDensity(weights) for weights in joint]
    values = shape_importances(models, used or (None,) * len(models[0]), grids)
    by_term = dict(zip(terms, np.transpose(values).tolist(), strict=True))
    if is_new and X is not None:
        return by_term, pluralize(len(X), f"{about.get('rows') or ''} row".strip())
    return by_term, None if used is None else "training rows"


def summarize_features(
    features: Sequence[Mapping[str, Any]],
    models: list[ShapeModel],
    density: Densities,
    importances: Mapping[Term, list[float]],
) -> list[dict[str, Any]]:
    """Return the features of a document with what the page shows about them."""
    return [
        {"name": feature["name"], "kind": feature["kind"], "importance": importances[d,]}
        | {"share_missing": None if column is None else missing_fraction(column)}
        | (
            _number([model[d] for model in models], column)
            if feature["kind"] == "number"
            else _category(feature["levels"], column)
        )
        for d, (feature, column) in enumerate(
            zip(features, density or (None,) * len(features), strict=True)
        )
    ]


def list_interactions(document: Mapping[str, Any]) -> list[Term]:
    """Return the features of each surface of a document, in ascending order."""
    surfaces = [surface for score in document["scores"] for surface in score.get("surfaces", [])]
    return sorted({tuple(surface["features"]) for surface in surfaces})


def summarize_interactions(
    interactions: Sequence[Term],
    models: list[ShapeModel],
    joint: tuple[np.ndarray, ...] | None,
    importances: Mapping[Term, list[float]],
    errors: Sequence[ShapeModel] = (),
) -> list[dict[str, Any]]:
    """Return interactions with their importance and the rows at their grid points.

    ``occupied`` has a flag for each grid point of the first two features that rows are close to,
    ``rows`` a byte that grows with the square root of their number.  Levels that share a cell, see
    `level_cells`, share a grid point; levels in a cell have the same standard ``errors`` as well.
    """
    first = models[0]
    described = []
    for term in interactions:
        t = first.terms.index(term) - len(first)
        surfaces = [model.surfaces[t] for model in models]
        widths = [own for model in errors for own in model.surfaces if own.features == term]
        cells = level_cells([*surfaces, *widths])
        grids = {surface.values.shape for surface in surfaces}
        grid: dict[str, str | None] = {"occupied": None, "rows": None}
        if joint is not None and grids == {joint[t].shape}:  # an edit can change a grid
            weights = merge_levels(joint[t], cells, np.add)
            weights = weights.sum(axis=tuple(range(2, weights.ndim)))
            shares = weights / (weights.max() or 1.0)
            grid["occupied"] = encode_flags(_near_rows(surfaces[0], weights))
            grid["rows"] = encode_bytes(np.round(255 * np.sqrt(shares)))
        described.append(
            {"features": list(term), "importance": importances[term], **grid}
            | {"cells": [None if cell is None else cell.tolist() for cell in cells]}
        )
    return described


def _near_rows(surface: Surface, weights: np.ndarray) -> np.ndarray:
    """Return at which grid points of the first two features, or next to which, there are rows."""
    flags = weights > 0
    for j, axis in enumerate(surface.axes[:2]):
        if axis.is_category:
            continue
        entries = np.moveaxis(flags, j, 0)[: len(axis.knots)]
        for _ in range(2 if len(axis.jump_ends) else 1):  # a jump has two grid points
            near = entries.copy()
            near[1:] |= entries[:-1]
            near[:-1] |= entries[1:]
            entries[:] = near
    return flags


def _number(shapes: list[Shape], column: RowDensity | None) -> dict[str, Any]:
    knots = [shape.knots for shape in shapes if len(shape.knots) > 1]
    rows = np.empty(0) if column is None else column.values[column.counts > 0]
    values = np.concatenate([*knots, rows])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return {
        "low": low,
        "high": high,
        "is_integer": bool(len(rows) and np.all(rows == np.round(rows))),
        "two_values": rows.tolist() if len(rows) == 2 else None,
        "density": None if column is None else _histogram(column, low, high),
        "distribution": None if column is None else _distribution(column),
        "typical": _median(column) if column is not None else (low + high) / 2,
    }


def _category(levels: list, column: RowDensity | None) -> dict[str, Any]:
    if column is None:
        return {"shares": None, "typical": levels[0] if levels else None}
    weights = level_weights(column, len(levels))
    total = column.counts.sum() + column.missing
    typical = levels[int(weights.argmax())] if weights.any() else None
    return {"shares": (weights / total).tolist(), "typical": typical}


def _histogram(column: RowDensity, low: float, high: float) -> dict[str, Any]:
    """Return the share of all rows in each bar of a histogram."""
    centers, counts, width = column.bars(low, high)
    total = column.counts.sum() + column.missing
    return {"at": centers.tolist(), "width": width, "share": (counts / total).tolist()}


def _distribution(column: RowDensity) -> dict[str, list[float]]:
    """Return the values of the rows, at most 256 in ascending order, and the share of each."""
    present = column.counts > 0
    total = column.counts.sum() + column.missing
    shares = column.counts[present] / total
    return {"values": column.values[present].tolist(), "shares": shares.tolist()}


def _median(column: RowDensity) -> float | None:
    """Return the median of the rows, None if all values are missing."""
    if not column.counts.any():
        return None
    cumulative = np.cumsum(column.counts)
    return float(column.values[np.searchsorted(cumulative, cumulative[-1] / 2)])
