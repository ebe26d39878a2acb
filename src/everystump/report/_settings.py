"""What differs between two models: their data, parameters, features, interactions and edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everystump._core.measures import DEFAULT_MEASURE
from everystump._evaluation import scorer_title
from everystump._explanations.terms import TIMES
from everystump._text import pluralize, truncate_list
from everystump.report._compared_model import ComparedModel

_MAX_NAMES = 12
# Parameters that do not change the model, or that are described in another way.
_IGNORED = (
    *("C", "Cs", "cv", "scoring", "selection", "random_state", "n_jobs", "verbose"),
    *("interactions", "interaction_strength", "class_weight", "monotonic_cst", "multi_class"),
    *("feature_weights", "measure"),
)

_LOSS_PARAMETERS = {"quantile": ("quantile",), "epsilon": ("huber", "epsilon_insensitive")}


def describe_settings(models: Sequence[ComparedModel]) -> dict[str, Any]:
    """Return the settings of two models as text.

    Returns
    -------
    dict
        ``different``: a list of ``name`` and ``values``; ``same``: a list of ``name`` and
        ``value``.  A setting that a model does not have is a dash.
    """
    both = [_settings(model) for model in models]
    names = list(dict.fromkeys([*both[0], *both[1]]))
    values = {name: [own.get(name, "–") for own in both] for name in names}
    # Parameters that only one of two kinds of models has are part of what kind it is.
    first, second = (_parameters(model.model) for model in models)
    is_same = type(models[0].model) is type(models[1].model)
    values |= {
        name if name not in values else f"{name} (parameter)": [
            own.get(name, "–") for own in (first, second)
        ]
        for name in {**first, **second}
        if is_same or (name in first and name in second)
    }
    values["edits"] = ["; ".join(getattr(own.model, "edits_", ())) or "none" for own in models]
    values |= _exclusive_terms(models)
    return {
        "different": [
            {"name": name, "values": own} for name, own in values.items() if own[0] != own[1]
        ],
        "same": [
            {"name": name, "value": own[0]} for name, own in values.items() if own[0] == own[1]
        ],
    }


def _settings(compared: ComparedModel) -> dict[str, str]:
    """Return the settings of a model."""
    model, about = compared.model, compared.about
    cost, scoring = _chosen_cost(model, about)
    interactions = getattr(model, "interactions_", None)
    found: dict[str, Any] = {
        "model": about.get("model") or type(model).__name__,
        "training data": about.get("data"),
        "training rows": about.get("n_rows"),
        "sample weights": about.get("sample_weight"),
        "seed of the held-out rows": (about.get("origin") or {}).get("seed"),
        "C": None if cost is None else f"{cost:.4g}",
        "C chosen by": None if scoring is None else scorer_title(scoring),
        "features": len(compared.feature_names),
    }
    if interactions is not None:
        stored = (about.get("interactions") or {}).get("strength")
        strength = getattr(model, "interaction_strength_", stored)
        how = f", strength {strength:.3g}" if interactions and strength is not None else ""
        found["interactions"] = f"{len(interactions) or 'none'}{how}"
    if hasattr(model, "measure"):
        found["measure"] = _measure(model, about)
    if hasattr(model, "feature_weights"):
        found["feature weights"] = _feature_weights(model, about)
    if len(getattr(model, "classes_", ())) > 2 and hasattr(model, "multi_class_"):
        found["several classes"] = model.multi_class_
    for name, text in (("class_weight", "class weights"), ("monotonic_cst", "monotonic curves")):
        if getattr(model, name, None) is not None:
            found[text] = _as_text(getattr(model, name))
    return {name: str(value) for name, value in found.items() if value is not None}


def _parameters(model: Any) -> dict[str, str]:
    """Return the other parameters of a model, except those that its loss does not have."""
    ignored = {*_IGNORED}
    for name, losses in _LOSS_PARAMETERS.items():
        if getattr(model, "loss", None) not in losses:
            ignored.add(name)
    return {
        name.replace("_", " "): _as_text(value)
        for name, value in model.get_params(deep=False).items()
        if name not in ignored and not hasattr(value, "get_params")
    }


def _chosen_cost(model: Any, about: Mapping[str, Any]) -> tuple[float | None, str | None]:
    """Return C, and the scorer that chose it; an edited model has them only in its description."""
    if hasattr(model, "C_"):
        return model.C_, getattr(model, "scoring_", None)
    path = about.get("path") or {}
    refined = (about.get("interactions") or {}).get("refined_C")
    given = getattr(model, "C", None)
    return refined or path.get("chosen", given), path.get("scoring")


def _measure(model: Any, about: Mapping[str, Any]) -> str | None:
    """Return the measure; that of an edited model is known from its description only.

    A description does not name the default if that was not compared with another measure.
    """
    if not isinstance(model.measure, str) or model.measure != "auto":
        return _as_text(model.measure)
    stored = about.get("measure", {"chosen": DEFAULT_MEASURE if about else None})
    return getattr(model, "measure_", stored["chosen"])


def _feature_weights(model: Any, about: Mapping[str, Any]) -> str:
    """Return the range of the weights; an edited model has them only in its description."""
    stored = [*(about.get("feature_weights") or {}).values()] or [1.0]
    weights = getattr(model, "feature_weights_", stored)
    low, high = np.min(weights), np.max(weights)
    return "equal" if low == high else f"{low:.2g} to {high:.2g}"


def _exclusive_terms(models: Sequence[ComparedModel]) -> dict[str, list[str]]:
    """Return the features and the interactions that only one of the models has."""
    found = {
        "features only here": [
            _others(model.feature_names, other.feature_names)
            for model, other in (models, models[::-1])
        ]
    }
    if all(model.has_curves for model in models):
        found["interactions only here"] = [
            _list_names(
                [
                    TIMES.join(names)
                    for key, names in model.term_names.items()
                    if len(names) > 1 and key not in other.terms
                ]
            )
            for model, other in (models, models[::-1])
        ]
    return {name: own for name, own in found.items() if own != ["none", "none"]}


def _others(own: Sequence[str], other: Sequence[str]) -> str:
    known = set(other)
    return _list_names([name for name in own if name not in known])


def _list_names(names: Sequence[str]) -> str:
    if len(names) > _MAX_NAMES:
        return f"{pluralize(len(names), 'name')}: {truncate_list(names, _MAX_NAMES)}"
    return ", ".join(names) or "none"


def _as_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_as_text(own)}" for key, own in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
