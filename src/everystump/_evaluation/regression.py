"""R², root mean squared error and mean absolute error, each with a baseline.

The baseline predicts the mean target of the training rows for every row or, for a model of a
quantile such as the median, that quantile.  If rows have weights, all means are weighted.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.stats import t as student_t

from everystump._evaluation.intervals import (
    NORMAL,
    count_hits,
    effective_size,
    mean_interval,
    standard_error,
    wilson,
)
from everystump._evaluation.metrics import SIGNIFICANCE, metric, without_intervals
from everystump._tables.labels import check_numbers

MEDIAN = 0.5


def evaluate_numbers(
    actual: np.ndarray,
    predicted: np.ndarray,
    baseline: float | None = None,
    *,
    n_folds: int = 1,
    quantile: float | None = None,
    weight: np.ndarray | None = None,
) -> dict[str, Any]:
    """Return the metrics of a regression as plain data.

    Parameters
    ----------
    actual, predicted : ndarray of shape (n_rows,)
        Targets and predictions.
    baseline : float, optional
        The mean target of the training rows, or their quantile; that of ``actual`` by default.
    n_folds : int, default=1
        The number of folds that the rows come from.
    quantile : float, optional
        The quantile that the model predicts; the mean by default.
    weight : ndarray of shape (n_rows,), optional
        Sample weights.

    Returns
    -------
    dict
        ``n_rows``; ``baseline``: its ``answer``, its ``name`` such as "the mean", and the rows it
        was computed ``from``; ``better``: whether predictions beat it in squared error, or in the
        pinball loss of a quantile (True, False, or None if the difference is not significant);
        ``approximate``: whether the rows are of several folds; ``weighted``: whether rows have
        weights; ``figures``: for ``r2``, ``rmse`` and ``mae`` the ``value``, ``low`` and ``high``
        (95% confidence limits, None where there is no valid interval), ``interval`` (the method)
        and ``baseline``; for a quantile other than the median also ``pinball_loss``, and
        ``rows_below``, the fraction of rows that are not above their prediction.

    Examples
    --------
    >>> found = evaluate_numbers(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    >>> found["figures"]["r2"]["value"], round(found["figures"]["mae"]["value"], 3)
    (0.5, 0.333)
    """
    answer = constant_baseline(actual, quantile, weight) if baseline is None else float(baseline)
    mean = partial(np.average, weights=weight)
    squared, absolute = (actual - predicted) ** 2, np.abs(actual - predicted)
    constant = (actual - answer) ** 2
    spread = (actual - mean(actual)) ** 2
    mse, limits = float(mean(squared)), mean_interval(squared, weight)
    rmse_limits = None if limits is None else (max(limits[0], 0.0) ** 0.5, limits[1] ** 0.5)
    figures = {
        "r2": _r2(squared, constant, spread, weight),
        "rmse": metric(mse**0.5, float(mean(constant)) ** 0.5, rmse_limits, NORMAL),
        "mae": _mean_metric(absolute, np.abs(actual - answer), weight),
    }
    gains = constant - squared
    if quantile is not None:
        pinball, flat = (pinball_losses(actual, p, quantile) for p in (predicted, answer))
        gains = flat - pinball
        if quantile != MEDIAN:
            figures = {
                "rows_below": _rows_below(actual, predicted, answer, weight),
                "pinball_loss": _mean_metric(pinball, flat, weight),
                **figures,
            }
    return {
        "n_rows": len(actual),
        "baseline": {
            "answer": answer,
            "name": baseline_name(quantile),
            "from": "these rows" if baseline is None else "training rows",
        },
        "better": _better(gains, weight),
        "approximate": n_folds > 1,
        "weighted": weight is not None,
        "figures": {name: found for name, found in figures.items() if found is not None},
    }


def constant_baseline(
    y: np.ndarray, quantile: float | None = None, weight: np.ndarray | None = None
) -> float:
    """Return the constant that a model is compared with: the mean of targets, or a quantile."""
    if quantile is None:
        return float(np.average(y, weights=weight))
    if weight is None:
        return float(np.quantile(y, quantile))
    return float(np.quantile(y, quantile, weights=weight, method="inverted_cdf"))


def baseline_name(quantile: float | None) -> str:
    """Return the name of the baseline.

    Examples
    --------
    >>> baseline_name(None), baseline_name(0.5), baseline_name(0.9)
    ('the mean', 'the median', 'the 0.9 quantile')
    """
    if quantile is None:
        return "the mean"
    return "the median" if quantile == MEDIAN else f"the {quantile:g} quantile"


def pinball_losses(actual: np.ndarray, predicted: Any, quantile: float) -> np.ndarray:
    """Return the pinball loss of each row.

    Examples
    --------
    >>> pinball_losses(np.array([1.0, 3.0]), 2.0, 0.9).round(3).tolist()
    [0.1, 0.9]
    """
    residual = actual - predicted
    return np.maximum(quantile * residual, (quantile - 1.0) * residual)


def _mean_metric(
    losses: np.ndarray, baseline: np.ndarray, weight: np.ndarray | None
) -> dict[str, Any]:
    """Return the mean of the losses of rows, with limits, and that of the baseline."""
    value, own = (float(np.average(part, weights=weight)) for part in (losses, baseline))
    return metric(value, own, mean_interval(losses, weight), NORMAL)


def _rows_below(
    actual: np.ndarray, predicted: np.ndarray, answer: float, weight: np.ndarray | None
) -> dict[str, Any]:
    n_below, n = count_hits(actual <= predicted, weight)
    baseline = float(np.average(actual <= answer, weights=weight))
    return metric(n_below / n, baseline, wilson(n_below, n), "Wilson")


def evaluate_regressor(
    model: Any,
    X: Any,
    y: Any,
    *,
    baseline: float | None = None,
    quantile: float | None = None,
    unseen: bool = True,
) -> dict[str, Any]:
    """Return the metrics of a fitted regressor; without intervals if the rows are not ``unseen``.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> X, y = [[0], [1], [2]], [1.0, 2.0, 3.0]
    >>> evaluate_regressor(DummyRegressor().fit(X, y), X, y)["better"]
    False
    """
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    actual = check_numbers(y, len(predicted))
    found = evaluate_numbers(actual, predicted, baseline, quantile=quantile)
    return found if unseen else found | {"figures": without_intervals(found["figures"])}


def _r2(
    squared: np.ndarray, constant: np.ndarray, spread: np.ndarray, weight: np.ndarray | None
) -> dict[str, Any] | None:
    """Return R², with limits from its linearization; None if all targets are equal."""
    total = float(np.average(spread, weights=weight))
    if total == 0.0:
        return None
    ratio = float(np.average(squared, weights=weight)) / total
    limits = mean_interval(1.0 - ratio - (squared - ratio * spread) / total, weight)
    return metric(
        1.0 - ratio,
        1.0 - float(np.average(constant, weights=weight)) / total,
        None if limits is None else (limits[0], min(limits[1], 1.0)),
        NORMAL,
    )


def _better(gains: np.ndarray, weight: np.ndarray | None) -> bool | None:
    """Return whether gains are positive on average; None if they are, but not significantly."""
    gain = float(np.average(gains, weights=weight))
    if gain <= 0.0:
        return False
    if len(gains) < 2 or gains.std() == 0.0:
        return None
    n = len(gains) if weight is None else effective_size(weight)
    p = student_t.sf(gain / standard_error(gains, weight), n - 1)
    return True if p <= SIGNIFICANCE else None
