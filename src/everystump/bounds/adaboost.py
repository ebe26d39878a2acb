"""What the bounds of AdaBoost read from a fitted ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np

ASSUMPTIONS = (
    "two classes",
    "each stump has the weight log((1 - error) / error) / 2, as AdaBoost gives it",
    "the error is that of the rows that were boosted on, weighted as they were",
)


def read_errors(fitted: Any) -> np.ndarray:
    """Return the weighted errors of the rounds of a fitted ensemble of two classes."""
    errors = getattr(fitted, "estimator_errors_", None)
    if errors is None:
        raise ValueError(
            f"fitted={fitted!r} has no errors of rounds; pass a fitted StumpBoostingClassifier."
        )
    if isinstance(errors, list):
        raise ValueError(
            f"fitted has {len(errors)} classes, and AdaBoost's bounds are for two; fit one class "
            f"against the rest."
        )
    return np.asarray(errors)


def is_adaboost(fitted: Any) -> bool:
    """Tell whether the stumps have AdaBoost's weights; a perfect stump alone has any."""
    errors, weights = read_errors(fitted), np.asarray(fitted.estimator_weights_)
    if len(errors) == 1 and errors[0] == 0.0:
        return True
    with np.errstate(divide="ignore"):
        return np.allclose(weights, 0.5 * np.log((1 - errors) / errors), rtol=1e-6, atol=1e-9)


def share_of(happens: np.ndarray, sample_weight: Any) -> float:
    """Return the weighted share of rows for which something happens."""
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return float(np.average(happens, weights=weights))
