"""Bounds on the training error and the margins of AdaBoost."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import xlog1py, xlogy
from sklearn.utils.class_weight import compute_class_weight

from everystump._tables.labels import class_indices
from everystump._tables.overlap import NO_RECORD
from everystump.bounds._bound import (
    Bound,
    UnsupportedModelError,
    check_is_no_regressor,
    check_sample_weight,
)
from everystump.bounds._protocol import WarmStartable

_ROUNDING = 1e-9
_ASSUMPTIONS = (
    "two classes",
    "each stump has AdaBoost's weight, log((1 - error) / error) / 2",
    "X and y are the training data, with the same weights",
)


def _read_errors(fitted: Any) -> np.ndarray:
    """Return the weighted error of each round of a fitted ensemble."""
    errors = getattr(fitted, "estimator_errors_", None)
    if errors is None:
        raise UnsupportedModelError(
            f"fitted={fitted!r} has no estimator_errors_; pass a fitted StumpBoostingClassifier."
        )
    if isinstance(errors, list):
        raise UnsupportedModelError(
            f"fitted has {len(errors)} classes, but the AdaBoost bounds require two; fit one "
            f"class against the rest."
        )
    return np.asarray(errors)


def _adaboost_bound(
    value: float,
    reference: str,
    theta: float,
    fitted: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
) -> Bound:
    """Return a bound on the weighted fraction of samples whose margin is at most ``theta``."""
    if (X is None) != (y is None):
        raise ValueError("X and y must be passed together: the training data and its labels.")
    observed = None
    if X is not None:
        margins, weight = _margins(fitted, X, y, sample_weight)
        observed = float(np.average(margins <= theta, weights=weight))
    violations = _violations(fitted, X, y)
    if observed is not None and observed > value * (1 + _ROUNDING):
        violations += ("the samples exceed the bound, so their weights in training were different",)
    return Bound.from_value(value, reference, _ASSUMPTIONS, violations, observed)


def _violations(fitted: Any, X: Any, y: Any) -> tuple[str, ...]:
    violations: tuple[str, ...] = ()
    if not _is_adaboost(fitted):
        violations += ("the weights of the stumps are not AdaBoost's",)
    if not isinstance(fitted, WarmStartable):
        return violations
    if not fitted.fitted_on_single_table:
        violations += ("warm_start=True: the stumps were violations on different training data",)
    if X is None:
        return violations
    if getattr(fitted, "validation_fraction", None) is not None:
        return (*violations, "validation_fraction: some of the samples were held out from boosting")
    overlap = fitted.training_overlap(X, y)
    if overlap.same_table:
        return violations
    if not overlap.recorded:
        return (*violations, NO_RECORD)
    return (*violations, "X and y are not the training data")


def _is_adaboost(fitted: Any) -> bool:
    """Whether the stumps have AdaBoost's weights; the weight of a perfect stump is arbitrary."""
    errors, weights = _read_errors(fitted), np.asarray(fitted.estimator_weights_)
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


def boosting_training_bound(
    fitted: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None
) -> Bound:
    """Bound the training error of AdaBoost by ``exp(-2 sum of gamma^2)``, gamma = 1/2 - error.

    Parameters
    ----------
    fitted : StumpBoostingClassifier
        A classifier fitted with the exponential loss and ``learning_rate=1``.
    X, y : array-like, default=None
        The training data.  If given, ``observed`` is the training error, counting ties as errors.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights of the fit; class weights are added automatically.

    Returns
    -------
    Bound
        The bound on the training error.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.bounds import boosting_training_bound
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> bound = boosting_training_bound(StumpBoostingClassifier().fit(X, y), X, y)
    >>> bound.holds, bound.observed <= bound.value < 1
    (True, True)
    """
    check_is_no_regressor(fitted, "boosting_training_bound")
    value = float(np.exp(-2 * np.sum((0.5 - _read_errors(fitted)) ** 2)))
    return _adaboost_bound(value, "Wang et al. (2019), eq. 15", 0.0, fitted, X, y, sample_weight)


def margin_distribution_bound(
    fitted: Any, X: Any = None, y: Any = None, *, theta: float = 0.0, sample_weight: Any = None
) -> Bound:
    """Bound the fraction of training samples whose margin is at most ``theta``.

    The bound is ``2^T prod sqrt(e^(1 - theta) (1 - e)^(1 + theta))`` over the errors ``e`` of T
    rounds.  Margins are divided by the sum of all weights.

    Parameters
    ----------
    fitted : StumpBoostingClassifier
        As in `boosting_training_bound`.
    X, y : array-like, default=None
        The training data.  If given, ``observed`` is the fraction itself.
    theta : float, default=0.0
        A margin from -1 to 1.
    sample_weight : array-like of shape (n_samples,), default=None
        As in `boosting_training_bound`.

    Returns
    -------
    Bound
        The bound on this fraction.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.bounds import margin_distribution_bound
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = StumpBoostingClassifier(n_estimators=500).fit(X, y)
    >>> bound = margin_distribution_bound(model, X, y, theta=0.05)
    >>> bound.holds, bound.observed <= bound.value < 1
    (True, True)
    """
    if not isinstance(theta, Real) or not -1 <= theta <= 1:
        raise ValueError(f"theta={theta!r} must be a margin, a number from -1 to 1.")
    check_is_no_regressor(fitted, "margin_distribution_bound")
    errors = _read_errors(fitted)
    log_factors = (xlogy(1 - theta, errors) + xlog1py(1 + theta, -errors)) / 2
    log_value = len(errors) * np.log(2) + np.sum(log_factors)
    with np.errstate(over="ignore"):
        value = float(np.exp(log_value))
    reference = "Wang et al. (2019), Theorem 2, eq. 13"
    return _adaboost_bound(value, reference, theta, fitted, X, y, sample_weight)
