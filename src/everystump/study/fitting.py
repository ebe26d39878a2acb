"""Train a model on a part of the rows, measure it on the others, and tell what it is worth."""

from __future__ import annotations

import zlib
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, train_test_split

import everystump.bounds as bounds
from everystump.study import RefusedError
from everystump.study.families import FAMILIES
from everystump.study.guesses import Task
from everystump.study.labels import labels_as_text

_FRESH = ("validation_bound",)
_TRAINING = ("loo_bound", "det_loo_bound", "boosting_training_bound")


def fingerprint(X: Any, labels: np.ndarray) -> list[int]:
    """Return two numbers by which a table is known again: in any order, and in this one."""
    from pandas.util import hash_pandas_object

    rows = hash_pandas_object(X.assign(**{"": labels}), index=False).to_numpy()
    return [int(rows.sum(dtype=np.uint64)), zlib.crc32(rows.tobytes())]


def split_rows(labels: np.ndarray, holdout: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the rows to learn from and of those held out."""
    rows = np.arange(len(labels))
    try:
        train, test = train_test_split(rows, test_size=holdout, stratify=labels, random_state=seed)
    except ValueError as error:
        raise RefusedError(
            f"{len(rows)} rows are too few to hold out {holdout:g} of them, each class keeping its "
            f"share ({error}); use --cv, or more rows."
        ) from None
    return np.sort(train), np.sort(test)


def fit_model(
    task: Task,
    family: str,
    *,
    C: float | None = None,
    holdout: float = 0.25,
    cv: int | None = None,
    seed: int = 0,
    verbose: int = 0,
) -> Any:
    """Return a fitted model whose ``about_`` says where it comes from and what it is worth."""
    model = FAMILIES[family].make(C, seed)
    train, test = np.arange(len(task.y)), None
    labels = labels_as_text(task.y)
    if cv is None:
        train, test = split_rows(labels, holdout, seed)
    try:
        model.set_params(verbose=verbose).fit(task.X.iloc[train], task.y[train])
        model.set_params(verbose=0)
    except (ValueError, TypeError) as error:
        raise RefusedError(" ".join(str(error).split())) from None
    if test is None:
        measured = _cross_validated(model, task, int(cv or 5), seed)
    else:
        measured = _held_out(model, task, test)
    about = {
        "target": task.target,
        "positive": task.positive,
        "model": f"{family}: {FAMILIES[family].words}",
        "n_rows": len(train),
        "n_held_out": 0 if test is None else len(test),
        "seed": seed,
        "holdout": holdout if cv is None else 0.0,
        "guesses": list(task.told),
        "dropped": [f"{name}: {why}" for name, why in task.dropped.items()],
        "table": fingerprint(task.X, labels),
        "error": measured,
    }
    model.about_ = {**about, **proofs(model), "bounds": bounds_of(model, task, train, test)}
    return model


def _held_out(model: Any, task: Task, test: np.ndarray) -> dict[str, Any]:
    wrong = int(np.sum(model.predict(task.X.iloc[test]) != task.y[test]))
    limits = binomtest(wrong, len(test)).proportion_ci(method="wilson")
    return {
        "value": wrong / len(test),
        "low": float(limits.low),
        "high": float(limits.high),
        "how": f"{len(test):,} held-out rows, 95 % interval",
    }


def _cross_validated(model: Any, task: Task, n_folds: int, seed: int) -> dict[str, Any]:
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    errors = []
    for train, test in folds.split(np.zeros(len(task.y)), task.y):
        fold = clone(model).fit(task.X.iloc[train], task.y[train])
        errors.append(float(np.mean(fold.predict(task.X.iloc[test]) != task.y[test])))
    mean, spread = float(np.mean(errors)), 1.96 * float(np.std(errors, ddof=1)) / n_folds**0.5
    return {
        "value": mean,
        "low": max(0.0, mean - spread),
        "high": min(1.0, mean + spread),
        "how": f"{n_folds} folds, two standard errors",
    }


def proofs(model: Any) -> dict[str, Any]:
    """Return the certificate and the path of a model, if it has them."""
    told: dict[str, Any] = {}
    given: Any = getattr(model, "certificate_", None)
    if given is not None:
        certificates = given if isinstance(given, list) else [given]
        told["certificate"] = asdict(max(certificates, key=lambda one: one.gap))
    results = getattr(model, "cv_results_", None)
    if results is not None:
        told["path"] = {
            "C": results["param_C"].tolist(),
            "mean": results["mean_test_score"].tolist(),
            "std": results["std_test_score"].tolist(),
            "chosen": float(model.C_),
        }
    return told


def bounds_of(
    model: Any, task: Task, train: np.ndarray, test: np.ndarray | None
) -> list[dict[str, Any]]:
    """Return the bounds on the error that apply to a model."""
    found = bounds_on(model, task.X.iloc[train], task.y[train], fresh=False)
    if test is not None:
        found = bounds_on(model, task.X.iloc[test], task.y[test], fresh=True) + found
    return found


def bounds_on(model: Any, X: Any, y: np.ndarray, *, fresh: bool) -> list[dict[str, Any]]:
    """Return the bounds that rows tell of a model: fresh ones, or those of its training.

    Those that hold, and leave-one-out bounds, which are estimates where they do not.
    """
    found = [_bound(name, model, X, y) for name in (_FRESH if fresh else _TRAINING)]
    return [one for one in found if one is not None and (one["holds"] or "loo" in one["name"])]


def _bound(name: str, model: Any, X: Any, y: np.ndarray) -> dict[str, Any] | None:
    """Return a bound as plain data, None if it is not for this model or for these rows."""
    try:
        bound = getattr(bounds, name)(model, X, y)
    except (ValueError, TypeError, AttributeError):
        return None
    return {
        "name": name,
        "value": float(bound.value),
        "holds": bool(bound.holds),
        "vacuous": bool(bound.vacuous),
        "reference": str(bound.reference),
        "assumptions": [str(one) for one in bound.assumptions],
    }
