"""The features of a page: importance, distribution of the rows, and typical values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel
from everystump._explanations.importance import importances as shape_importances
from everystump._explanations.importance import level_weights, missing_fraction, sample_densities
from everystump._text import pluralize

Densities = tuple[RowDensity, ...] | None


def row_density(model: Any, X: np.ndarray | None) -> Densities:
    """Return the distribution of the training rows, or else of ``X``; None if unknown."""
    density = getattr(model, "density_", None)
    return sample_densities(X) if density is None and X is not None else density


def measure_importances(
    models: list[ShapeModel], X: np.ndarray | None, density: Densities, about: Mapping[str, Any]
) -> tuple[list[list[float]], str | None]:
    """Return the importance of each feature for each score, and the rows it was measured on.

    These are rows that the model was not trained on, if there are any: those of ``X``, or those on
    which it was evaluated when it was fitted; else the training rows.
    """
    stored = about.get("importances")
    is_new = X is not None and about.get("rows") != "training"
    if stored and not is_new:
        by_feature = np.transpose(stored["values"]).tolist()
        return by_feature, pluralize(stored["n_rows"], "held-out row")
    used = sample_densities(X) if is_new and X is not None else density
    values = np.transpose(shape_importances(models, used or (None,) * len(models[0]))).tolist()
    if is_new and X is not None:
        return values, pluralize(len(X), f"{about.get('rows') or ''} row".strip())
    return values, None if used is None else "training rows"


def summarize_features(
    features: Sequence[Mapping[str, Any]],
    models: list[ShapeModel],
    density: Densities,
    importances: list[list[float]],
) -> list[dict[str, Any]]:
    """Return the features of a document with what the page shows about them."""
    return [
        {"name": feature["name"], "kind": feature["kind"], "importance": importances[d]}
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


def _number(shapes: list[Shape], column: RowDensity | None) -> dict[str, Any]:
    knots = [shape.knots for shape in shapes if len(shape.knots) > 1]
    rows = np.empty(0) if column is None else column.values[column.counts > 0]
    values = np.concatenate([*knots, rows])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return {
        "low": low,
        "high": high,
        "is_integer": bool(len(rows) and np.all(rows == np.round(rows))),
        "density": None if column is None else _histogram(column, low, high),
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


def _median(column: RowDensity) -> float | None:
    """Return the median of the rows, None if all values are missing."""
    if not column.counts.any():
        return None
    cumulative = np.cumsum(column.counts)
    return float(column.values[np.searchsorted(cumulative, cumulative[-1] / 2)])
