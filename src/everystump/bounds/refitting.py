"""Train machines again without a row, where there is no quicker way to know what they would do."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags

from everystump.labels import scores_of
from everystump.machines import Machine


def quick_way(fitted: Any, X: Any, y: Any) -> Machine | None:
    """Return a single machine that knows how to leave rows out, None for all else."""
    if not hasattr(fitted, "_combinations") or hasattr(fitted, "estimators_samples_"):
        return None
    (machine,) = fitted._combinations(X, y)[0].machines
    return None if machine.leave_each_out is None else machine


def margin_without(fitted: Any, X: Any, y: np.ndarray, row: int) -> float:
    """Return ``y f(x)`` of a row for the same estimator trained on all other rows.

    If one class is left, its rows are all that is known: the margin is 1 or -1.
    """
    rest = np.delete(np.arange(len(y)), row)
    if np.all(y[rest] == y[rest[0]]):
        return 1.0 if y[row] == y[rest[0]] else -1.0
    known, asked = _safe_indexing(X, rest), _safe_indexing(X, [row])
    if get_tags(fitted).input_tags.pairwise:
        known, asked = np.asarray(known)[:, rest], np.asarray(asked)[:, rest]
    machine = clone(fitted).fit(known, y[rest])
    score = scores_of(machine, asked)[0]
    return float(score) if y[row] == machine.classes_[1] else -float(score)


def check_two_classes(X: Any, y: Any) -> np.ndarray:
    """Return the labels, one out of two for each row."""
    y = np.asarray(y)
    n_classes = len(np.unique(y))
    if np.ndim(X) != 2 or y.shape != (len(X),) or n_classes != 2:
        raise ValueError(
            f"y has shape {y.shape} and {n_classes} classes for X of shape {np.shape(X)}; errors "
            f"on left-out rows are for one label out of two for each row."
        )
    return y
