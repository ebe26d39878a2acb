"""Metrics, bounds and importances of a fitted model on labeled rows, as plain data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import everystump.bounds as bounds
from everystump._evaluation import evaluate_model
from everystump._evaluation.intervals import wilson
from everystump._explanations.access import feature_names, strength_and_path
from everystump._explanations.importance import importances, term_densities
from everystump._tables.labels import class_indices
from everystump._workflow.errors import input_errors
from everystump.bounds._bound import UnsupportedModelError
from everystump.bounds._protocol import NotTrainingDataError
from everystump.estimators._base import as_class_list

_PARAMETERS = re.compile(r"\b(tol|max_iter)\b")
_LOO_ERROR = "the leave-one-out error on the training rows"
_UNSEEN = {"validation_bound": "with 95% confidence, the error on new rows"}
_TRAINING = {
    "loo_bound": _LOO_ERROR,
    "det_loo_bound": _LOO_ERROR,
    "boosting_training_bound": "the error on the training rows",
}
# If the assumptions of these are violated, the value is still an estimate.
_ESTIMATES = ("validation_bound", "loo_bound", "det_loo_bound")


def count_classes(model: Any, y: np.ndarray) -> list[int]:
    """Return the number of labels of each class, in the order of ``classes_``."""
    indices = class_indices(y, model.classes_, len(y))
    return np.bincount(indices, minlength=len(model.classes_)).tolist()


def model_metrics(model: Any, X: Any, y: np.ndarray, *, unseen: bool) -> dict[str, Any]:
    """Return the metrics of a model on labeled rows; see `everystump._evaluation.evaluate`.

    Intervals are omitted unless the rows are ``unseen``, that is, not used for training.
    """
    about = getattr(model, "about_", {})
    positive, counts = about.get("positive"), about.get("class_counts")
    with input_errors():
        return evaluate_model(model, X, y, positive=positive, counts=counts, unseen=unseen)


def error_rate(metrics: dict[str, Any], how: str) -> dict[str, Any]:
    """Return the error rate with Wilson's interval, which is approximate for cross-validation."""
    n_wrong, n_rows = metrics["n_wrong"], metrics["n_rows"]
    low, high = wilson(n_wrong, n_rows) or (None, None)
    interval = {"low": low, "high": high, "approximate": metrics["approximate"]}
    return {"value": n_wrong / n_rows, **interval, "how": how}


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


def _bound(name: str, bounded: str, model: Any, X: Any, y: np.ndarray) -> dict[str, Any] | None:
    """Return a bound as plain data, None if it does not apply to this model or these rows."""
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
