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


def known_density(model: Any, X: np.ndarray | None) -> Densities:
    """Return the distribution of the training rows, else of given rows; None if unknown."""
    density = getattr(model, "density_", None)
    return sample_densities(X) if density is None and X is not None else density


def measure_importances(
    models: list[ShapeModel], X: np.ndarray | None, density: Densities, about: Mapping[str, Any]
) -> tuple[list[list[float]], str | None]:
    """Return the importance of each feature for each score, and the rows it was measured on.

    These are rows that the model was not trained on, if there are any: given ones, or those that it
    was evaluated on when it was fitted; else the training rows.
    """
    known = about.get("importances")
    is_new = X is not None and about.get("rows") != "training"
    if known and not is_new:
        by_feature = np.transpose(known["values"]).tolist()
        return by_feature, pluralize(known["n_rows"], "held-out row")
    seen = sample_densities(X) if is_new and X is not None else density
    values = np.transpose(shape_importances(models, seen or (None,) * len(models[0]))).tolist()
    if is_new and X is not None:
        kind = about.get("rows") or "given"
        return values, pluralize(len(X), f"{kind} row")
    return values, None if seen is None else "training rows"


def summarize_features(
    features: Sequence[Mapping[str, Any]],
    models: list[ShapeModel],
    density: Densities,
    importances: list[list[float]],
) -> list[dict[str, Any]]:
    """Return the features of a document with what the page shows about them."""
    return [
        {"name": feature["name"], "kind": feature["kind"], "importance": importances[d]}
        | {"share_missing": None if seen is None else missing_fraction(seen)}
        | (
            _number([model[d] for model in models], seen)
            if feature["kind"] == "number"
            else _category(feature["levels"], seen)
        )
        for d, (feature, seen) in enumerate(
            zip(features, density or (None,) * len(features), strict=True)
        )
    ]


def _number(shapes: list[Shape], seen: RowDensity | None) -> dict[str, Any]:
    knots = [shape.knots for shape in shapes if len(shape.knots) > 1]
    rows = np.empty(0) if seen is None else seen.values[seen.counts > 0]
    values = np.concatenate([*knots, rows])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return {
        "low": low,
        "high": high,
        "is_integer": bool(len(rows) and np.all(rows == np.round(rows))),
        "density": None if seen is None else _histogram(seen, low, high),
        "typical": _median(seen) if seen is not None else (low + high) / 2,
    }


def _category(levels: list, seen: RowDensity | None) -> dict[str, Any]:
    if seen is None:
        return {"shares": None, "typical": levels[0] if levels else None}
    weights = level_weights(seen, len(levels))
    total = seen.counts.sum() + seen.missing
    typical = levels[int(weights.argmax())] if weights.any() else None
    return {"shares": (weights / total).tolist(), "typical": typical}


def _histogram(seen: RowDensity, low: float, high: float) -> dict[str, Any]:
    """Return the share of all rows in each bar of a histogram."""
    centers, counts, width = seen.bars(low, high)
    total = seen.counts.sum() + seen.missing
    return {"at": centers.tolist(), "width": width, "share": (counts / total).tolist()}


def _median(seen: RowDensity) -> float | None:
    """Return the median of the rows, None if all values are missing."""
    if not seen.counts.any():
        return None
    cumulative = np.cumsum(seen.counts)
    return float(seen.values[np.searchsorted(cumulative, cumulative[-1] / 2)])
