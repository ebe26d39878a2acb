"""Train a model on a part of the rows, measure it on the others, and tell what it is worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everystump._core.progress import transient
from everystump._evaluation import LabeledPredictions, evaluate, positive_index
from everystump._text import pluralize
from everystump._workflow import asking
from everystump._workflow.dialect import Dialect
from everystump._workflow.direction import fit_with_class_order
from everystump._workflow.evidence import evaluate_bounds
from everystump._workflow.guesses import Task
from everystump._workflow.labels import ordered_classes
from everystump._workflow.measuring import (
    count_classes,
    cross_validated,
    error_rate,
    score_importances,
)
from everystump._workflow.notes import noting
from everystump._workflow.plan import Plan
from everystump._workflow.presets import PRESETS
from everystump.explain.optimality import certificate_and_path


def fit_model(
    task: Task,
    plan: Plan,
    *,
    data: str | None = None,
    dialect: Dialect | None = None,
    verbose: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Return a fitted model whose ``about_`` says where it comes from and what it is worth.

    ``about_["origin"]`` is what the model itself needs to know its table again; the rest is for
    people.  With ``plan.refit`` the figures are those of a first model, ``about_["refit"]`` says
    of which, and the model that is returned learned from all rows.
    """
    train, test = plan.split(task)
    notes = plan.notes(task)
    model = _fitted(task, plan, train, plan.C, verbose, notes)
    measured = _measured(model, task, plan, train, test, progress)
    if plan.refit and test is not None:
        path = measured.pop("path", None)
        measured = {key: measured[key] for key in ("error", "figures")}
        measured["refit"] = {"n_rows": len(train), "n_held_out": len(test)}
        train, test = np.arange(len(task.y)), None
        model = _fitted(task, plan, train, getattr(model, "C_", plan.C), verbose, notes)
        measured |= _training_evidence(model, task, train) | ({"path": path} if path else {})
    model.about_ = {
        "data": data,
        "target": task.target,
        "positive": task.positive,
        "model": f"{plan.family}: {PRESETS[plan.family].describe(model)}",
        "n_rows": len(train),
        "n_held_out": 0 if test is None else len(test),
        "class_counts": count_classes(model, task.y[train]),
        "guesses": list(task.messages),
        "notes": list(dict.fromkeys(notes)),
        "dropped": [f"{name}: {why}" for name, why in task.dropped.items()],
        **measured,
        "origin": {
            "holdout": plan.holdout if test is not None else None,
            "seed": plan.seed,
            "dialect": (dialect or Dialect()).as_dict(),
            **task.reading,
        },
    }
    return model


def _fitted(
    task: Task, plan: Plan, rows: np.ndarray, C: float | None, verbose: int, notes: list[str]
) -> Any:
    """Return a model of some rows, its positive class the second of two.

    What the fit warns of is added to ``notes``.
    """
    model = PRESETS[plan.family].make(C, plan.seed).set_params(verbose=verbose)
    classes = ordered_classes(task.y, task.positive)
    with asking(), transient(), noting(notes):
        fit_with_class_order(model, task.X.iloc[rows], task.y[rows], classes)
    return model.set_params(verbose=0)


def _measured(
    model: Any,
    task: Task,
    plan: Plan,
    train: np.ndarray,
    test: np.ndarray | None,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Any]:
    """Return what rows that were held out, or folds, and the training tell of a model."""
    known = _training_evidence(model, task, train)
    if test is None:
        outcome, n_folds = cross_validated(model, task, plan, progress)
        how = f"{n_folds} folds, approximate 95% interval"
    else:
        X, y = task.X.iloc[test], task.y[test]
        outcome = LabeledPredictions.of(model, X, y)
        how = f"{pluralize(len(test), 'held-out row')}, 95% interval"
        known["bounds"] = evaluate_bounds(model, X, y, fresh=True) + known["bounds"]
        known["importances"] = score_importances(model, X)
    labels = model.classes_.tolist()
    counts = count_classes(model, task.y[train])
    figures = evaluate(outcome, labels, positive_index(labels, task.positive), counts)
    return known | {"error": error_rate(figures, how), "figures": figures}


def _training_evidence(model: Any, task: Task, train: np.ndarray) -> dict[str, Any]:
    """Return what training proves of a model: bounds, the certificate, the path of C."""
    X, y = task.X.iloc[train], task.y[train]
    return {"bounds": evaluate_bounds(model, X, y, fresh=False), **certificate_and_path(model)}
