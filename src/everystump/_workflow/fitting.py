"""Train a model on some of the rows, evaluate it on the others, and record the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from everystump._core.progress import transient
from everystump._evaluation import LabeledPredictions, evaluate, positive_index
from everystump._explanations.access import certificate_and_path
from everystump._selection.folds import stratified_folds
from everystump._tables.labels import class_indices
from everystump._text import pluralize
from everystump._workflow.errors import collect_warnings, input_errors
from everystump._workflow.evaluation import (
    count_classes,
    error_rate,
    evaluate_bounds,
    interaction_results,
    score_importances,
)
from everystump._workflow.options import Dialect, InteractionOptions
from everystump._workflow.plan import Plan
from everystump._workflow.presets import PRESETS
from everystump._workflow.schema.labels import ordered_classes
from everystump._workflow.schema.training_data import TrainingData
from everystump.estimators._base import rename_classes

Progress = Callable[[int, int], None]


def fit_model(
    data: TrainingData,
    plan: Plan,
    *,
    source: str | None = None,
    dialect: Dialect | None = None,
    verbose: int = 0,
    progress: Progress | None = None,
) -> Any:
    """Return a fitted model whose ``about_`` records the data, the evaluation and the bounds.

    ``about_["origin"]`` is for recognizing the training table later; the rest is for people.  With
    ``plan.refit`` the metrics are those of a first model, described by ``about_["refit"]``, and
    the returned model is trained on all rows.
    """
    train, test = plan.split(data)
    notes = plan.notes(data.target, *np.unique(data.y.astype(str), return_counts=True))
    model = _fit_rows(data, plan, train, plan.C, plan.chosen_interactions, verbose, notes)
    results = _evaluate(model, data, plan, train, test, progress)
    if plan.refit and test is not None:
        kept = ("error", "figures", "path", "interactions")
        results = {key: results[key] for key in kept if key in results}
        results["refit"] = {"n_rows": len(train), "n_held_out": len(test)}
        train, test = np.arange(len(data.y)), None
        C, interactions = getattr(model, "C_", plan.C), chosen_interactions(model)
        model = _fit_rows(data, plan, train, C, interactions, verbose, notes)
        results = _training_results(model, data, train) | results
    rows = FittedRows(
        data.target,
        data.positive,
        count_classes(model, data.y[train]),
        len(train),
        0 if test is None else len(test),
        data.messages,
        data.dropped,
        data.parsing,
    )
    model.about_ = describe_fit(model, plan, rows, results, notes, source=source, dialect=dialect)
    return model


@dataclass(frozen=True)
class FittedRows:
    """The training rows of a model, and the schema of their table; see `TrainingData`."""

    target: str
    positive: Any
    class_counts: list[int]
    n_rows: int
    n_held_out: int
    messages: Sequence[str]
    dropped: Mapping[str, str]
    parsing: Mapping[str, Any]


def describe_fit(
    model: Any,
    plan: Plan,
    rows: FittedRows,
    results: dict[str, Any],
    notes: Sequence[str],
    *,
    source: str | None,
    dialect: Dialect | None,
) -> dict[str, Any]:
    """Return the ``about_`` of a fitted model."""
    return {
        "data": source,
        "target": rows.target,
        "positive": rows.positive,
        "model": f"{plan.preset}: {PRESETS[plan.preset].describe(model)}",
        "n_rows": rows.n_rows,
        "n_held_out": rows.n_held_out,
        "class_counts": rows.class_counts,
        "schema": list(rows.messages),
        "notes": list(dict.fromkeys(notes)),
        "dropped": [f"{name}: {why}" for name, why in rows.dropped.items()],
        **results,
        "origin": {
            "holdout": plan.holdout if rows.n_held_out else None,
            "seed": plan.seed,
            "dialect": (dialect or Dialect()).as_dict(),
            **rows.parsing,
        },
    }


def fit_with_class_order(model: Any, X: Any, y: np.ndarray, classes: np.ndarray) -> Any:
    """Fit a classifier so that its ``classes_`` are in the order of ``classes``, and return it.

    Scores, probabilities, curves and exports of two classes refer to ``classes_[1]``, so the second
    of ``classes`` is the positive one.  If ``classes`` are not sorted, the model is fitted to their
    indices, and the classes are renamed afterwards.

    Parameters
    ----------
    model : estimator
        One of this package.
    X : frame
        Samples.
    y : ndarray of shape (n_samples,)
        Labels.
    classes : ndarray of shape (n_classes,)
        All labels, in the order of ``classes_``.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> X, y = [[0], [1], [2], [3]], np.array(["sick", "sick", "well", "well"])
    >>> model = fit_with_class_order(StumpSVC(), X, y, np.array(["well", "sick"]))
    >>> model.classes_.tolist(), model.predict(X).tolist(), float(model.decision_function(X)[0]) > 0
    (['well', 'sick'], ['sick', 'sick', 'well', 'well'], True)
    """
    if np.array_equal(np.unique(y), classes):
        return model.fit(X, y)
    model.fit(X, class_indices(y, classes, len(y)))
    rename_classes(model, classes)
    return model


def _fit_rows(
    data: TrainingData,
    plan: Plan,
    rows: np.ndarray,
    C: float | None,
    interactions: InteractionOptions,
    verbose: int,
    notes: list[str],
) -> Any:
    """Return a model of some rows; warnings are appended to ``notes``."""
    model = PRESETS[plan.preset].build(C, plan.seed, interactions).set_params(verbose=verbose)
    classes = ordered_classes(data.y, data.positive)
    with input_errors(), transient(), collect_warnings(notes):
        fit_with_class_order(model, data.X.iloc[rows], data.y[rows], classes)
    return model.set_params(verbose=0)


def chosen_interactions(model: Any) -> InteractionOptions:
    """Return the interactions of a fitted model and their strength, to fit another one."""
    terms = getattr(model, "interactions_", [])
    return InteractionOptions(terms, model.interaction_strength_) if terms else InteractionOptions()


def _evaluate(
    model: Any,
    data: TrainingData,
    plan: Plan,
    train: np.ndarray,
    test: np.ndarray | None,
    progress: Progress | None,
) -> dict[str, Any]:
    """Return the metrics on held-out rows or by cross-validation, and the training results."""
    results = _training_results(model, data, train)
    counts = count_classes(model, data.y[train])
    if test is not None:
        X, y = data.X.iloc[test], data.y[test]
        held_out = holdout_results(model, X, y, data.positive, counts)
        return results | held_out | {"bounds": held_out["bounds"] + results["bounds"]}
    predictions, n_folds = _cross_validate(model, data, plan, progress)
    how = f"{n_folds} folds, approximate 95% interval"
    return results | _metrics(model, predictions, data.positive, counts, how)


def holdout_results(
    model: Any, X: Any, y: np.ndarray, positive: Any, counts: list[int]
) -> dict[str, Any]:
    """Return metrics, bounds and importances of a model on held-out rows."""
    predictions = LabeledPredictions.from_model(model, X, y)
    how = f"{pluralize(len(y), 'held-out row')}, 95% interval"
    return {
        "bounds": evaluate_bounds(model, X, y, unseen=True),
        "importances": score_importances(model, X),
        **_metrics(model, predictions, positive, counts, how),
    }


def _metrics(
    model: Any, predictions: LabeledPredictions, positive: Any, counts: list[int], how: str
) -> dict[str, Any]:
    classes = model.classes_.tolist()
    metrics = evaluate(predictions, classes, positive_index(classes, positive), counts)
    return {"error": error_rate(metrics, how), "figures": metrics}


def _training_results(model: Any, data: TrainingData, train: np.ndarray) -> dict[str, Any]:
    """Return bounds that use the training rows, the certificate, the path, and interactions."""
    X, y = data.X.iloc[train], data.y[train]
    bounds = evaluate_bounds(model, X, y, unseen=False)
    return {"bounds": bounds, **certificate_and_path(model), **interaction_results(model)}


def _cross_validate(
    model: Any, data: TrainingData, plan: Plan, progress: Progress | None
) -> tuple[LabeledPredictions, int]:
    """Return out-of-fold predictions and the number of folds.

    The only row of a class is in no fold.
    """
    _, label = np.unique(data.y, return_inverse=True)
    folds = stratified_folds(plan.cv or 0, label, plan.seed)
    parts = []
    for k, fold in enumerate(folds, start=1):
        if progress is not None:
            progress(k, len(folds) + 1)
        X, y = data.X.iloc[fold.train], data.y[fold.train]
        with input_errors(), collect_warnings([]):  # the final model has its own warnings
            part = fit_with_class_order(clone(model), X, y, model.classes_)
        X, y = data.X.iloc[fold.test], data.y[fold.test]
        parts.append(LabeledPredictions.from_model(part, X, y))
    if progress is not None:
        progress(len(folds) + 1, len(folds) + 1)
    return LabeledPredictions.concatenate(parts), len(folds)
