"""Everything that the report page of a fitted model shows, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from everystump._core.shapes import ShapeModel
from everystump._evaluation import scorer_title
from everystump._explanations.access import (
    certificate_and_path,
    shape_models,
    strength_and_path,
)
from everystump._pipelines.folding import fold_pipeline
from everystump._tables.validation import check_rows
from everystump._text import format_percent
from everystump.bounds._nested_overlap import training_overlap_of
from everystump.export.document import to_document
from everystump.report._bands import standard_errors, summarize_bands
from everystump.report._class_rows import ClassRows
from everystump.report._encoding import merge_cells, to_plain
from everystump.report._features import (
    Densities,
    Term,
    list_interactions,
    measure_importances,
    row_density,
    summarize_features,
    summarize_interactions,
    surface_density,
)
from everystump.report._held_out import store_rows
from everystump.report._number_rows import NumberRows
from everystump.report._number_sentences import number_paragraphs
from everystump.report._rows import TableRows
from everystump.report._sentences import (
    bound_sentence,
    certificate_sentence,
    metrics_table,
    paragraphs,
)

_OLD_KEYS = {"guesses": "schema", "doubt": "leakage_warning"}  # of earlier releases


def summarize(
    model: Any, X: Any = None, y: Any = None, *, about: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return everything that the page of a model shows, as dicts, lists and plain values.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted, with curves (``shapes_``), or a pipeline of scalers, imputers and column selections
        that ends in such an estimator.
    X : frame or array-like of shape (n_samples, n_features), optional
        Rows that it was not trained on, for the what-if panel.  If they are training rows, they are
        labeled so, and there are no intervals.
    y : array-like of shape (n_samples,), optional
        Their classes, for metrics, margins, the confusion matrix and the largest errors; for a
        regressor their targets, for metrics, residuals and the largest errors.
    about : dict, optional
        Information that the model does not store, or that overrides what it stores; all entries are
        optional: ``rows`` (which rows ``X`` has: ``"held-out"``, ``"training"`` or ``""``),
        ``leakage_warning`` (why these may be training rows; if neither is given, ``X`` is compared
        with the training rows), ``data``, ``target``, ``n_rows``, ``n_held_out``, ``class_counts``
        (of the training rows), ``positive`` (a label), ``refit`` (``n_rows`` and ``n_held_out`` of
        the model that was evaluated, if it is a different one), ``model`` (a description),
        ``schema`` and ``dropped`` (sentences), ``error`` (value, low, high, how), ``figures`` (see
        `everystump._evaluation.evaluate`), ``importances`` (``n_rows``, and ``values`` by score and
        term), ``certificate`` (primal, dual, gap, converged, over), ``bounds`` (a list: name,
        bounded, value, holds, vacuous, reference, assumptions), ``path`` (C, mean, std, scoring,
        chosen), ``interactions`` (strength, and path: strength, mean, std, scoring, chosen),
        ``notes`` (sentences) and ``versions``; for a regressor ``unit`` (text behind its
        predictions), ``baseline`` (the mean target of the training rows) and ``interval``
        (``level`` and ``half_width`` of the intervals around predictions).

    Returns
    -------
    dict
        ``document`` is the document of `everystump.export.to_json`; features, classes and rows are
        referred to by their index, counting from 0.  Terms are the features, followed by the
        ``interactions``, if there are any.  ``bands`` are the standard errors of the curves and
        surfaces of each score, None without any.  ``held_out`` has the outcomes of the labeled
        rows, from which the page computes curves, confusion matrices and groups, in a compact form.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier
    >>> X, y = [[0], [1], [4], [5]], ["no", "no", "yes", "yes"]
    >>> summary = summarize(DecisionStumpClassifier().fit(X, y), [[1], [3]], ["no", "no"])
    >>> summary["features"][0]["importance"], summary["quality"]["confusion"]
    ([1.0], [[1, 1], [0, 0]])
    """
    if X is None and y is not None:
        raise ValueError("y was passed without X; pass both.")
    pipeline, model = model, fold_pipeline(model)
    models = shape_models(model)
    document = to_document(model)
    rows = None if X is None else _read_rows(model, X, y)
    info = _collect_info(model, about)
    if y is not None and not {"rows", "leakage_warning"} & {*info}:
        info |= _compare_with_training(pipeline, X, y)
    numbers = None if rows is None else rows.X
    density, joint = row_density(model, numbers), surface_density(model, models, numbers)
    importances, measured_on = measure_importances(models, numbers, density, joint, info)
    features = summarize_features(document["features"], models, density, importances)
    interactions = list_interactions(document)
    terms = [*((d,) for d in range(len(features))), *interactions]
    labels = [_text(label) for label in document["classes"]]
    summary = {
        "title": _title(info.get("target"), document["estimator"]),
        "document": document,
        "labels": labels,
        "features": features,
        "order": np.argsort([-sum(importances[term]) for term in terms], kind="stable").tolist(),
        "measured_on": measured_on,
        "edits": [str(edit) for edit in getattr(model, "edits_", ())],
        "bands": summarize_bands(model, document),
        "about": info,
    }
    if interactions:
        described = summarize_interactions(
            interactions, models, joint, importances, standard_errors(model, document)
        )
        summary["interactions"] = described
    if rows is None:
        typical = {
            "title": "a typical row: medians and most frequent levels",
            "values": [feature["typical"] for feature in features],
        }
        artificial = [typical, *_extreme_rows(document, features, models, density)]
        summary |= {"quality": None, "explained": None, "what_if": artificial}
    else:
        summary |= _summarize_rows(rows, models, document, terms)
    if rows is not None and summary["quality"] is not None:
        unseen = info.get("rows") != "training" and not info.get("leakage_warning")
        merged = merge_cells(document, summary.get("interactions", []))
        summary["held_out"] = store_rows(rows, merged, summary["order"])
        metrics = rows.metrics(model, y, info, unseen=unseen)
        summary["quality"]["metrics"] = to_plain(metrics)
    return summary | {"text": _texts(info, document, labels, summary["quality"])}


def _read_rows(model: Any, X: Any, y: Any) -> TableRows:
    """Return rows with what the model predicts for them."""
    kind = NumberRows if is_regressor(model) else ClassRows
    return kind.from_model(model, X, check_rows(model, X), y)


def _summarize_rows(
    rows: TableRows,
    models: Sequence[ShapeModel],
    document: Mapping[str, Any],
    terms: Sequence[Term],
) -> dict[str, Any]:
    """Return what the page shows about rows."""
    explained = rows.explained(models, terms)
    first = [row["row"] for found in explained.values() for row in found]
    what_if = rows.what_if(document["features"], first)
    return {"quality": rows.quality(), "explained": explained or None, "what_if": what_if}


def _extreme_rows(
    document: Mapping[str, Any],
    features: Sequence[Mapping[str, Any]],
    models: Sequence[ShapeModel],
    density: Densities,
) -> list[dict[str, Any]]:
    """Return one row per class, made up of the values whose curves favor it most.

    For a regressor, these are the values whose curves lower its prediction most, and raise it most.
    """
    if density is None:
        return []
    signs = [(0, -1.0), (0, 1.0)] if len(models) == 1 else [(k, 1.0) for k in range(len(models))]
    what = "curve" if models[0].surfaces else "feature"
    titles = [f"every {what} favors “{label}”" for label in document["classes"]] or [
        f"every {what} lowers the prediction",
        f"every {what} raises the prediction",
    ]
    rows = []
    for title, (k, sign) in zip(titles, signs, strict=True):
        values = []
        for d, (feature, column) in enumerate(zip(features, density, strict=True)):
            present = column.values[column.counts > 0]
            best: Any = None
            if len(present):
                best = float(present[np.argmax(sign * models[k][d](present))])
            if best is not None and feature["kind"] == "category":
                levels = document["features"][d]["levels"]
                best = levels[int(best)] if best >= 0 else feature["typical"]
            values.append(best)
        rows.append({"title": title, "values": values})
    return rows


def _collect_info(model: Any, about: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the information that a model stores, overridden by ``about``."""
    info: dict[str, Any] = {"model": type(model).__name__, **certificate_and_path(model)}
    info |= strength_and_path(model)
    for more in (getattr(model, "about_", None), about):
        if more is not None and not isinstance(more, Mapping):
            raise TypeError(f"about={more!r} is of type {type(more).__name__}; pass a dict.")
        info |= dict(more or {})
    info.pop("origin", None)  # only needed in the model file
    for old, new in _OLD_KEYS.items():
        if old in info:
            info.setdefault(new, info.pop(old))
    if getattr(model, "edits_", ()):
        for measured in ("importances", "interval"):  # before the edits
            info.pop(measured, None)
    return to_plain(info)


def _compare_with_training(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return entries of ``about`` on whether rows were used in training."""
    overlap = training_overlap_of(fitted, X, y)
    if overlap is None or overlap.leakage is None:
        return {}
    if overlap.same_rows or (overlap.recorded and overlap.n_matched == overlap.n_compared):
        return {"rows": "training"}
    return {"leakage_warning": overlap.leakage_warning}


def _title(target: Any, estimator: str) -> str:
    return f"Model report: {estimator if target is None else f'predicting {_text(target)}'}"


def _texts(
    about: Mapping[str, Any],
    document: Mapping[str, Any],
    labels: list[str],
    quality: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the sentences and tables of text on the page."""
    model = {
        "estimator": document["estimator"],
        "features": len(document["features"]),
        "interactions": [len(term) for term in list_interactions(document)],
        "classes": labels,
        "link": document.get("link"),
    }
    certificate = about.get("certificate")
    describe = paragraphs if labels else number_paragraphs
    return {
        "description": describe(about, model, quality),
        "metrics": metrics_table(about, quality),
        "certificate": certificate_sentence(certificate) if certificate else None,
        "bounds": [bound_sentence(bound) for bound in about.get("bounds") or []],
        "gap": _gap(certificate),
        "scores": {
            "C": _score_title(about.get("path")),
            "strength": _score_title((about.get("interactions") or {}).get("path")),
        },
    }


def _score_title(path: Mapping[str, Any] | None) -> str:
    """Return the name of the metric along a path."""
    scoring = (path or {}).get("scoring")
    return "score" if scoring is None else scorer_title(str(scoring))


def _gap(certificate: Mapping[str, Any] | None) -> str | None:
    gap = (certificate or {}).get("gap")
    return None if gap is None else format_percent(gap)


def _text(label: Any) -> str:
    """Return a label as text; whole numbers without a decimal point."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)
