"""From scores to labels, and from labels to the numbers of their classes."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_labels(score: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class that each score speaks for; a score of 0 for the first of two.

    Examples
    --------
    >>> as_labels(np.array([-1.0, 2.0]), np.array(["no", "yes"]))
    array(['no', 'yes'], dtype='<U3')
    """
    if score.ndim == 1:
        return classes[(score > 0).astype(int)]
    return classes[score.argmax(axis=1)]


def class_numbers(y: Any, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the number of each label in ``classes``, or say that a label is none of them."""
    y = np.asarray(y)
    if y.shape != (n_rows,) or not np.all(np.isin(y, classes)):
        raise ValueError(
            f"y must hold one of the classes {classes.tolist()} for each of the {n_rows} rows of X."
        )
    return np.searchsorted(classes, y)
