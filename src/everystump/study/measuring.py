"""Measure a model on rows that it has not learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from everystump.estimators.base import each_class
from everystump.estimators.folds import stratified_folds
from everystump.estimators.reading import densities, spread
from everystump.estimators.table import check_rows
from everystump.evaluation import (
    Outcome,
    evaluate,
    positive_number,
    training_shares,
    without_intervals,
)
from everystump.evaluation.intervals import wilson
from everystump.labels import class_numbers
from everystump.study import asking
from everystump.study.direction import fit_in_order
from everystump.study.guesses import Task
from everystump.study.notes import noting
from everystump.study.plan import Plan


def cross_validated(
    model: Any, task: Task, plan: Plan, progress: Callable[[int, int], None] | None
) -> tuple[Outcome, int]:
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
            part = fit_in_order(clone(model), X, y, model.classes_)
        parts.append(Outcome.of(part, task.X.iloc[fold.test], task.y[fold.test]))
    if progress is not None:
        progress(len(folds) + 1, len(folds) + 1)
    return Outcome.joined(parts), len(folds)


def count_classes(model: Any, y: np.ndarray) -> list[int]:
    """Return how many labels there are of each class, in the order of ``classes_``."""
    numbers = class_numbers(y, model.classes_, len(y))
    return np.bincount(numbers, minlength=len(model.classes_)).tolist()


def figures_on(model: Any, X: Any, y: np.ndarray, *, fresh: bool) -> dict[str, Any]:
    """Return the figures of a model on rows of known classes; see `everystump.evaluation`.

    Unless the rows are ``fresh``, had no part in the training, there are no intervals.
    """
    with asking():
        outcome = Outcome.of(model, X, y)
    about = getattr(model, "about_", {})
    found = figures_of(model, outcome, about.get("positive"), about.get("class_counts"))
    return found if fresh else without_intervals(found)


def figures_of(
    model: Any, outcome: Outcome, positive: Any, counts: list[int] | None
) -> dict[str, Any]:
    """Return the figures of an outcome, beside the baseline of the model's training rows.

    ``counts`` are those of the classes in the training rows, None if nobody knows.
    """
    shares = None if counts is None else training_shares(counts)
    labels = model.classes_.tolist()
    return evaluate(outcome, labels, positive_number(labels, positive), shares)


def error_in(figures: dict[str, Any], how: str) -> dict[str, Any]:
    """Return the share of rows that are predicted wrongly, with Wilson's interval."""
    n_wrong, n_rows = figures["n_wrong"], figures["n_rows"]
    low, high = wilson(n_wrong, n_rows) or (None, None)
    return {"value": n_wrong / n_rows, "low": low, "high": high, "how": how}


def importances_on(model: Any, X: Any) -> dict[str, Any] | None:
    """Return how much each feature moves the scores of held-out rows, None without curves.

    Returns
    -------
    dict
        ``n_rows``, and ``values``: for each score a number per feature, in their order.
    """
    if getattr(model, "shapes_", None) is None:
        return None
    seen = densities(check_rows(model, X))
    values = [
        [spread(shape, rows) for shape, rows in zip(shapes, seen, strict=True)]
        for shapes in each_class(model.shapes_)
    ]
    return {"n_rows": len(X), "values": values}
