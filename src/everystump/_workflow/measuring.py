"""Measure a model on rows that it has not learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from everystump._evaluation import LabeledPredictions, evaluate_model
from everystump._evaluation.intervals import wilson
from everystump._selection.folds import stratified_folds
from everystump._tables.labels import class_indices
from everystump._tables.validation import check_rows
from everystump._workflow import asking
from everystump._workflow.direction import fit_with_class_order
from everystump._workflow.guesses import Task
from everystump._workflow.notes import noting
from everystump._workflow.plan import Plan
from everystump.estimators._base import as_class_list
from everystump.estimators._reading import densities, spreads


def cross_validated(
    model: Any, task: Task, plan: Plan, progress: Callable[[int, int], None] | None
) -> tuple[LabeledPredictions, int]:
    """Return the predictions of the rows, each by a model of the folds that it is not in.

    Beside them the number of folds; the only row of a class is in none.
    """
    _, label = np.unique(task.y, return_inverse=True)
    folds = stratified_folds(plan.cv or 0, label, plan.seed)
    parts = []
    for k, fold in enumerate(folds, start=1):
        if progress is not None:
            progress(k, len(folds) + 1)
        X, y = task.X.iloc[fold.train], task.y[fold.train]
        with asking(), noting([]):  # the model that is kept has told its own
            part = fit_with_class_order(clone(model), X, y, model.classes_)
        parts.append(LabeledPredictions.of(part, task.X.iloc[fold.test], task.y[fold.test]))
    if progress is not None:
        progress(len(folds) + 1, len(folds) + 1)
    return LabeledPredictions.joined(parts), len(folds)


def count_classes(model: Any, y: np.ndarray) -> list[int]:
    """Return how many labels there are of each class, in the order of ``classes_``."""
    numbers = class_indices(y, model.classes_, len(y))
    return np.bincount(numbers, minlength=len(model.classes_)).tolist()


def model_metrics(model: Any, X: Any, y: np.ndarray, *, fresh: bool) -> dict[str, Any]:
    """Return the figures of a model on rows of known classes; see `everystump._evaluation`.

    Unless the rows are ``fresh``, had no part in the training, there are no intervals.
    """
    about = getattr(model, "about_", {})
    positive, counts = about.get("positive"), about.get("class_counts")
    with asking():
        return evaluate_model(model, X, y, positive=positive, counts=counts, fresh=fresh)


def error_rate(figures: dict[str, Any], how: str) -> dict[str, Any]:
    """Return the share of rows that are predicted wrongly, with Wilson's interval.

    Of folds it is approximate, see `everystump._evaluation.evaluate`.
    """
    n_wrong, n_rows = figures["n_wrong"], figures["n_rows"]
    low, high = wilson(n_wrong, n_rows) or (None, None)
    interval = {"low": low, "high": high, "approximate": figures["approximate"]}
    return {"value": n_wrong / n_rows, **interval, "how": how}


def score_importances(model: Any, X: Any) -> dict[str, Any] | None:
    """Return how much each feature moves the scores of held-out rows, None without curves.

    Returns
    -------
    dict
        ``n_rows``, and ``values``: for each score a number per feature, in their order.
    """
    if getattr(model, "shapes_", None) is None:
        return None
    values = spreads(as_class_list(model.shapes_), densities(check_rows(model, X)))
    return {"n_rows": len(X), "values": values}
