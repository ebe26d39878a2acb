"""Figures of merit as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SHARES = ("accuracy", "balanced_accuracy", "precision", "recall")
_NEARLY_ALL = 0.99  # above this, shares of the model and of the baseline get one digit more


def metric_rows(found: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the figures of `evaluate` in text: ``name``, ``value``, ``interval``, ``baseline``.

    What is not defined, such as the precision of a class that is never predicted, is a dash.

    Examples
    --------
    >>> auc = {"value": 0.8, "low": 0.7, "high": 0.87, "baseline": 0.5}
    >>> metric_rows({"figures": {"auc": auc}, "positive": "yes"})
    [{'name': 'AUC', 'value': '0.800', 'interval': '0.700 to 0.870', 'baseline': '0.500'}]
    """
    return [
        {"name": _title(name, found), **_shown(name, one)} for name, one in found["figures"].items()
    ]


def interval_title(found: Mapping[str, Any]) -> str:
    """Return the title of the intervals: those of folds are approximate.

    Examples
    --------
    >>> interval_title({"approximate": False}), interval_title({"approximate": True})
    ('95% interval', 'approx. interval')
    """
    return "approx. interval" if found.get("approximate") else "95% interval"


def _title(name: str, found: Mapping[str, Any]) -> str:
    positive = found.get("positive")
    if name in ("precision", "recall"):
        return f"{name}, macro" if positive is None else f"{name} of “{positive}”"
    if name == "auc":
        return "AUC" if positive is not None else "AUC, macro"
    return {"log_loss": "log-loss"}.get(name, name.replace("_", " "))


def _shown(name: str, one: Mapping[str, Any]) -> dict[str, str]:
    """Return a figure, its interval and its baseline in text."""
    value, baseline, low, high = (one.get(key) for key in ("value", "baseline", "low", "high"))
    if name in _SHARES:
        digits = 2 if min(value or 0.0, baseline or 0.0) > _NEARLY_ALL else 1
        scale, unit = 100, " %"
    else:
        digits, scale, unit = 3, 1, ""

    def text(number: float | None) -> str:
        return "–" if number is None else f"{scale * number:.{digits}f}"

    known = low is not None and high is not None
    return {
        "value": "–" if value is None else text(value) + unit,
        "interval": f"{text(low)} to {text(high)}{unit}" if known else "",
        "baseline": "–" if baseline is None else text(baseline) + unit,
    }


def verdict(found: Mapping[str, Any]) -> str | None:
    """Return what a user must know if a constant answer does as well, None if none does.

    One sentence is of the predictions, one of the probabilities.

    Examples
    --------
    >>> verdict({"better": False, "baseline": {"answer": "No"}, "figures": {}})
    'Its predictions are no better than always answering “No”.'
    """
    sentences = filter(None, (_of_predictions(found), _of_probabilities(found)))
    return " ".join(sentences) or None


def _of_probabilities(found: Mapping[str, Any]) -> str | None:
    """Return a sentence if the log-loss is above that of the class frequencies."""
    loss = found["figures"].get("log_loss") or {}
    value, baseline = loss.get("value"), loss.get("baseline")
    if value is None or baseline is None or round(value, 3) <= round(baseline, 3):
        return None
    return (
        f"Its probabilities are worse than the class frequencies: the log-loss is {value:.3f}, "
        f"that of the frequencies {baseline:.3f}."
    )


def _of_predictions(found: Mapping[str, Any]) -> str | None:
    """Return a sentence if the predictions are no better than one and the same answer."""
    if found["better"]:
        return None
    answer = found["baseline"]["answer"]
    if found["better"] is None:
        return (
            f"Its predictions are not clearly better than always answering “{answer}”: the "
            f"difference may be chance."
        )
    text = f"Its predictions are no better than always answering “{answer}”"
    auc = found["figures"].get("auc")
    if auc is None or auc["low"] is None or auc["low"] <= auc["baseline"]:
        return f"{text}."
    return f"{text}, though its scores do rank the rows (AUC {auc['value']:.2f})."
