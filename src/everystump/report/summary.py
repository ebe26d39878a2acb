"""A fitted model as plain data: all that its page shows, and all that tests can check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import ShapeModel
from everystump._evaluation import evaluate_model
from everystump._explanations.access import shape_models
from everystump._pipelines.folding import fold_pipeline
from everystump._tables.validation import check_rows
from everystump.bounds._nested_overlap import training_overlap_of
from everystump.explain.optimality import certificate_and_path
from everystump.export.document import to_document
from everystump.report.features import known_density, measured_importances, summarize_features
from everystump.report.plain import as_plain
from everystump.report.rows import (
    ScoredRows,
    explain_rows,
    largest_errors,
    least_certain,
    summarize_quality,
    what_if_rows,
)
from everystump.report.words import bounded, certified, measured, paragraphs, tiles

_FORMER_KEYS = {"guesses": "schema", "doubt": "leakage_warning"}  # of earlier versions


def summarize(
    model: Any, X: Any = None, y: Any = None, *, about: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return all that the page of a model shows, as lists and dicts of plain values.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted, with curves (``shapes_``); of a pipeline that scales, fills or selects columns, its
        last step.
    X : frame or array-like of shape (n_rows, n_features), optional
        Rows that it was not trained on, to start a what-if from; training rows are called so, and
        have no intervals.
    y : array-like of shape (n_rows,), optional
        Their classes, for margins, the confusion matrix and the rows that are hard.
    about : dict, optional
        What else is known, each entry optional: ``rows`` (what ``X`` is: ``"held-out"``,
        ``"training"`` or ``""``), ``leakage_warning`` (why they may be training rows; if neither
        is given, ``X`` is compared with the training rows of the model), ``data``, ``target``,
        ``n_rows``, ``n_held_out``, ``class_counts`` (of the training rows), ``positive`` (a
        label), ``refit`` (``n_rows`` and ``n_held_out`` of the model that was measured, if it is
        another one), ``model`` (its family in words), ``schema`` and ``dropped`` (sentences),
        ``error`` (value, low, high, how), ``figures`` (see `everystump._evaluation.evaluate`),
        ``importances`` (``n_rows``, and ``values`` by score and feature), ``certificate`` (primal,
        dual, gap, converged, over), ``bounds`` (a list: name, bounded, value, holds, vacuous,
        reference, assumptions), ``path`` (C, mean, std, scoring, chosen), ``notes``
        (sentences) and ``versions``.  It goes before what the model says of itself.

    Returns
    -------
    dict
        ``document`` is what `everystump.export.to_json` writes; the numbers of features, classes
        and rows elsewhere count from 0.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> X, y = [[0], [1], [4], [5]], ["no", "no", "yes", "yes"]
    >>> summary = summarize(DecisionStumpClassifier().fit(X, y), [[1], [3]], ["no", "no"])
    >>> summary["features"][0]["importance"], summary["quality"]["confusion"]
    ([1.0], [[1, 1], [0, 0]])
    """
    fitted, model = model, fold_pipeline(model)
    models = shape_models(model)
    if X is None and y is not None:
        raise ValueError("y was given without X; pass the rows that it belongs to as well.")
    document = to_document(model)
    numbers = None if X is None else check_rows(model, X)
    known = _about(model, about)
    if y is not None and not {"rows", "leakage_warning"} & {*known}:
        known |= _kind_of_rows(fitted, X, y)
    density = known_density(model, numbers)
    names = [feature["name"] for feature in document["features"]]
    importances, measured_on = measured_importances(models, numbers, density, known)
    features = summarize_features(models, model.feature_info_, names, density, importances)
    moves = [-sum(each) for each in importances]
    labels = [_text(label) for label in document["classes"]]
    summary = {
        "title": _title(known.get("target"), document["estimator"]),
        "document": document,
        "labels": labels,
        "features": features,
        "order": np.argsort(moves, kind="stable").tolist(),
        "measured_on": measured_on,
        "edits": [str(edit) for edit in getattr(model, "edits_", ())],
        "about": known,
    }
    if numbers is None:
        starts = [_typical(features), *_extremes(features, models, density, model)]
        summary |= {"quality": None, "hard": None, "starts": starts}
    else:
        summary |= _of_rows(ScoredRows.of(model, X, numbers, y), models, model)
    if summary["quality"] is not None:
        summary["quality"]["figures"] = _figures(model, X, y, known)
    return summary | {"words": _words(known, document, labels, summary["quality"])}


def _of_rows(rows: ScoredRows, models: Sequence[ShapeModel], model: Any) -> dict[str, Any]:
    """Return what given rows tell of a model."""
    unsure = least_certain(rows)
    hard = {"unsure": explain_rows(rows, unsure, models, against_truth=False), "wrong": []}
    first, quality = unsure.tolist(), None
    if rows.truth is not None:
        worst = largest_errors(rows, rows.truth)
        hard["wrong"] = explain_rows(rows, worst, models, against_truth=True)
        first += worst.tolist()
        quality = summarize_quality(rows, rows.truth)
    starts = what_if_rows(rows, model.feature_info_, first)
    return {"quality": quality, "hard": hard, "starts": starts}


def _typical(features: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    name = "a typical row: medians and most frequent levels"
    return {"name": name, "values": [feature["typical"] for feature in features]}


def _extremes(
    features: Sequence[Mapping[str, Any]],
    models: Sequence[ShapeModel],
    density: tuple[RowDensity, ...] | None,
    model: Any,
) -> list[dict[str, Any]]:
    """Return made-up rows, in each of which all features favor one class."""
    if density is None:
        return []
    signs = [(0, -1.0), (0, 1.0)] if len(models) == 1 else [(k, 1.0) for k in range(len(models))]
    rows = []
    for label, (k, sign) in zip(model.classes_.tolist(), signs, strict=True):
        values = []
        for d, (feature, seen) in enumerate(zip(features, density, strict=True)):
            places = seen.values[seen.counts > 0]
            best = float(places[np.argmax(sign * models[k][d](places))]) if len(places) else None
            levels = model.feature_info_[d].levels
            if best is not None and levels is not None:
                best = as_plain(levels[int(best)]) if best >= 0 else feature["typical"]
            values.append(int(best) if isinstance(best, bool) else best)
        rows.append({"name": f"every feature favors “{label}”", "values": values})
    return rows


def _about(model: Any, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is known about a model: what it says of itself, then what is given."""
    known: dict[str, Any] = {"model": type(model).__name__, **certificate_and_path(model)}
    for more in (getattr(model, "about_", None), given):
        if more is not None and not isinstance(more, Mapping):
            raise TypeError(f"about={more!r} is of the type {type(more).__name__}; pass a dict.")
        known |= dict(more or {})
    for old, new in _FORMER_KEYS.items():
        if old in known:
            known.setdefault(new, known.pop(old))
    known.pop("origin", None)  # which is for the model alone
    if getattr(model, "edits_", ()):
        known.pop("importances", None)  # which was measured before
    return as_plain(known)


def _kind_of_rows(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return what the model's record of its training rows says of given rows, for ``about``."""
    overlap = training_overlap_of(fitted, X, y)
    if overlap is None or overlap.doubt is None:
        return {}
    if overlap.same_rows or (overlap.recorded and overlap.n_matched == overlap.n_compared):
        return {"rows": "training"}
    return {"leakage_warning": overlap.caution}


def _figures(model: Any, X: Any, y: Any, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return accuracy, AUC and the like on given rows, without intervals on training rows."""
    labels, plain = model.classes_.tolist(), about.get("positive")
    positive = next((label for label in labels if as_plain(label) == plain), None)
    fresh = about.get("rows") != "training" and not about.get("leakage_warning")
    counts = about.get("class_counts") or None
    return as_plain(evaluate_model(model, X, y, positive=positive, counts=counts, fresh=fresh))


def _title(target: Any, estimator: str) -> str:
    return f"A model, {estimator}" if target is None else f"A model that predicts {_text(target)}"


def _words(
    about: Mapping[str, Any],
    document: Mapping[str, Any],
    labels: list[str],
    quality: Mapping[str, Any] | None,
) -> dict[str, Any]:
    own = {"estimator": document["estimator"], "features": len(document["features"])}
    certificate = about.get("certificate")
    return {
        "trained": paragraphs(about, own | {"classes": labels}, quality),
        "figures": measured(about, quality),
        "certificate": certified(certificate) if certificate else None,
        "bounds": [bounded(bound) for bound in about.get("bounds") or []],
        "tiles": tiles(about),
    }


def _text(label: Any) -> str:
    """Return a label as text; whole numbers without a point."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)
