"""Train machines again without a row, where there is no quicker way to know what they would do."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags


def margin_without(fitted: Any, X: np.ndarray, y: np.ndarray, row: int) -> float:
    """Return ``y f(x)`` of a row for the same estimator trained on all other rows.

    If one class is left, its rows are all that is known: the margin is 1 or -1.
    """
    rest = np.delete(np.arange(len(y)), row)
    if np.all(y[rest] == y[rest[0]]):
        return 1.0 if y[row] == y[rest[0]] else -1.0
    columns = rest if get_tags(fitted).input_tags.pairwise else slice(None)
    machine = clone(fitted).fit(X[rest][:, columns], y[rest])
    score = score_of(machine, X[[row]][:, columns])[0]
    return float(score) if y[row] == machine.classes_[1] else -float(score)


def score_of(machine: Any, X: np.ndarray) -> np.ndarray:
    """Return scores of rows: a decision function, chances from -1 to 1, or votes."""
    if hasattr(machine, "decision_function"):
        return machine.decision_function(X)
    if hasattr(machine, "predict_proba"):
        return 2.0 * machine.predict_proba(X)[:, 1] - 1.0
    return np.where(machine.predict(X) == machine.classes_[1], 1.0, -1.0)


def as_arrays(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of two classes as arrays."""
    X, y = np.asarray(X), np.asarray(y)
    n_classes = len(np.unique(y))
    if X.ndim != 2 or y.shape != (len(X),) or n_classes != 2:
        raise ValueError(
            f"y has shape {y.shape} and {n_classes} classes for X of shape {X.shape}; errors on "
            f"left-out rows are for one label out of two for each row."
        )
    return X, y
