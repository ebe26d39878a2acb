"""What the bounds on AdaBoost share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from everystump._tables.labels import class_indices
from everystump._tables.overlap import NO_RECORD
from everystump.bounds._bound import Bound, UnsupportedModelError
from everystump.bounds._checks import check_sample_weight
from everystump.bounds._protocol import WarmStartable

_ROUNDING = 1e-9
_ASSUMPTIONS = (
    "two classes",
    "each stump has AdaBoost's weight, log((1 - error) / error) / 2",
    "X and y are the training data, with the same weights",
)


def read_errors(fitted: Any) -> np.ndarray:
    """Return the weighted error of each round of a fitted ensemble."""
    errors = getattr(fitted, "estimator_errors_", None)
    if errors is None:
        raise UnsupportedModelError(
            f"fitted={fitted!r} has no estimator_errors_; pass a fitted StumpBoostingClassifier."
        )
    if isinstance(errors, list):
        raise UnsupportedModelError(
            f"fitted has {len(errors)} classes, but the bounds on AdaBoost are for two; fit one "
            f"class against the rest."
        )
    return np.asarray(errors)


def adaboost_bound(
    value: float,
    reference: str,
    event: Callable[[np.ndarray], np.ndarray],
    fitted: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
) -> Bound:
    """Return a bound on the weighted fraction of samples whose margins satisfy ``event``."""
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together: pass the training data with its labels.")
    observed = None
    if X is not None:
        margins, weight = _margins(fitted, X, y, sample_weight)
        observed = float(np.average(event(margins), weights=weight))
    violations = _violations(fitted, X, y)
    if observed is not None and observed > value * (1 + _ROUNDING):
        violations += ("the samples exceed the bound, so their weights in training were different",)
    return Bound.of(value, reference, _ASSUMPTIONS, violations, observed)


def _violations(fitted: Any, X: Any, y: Any) -> tuple[str, ...]:
    found: tuple[str, ...] = ()
    if not _is_adaboost(fitted):
        found += ("the weights of the stumps are not AdaBoost's",)
    if not isinstance(fitted, WarmStartable):
        return found
    if not fitted.fitted_on_single_table:
        found += ("warm_start=True: the stumps were found on different training data",)
    if X is None:
        return found
    if getattr(fitted, "validation_fraction", None) is not None:
        return (*found, "validation_fraction: some of the samples were held out from boosting")
    overlap = fitted.training_overlap(X, y)
    if overlap.same_table:
        return found
    if not overlap.recorded:
        return (*found, NO_RECORD)
    return (*found, "X and y are not the training data")


def _is_adaboost(fitted: Any) -> bool:
    """Whether the stumps have AdaBoost's weights; that of a single perfect stump is arbitrary."""
    errors, weights = read_errors(fitted), np.asarray(fitted.estimator_weights_)
    if len(errors) == 1 and errors[0] == 0.0:
        return True
    with np.errstate(divide="ignore"):
        return np.allclose(weights, 0.5 * np.log((1 - errors) / errors), rtol=1e-6, atol=1e-9)


def _margins(fitted: Any, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the margin of each sample, from -1 to 1, and its weight in training."""
    score = fitted.decision_function(X)
    label = class_indices(y, fitted.classes_, len(score))
    total = np.abs(fitted.estimator_weights_).sum() or 1.0
    weight = np.ones(len(score))
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, len(score))
    factor = compute_class_weight(
        fitted.class_weight, classes=fitted.classes_, y=np.asarray(y), sample_weight=weight
    )
    return np.where(label == 1, score, -score) / total, weight * factor[label]
