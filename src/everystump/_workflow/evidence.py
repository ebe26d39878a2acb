"""Bounds on the error of a model, as plain data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import everystump.bounds as bounds
from everystump.bounds.bound import UnsupportedModelError
from everystump.bounds.protocol import NotTrainingDataError

_PARAMETERS = re.compile(r"\b(tol|max_iter)\b")
_LEFT_OUT = "the error on training rows that are left out one at a time"
_FRESH = {"validation_bound": "with 95% confidence, the error on new rows"}
_TRAINING = {
    "loo_bound": _LEFT_OUT,
    "det_loo_bound": _LEFT_OUT,
    "boosting_training_bound": "the error on the training rows",
}
# Of these the number is an estimate where the bound does not hold; of others it says nothing.
_ESTIMATES = ("validation_bound", "loo_bound", "det_loo_bound")


def evaluate_bounds(model: Any, X: Any, y: np.ndarray, *, fresh: bool) -> list[dict[str, Any]]:
    """Return the bounds that rows tell of a model: fresh ones, or those of its training.

    Those that hold, and those whose numbers are estimates where they do not.
    """
    wanted = _FRESH if fresh else _TRAINING
    found = [_bound(name, bounded, model, X, y) for name, bounded in wanted.items()]
    kept = [one for one in found if one and (one["holds"] or one["name"] in _ESTIMATES)]
    # One machine is a vote of one: what is proven of it twice is given once.
    return list({one["bounded"]: one for one in reversed(kept)}.values())[::-1]


def _bound(name: str, bounded: str, model: Any, X: Any, y: np.ndarray) -> dict[str, Any] | None:
    """Return a bound as plain data, None if it is not for this model or these rows."""
    try:
        bound = getattr(bounds, name)(model, X, y)
    except (UnsupportedModelError, NotTrainingDataError):
        return None
    return {
        "name": name,
        "bounded": bounded,
        "value": float(bound.value),
        "holds": bool(bound.holds),
        "vacuous": bool(bound.vacuous),
        "reference": str(bound.reference),
        "assumptions": [str(one) for one in bound.assumptions],
        "violations": [_without_advice(one) for one in bound.violations],
    }


def _without_advice(violation: str) -> str:
    """Return a violation without the advice to pass ``tol`` or the like, which is no option here.

    Examples
    --------
    >>> _without_advice("the fit stopped above its tolerance; raise max_iter or tol")
    'the fit stopped above its tolerance'
    """
    text, _, advice = violation.rpartition("; ")
    return text if text and _PARAMETERS.search(advice) else violation
