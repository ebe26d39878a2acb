"""The result of every bound, and checks of arguments that bounds share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from everystump._arguments import as_float_array
from everystump._sklearn_compat import is_regressor

# What the functions of this package compute for a classifier.
_PURPOSES = {
    "boosting_training_bound": "bounds the training error of AdaBoost",
    "det_loo_bound": "bounds the leave-one-out error of a classifier",
    "det_loo_error": "computes the leave-one-out error of a classifier",
    "ensemble_margin_bound": "bounds the leave-one-out error of a classifier",
    "loo_bound": "bounds the leave-one-out error of a classifier",
    "loo_error": "computes the leave-one-out error of a classifier",
    "margin_distribution_bound": "bounds the margins of AdaBoost on its training samples",
    "measured_stability": "measures how much a sample changes the scores of a classifier",
    "radius_margin_bound": "bounds the leave-one-out error of a classifier",
    "stability_bound": "bounds the error rate of a classifier on new samples",
    "uniform_stability": "bounds how much a sample changes the scores of a classifier",
    "validation_bound": "bounds the error rate of a classifier on new samples",
}


class UnsupportedModelError(ValueError):
    """A bound does not apply to the model."""


@dataclass(frozen=True)
class Bound:
    """An upper bound on an error, and its assumptions.

    Attributes
    ----------
    value : float
        The upper bound.
    assumptions : tuple of str
        The assumptions of the theorem.
    holds : bool
        Whether no assumption is known to be violated; if False, ``value`` is an estimate, not a
        bound.
    vacuous : bool
        Whether ``value`` is 1 or more, which holds for any error.
    reference : str
        The source of the theorem.
    observed : float or None
        The bounded quantity on the given samples, if it was computed.
    violations : tuple of str
        The assumptions that are violated, or cannot be verified.
    """

    value: float
    assumptions: tuple[str, ...]
    holds: bool
    vacuous: bool
    reference: str
    observed: float | None = None
    violations: tuple[str, ...] = ()

    @classmethod
    def from_value(
        cls,
        value: float,
        reference: str,
        assumptions: tuple[str, ...],
        violations: tuple[str, ...] = (),
        observed: float | None = None,
    ) -> Bound:
        """Return a bound that holds if no assumption is violated."""
        return cls(value, assumptions, not violations, value >= 1, reference, observed, violations)


def check_is_no_regressor(fitted: Any, function: str) -> None:
    """Check that the model of a function of this package is not a regressor."""
    if is_regressor(fitted):
        raise UnsupportedModelError(
            f"fitted={fitted!r} is a regressor, and {function} {_PURPOSES[function]}; estimate the "
            f"error of a regressor with cross_val_score of scikit-learn, or with its score on "
            f"held-out samples."
        )


def check_delta(delta: float, *, positive: bool = False) -> None:
    """Check that ``delta`` is a soft margin, and not 0 if it must be ``positive``."""
    if not isinstance(delta, Real) or not 0 <= delta < np.inf:
        raise ValueError(f"delta={delta!r} must be a finite number, 0 or more.")
    if positive and delta == 0.0:
        raise ValueError("delta=0 is not allowed here; pass a positive number.")


def check_eta(eta: float) -> None:
    """Check that ``eta`` is a probability between 0 and 1."""
    if not isinstance(eta, Real) or not 0 < eta < 1:
        raise ValueError(f"eta={eta!r} must be a number between 0 and 1.")


def check_option(name: str, value: Any, options: Iterable[str]) -> None:
    """Check that an argument is one of the options."""
    allowed = list(options)
    if value not in allowed:
        raise ValueError(f"{name}={value!r} must be one of {allowed}.")


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return the weights of the training rows; those of rows with weight 0 are dropped."""
    expected = f"one number for each of the {n_rows} training samples, none negative, not all 0"
    weight = as_float_array(sample_weight, "sample_weight", expected)
    if weight.ndim == 1 and np.count_nonzero(weight > 0) == n_rows:
        weight = weight[weight > 0]
    valid = np.all((weight >= 0) & (weight < np.inf)) and weight.any()
    if weight.shape != (n_rows,) or not valid:
        raise ValueError(f"sample_weight has shape {weight.shape} and must be {expected}.")
    return weight
