"""A model as a JSON document that any language can score rows with."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from everystump._core.shapes import Shape
from everystump._tables import Feature
from everystump.export.readable import readable
from everystump.export.record import Body, Curves, KernelSum, Model, Projection

FORMAT = "everystump-model"
VERSION = 1


def to_json(model: Any) -> str:
    """Return a fitted model as a JSON document.

    Numbers are written in full, so that they come back bit by bit.  ``docs/export.md`` tells how
    to score a row with it, ``model.schema.json`` in this package is its JSON Schema, and
    `everystump.export.score_json` does it in NumPy.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this package, or a pipeline that scales, fills or selects columns and
        ends in an additive one.

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
    return json.dumps(as_document(readable(model)), allow_nan=False, ensure_ascii=False)


def as_document(model: Model) -> dict[str, Any]:
    """Return a model as lists and dicts of plain values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": model.estimator,
        "features": [_feature(feature) for feature in model.features],
        "classes": model.classes,
        "takes_missing": model.takes_missing,
        "log_odds": model.log_odds,
        **_body(model.body),
    }


def _feature(feature: Feature) -> dict[str, Any]:
    if feature.levels is None:
        return {"name": feature.name, "kind": "number"}
    levels = feature.levels.tolist()
    if feature.kind != "text":
        levels = [_number(level) for level in levels]
    return {"name": feature.name, "kind": "category", "levels": levels}


def _number(level: Any) -> int | float:
    """Return a level as a number; a truth value is 0 or 1."""
    return int(level) if isinstance(level, int) else float(level)


def _body(body: Body) -> dict[str, Any]:
    """Return the scores of a model or of a voter, kinds of terms that it lacks left out."""
    scores = zip(body.intercepts.tolist(), body.curves, strict=True)
    terms = {
        "projections": [_projection(projection) for projection in body.projections],
        "kernel_sums": [_sum(kernel_sum) for kernel_sum in body.sums],
        "votes": [
            {"voter": _body(vote.voter), "weights": vote.weights.tolist()} for vote in body.votes
        ],
    }
    return {
        "scores": [{"intercept": b, "curves": _curves("feature", own)} for b, own in scores],
        **{name: found for name, found in terms.items() if found},
    }


def _curves(of: str, curves: Curves) -> list[dict[str, Any]]:
    return [{of: d, **_curve(shape)} for d, shape in sorted(curves.items())]


def _curve(shape: Shape) -> dict[str, Any]:
    if shape.is_category:
        return {"level_values": shape.levels.tolist(), "missing": shape.missing}
    return {
        "knots": shape.knots.tolist(),
        "values": shape.values.tolist(),
        "missing": shape.missing,
    }


def _projection(projection: Projection) -> dict[str, Any]:
    return {
        "features": projection.features.tolist(),
        "centre": projection.centre.tolist(),
        "directions": projection.directions.tolist(),
        "curves": [_curves("direction", own) for own in projection.curves],
    }


def _sum(kernel_sum: KernelSum) -> dict[str, Any]:
    return {
        "kernel": kernel_sum.kernel,
        **{name: _plain(value) for name, value in kernel_sum.parameters.items()},
        "features": kernel_sum.features.tolist(),
        "rows": kernel_sum.rows.tolist(),
        "weights": kernel_sum.weights.tolist(),
    }


def _plain(parameter: Any) -> Any:
    """Return a kernel's number, or its list or lists of numbers."""
    if isinstance(parameter, list):
        return [np.asarray(cuts).tolist() for cuts in parameter]
    return np.asarray(parameter, dtype=np.float64).tolist()
