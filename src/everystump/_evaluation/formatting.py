"""Metrics as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everystump._text import format_fixed, format_quantities

FRACTIONS = ("accuracy", "balanced_accuracy", "precision", "recall", "rows_below")
IN_UNITS = ("rmse", "mae", "pinball_loss")  # in the units of the target
_TITLES = {"log_loss": "log loss", "r2": "R²", "rmse": "RMSE", "mae": "MAE"}
_LIMITS = {"r2": (1.0,), "log_loss": (0.0,)}  # values that are shown only if they are exact
_NEARLY_ALL = 0.99  # if model and baseline are above this, they are shown with one more digit


def metric_rows(metrics: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the metrics of `evaluate` as text: ``name``, ``value``, ``interval``, ``baseline``.

    An undefined metric, such as the precision of a class that is never predicted, shows as a dash.

    Examples
    --------
    >>> auc = {"value": 0.8, "low": 0.7, "high": 0.87, "baseline": 0.5}
    >>> metric_rows({"figures": {"auc": auc}, "positive": "yes"})
    [{'name': 'AUC', 'value': '0.800', 'interval': '0.700 to 0.870', 'baseline': '0.500'}]
    """
    return [
        {"name": metric_title(name, metrics), **_as_text(name, metric)}
        for name, metric in metrics["figures"].items()
    ]


def interval_title(metrics: Mapping[str, Any]) -> str:
    """Return the title of the column of intervals, which are approximate for cross-validation.

    Examples
    --------
    >>> interval_title({"approximate": False}), interval_title({"approximate": True})
    ('95% interval', 'approx. interval')
    """
    return "approx. interval" if metrics.get("approximate") else "95% interval"


def metric_title(name: str, metrics: Mapping[str, Any]) -> str:
    """Return the name of a metric in tables.

    Examples
    --------
    >>> metric_title("recall", {"positive": "yes"}), metric_title("auc", {"positive": None})
    ('recall of “yes”', 'AUC, macro')
    """
    positive = metrics.get("positive")
    if name in ("precision", "recall"):
        return f"{name}, macro" if positive is None else f"{name} of “{positive}”"
    if name == "auc":
        return "AUC" if positive is not None else "AUC, macro"
    return _TITLES.get(name, name.replace("_", " "))


def _as_text(name: str, metric: Mapping[str, Any]) -> dict[str, str]:
    """Return a metric, its interval and its baseline as text."""
    value, baseline, low, high = (metric.get(key) for key in ("value", "baseline", "low", "high"))
    if name in IN_UNITS:
        numbers = [number for number in (value, baseline, low, high) if number is not None]
        texts = iter(format_quantities(*numbers))
        value, baseline, low, high = (
            None if number is None else next(texts) for number in (value, baseline, low, high)
        )
        interval = "" if low is None or high is None else f"{low} to {high}"
        return {"value": value or "–", "interval": interval, "baseline": baseline or "–"}
    if name in FRACTIONS:
        digits = 2 if min(value or 0.0, baseline or 0.0) > _NEARLY_ALL else 1
        scale, unit = 100, "%"
    else:
        digits, scale, unit = 3, 1, ""
    limits = (0.0, scale) if name in (*FRACTIONS, "auc") else _LIMITS.get(name, ())

    def text(number: float | None, unit: str = unit) -> str:
        return "–" if number is None else f"{format_fixed(scale * number, digits, limits)}{unit}"

    has_interval = low is not None and high is not None
    return {
        "value": text(value),
        "interval": f"{text(low, '')} to {text(high)}" if has_interval else "",
        "baseline": text(baseline),
    }


def baseline_warning(metrics: Mapping[str, Any]) -> str | None:
    """Return a warning if the model does not beat the baseline, otherwise None.

    The warning has up to two sentences: on the predictions and on the probabilities.

    Examples
    --------
    >>> baseline_warning({"better": False, "baseline": {"answer": "No"}, "figures": {}})
    'The predictions are no better than always predicting “No”.'
    """
    sentences = filter(None, (_prediction_warning(metrics), _probability_warning(metrics)))
    return " ".join(sentences) or None


def baseline_answer(metrics: Mapping[str, Any]) -> str:
    """Return what the baseline predicts: a quoted class, or the name of a number.

    Examples
    --------
    >>> baseline_answer({"baseline": {"answer": "No"}})
    '“No”'
    >>> baseline_answer({"baseline": {"answer": 152.1, "name": "the mean"}})
    'the mean'
    """
    baseline = metrics["baseline"]
    return str(baseline.get("name", f"“{baseline['answer']}”"))


def _probability_warning(metrics: Mapping[str, Any]) -> str | None:
    """Return a sentence if the log loss is above that of the class frequencies."""
    loss = metrics["figures"].get("log_loss") or {}
    value, baseline = loss.get("value"), loss.get("baseline")
    if value is None or baseline is None or round(value, 3) <= round(baseline, 3):
        return None
    return (
        f"The probabilities are worse than the class frequencies: the log loss is {value:.3f} "
        f"instead of {baseline:.3f}."
    )


def _prediction_warning(metrics: Mapping[str, Any]) -> str | None:
    """Return a sentence if the predictions are not better than a constant one."""
    if metrics["better"]:
        return None
    answer = baseline_answer(metrics)
    if metrics["better"] is None:
        return f"The predictions are not significantly better than always predicting {answer}."
    text = f"The predictions are no better than always predicting {answer}"
    auc = metrics["figures"].get("auc")
    if auc is None or auc["low"] is None or auc["low"] <= auc["baseline"]:
        return f"{text}."
    return f"{text}, although the scores do rank the rows (AUC {auc['value']:.2f})."
