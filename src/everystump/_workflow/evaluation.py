"""Metrics, bounds and importances of a fitted model on labeled rows, as plain data."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

import everystump.bounds as bounds
from everystump._evaluation import PredictionInterval
from everystump._evaluation.intervals import wilson
from everystump._explanations.access import feature_names, strength_and_path
from everystump._explanations.importance import importances, term_densities
from everystump._text import pluralize
from everystump.bounds._bound import Bound, UnsupportedModelError
from everystump.bounds._protocol import NotTrainingDataError
from everystump.bounds._validation_bound import fraction_bound
from everystump.estimators._base import as_class_list

_PARAMETERS = re.compile(r"\b(tol|max_iter)\b")
_LOO_ERROR = "the leave-one-out error on the training rows"
_OUTSIDE = "with 95% confidence, the fraction of new rows outside their prediction interval"
_CALIBRATED = "Wilks (1941): the intervals come from these rows"
_UNSEEN = {"validation_bound": "with 95% confidence, the error on new rows"}
_TRAINING = {
    "loo_bound": _LOO_ERROR,
    "det_loo_bound": _LOO_ERROR,
    "boosting_training_bound": "the error on the training rows",
}
# If the assumptions of these are violated, the value is still an estimate.
_ESTIMATES = ("validation_bound", "loo_bound", "det_loo_bound")


def error_rate(metrics: dict[str, Any], how: str) -> dict[str, Any]:
    """Return the error rate with Wilson's interval, which is approximate for cross-validation."""
    n_wrong, n_rows = metrics["n_wrong"], metrics["n_rows"]
    value, (low, high) = n_wrong / n_rows, wilson(n_wrong, n_rows) or (None, None)
    if metrics["weighted"]:
        accuracy = metrics["figures"]["accuracy"]
        value, low, high = (1.0 - accuracy[key] for key in ("value", "high", "low"))
    interval = {"low": low, "high": high, "approximate": metrics["approximate"]}
    return {"value": value, **interval, "how": how}


def score_importances(model: Any, X: Any) -> dict[str, Any] | None:
    """Return the importance of each term over some rows, None for a model without curves.

    Returns
    -------
    dict
        ``n_rows``, and ``values``: for each score one number per feature and per interaction.
    """
    if getattr(model, "shapes_", None) is None:
        return None
    models = as_class_list(model.shapes_)
    densities = term_densities(model, models, X)
    return {"n_rows": len(X), "values": importances(models, *densities)}


def interaction_results(model: Any) -> dict[str, Any]:
    """Return the interactions of a model as plain data; nothing if it was fitted without them.

    Returns
    -------
    dict
        ``interactions``: as in `strength_and_path`, and the names of the ``features`` of each.
    """
    if isinstance(requested := getattr(model, "interactions", 0), int) and requested == 0:
        return {}
    names = feature_names(model.feature_info_)
    record = {
        "features": [[str(names[d]) for d in term] for term in model.interactions_],
        "strength": 0.0,
    }
    return {"interactions": record | strength_and_path(model).get("interactions", {})}


def evaluate_bounds(model: Any, X: Any, y: np.ndarray, *, unseen: bool) -> list[dict[str, Any]]:
    """Return the bounds that unseen rows, or the training rows, give for a model.

    Bounds whose assumptions are violated are included if their value is an estimate.
    """
    names = _UNSEEN if unseen else _TRAINING
    found = [_bound(name, bounded, model, X, y) for name, bounded in names.items()]
    valid = [bound for bound in found if bound and (bound["holds"] or bound["name"] in _ESTIMATES)]
    # A single model is also a vote of one: of two bounds on the same error, keep the first.
    return list({bound["bounded"]: bound for bound in reversed(valid)}.values())[::-1]


def interval_of(model: Any) -> PredictionInterval | None:
    """Return the prediction intervals of a model, None if it has none."""
    stored = getattr(model, "about_", {}).get("interval")
    return None if stored is None else PredictionInterval(**stored)


def why_no_interval(model: Any) -> str:
    """Return why a regressor that was fitted by the command has no prediction intervals."""
    about = getattr(model, "about_", {})
    if getattr(model, "edits_", ()):
        return "it was edited"
    if about.get("refit"):
        return "the refitted model was trained on all rows"
    if not about.get("n_held_out"):
        return "no rows were held out"
    if getattr(model, "loss", None) == "quantile":
        return "the prediction is itself a limit, the quantile"
    return f"{pluralize(about['n_held_out'], 'held-out row')} are too few"


def interval_bound(
    model: Any, interval: PredictionInterval, X: Any, y: np.ndarray, *, calibrated: bool
) -> dict[str, Any]:
    """Return a bound on the fraction of new rows outside the prediction intervals.

    If the intervals were ``calibrated`` on these rows, the fraction has a beta distribution, which
    depends on the rank of the half width only.  Its quantile equals the Clopper-Pearson bound for
    the number of rows beyond that rank.
    """
    n_outside = interval.n_beyond
    if not calibrated:
        n_outside = int(np.sum(interval.is_outside(y, np.asarray(model.predict(X)))))
    bound = fraction_bound(model, X, y, n_outside)
    if calibrated:
        bound = replace(bound, reference=_CALIBRATED)
    return _as_record("interval_bound", _OUTSIDE, bound)


def _bound(name: str, bounded: str, model: Any, X: Any, y: np.ndarray) -> dict[str, Any] | None:
    """Return a bound as plain data, None if it does not apply to this model or these rows."""
    try:
        return _as_record(name, bounded, getattr(bounds, name)(model, X, y))
    except (UnsupportedModelError, NotTrainingDataError):
        return None


def _as_record(name: str, bounded: str, bound: Bound) -> dict[str, Any]:
    """Return a bound as plain data."""
    return {
        "name": name,
        "bounded": bounded,
        "value": float(bound.value),
        "holds": bool(bound.holds),
        "vacuous": bool(bound.vacuous),
        "reference": str(bound.reference),
        "assumptions": [str(assumption) for assumption in bound.assumptions],
        "violations": [_without_advice(violation) for violation in bound.violations],
    }


def _without_advice(violation: str) -> str:
    """Return a violation without advice on ``tol`` or ``max_iter``, which no command has.

    Examples
    --------
    >>> _without_advice("the fit stopped above its tolerance; raise max_iter or tol")
    'the fit stopped above its tolerance'
    """
    text, _, advice = violation.rpartition("; ")
    return text if text and _PARAMETERS.search(advice) else violation
