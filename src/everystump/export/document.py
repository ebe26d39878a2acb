"""A fitted model as a JSON document, from which any language can score rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from everystump._core.shapes import Shape
from everystump._core.surfaces import Axis, Surface
from everystump._tables.frames import Feature
from everystump.export._reader import read_model
from everystump.export._record import (
    Curves,
    KernelSum,
    ModelRecord,
    Projection,
    Surfaces,
    Terms,
)

FORMAT = "everystump-model"
# Scorers that know version 1 only must not leave out surfaces, and those that know version 2 only
# must not take predictions for scores of classes, nor normalize probabilities that are a softmax.
_VERSION, _VERSION_WITH_SURFACES, _VERSION_WITH_LINKS = 1, 2, 3


def to_json(model: Any) -> str:
    """Return a fitted model as a JSON document.

    Numbers are written with all digits, so they are read back exactly.  ``docs/export.md``
    describes how to score a row with the document, ``model.schema.json`` in this package is its
    JSON Schema, and `everystump.export.score_json` scores rows with it in NumPy.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this package, or a pipeline of scalers, imputers and column selections
        that ends in an additive one.

    Returns
    -------
    str
        The document, on one line.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], ["no", "no", "yes", "yes"])
    >>> document = json.loads(to_json(stump))
    >>> document["classes"], document["scores"][0]["curves"][0]["knots"]
    (['no', 'yes'], [2.5, 2.5])
    """
    return json.dumps(to_document(model), allow_nan=False, ensure_ascii=False)


def to_document(model: Any) -> dict[str, Any]:
    """Return the JSON document of a fitted model as dicts, lists and plain values."""
    record = read_model(model)
    return {
        "format": FORMAT,
        "version": _version(record),
        "estimator": record.estimator,
        "features": [_feature(feature) for feature in record.features],
        "classes": record.classes,
        **({} if record.link is None else {"link": record.link}),
        "takes_missing": record.takes_missing,
        "log_odds": record.log_odds,
        **({"probabilities": "softmax"} if record.softmax else {}),
        **_terms(record.terms),
    }


def _version(record: ModelRecord) -> int:
    """Return the first version that has all parts of a model."""
    if record.softmax or record.link is not None:
        return _VERSION_WITH_LINKS
    return _VERSION_WITH_SURFACES if record.terms.has_surfaces else _VERSION


def _feature(feature: Feature) -> dict[str, Any]:
    if feature.levels is None:
        return {"name": feature.name, "kind": "number"}
    levels = feature.levels.tolist()
    if feature.kind != "text":
        levels = [_number(level) for level in levels]
    return {"name": feature.name, "kind": "category", "levels": levels}


def _number(level: Any) -> int | float:
    """Return a level as a number; a boolean is 0 or 1."""
    return int(level) if isinstance(level, int) else float(level)


def _terms(terms: Terms) -> dict[str, Any]:
    """Return the scores of a model or of a voter; kinds of terms that it lacks are left out."""
    surfaces = terms.surfaces or ({},) * terms.n_scores
    scores = zip(terms.intercepts.tolist(), terms.curves, surfaces, strict=True)
    others = {
        "projections": [_projection(projection) for projection in terms.projections],
        "kernel_sums": [_kernel_sum(kernel_sum) for kernel_sum in terms.kernel_sums],
        "votes": [
            {"voter": _terms(vote.voter), "weights": vote.weights.tolist()} for vote in terms.votes
        ],
    }
    return {
        "scores": [
            {"intercept": b, "curves": _curves("feature", curves), **_surfaces(surfaces)}
            for b, curves, surfaces in scores
        ],
        **{name: terms for name, terms in others.items() if terms},
    }


def _curves(key: str, curves: Curves) -> list[dict[str, Any]]:
    return [{key: d, **_curve(shape)} for d, shape in sorted(curves.items())]


def _curve(shape: Shape) -> dict[str, Any]:
    if shape.is_category:
        return {"level_values": shape.levels.tolist(), "missing": shape.missing}
    return {
        "knots": shape.knots.tolist(),
        "values": shape.values.tolist(),
        "missing": shape.missing,
    }


def _surfaces(surfaces: Surfaces) -> dict[str, Any]:
    """Return the surfaces of a score by their features; a score without any has no entry."""
    return {"surfaces": [_surface(surfaces[key]) for key in sorted(surfaces)]} if surfaces else {}


def _surface(surface: Surface) -> dict[str, Any]:
    return {
        "features": list(surface.features),
        "axes": [_axis(axis) for axis in surface.axes],
        "values": surface.values.tolist(),
    }


def _axis(axis: Axis) -> dict[str, Any]:
    if axis.is_category:
        return {"levels": len(axis.knots), "missing": axis.has_missing}
    return {"knots": axis.knots.tolist(), "missing": axis.has_missing}


def _projection(projection: Projection) -> dict[str, Any]:
    return {
        "features": projection.features.tolist(),
        "centre": projection.center.tolist(),
        "directions": projection.directions.tolist(),
        "curves": [_curves("direction", curves) for curves in projection.curves],
    }


def _kernel_sum(kernel_sum: KernelSum) -> dict[str, Any]:
    return {
        "kernel": kernel_sum.kernel,
        **{name: _parameter(value) for name, value in kernel_sum.parameters.items()},
        "features": kernel_sum.features.tolist(),
        "rows": kernel_sum.rows.tolist(),
        "weights": kernel_sum.weights.tolist(),
    }


def _parameter(value: Any) -> Any:
    """Return a parameter of a kernel as a number, or as a list or lists of numbers."""
    if isinstance(value, list):
        return [np.asarray(cuts).tolist() for cuts in value]
    return np.asarray(value, dtype=np.float64).tolist()
