"""The training samples of nested estimators: pipelines, searches, votes, calibration, targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from everystump._sklearn_compat import safe_indexing
from everystump._tables.frames import is_frame
from everystump._tables.labels import class_indices
from everystump._tables.overlap import Overlap
from everystump.bounds._protocol import HasTrainingOverlap


def training_overlap_of(fitted: Any, X: Any, y: Any) -> Overlap | None:
    """Compare samples with the training samples of any estimator; None if there is no record.

    For estimators of other packages, the nested estimators are used: the last step of a pipeline,
    the best estimator of a search, the members of a vote, the estimator that is calibrated, or
    whose threshold is tuned or target transformed.  Of several overlaps, the largest is returned.
    """
    if isinstance(fitted, HasTrainingOverlap):
        return fitted.training_overlap(X, y)
    if isinstance(fitted, Pipeline):
        rows = fitted[:-1].transform(X) if len(fitted) > 1 else X
        return training_overlap_of(fitted[-1], rows, y)
    if isinstance(fitted, FrozenEstimator):
        return training_overlap_of(fitted.estimator, X, y)
    overlaps = (_part_overlap(fitted, part, rows, y) for part, rows in _nested(fitted, X))
    return largest_overlap(overlap for overlap in overlaps if overlap is not None)


def _part_overlap(fitted: Any, part: Any, X: Any, y: Any) -> Overlap | None:
    """Compare samples with the training samples of an estimator nested in another one."""
    if hasattr(fitted, "classes_"):
        return nested_training_overlap(part, fitted.classes_, X, y)
    transformer = getattr(fitted, "transformer_", None)  # of the targets of a regressor
    if transformer is not None:
        y = transformer.transform(np.asarray(y).reshape(-1, 1))[:, 0]
    return training_overlap_of(part, X, y)


def nested_training_overlap(part: Any, classes: np.ndarray, X: Any, y: Any) -> Overlap | None:
    """Compare samples with the training samples of a nested estimator; None if there is no record.

    It may have been fitted to the labels, to their indices in ``classes``, or to 1 for one class
    and 0 for another or all others.
    """
    part_classes, classes = getattr(part, "classes_", None), np.asarray(classes)
    if part_classes is None:
        return None
    index = class_indices(y, classes, len(y))
    if np.all(np.isin(classes, part_classes)):
        return training_overlap_of(part, X, classes[index])
    if np.array_equal(part_classes, np.arange(len(classes))):
        return training_overlap_of(part, X, index)
    if not np.array_equal(part_classes, [0, 1]):
        return None
    either = (training_overlap_of(part, X, np.full(len(index), label)) for label in (0, 1))
    return largest_overlap(overlap for overlap in either if overlap is not None)


def largest_overlap(overlaps: Iterable[Overlap]) -> Overlap | None:
    """Return the overlap with the strongest evidence of leakage, None if there is none."""
    return max(
        overlaps,
        key=lambda overlap: (
            overlap.leakage is not None,
            overlap.same_rows,
            overlap.excess_rate,
            overlap.match_rate,
        ),
        default=None,
    )


def with_prefit_members(
    overlap: Overlap, parts: Iterable[tuple[Any, Any]], classes: np.ndarray, y: Any
) -> Overlap:
    """Return the largest overlap of an ensemble and of its prefitted members.

    Each member is paired with the samples in the form that it receives.
    """
    members = [
        nested_training_overlap(part, classes, rows, y) or Overlap(recorded=False)
        for part, rows in parts
    ]
    return largest_overlap([overlap, *members]) or overlap


def _nested(fitted: Any, X: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the fitted estimators inside another one, each with the samples that it receives."""
    if hasattr(fitted, "best_estimator_"):
        yield fitted.best_estimator_, X
    elif hasattr(fitted, "calibrated_classifiers_"):
        for calibrated in fitted.calibrated_classifiers_:
            yield calibrated.estimator, X
    elif hasattr(fitted, "estimators_"):
        parts = np.ravel(fitted.estimators_).tolist()
        features = getattr(fitted, "estimators_features_", None) or [None] * len(parts)
        for part, index in zip(parts, features, strict=True):
            rows = X if index is None else safe_indexing(X, index, axis=1)
            yield part, _without_names(part, rows)
    elif hasattr(fitted, "estimator_"):
        yield fitted.estimator_, X
    elif hasattr(fitted, "regressor_"):
        yield fitted.regressor_, X


def _without_names(part: Any, X: Any) -> Any:
    """Return samples without column names if the estimator was fitted without them."""
    return X if hasattr(part, "feature_names_in_") or not is_frame(X) else np.asarray(X)
