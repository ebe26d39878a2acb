"""Two models on the same rows: their metrics, the differences, and paired tests of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everystump._evaluation.labeled_predictions import LabeledPredictions
from everystump._evaluation.metrics import SIGNIFICANCE, evaluate
from everystump._evaluation.paired_tests import (
    PairedTest,
    compare_areas,
    compare_class_means,
    compare_means,
    compare_proportions,
    compare_r2,
    compare_root_means,
    mcnemar,
)
from everystump._evaluation.regression import evaluate_numbers, pinball_losses

_LOSSES = ("log_loss", "rmse", "mae", "pinball_loss")  # the smaller, the better
_NEUTRAL = ("rows_below",)  # neither


def compare_classifiers(
    first: LabeledPredictions,
    second: LabeledPredictions,
    classes: Sequence[Any],
    positive: int | None = None,
    *,
    unseen: bool = True,
) -> dict[str, Any]:
    """Return the metrics of two classifiers on the same rows as plain data.

    Parameters
    ----------
    first, second : LabeledPredictions
        Their predictions, with the same actual classes.
    classes : sequence
        Labels of the classes.
    positive : int, optional
        Index of the positive class, if there are two classes.
    unseen : bool, default=True
        Whether no row was used for training; otherwise there are neither intervals nor tests.

    Returns
    -------
    dict
        ``n_rows``; ``positive``; ``figures``: for each metric ``values`` and ``intervals`` of both
        models, None where there is none, the ``difference`` second minus first, its 95% limits
        ``low`` and ``high``, the p-value ``p`` of ``test``, and ``better``: 0 or 1 if the
        difference is significant, otherwise None; ``agreement``: the number of rows that ``both``,
        only the ``first``, only the ``second`` and ``neither`` predict correctly, of those with
        the ``same`` prediction, and ``exact_p`` of McNemar's test.

    Examples
    --------
    >>> actual = np.array([0, 0, 1, 1])
    >>> rows = [
    ...     LabeledPredictions(actual, np.array(predicted), np.zeros(4), None, (slice(0, 4),))
    ...     for predicted in ([0, 0, 0, 1], [0, 0, 1, 1])
    ... ]
    >>> found = compare_classifiers(*rows, ["no", "yes"], 1)
    >>> found["figures"]["accuracy"]["difference"], found["agreement"]["second"]
    (0.25, 1)
    """
    actual = first.actual
    metrics = [evaluate(rows, classes, positive) for rows in (first, second)]
    right = [rows.predicted == actual for rows in (first, second)]
    tests = {
        "accuracy": compare_proportions(*right),
        "balanced_accuracy": compare_class_means(actual, *right),
        "auc": compare_areas(actual, first.ranking, second.ranking),
    }
    losses = first.log_losses, second.log_losses
    if losses[0] is not None and losses[1] is not None:
        tests["log_loss"] = compare_means(losses[0], losses[1])
    if positive is not None:
        is_positive = actual == positive
        tests["recall"] = compare_proportions(*(part[is_positive] for part in right))
    n_first, n_second = int(np.sum(right[0] & ~right[1])), int(np.sum(right[1] & ~right[0]))
    agreement = {
        "both": int(np.sum(right[0] & right[1])),
        "first": n_first,
        "second": n_second,
        "neither": int(np.sum(~right[0] & ~right[1])),
        "same": int(np.sum(first.predicted == second.predicted)),
        "exact_p": mcnemar(n_first, n_second)[1] if unseen else None,
    }
    return {
        "n_rows": len(actual),
        "positive": metrics[0]["positive"],
        "figures": _figures(metrics, tests, unseen),
        "agreement": agreement,
    }


def compare_regressors(
    actual: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    *,
    quantile: float | None = None,
    unseen: bool = True,
) -> dict[str, Any]:
    """Return the metrics of two regressors on the same rows as plain data.

    Parameters
    ----------
    actual, first, second : ndarray of shape (n_rows,)
        Targets and predictions.
    quantile : float, optional
        The quantile that both models predict; the mean by default.
    unseen : bool, default=True
        Whether no row was used for training; otherwise there are neither intervals nor tests.

    Returns
    -------
    dict
        ``n_rows`` and ``figures``, as in `compare_classifiers`; ``closer``: the number of rows
        whose prediction is closer to the target by the ``first`` and by the ``second`` model, and
        ``exact_p`` of a sign test.

    Examples
    --------
    >>> actual = np.arange(40.0)
    >>> found = compare_regressors(actual, actual + 2 * (-1) ** actual, actual + (-1) ** actual)
    >>> found["figures"]["mae"]["difference"], found["figures"]["mae"]["better"]
    (-1.0, 1)
    """
    both = (first, second)
    metrics = [evaluate_numbers(actual, predicted, quantile=quantile) for predicted in both]
    squares = [(actual - predicted) ** 2 for predicted in both]
    errors = [np.abs(actual - predicted) for predicted in both]
    tests = {
        "r2": compare_r2((actual - actual.mean()) ** 2, *squares),
        "rmse": compare_root_means(*squares),
        "mae": compare_means(*errors),
    }
    if quantile is not None:
        losses = (pinball_losses(actual, predicted, quantile) for predicted in both)
        tests["pinball_loss"] = compare_means(*losses)
    n_first, n_second = int(np.sum(errors[0] < errors[1])), int(np.sum(errors[1] < errors[0]))
    return {
        "n_rows": len(actual),
        "figures": _figures(metrics, tests, unseen),
        "closer": {
            "first": n_first,
            "second": n_second,
            "exact_p": mcnemar(n_first, n_second)[1] if unseen else None,
        },
    }


def _figures(
    metrics: Sequence[Mapping[str, Any]], tests: Mapping[str, PairedTest], unseen: bool
) -> dict[str, dict[str, Any]]:
    """Return the metrics that at least one model has."""
    first, second = (record["figures"] for record in metrics)
    names = first if len(first) >= len(second) else second
    figures = {}
    for name in names:
        both = [own.get(name, {}) for own in (first, second)]
        values = [own.get("value") for own in both]
        test = tests.get(name, PairedTest()) if unseen and None not in values else PairedTest()
        limits = [
            [own["low"], own["high"]] if unseen and own.get("low") is not None else None
            for own in both
        ]
        difference = None if None in values else values[1] - values[0]
        figures[name] = {
            "values": values,
            "intervals": limits,
            "difference": difference,
            **test._asdict(),
            "better": _better(name, difference, test.p),
        }
    return figures


def _better(name: str, difference: float | None, p: float | None) -> int | None:
    """Return which model is significantly better, None if neither is."""
    if not difference or p is None or p > SIGNIFICANCE or name in _NEUTRAL:
        return None
    return int((difference > 0) != (name in _LOSSES))
