"""Checks of costs before a fit, and warnings after it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from everystump._warnings import warn_user
from everystump.estimators._base import as_class_list

_MIN_COST, _MAX_COST = 1e-100, 1e18


def warn_if_not_converged(estimator: Any) -> None:
    """Warn if a fit did not reach its tolerance."""
    worst = max(as_class_list(estimator.certificate_), key=lambda certificate: certificate.gap)
    if worst.converged:
        return
    kernel = estimator.get_params(deep=False).get("kernel", "precomputed")
    other = "lower C" if kernel == "precomputed" else "scale the features of X to similar ranges"
    reached = f"a relative duality gap of {worst.gap:.1e}"
    if worst.rounding > estimator.tol:
        message = (
            f"reached {reached}, and rounding ({worst.rounding:.0e} of the objective) prevents a "
            f"proof of tol={estimator.tol:g}; raise tol or {other}."
        )
    else:
        exhausted = estimator.n_iter_ >= estimator.max_iter
        remedy = f"raise max_iter={estimator.max_iter}" if exhausted else other
        message = (
            f"stopped after {estimator.n_iter_} steps at {reached}, above tol={estimator.tol:g}; "
            f"{remedy} or raise tol."
        )
    warn_user(f"{type(estimator).__name__} {message}", ConvergenceWarning)


def check_cost(C: float, weight: np.ndarray) -> None:
    """Check that C times the weights can be squared and summed in floating point."""
    low, high = C * weight.min(), C * weight.max()
    if np.inf > C and not _MIN_COST <= low <= high <= _MAX_COST:
        raise ValueError(
            f"C={C:g} times the sample weights ranges from {low:g} to {high:g}; keep it between "
            f"{_MIN_COST:g} and {_MAX_COST:g} (C=inf is the hard margin)."
        )
