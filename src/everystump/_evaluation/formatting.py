"""Metrics as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from everystump._text import format_fixed, format_quantities

FRACTIONS = ("accuracy", "balanced_accuracy", "precision", "recall", "rows_below")
IN_UNITS = ("rmse", "mae", "pinball_loss")  # in the units of the target
_TITLES = {"log_loss": "log loss", "r2": "R²", "rmse": "RMSE", "mae": "MAE"}
_LIMITS = {"r2": (1.0,), "log_loss": (0.0,)}  # values that are shown only if they are exact
_NEARLY_ALL = 0.99  # fractions that are all above this are shown with one more digit


_SCORER_TITLES = {
    "roc_auc": "AUC",
    "roc_auc_ovr": "AUC",
    "f1": "F1",
    "f1_macro": "macro F1",
    "f1_weighted": "weighted F1",
    "precision_macro": "precision",
    "recall_macro": "recall",
    "matthews_corrcoef": "Matthews correlation coefficient",
    "r2": "R²",
    "neg_brier_score": "Brier score",
    "neg_mean_pinball_loss": "pinball loss",
    "neg_mean_poisson_deviance": "Poisson deviance",
    "neg_mean_gamma_deviance": "gamma deviance",
}


def scorer_title(scoring: str) -> str:
    """Return the name of a scorer of scikit-learn in sentences.

    Examples
    --------
    >>> scorer_title("neg_log_loss"), scorer_title("roc_auc"), scorer_title("accuracy")
    ('log loss', 'AUC', 'accuracy')
    """
    return _SCORER_TITLES.get(scoring, scoring.removeprefix("neg_").replace("_", " "))


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


class MetricStyle(NamedTuple):
    """How the values of a metric without units are written."""

    digits: int
    scale: int
    unit: str
    limits: tuple[float, ...]  # after scaling: values that are shown only if they are exact

    @classmethod
    def of(cls, name: str, values: Iterable[float | None]) -> MetricStyle:
        """Return the style of a metric, given the values that are compared.

        Examples
        --------
        >>> MetricStyle.of("accuracy", [0.9996, 0.9]).text(0.9996)
        '>99.9'
        """
        if name in FRACTIONS:
            nearly_all = min((value or 0.0 for value in values), default=0.0) > _NEARLY_ALL
            return cls(2 if nearly_all else 1, 100, "%", (0.0, 100.0))
        return cls(3, 1, "", (0.0, 1.0) if name == "auc" else _LIMITS.get(name, ()))

    def text(self, value: float) -> str:
        """Return a value without its unit."""
        return format_fixed(self.scale * value, self.digits, self.limits)


def quantity_texts(numbers: Sequence[float | None]) -> list[str | None]:
    """Return numbers in the units of the target, with the same number of decimal places.

    Examples
    --------
    >>> quantity_texts([12.345, None, 0.5])
    ['12.35', None, '0.50']
    """
    texts = iter(format_quantities(*(x for x in numbers if x is not None)))
    return [None if x is None else next(texts) for x in numbers]


def _as_text(name: str, metric: Mapping[str, Any]) -> dict[str, str]:
    """Return a metric, its interval and its baseline as text."""
    value, baseline, low, high = (metric.get(key) for key in ("value", "baseline", "low", "high"))
    if name in IN_UNITS:
        value, baseline, low, high = quantity_texts((value, baseline, low, high))
        interval = "" if low is None or high is None else f"{low} to {high}"
        return {"value": value or "–", "interval": interval, "baseline": baseline or "–"}
    style = MetricStyle.of(name, (value, baseline))

    def text(number: float | None, unit: str = style.unit) -> str:
        return "–" if number is None else f"{style.text(number)}{unit}"

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
