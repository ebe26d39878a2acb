"""Train machines again without a row, where there is no quicker way to know what they would do."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from everystump._sklearn_compat import safe_indexing
from everystump._tables import is_frame, reorder_columns
from everystump._tables.labels import classifier_scores
from everystump.bounds._kernel_ensemble import KernelMachine
from everystump.bounds._protocol import SubsampleEnsemble, SupportsKernelEnsembles


def fast_leave_one_out(fitted: Any, X: Any, y: Any) -> KernelMachine | None:
    """Return a single machine that knows how to leave rows out, None for all else."""
    if not isinstance(fitted, SupportsKernelEnsembles) or isinstance(fitted, SubsampleEnsemble):
        return None
    (machine,) = fitted.kernel_ensembles(X, y)[0].machines
    return None if machine.leave_one_out is None else machine


def as_fitted(fitted: Any, X: Any) -> Any:
    """Return a frame with its columns in the order of the training table, all else as it is."""
    names = getattr(fitted, "feature_names_in_", None)
    return reorder_columns(X, names) if names is not None and is_frame(X) else X


def margins_of(fitted: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Return ``y f(x)`` of each row for a fitted classifier of two classes."""
    return np.where(y == fitted.classes_[1], 1.0, -1.0) * fitted.decision_function(X)


def refit_margin(fitted: Any, X: Any, y: np.ndarray, row: int) -> float:
    """Return ``y f(x)`` of a row for the same estimator trained on all other rows.

    If one class is left, its rows are all that is known: the margin is 1 or -1.
    """
    rest = np.delete(np.arange(len(y)), row)
    if np.all(y[rest] == y[rest[0]]):
        return 1.0 if y[row] == y[rest[0]] else -1.0
    known, asked = safe_indexing(X, rest), safe_indexing(X, [row])
    if get_tags(fitted).input_tags.pairwise:
        known, asked = np.asarray(known)[:, rest], np.asarray(asked)[:, rest]
    machine = clone(fitted).fit(known, y[rest])
    score = classifier_scores(machine, asked)[0]
    return float(score) if y[row] == machine.classes_[1] else -float(score)


def check_two_classes(X: Any, y: Any) -> np.ndarray:
    """Return the labels, one out of two for each row."""
    y = np.asarray(y)
    n_classes = len(np.unique(y))
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2 or y.shape != shape[:1] or n_classes != 2:
        raise ValueError(
            f"y has shape {y.shape} and {n_classes} classes for X of shape {shape}; errors "
            f"on left-out rows are for one label out of two for each row."
        )
    return y
