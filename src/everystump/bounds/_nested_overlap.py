"""The training rows of estimators inside others: pipelines, searches, votes, calibration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from everystump._sklearn_compat import safe_indexing
from everystump._tables import is_frame
from everystump._tables.labels import class_indices
from everystump._tables.overlap import Overlap
from everystump.bounds._protocol import HasTrainingOverlap


def training_overlap_of(fitted: Any, X: Any, y: Any) -> Overlap | None:
    """Compare rows with those that any fitted classifier learned from; None if nothing is known.

    An estimator of another package is asked for the fitted estimators inside it: the last step of a
    pipeline, the best one of a search, the members of a vote, what was calibrated or given a
    threshold.  Of several the one with the largest overlap counts.
    """
    if isinstance(fitted, HasTrainingOverlap):
        return fitted.training_overlap(X, y)
    if isinstance(fitted, Pipeline):
        return training_overlap_of(
            fitted[-1], fitted[:-1].transform(X) if len(fitted) > 1 else X, y
        )
    if isinstance(fitted, FrozenEstimator):
        return training_overlap_of(fitted.estimator, X, y)
    found = (
        training_overlap_of_part(part, fitted.classes_, own, y) for part, own in _parts(fitted, X)
    )
    return largest_overlap(overlap for overlap in found if overlap is not None)


def training_overlap_of_part(part: Any, classes: np.ndarray, X: Any, y: Any) -> Overlap | None:
    """Compare rows with those that a part of a classifier learned from; None if nothing is known.

    A part may have been given the labels, their numbers in ``classes``, or 1 for one class and 0
    for another or all others.
    """
    own, classes = getattr(part, "classes_", None), np.asarray(classes)
    if own is None:
        return None
    number = class_indices(y, classes, len(y))
    if np.all(np.isin(classes, own)):
        return training_overlap_of(part, X, classes[number])
    if np.array_equal(own, np.arange(len(classes))):
        return training_overlap_of(part, X, number)
    if not np.array_equal(own, [0, 1]):
        return None
    either = (training_overlap_of(part, X, np.full(len(number), label)) for label in (0, 1))
    return largest_overlap(overlap for overlap in either if overlap is not None)


def largest_overlap(overlaps: Iterable[Overlap]) -> Overlap | None:
    """Return the overlap that speaks most against fresh rows, None if there are none."""
    return max(
        overlaps,
        key=lambda one: (one.doubt is not None, one.same_rows, one.excess, one.share),
        default=None,
    )


def with_prefit_members(
    own: Overlap, parts: Iterable[tuple[Any, Any]], classes: np.ndarray, y: Any
) -> Overlap:
    """Return the largest overlap of a vote and of its parts that were fitted before it was.

    Each part comes with the rows as it is given them.  One of which nothing is known counts as one
    without a record.
    """
    found = [training_overlap_of_part(part, classes, rows, y) for part, rows in parts]
    return largest_overlap([own, *(one or Overlap(recorded=False) for one in found)]) or own


def _parts(fitted: Any, X: Any) -> Iterator[tuple[Any, Any]]:
    """Return the fitted estimators inside another one, each with the rows that it is given."""
    if hasattr(fitted, "best_estimator_"):
        yield fitted.best_estimator_, X
    elif hasattr(fitted, "calibrated_classifiers_"):
        for calibrated in fitted.calibrated_classifiers_:
            yield calibrated.estimator, X
    elif hasattr(fitted, "estimators_"):
        parts = np.ravel(fitted.estimators_).tolist()
        features = getattr(fitted, "estimators_features_", None) or [None] * len(parts)
        for part, some in zip(parts, features, strict=True):
            yield part, _nameless(part, X if some is None else safe_indexing(X, some, axis=1))
    elif hasattr(fitted, "estimator_"):
        yield fitted.estimator_, X


def _nameless(part: Any, X: Any) -> Any:
    """Return rows without the names of columns, if the estimator was given none."""
    return X if hasattr(part, "feature_names_in_") or not is_frame(X) else np.asarray(X)
