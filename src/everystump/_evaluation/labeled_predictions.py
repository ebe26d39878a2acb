"""Predictions of a classifier together with the actual classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np

from everystump._tables.labels import class_indices, classifier_scores


@dataclass(frozen=True, eq=False)
class LabeledPredictions:
    """Actual and predicted classes of rows, as indices of classes, and their scores.

    Attributes
    ----------
    actual, predicted : ndarray of int, shape (n_rows,)
        Indices of classes.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        For two classes, the scores of the second class.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        None if the classifier has none.
    folds : tuple of slice
        Rows that were scored by the same model.
    weight : ndarray of shape (n_rows,) or None
        Sample weights; None if all are 1.
    """

    actual: np.ndarray
    predicted: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    folds: tuple[slice, ...]
    weight: np.ndarray | None = None

    @classmethod
    def from_model(cls, model: Any, X: Any, y: Any, weight: np.ndarray | None = None) -> Self:
        """Return the predictions of a fitted classifier; the index of a frame is ignored."""
        scores = np.asarray(classifier_scores(model, X), dtype=np.float64)
        actual = class_indices(y, model.classes_, len(scores))
        predicted = class_indices(model.predict(X), model.classes_, len(scores))
        probabilities = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        return cls(actual, predicted, scores, probabilities, (slice(0, len(scores)),), weight)

    @property
    def ranking(self) -> np.ndarray:
        """The scores whose order the area under the ROC curve depends on.

        For several classes, these are the probabilities, if there are any.
        """
        is_binary = self.scores.ndim == 1
        return self.scores if is_binary or self.probabilities is None else self.probabilities

    @property
    def log_losses(self) -> np.ndarray | None:
        """The negative log-probability of each row's class, limited as in scikit-learn."""
        if self.probabilities is None:
            return None
        p = self.probabilities[np.arange(len(self.actual)), self.actual]
        return -np.log(np.clip(p, np.finfo(p.dtype).eps, 1.0))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the predictions of several folds, each scored by its own model."""
        ends = np.cumsum([0, *(len(part.actual) for part in parts)]).tolist()
        probabilities = [part.probabilities for part in parts if part.probabilities is not None]
        weights = [part.weight for part in parts if part.weight is not None]
        return cls(
            np.concatenate([part.actual for part in parts]),
            np.concatenate([part.predicted for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate(probabilities) if probabilities else None,
            tuple(slice(a, b) for a, b in pairwise(ends)),
            np.concatenate(weights) if weights else None,
        )


def positive_index(classes: Sequence[Any], positive: Any = None) -> int | None:
    """Return the index of the positive class of two: the given label, or the second class.

    Examples
    --------
    >>> positive_index(["no", "yes"]), positive_index(["bad", "good"], "bad")
    (1, 0)
    >>> positive_index(["a", "b", "c"]) is None
    True
    """
    if len(classes) != 2:
        return None
    return list(classes).index(positive) if positive in classes else 1
