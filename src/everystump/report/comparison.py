"""Two models on the same rows: everything that their comparison page shows, and the page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from everystump._evaluation.comparison_text import comparison_rows, verdict
from everystump._files import check_output_path, write_text
from everystump._text import pluralize, truncate_list
from everystump.bounds._nested_overlap import training_overlap_of
from everystump.report._compared_model import ComparedModel, own_columns
from everystump.report._compared_rows import ComparedClasses, ComparedNumbers, ComparedRows
from everystump.report._compared_terms import summarize_terms
from everystump.report._encoding import pack, to_plain
from everystump.report._settings import describe_settings
from everystump.report.page import escape_text, render_page

_SCRIPTS = (
    "scorer.js",
    "charts.js",
    "finder.js",
    "scales.js",
    "snapshot.js",
    "save.js",
    "compare_maps.js",
    "compare_rows.js",
    "compare_curves.js",
    "compare.js",
)
_STYLES = ("page.css", "compare.css")


def write_comparison(
    first: Any,
    second: Any,
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    names: Sequence[str] = ("A", "B"),
    X_second: Any = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a page that compares two models on the same rows, completely or not at all.

    Parameters
    ----------
    first, second : estimator or Pipeline
        Fitted models of the same target.
    path : str or Path
        The HTML file, which is replaced if it exists.
    X, y : array-like
        Rows that neither of them was trained on, and their classes or targets.
    names : sequence of str, default=("A", "B")
        What the models are called on the page.
    X_second, about
        As in `summarize_comparison`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from everystump import DecisionStumpClassifier, StumpSVC
    >>> X, y = [[0], [1], [4], [5]], [0, 0, 1, 1]
    >>> models = DecisionStumpClassifier().fit(X, y), StumpSVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_comparison(*models, Path(folder) / "page.html", [[1], [3]], [0, 1])
    ...     print([file.name for file in Path(folder).iterdir()])
    ['page.html']
    """
    out = check_output_path(path)
    summary = summarize_comparison(first, second, X, y, names=names, X_second=X_second, about=about)
    write_text(out, render_comparison(summary))


def summarize_comparison(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] = ("A", "B"),
    X_second: Any = None,
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return everything that the comparison page shows, as dicts, lists and plain values.

    Parameters
    ----------
    first, second : estimator or Pipeline
        Fitted models of the same target.  Curves are compared if both have some.
    X : frame or array-like of shape (n_samples, n_features)
        Rows that neither of them was trained on.  A pandas or polars frame may have the columns of
        both models.
    y : array-like of shape (n_samples,)
        Their classes, or the targets of regressors.
    names : sequence of str, default=("A", "B")
        What the models are called.
    X_second : frame or array-like, default=None
        The same rows for the second model, if it needs another table.
    about : dict, optional
        ``rows``: which rows ``X`` has, such as "held-out"; ``warnings``: why rows may have been
        used for training, in which case there are neither intervals nor tests.  By default, rows
        are compared with the training rows of both models.

    Returns
    -------
    dict
        ``comparison``: metrics, differences and tests, see
        `everystump._evaluation.compare_classifiers`; ``metrics`` and ``verdict``: the same as text;
        ``settings``: what differs between the models; ``terms``: their curves and surfaces, None if
        a model has none; ``rows``: those that differ most.

    Examples
    --------
    >>> from everystump import DecisionStumpClassifier, StumpSVC
    >>> X, y = [[0], [1], [4], [5]], ["no", "no", "yes", "yes"]
    >>> models = DecisionStumpClassifier().fit(X, y), StumpSVC().fit(X, y)
    >>> summary = summarize_comparison(*models, [[1], [3]], ["no", "no"])
    >>> summary["comparison"]["agreement"]["same"]
    2
    """
    tables = (own_columns(first, X), own_columns(second, X) if X_second is None else X_second)
    models = [
        ComparedModel(str(name), model, table)
        for name, model, table in zip(names, (first, second), tables, strict=True)
    ]
    check_comparable(models)
    known = {"warnings": _leakage_warnings(models, y)} if about is None else dict(about)
    warnings = [str(text) for text in known.get("warnings") or []]
    rows: ComparedRows = (ComparedNumbers if models[0].is_regressor else ComparedClasses)(models, y)
    comparison = rows.compare(unseen=not warnings)
    terms = summarize_terms(models) if all(model.has_curves for model in models) else None
    target = next((own.about["target"] for own in models if own.about.get("target")), None)
    kind = f"{known.get('rows') or ''} row".strip()
    return {
        "title": _title(models, target),
        "names": [model.name for model in models],
        "labels": [str(label) for label in to_plain(_classes(models[0]))],
        "is_regression": models[0].is_regressor,
        "unit": to_plain(models[0].about.get("unit")),
        "measured_on": pluralize(comparison["n_rows"], kind),
        "warnings": warnings,
        "comparison": to_plain(comparison),
        "metrics": to_plain(comparison_rows(comparison)),
        "verdict": verdict(comparison, [model.name for model in models]),
        "settings": describe_settings(models),
        "edits": [[str(e) for e in getattr(own.model, "edits_", ())] for own in models],
        "documents": None if terms is None else [model.document for model in models],
        "terms": to_plain(terms),
        "scatter": to_plain(rows.scatter()),
        "rows": rows.describe(None if terms is None else terms["scales"]),
    }


def render_comparison(summary: Mapping[str, Any]) -> str:
    """Return the page of a summary of `summarize_comparison`, with its styles, scripts and data."""
    documents = summary["documents"]
    packed = None if documents is None else [pack(document) for document in documents]
    values, data = {"title": escape_text(summary["title"])}, {**summary, "documents": packed}
    return render_page("compare.html", _STYLES, _SCRIPTS, values, data)


def check_comparable(models: Sequence[ComparedModel]) -> None:
    """Raise unless two models predict the same classes, or numbers, of the same target."""
    first, second = models
    if first.is_regressor != second.is_regressor:
        what = ["numbers" if own.is_regressor else "classes" for own in models]
        raise ValueError(
            f"{first.name} predicts {what[0]} and {second.name} {what[1]}; compare models of the "
            f"same target."
        )
    targets = [own.about.get("target") for own in models]
    if None not in targets and targets[0] != targets[1]:
        raise ValueError(
            f"{first.name} predicts {targets[0]!r} and {second.name} {targets[1]!r}; compare "
            f"models of the same target."
        )
    classes = [_classes(own) for own in models]
    if classes[0] == classes[1]:
        return
    if set(classes[0]) != set(classes[1]):
        texts = [truncate_list([repr(label) for label in own], 5) for own in classes]
        raise ValueError(
            f"{first.name} has the classes {texts[0]} and {second.name} {texts[1]}; compare models "
            f"of the same classes."
        )
    raise ValueError(
        f"The positive class of {first.name} is {classes[0][1]!r} and that of {second.name} "
        f"{classes[1][1]!r}; fit them with the same positive class."
    )


def _classes(compared: ComparedModel) -> list[Any]:
    return [] if compared.is_regressor else compared.model.classes_.tolist()


def _leakage_warnings(models: Sequence[ComparedModel], y: Any) -> list[str]:
    """Return why rows may have been used to train one of the models."""
    warnings = []
    for compared in models:
        overlap = training_overlap_of(compared.fitted, compared.table, y)
        if overlap is None or overlap.leakage is None:
            continue
        if overlap.same_rows:
            warnings.append(training_warning(compared.name))
        elif overlap.leakage_warning is not None:
            warnings.append(f"{compared.name}: {overlap.leakage_warning}")
    return warnings


def training_warning(name: str) -> str:
    """Return the warning for a model that was trained on the rows of the comparison."""
    return f"{name} was trained on these rows, so its metrics are too good; pass new rows."


def _title(models: Sequence[ComparedModel], target: Any) -> str:
    first, second = (model.name for model in models)
    what = "" if target is None else f", predicting {target}"
    return f"Comparison of {first} and {second}{what}"
