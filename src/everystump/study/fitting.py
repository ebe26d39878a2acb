"""Train a model on a part of the rows, measure it on the others, and tell what it is worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from everystump.study import RefusedError
from everystump.study.evidence import bounds_on, proofs
from everystump.study.families import FAMILIES
from everystump.study.guesses import Task
from everystump.study.plan import Plan
from everystump.study.rowmarks import mark_table, sketch


def fit_model(
    task: Task,
    plan: Plan,
    *,
    verbose: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Return a fitted model whose ``about_`` says where it comes from and what it is worth."""
    train, test = plan.split(task)
    family = FAMILIES[plan.family]
    model = family.make(plan.C, plan.seed).set_params(verbose=verbose)
    X, y = task.X.iloc[train], task.y[train]
    try:
        model.fit(X, y).set_params(verbose=0)
    except (ValueError, TypeError) as error:
        raise RefusedError(" ".join(str(error).split())) from None
    found = bounds_on(model, X, y, fresh=False)
    if test is None:
        measured = _cross_validated(model, task, plan, progress)
    else:
        X, y = task.X.iloc[test], task.y[test]
        measured = _held_out(model, X, y)
        found = bounds_on(model, X, y, fresh=True) + found
    model.about_ = {
        "target": task.target,
        "positive": task.positive,
        "model": f"{plan.family}: {family.words}",
        "n_rows": len(train),
        "n_held_out": 0 if test is None else len(test),
        "seed": plan.seed,
        "holdout": plan.holdout if plan.cv is None else 0.0,
        "guesses": list(task.told),
        "dropped": [f"{name}: {why}" for name, why in task.dropped.items()],
        "table": mark_table(task.marks),
        "learned": sketch(task.marks[train]),
        "error": measured,
        "bounds": found,
        **proofs(model),
    }
    return model


def _held_out(model: Any, X: Any, y: np.ndarray) -> dict[str, Any]:
    wrong = int(np.sum(model.predict(X) != y))
    limits = binomtest(wrong, len(y)).proportion_ci(method="wilson")
    return {
        "value": wrong / len(y),
        "low": float(limits.low),
        "high": float(limits.high),
        "how": f"{len(y):,} held-out rows, 95 % interval",
    }


def _cross_validated(
    model: Any, task: Task, plan: Plan, progress: Callable[[int, int], None] | None
) -> dict[str, Any]:
    n_folds = plan.cv or 0
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=plan.seed)
    errors = []
    for train, test in folds.split(np.zeros(len(task.y)), task.y):
        fold = clone(model).fit(task.X.iloc[train], task.y[train])
        errors.append(float(np.mean(fold.predict(task.X.iloc[test]) != task.y[test])))
        if progress is not None:
            progress(len(errors), n_folds)
    mean, spread = float(np.mean(errors)), 1.96 * float(np.std(errors, ddof=1)) / n_folds**0.5
    return {
        "value": mean,
        "low": max(0.0, mean - spread),
        "high": min(1.0, mean + spread),
        "how": f"{n_folds} folds, 1.96 standard errors",
    }
