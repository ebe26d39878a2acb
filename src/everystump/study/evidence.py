"""What is proven of a model: its certificate, its path, and bounds on its error."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

import everystump.bounds as bounds

_LEFT_OUT = "the error on training rows that are left out one at a time"
_FRESH = {"validation_bound": "with a chance of 95 %, the error on new rows"}
_TRAINING = {
    "loo_bound": _LEFT_OUT,
    "det_loo_bound": _LEFT_OUT,
    "boosting_training_bound": "the error on the training rows",
}


def proofs(model: Any) -> dict[str, Any]:
    """Return the certificate and the path of a model, if it has them."""
    told: dict[str, Any] = {}
    given: Any = getattr(model, "certificate_", None)
    if given is not None:
        certificates = given if isinstance(given, list) else [given]
        told["certificate"] = asdict(max(certificates, key=lambda one: one.gap))
    results = getattr(model, "cv_results_", None)
    if results is not None:
        told["path"] = {
            "C": results["param_C"].tolist(),
            "mean": results["mean_test_score"].tolist(),
            "std": results["std_test_score"].tolist(),
            "chosen": float(model.C_),
        }
    return told


def bounds_on(model: Any, X: Any, y: np.ndarray, *, fresh: bool) -> list[dict[str, Any]]:
    """Return the bounds that rows tell of a model: fresh ones, or those of its training.

    Those that hold, and leave-one-out bounds, which are estimates where they do not.
    """
    wanted = _FRESH if fresh else _TRAINING
    found = [_bound(name, bounded, model, X, y) for name, bounded in wanted.items()]
    return [one for one in found if one is not None and (one["holds"] or "loo" in one["name"])]


def _bound(name: str, bounded: str, model: Any, X: Any, y: np.ndarray) -> dict[str, Any] | None:
    """Return a bound as plain data, None if it is not for this model or for these rows."""
    try:
        bound = getattr(bounds, name)(model, X, y)
    except (ValueError, TypeError, AttributeError):
        return None
    return {
        "name": name,
        "bounded": bounded,
        "value": float(bound.value),
        "holds": bool(bound.holds),
        "vacuous": bool(bound.vacuous),
        "reference": str(bound.reference),
        "assumptions": [str(one) for one in bound.assumptions],
    }
