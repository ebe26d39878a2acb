"""Figures of merit as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SHARES = ("accuracy", "balanced_accuracy", "precision", "recall")
_NEARLY_ALL = 0.99  # shares above this are told with one digit more


def figure_rows(found: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the figures of `evaluate` in text: ``name``, ``value``, ``interval``, ``baseline``.

    What is not defined, such as the precision of a class that is never predicted, is a dash.

    Examples
    --------
    >>> auc = {"value": 0.8, "low": 0.7, "high": 0.87, "baseline": 0.5}
    >>> figure_rows({"figures": {"auc": auc}, "positive": "yes"})
    [{'name': 'AUC', 'value': '0.800', 'interval': '0.700 to 0.870', 'baseline': '0.500'}]
    """
    rows = []
    for name, one in found["figures"].items():
        low, high = one.get("low"), one.get("high")
        limits = "" if low is None or high is None else _interval(name, low, high)
        value, baseline = (_shown(name, one.get(key)) for key in ("value", "baseline"))
        row = {"name": _title(name, found), "value": value, "interval": limits}
        rows.append(row | {"baseline": baseline})
    return rows


def _title(name: str, found: Mapping[str, Any]) -> str:
    positive = found.get("positive")
    if name in ("precision", "recall"):
        return f"{name}, macro" if positive is None else f"{name} of “{positive}”"
    if name == "auc":
        return "AUC" if positive is not None else "AUC, macro"
    return {"log_loss": "log-loss"}.get(name, name.replace("_", " "))


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{_percentage(value)} %" if name in _SHARES else f"{value:.3f}"


def _percentage(share: float) -> str:
    return f"{100 * share:.{2 if _NEARLY_ALL < share < 1 else 1}f}"


def _interval(name: str, low: float, high: float) -> str:
    if name in _SHARES:
        return f"{_percentage(low)} to {_percentage(high)} %"
    return f"{low:.3f} to {high:.3f}"


def verdict(found: Mapping[str, Any]) -> str | None:
    """Return a sentence if the predictions are no better than one and the same answer.

    Examples
    --------
    >>> verdict({"better": False, "baseline": {"answer": "No"}, "figures": {}})
    'Its predictions are no better than always answering “No”.'
    """
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
