"""Train a model on a part of the rows, measure it on the others, and tell what it is worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from everystump.estimators.progress import fleeting
from everystump.estimators.proofs import proofs
from everystump.study import asking
from everystump.study.dialect import Dialect
from everystump.study.evidence import bounds_on
from everystump.study.families import FAMILIES
from everystump.study.guesses import Task
from everystump.study.plan import Plan
from everystump.study.rowmarks import in_order, marks_of, sketch
from everystump.wording import counted


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
    people.
    """
    train, test = plan.split(task)
    family = FAMILIES[plan.family]
    model = family.make(plan.C, plan.seed).set_params(verbose=verbose)
    X, y = task.X.iloc[train], task.y[train]
    with asking(), fleeting():
        model.fit(X, y).set_params(verbose=0)
    found = bounds_on(model, X, y, fresh=False)
    if test is None:
        measured = _cross_validated(model, task, plan, progress)
    else:
        X, y = task.X.iloc[test], task.y[test]
        how = f"{counted(len(test), 'held-out row')}, 95 % interval"
        measured = _measured(int(np.sum(model.predict(X) != y)), len(y), how)
        found = bounds_on(model, X, y, fresh=True) + found
    marks = marks_of(model, task.X, task.y)[train]
    model.about_ = {
        "data": data,
        "target": task.target,
        "positive": task.positive,
        "model": f"{plan.family}: {family.words}",
        "n_rows": len(train),
        "n_held_out": 0 if test is None else len(test),
        "guesses": list(task.told),
        "dropped": [f"{name}: {why}" for name, why in task.dropped.items()],
        "error": measured,
        "bounds": found,
        **proofs(model),
        "origin": {
            "learned": sketch(marks),
            "in_order": in_order(marks),
            "holdout": plan.holdout if plan.cv is None else None,
            "seed": plan.seed,
            "dialect": (dialect or Dialect()).told(),
        },
    }
    return model


def _measured(n_wrong: int, n_rows: int, how: str) -> dict[str, Any]:
    """Return an error with Wilson's interval."""
    limits = binomtest(n_wrong, n_rows).proportion_ci(method="wilson")
    ends = {"low": float(limits.low), "high": float(limits.high)}
    return {"value": n_wrong / n_rows, **ends, "how": how}


def _cross_validated(
    model: Any, task: Task, plan: Plan, progress: Callable[[int, int], None] | None
) -> dict[str, Any]:
    """Return the error on all rows, each told by a model of the folds that it is not in."""
    n_folds, n_wrong = plan.cv or 0, 0
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=plan.seed)
    for k, (train, test) in enumerate(folds.split(np.zeros(len(task.y)), task.y), start=1):
        if progress is not None:
            progress(k, n_folds + 1)
        fold = clone(model).fit(task.X.iloc[train], task.y[train])
        n_wrong += int(np.sum(fold.predict(task.X.iloc[test]) != task.y[test]))
    if progress is not None:
        progress(n_folds + 1, n_folds + 1)
    return _measured(n_wrong, len(task.y), f"{n_folds} folds, 95 % interval")
