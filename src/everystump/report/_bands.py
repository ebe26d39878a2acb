"""The bands around the curves and surfaces of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everystump._core.shapes import ShapeModel
from everystump._explanations.bands import Bands, check_bands


def summarize_bands(model: Any, document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the standard errors of the curves and surfaces of a document; None without any.

    ``width`` of them are on each side of a curve in a band of confidence ``level``.
    """
    bands = _find_bands(model, document)
    if bands is None:
        return None
    scores = zip(document["scores"], bands.errors, strict=True)
    return {
        "level": bands.level,
        "width": bands.width,
        "scores": [_describe_errors(score, errors) for score, errors in scores],
    }


def standard_errors(model: Any, document: Mapping[str, Any]) -> list[ShapeModel]:
    """Return the standard errors of the scores of a document; empty without any."""
    bands = _find_bands(model, document)
    return [] if bands is None else list(bands.errors)


def _find_bands(model: Any, document: Mapping[str, Any]) -> Bands | None:
    if getattr(model, "standard_errors_", None) is None:
        return None
    bands = check_bands(model, True)
    return None if bands is None or len(bands.errors) != len(document["scores"]) else bands


def _describe_errors(score: Mapping[str, Any], errors: ShapeModel) -> dict[str, Any]:
    """Return the standard errors of a score, in the order of its curves and surfaces."""
    curves = [errors[curve["feature"]] for curve in score["curves"]]
    surfaces = {surface.features: surface for surface in errors.surfaces}
    return {
        "intercept": errors.intercept,
        "curves": [
            {
                "values": (own.levels if own.is_category else own.values).tolist(),
                "missing": own.missing,
            }
            for own in curves
        ],
        "surfaces": [
            {"values": surfaces[tuple(surface["features"])].values.tolist()}
            for surface in score.get("surfaces", [])
        ],
    }
