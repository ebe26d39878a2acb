"""The comparison of two models as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everystump._evaluation.formatting import (
    FRACTIONS,
    IN_UNITS,
    MetricStyle,
    metric_title,
    quantity_texts,
)
from everystump._text import format_fixed, pluralize

_MINUS = "−"


def comparison_rows(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figures of `compare_classifiers` or `compare_regressors` as text.

    Returns
    -------
    list of dict
        ``name``; ``values`` and ``intervals`` of both models; ``difference`` and its ``interval``,
        in percentage points for fractions; ``p``; ``test``; ``better``, as in the figures.

    Examples
    --------
    >>> figure = {"values": [0.7, 0.75], "intervals": [None, None], "difference": 0.05}
    >>> figure |= {"low": 0.01, "high": 0.09, "p": 0.0004, "test": "McNemar", "better": 1}
    >>> (row,) = comparison_rows({"figures": {"accuracy": figure}})
    >>> row["values"], row["difference"], row["interval"], row["p"]
    (['70.0%', '75.0%'], '+5.0 pts', '+1.0 to +9.0', '<0.001')
    """
    return [
        {"name": metric_title(name, found), **_texts(name, figure)}
        for name, figure in found["figures"].items()
    ]


def format_p(p: float | None) -> str:
    """Return a p-value with three decimal places at most.

    Examples
    --------
    >>> format_p(0.04567), format_p(0.31), format_p(1e-9), format_p(None)
    ('0.046', '0.31', '<0.001', '')
    """
    if p is None:
        return ""
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def verdict(found: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return which model is significantly better, and in which metrics.

    If there is a ``caveat``, the metrics do not tell, and it is returned.

    Examples
    --------
    >>> figures = {"auc": {"better": 1, "p": 0.01}, "accuracy": {"better": None, "p": 0.3}}
    >>> verdict({"figures": figures, "n_rows": 500, "positive": "yes"}, ["a", "b"])
    'b is significantly better: AUC (p = 0.010).'
    """
    if "caveat" in found:
        return str(found["caveat"])
    figures = found["figures"]
    if all(figure["p"] is None for figure in figures.values()):
        return ""
    sentences = []
    for k, name in enumerate(names):
        won = [key for key, figure in figures.items() if figure["better"] == k]
        texts = [_won(metric_title(key, found), figures[key]["p"]) for key in won]
        if texts:
            sentences.append(f"{name} is significantly better: {', '.join(texts)}.")
    rows = pluralize(found["n_rows"], "row")
    return " ".join(sentences) or f"No metric differs significantly on these {rows}."


def _won(title: str, p: float) -> str:
    text = format_p(p)
    return f"{title} (p {'< ' + text[1:] if text.startswith('<') else '= ' + text})"


def _texts(name: str, figure: Mapping[str, Any]) -> dict[str, Any]:
    """Return a figure as text."""
    ends = [end for limits in figure["intervals"] for end in (limits or (None, None))]
    changes = [figure["difference"], figure["low"], figure["high"]]
    if name in IN_UNITS:
        texts = quantity_texts([*figure["values"], *ends, *map(_size, changes)])
        shown, sizes = texts[:-3], texts[-3:]
        unit = change_unit = ""
    else:
        style = MetricStyle.of(name, [x for x in figure["values"] if x is not None])
        shown = [None if x is None else style.text(x) for x in (*figure["values"], *ends)]
        sizes = [
            None if x is None else format_fixed(style.scale * abs(x), style.digits) for x in changes
        ]
        unit, change_unit = style.unit, " pts" if name in FRACTIONS else ""
    first, second, *limits = shown
    difference, low, high = (_signed(*pair) for pair in zip(changes, sizes, strict=True))
    return {
        "values": [_with_unit(text, unit) for text in (first, second)],
        "intervals": [_range(limits[k], limits[k + 1], unit) for k in (0, 2)],
        "difference": _with_unit(difference, change_unit),
        "interval": _range(low, high, ""),
        "p": format_p(figure["p"]),
        "test": figure["test"],
        "better": figure["better"],
    }


def _size(x: float | None) -> float | None:
    return None if x is None else abs(x)


def _signed(x: float | None, size: str | None) -> str | None:
    """Return the text of a size with the sign of a number, none if it shows as 0."""
    if x is None or size is None:
        return None
    is_zero = not size.strip("0.,")
    return size if is_zero else f"{_MINUS if x < 0 else '+'}{size}"


def _with_unit(text: str | None, unit: str) -> str:
    return "–" if text is None else f"{text}{unit}"


def _range(low: str | None, high: str | None, unit: str) -> str:
    return "" if low is None or high is None else f"{low} to {high}{unit}"
