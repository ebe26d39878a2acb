"""Train a model on some of the rows, evaluate it on the others, and record the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from everystump._core.progress import transient
from everystump._explanations.access import certificate_and_path
from everystump._workflow.errors import collect_warnings, input_errors
from everystump._workflow.evaluation import interaction_results, score_importances
from everystump._workflow.options import Dialect
from everystump._workflow.plan import Hyperparameters, Plan
from everystump._workflow.schema.training_data import TrainingData
from everystump._workflow.targets.target import Target

Progress = Callable[[int, int], None]
_KEPT = ("error", "evaluated", "figures", "path", "measure", "feature_weights", "interactions")


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
    plan = plan.for_target(data.target)
    train, test = plan.split(data)
    notes = plan.notes(data.target)
    model = _fit_rows(data, plan, train, plan.hyperparameters, verbose, notes)
    results = _evaluate(model, data, plan, train, test, progress)
    if plan.refit and test is not None:
        results = results_before_refit(results, len(train), len(test))
        train, test = np.arange(len(data.target)), None
        chosen = Hyperparameters.chosen_by(model, plan.C)
        model = _fit_rows(data, plan, train, chosen, verbose, notes)
        results = _training_results(model, data, train) | results
    if plan.bands:
        results["bands"] = _add_bands(model, data, train, notes)
    rows = FittedRows(
        data.target.take(train),
        0 if test is None else len(test),
        data.messages,
        data.dropped,
        data.parsing,
    )
    model.about_ = describe_fit(model, plan, rows, results, notes, source=source, dialect=dialect)
    return model


@dataclass(frozen=True, eq=False)
class FittedRows:
    """The training rows of a model, and the schema of their table; see `TrainingData`."""

    target: Target
    n_held_out: int
    messages: Sequence[str]
    dropped: Mapping[str, str]
    parsing: Mapping[str, Any]


def results_before_refit(
    results: Mapping[str, Any], n_rows: int, n_held_out: int
) -> dict[str, Any]:
    """Return the results of a first model that are kept if another one is trained on all rows.

    Bounds and prediction intervals are those of the first model, so they are left out.
    """
    kept = {key: results[key] for key in _KEPT if key in results}
    return kept | {"refit": {"n_rows": n_rows, "n_held_out": n_held_out}}


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
        "target": rows.target.name,
        "task": rows.target.task,
        "model": f"{plan.preset}: {plan.model.describe(model)}",
        "n_rows": len(rows.target),
        "n_held_out": rows.n_held_out,
        **({"sample_weight": rows.target.weight_name} if rows.target.weight_name else {}),
        **rows.target.describe_training(model),
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


def _fit_rows(
    data: TrainingData,
    plan: Plan,
    rows: np.ndarray,
    hyperparameters: Hyperparameters,
    verbose: int,
    notes: list[str],
) -> Any:
    """Return a model of some rows; warnings are appended to ``notes``."""
    model = plan.build(hyperparameters, verbose, len(data.target.labels))
    with input_errors(), transient(), collect_warnings(notes):
        data.target.take(rows).fit(model, data.X.iloc[rows])
    return model.set_params(verbose=0)


def _add_bands(model: Any, data: TrainingData, rows: np.ndarray, notes: list[str]) -> bool:
    """Compute standard errors from the training rows, and return whether there are any.

    If there are none, ``notes`` say why.
    """
    target = data.target.take(rows)
    try:
        model.compute_bands(data.X.iloc[rows], target.y, target.weight)
    except ValueError as error:
        notes.append(f"No bands (compute_bands in Python): {error}")
        return False
    return True


def _evaluate(
    model: Any,
    data: TrainingData,
    plan: Plan,
    train: np.ndarray,
    test: np.ndarray | None,
    progress: Progress | None,
) -> dict[str, Any]:
    """Return the metrics on held-out rows or by cross-validation, and the training results."""
    results, training = _training_results(model, data, train), data.target.take(train)
    if test is not None:
        held_out = holdout_results(model, data.X.iloc[test], data.target.take(test), training)
        return results | held_out | {"bounds": held_out["bounds"] + results["bounds"]}
    parts = _cross_validate(model, data, plan, progress)
    return results | data.target.fold_results(model, parts, training)


def holdout_results(model: Any, X: Any, held_out: Target, training: Target) -> dict[str, Any]:
    """Return metrics, bounds and importances of a model on held-out rows."""
    results = held_out.held_out_results(model, X, training)
    return {"importances": score_importances(model, X), **results}


def _training_results(model: Any, data: TrainingData, train: np.ndarray) -> dict[str, Any]:
    """Return bounds that use the training rows, the certificate, the path, and interactions."""
    training = data.target.take(train)
    bounds = training.bounds(model, data.X.iloc[train], unseen=False, held_out=False)
    return {"bounds": bounds, **certificate_and_path(model), **interaction_results(model)}


def _cross_validate(
    model: Any, data: TrainingData, plan: Plan, progress: Progress | None
) -> list[Any]:
    """Return the predictions for the rows of each fold by a model of the other rows."""
    folds = data.target.folds(plan.cv or 0, plan.seed)
    parts = []
    for k, fold in enumerate(folds, start=1):
        if progress is not None:
            progress(k, len(folds) + 1)
        with input_errors(), collect_warnings([]):  # the final model has its own warnings
            part = data.target.take(fold.train).fit(clone(model), data.X.iloc[fold.train])
        parts.append(data.target.take(fold.test).predictions(part, data.X.iloc[fold.test]))
    if progress is not None:
        progress(len(folds) + 1, len(folds) + 1)
    return parts
