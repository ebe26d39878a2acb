"""What the page tells of each feature: importance, where the rows lie, what is typical."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel
from everystump._explanations.access import feature_kind
from everystump._explanations.importance import importances as shape_importances
from everystump._explanations.importance import missing_fraction, sample_densities
from everystump._tables import Feature
from everystump._text import pluralize
from everystump.report.plain import as_plain


def known_density(model: Any, rows: np.ndarray | None) -> tuple[RowDensity, ...] | None:
    """Return where the training rows, else given ones, lie in each feature; None if unknown."""
    density = getattr(model, "density_", None)
    return sample_densities(rows) if density is None and rows is not None else density


def measured_importances(
    models: list[ShapeModel],
    rows: np.ndarray | None,
    density: tuple[RowDensity, ...] | None,
    about: Mapping[str, Any],
) -> tuple[list[list[float]], str | None]:
    """Return how much each feature moves each score, and the rows that this was measured on.

    These are rows that the model has not learned from, if there are some: given ones, or those
    that it was measured on when it was fitted; else the training rows.
    """
    known = about.get("importances")
    is_fresh = rows is not None and about.get("rows") != "training"
    if known and not is_fresh:
        by_feature = np.transpose(known["values"]).tolist()
        return by_feature, pluralize(known["n_rows"], "held-out row")
    seen = sample_densities(rows) if is_fresh and rows is not None else density
    each = seen or (None,) * len(models[0])
    values = np.transpose(shape_importances(models, each)).tolist()
    if is_fresh and rows is not None:
        kind = about.get("rows") or "given"
        return values, pluralize(len(rows), f"{kind} row")
    return values, None if seen is None else "training rows"


def summarize_features(
    models: list[ShapeModel],
    features: tuple[Feature, ...],
    names: list[str],
    density: tuple[RowDensity, ...] | None,
    importances: list[list[float]],
) -> list[dict[str, Any]]:
    """Return all features in their order, as plain data."""
    return [
        {"name": names[d], "kind": feature_kind(features[d]), "importance": importances[d]}
        | _values(features[d], [model[d] for model in models], seen)
        for d, seen in enumerate(density or (None,) * len(names))
    ]


def _values(feature: Feature, shapes: list[Shape], seen: RowDensity | None) -> dict[str, Any]:
    """Return what values a feature has, and where the rows lie."""
    found = {"share_missing": None if seen is None else missing_fraction(seen)}
    if feature.levels is None:
        return found | _number(shapes, seen)
    return found | _category(feature, seen)


def _number(shapes: list[Shape], seen: RowDensity | None) -> dict[str, Any]:
    knots = [shape.knots for shape in shapes if len(shape.knots) > 1]
    rows = np.empty(0) if seen is None else seen.values[seen.counts > 0]
    places = np.concatenate([*knots, rows])
    low, high = (float(places.min()), float(places.max())) if len(places) else (0.0, 1.0)
    return {
        "low": low,
        "high": high,
        "whole": bool(len(rows) and np.all(rows == np.round(rows))),
        "density": None if seen is None else _bars(seen, low, high),
        "typical": _median(seen) if seen is not None else (low + high) / 2,
    }


def _category(feature: Feature, seen: RowDensity | None) -> dict[str, Any]:
    levels = as_plain(feature.levels)
    levels = [int(level) if isinstance(level, bool) else level for level in levels]
    if seen is None:
        return {"shares": None, "typical": levels[0] if levels else None}
    weights = np.zeros(len(levels))
    known = seen.values >= 0
    weights[seen.values[known].astype(int)] = seen.counts[known]
    total = seen.counts.sum() + seen.missing
    typical = levels[int(weights.argmax())] if weights.any() else None
    return {"shares": (weights / total).tolist(), "typical": typical}


def _bars(seen: RowDensity, low: float, high: float) -> dict[str, Any]:
    """Return the share of all rows in each of some bars."""
    places, counts, width = seen.bars(low, high)
    total = seen.counts.sum() + seen.missing
    return {"at": places.tolist(), "width": width, "share": (counts / total).tolist()}


def _median(seen: RowDensity) -> float | None:
    """Return the middle one of the rows' values, None if all are missing."""
    if not seen.counts.any():
        return None
    reached = np.cumsum(seen.counts)
    return float(seen.values[np.searchsorted(reached, reached[-1] / 2)])
