"""One direction for all that a model of two classes says: towards the positive class."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._tables.labels import class_indices
from everystump.estimators._base import rename_classes


def fit_with_class_order(model: Any, X: Any, y: np.ndarray, classes: np.ndarray) -> Any:
    """Fit a classifier whose ``classes_`` are in a given order, and return it.

    Scores, probabilities, curves and exports of two classes are about ``classes_[1]``, so that the
    second of ``classes`` is the positive one.  Labels in another order than the sorted one are
    fitted as numbers, and named afterwards.

    Parameters
    ----------
    model : estimator
        One of this package.
    X : frame
        The rows.
    y : ndarray of shape (n_rows,)
        Their labels.
    classes : ndarray of shape (n_classes,)
        All labels, in the order that is wanted.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> X, y = [[0], [1], [2], [3]], np.array(["sick", "sick", "well", "well"])
    >>> model = fit_with_class_order(StumpSVC(), X, y, np.array(["well", "sick"]))
    >>> model.classes_.tolist(), model.predict(X).tolist(), float(model.decision_function(X)[0]) > 0
    (['well', 'sick'], ['sick', 'sick', 'well', 'well'], True)
    """
    if np.array_equal(np.unique(y), classes):
        return model.fit(X, y)
    model.fit(X, class_indices(y, classes, len(y)))
    rename_classes(model, classes)
    return model
