"""Leave-one-out margins by refitting, and the machines that need no refitting."""

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
    """Return the machine of a fitted estimator if it leaves rows out without refitting."""
    if not isinstance(fitted, SupportsKernelEnsembles) or isinstance(fitted, SubsampleEnsemble):
        return None
    (machine,) = fitted.kernel_ensembles(X, y)[0].machines
    return None if machine.leave_one_out is None else machine


def align_columns(fitted: Any, X: Any) -> Any:
    """Return a data frame with its columns in the order of training, other data unchanged."""
    names = getattr(fitted, "feature_names_in_", None)
    return reorder_columns(X, names) if names is not None and is_frame(X) else X


def training_margins(fitted: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Return ``y f(x)`` of each row for a fitted classifier of two classes."""
    return np.where(y == fitted.classes_[1], 1.0, -1.0) * fitted.decision_function(X)


def refit_margin(fitted: Any, X: Any, y: np.ndarray, row: int) -> float:
    """Return ``y f(x)`` of a row for the same estimator fitted to all other rows.

    If those have one class only, the margin is 1 or -1.
    """
    rest = np.delete(np.arange(len(y)), row)
    if np.all(y[rest] == y[rest[0]]):
        return 1.0 if y[row] == y[rest[0]] else -1.0
    training, left_out = safe_indexing(X, rest), safe_indexing(X, [row])
    if get_tags(fitted).input_tags.pairwise:
        training, left_out = np.asarray(training)[:, rest], np.asarray(left_out)[:, rest]
    refitted = clone(fitted).fit(training, y[rest])
    score = classifier_scores(refitted, left_out)[0]
    return float(score) if y[row] == refitted.classes_[1] else -float(score)


def check_two_classes(X: Any, y: Any) -> np.ndarray:
    """Return the labels as an array after checking that there are two classes."""
    y = np.asarray(y)
    n_classes = len(np.unique(y))
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2 or y.shape != shape[:1] or n_classes != 2:
        raise ValueError(
            f"y has shape {y.shape} and {n_classes} classes for X of shape {shape}; leave-one-out "
            f"errors need one label per sample and two classes."
        )
    return y
