"""The first lines of the page: whether the model beats a constant prediction, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everystump._evaluation import baseline_answer, baseline_warning, metric_rows
from everystump._text import format_percent

_MAX_FIGURES = 4
# The most important metrics first; a quantile is judged by its own ones.
_ORDER = (
    "accuracy",
    "rows_below",
    "pinball_loss",
    "r2",
    "rmse",
    "mae",
    "auc",
    "log_loss",
    "recall",
    "balanced_accuracy",
    "precision",
)


def key_figures(rows: Mapping[str, dict[str, str]], interval: str) -> list[dict[str, str]]:
    """Return the most important metrics as text.

    Parameters
    ----------
    rows : dict
        The rows of the table of metrics, by the names of the metrics.
    interval : str
        The title of the intervals.

    Returns
    -------
    list of dict
        ``name``, ``value``, ``interval`` (with its title, empty if there is none) and ``baseline``.
    """
    shown = [rows[name] for name in _ORDER if name in rows][:_MAX_FIGURES]
    return [
        row | {"interval": f"{interval} {row['interval']}" if row["interval"] else ""}
        for row in shown
    ]


def headline(found: Mapping[str, Any], unit: Any = None) -> dict[str, Any]:
    """Return whether a model beats a constant prediction, as sentences.

    Parameters
    ----------
    found : dict
        The metrics of a classifier or regressor; see `everystump._evaluation.evaluate`.
    unit : str, optional
        The unit of the target of a regressor.

    Returns
    -------
    dict
        ``text``; ``is_warning``: whether it does not.

    Examples
    --------
    >>> accuracy = {"value": 0.8, "baseline": 0.7, "low": 0.75, "high": 0.84}
    >>> found = {"figures": {"accuracy": accuracy}, "baseline": {"answer": "no"}, "better": True}
    >>> headline(found)["text"]
    '80% of the rows are classified correctly; always predicting “no” would be correct for 70%.'
    """
    warning = baseline_warning(found)
    is_class = "accuracy" in found["figures"]
    sentence = _accuracy(found) if is_class else _errors(found, unit)
    return {
        "text": f"{sentence} {warning}" if warning else sentence,
        "is_warning": warning is not None,
    }


def _accuracy(found: Mapping[str, Any]) -> str:
    accuracy = found["figures"]["accuracy"]
    value, baseline = (format_percent(accuracy[key]) for key in ("value", "baseline"))
    return (
        f"{value} of the rows are classified correctly; always predicting "
        f"{baseline_answer(found)} would be correct for {baseline}."
    )


def _errors(found: Mapping[str, Any], unit: Any) -> str:
    shown = dict(zip(found["figures"], metric_rows(found), strict=True))
    name = "pinball_loss" if "pinball_loss" in shown else "rmse"
    what = "mean pinball loss" if name == "pinball_loss" else "root mean squared error (RMSE)"
    value, baseline = (with_unit(shown[name][key], unit) for key in ("value", "baseline"))
    return (
        f"The {what} is {value}; always predicting {baseline_answer(found)} would give {baseline}."
    )


def with_unit(text: str, unit: Any) -> str:
    """Return a number with its unit, if it has one.

    Examples
    --------
    >>> with_unit("12.5", "mg/dl"), with_unit("12.5", None)
    ('12.5 mg/dl', '12.5')
    """
    return text if unit is None else f"{text} {unit}"
