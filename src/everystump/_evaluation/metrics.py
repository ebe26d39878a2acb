"""Accuracy, balanced accuracy, AUC, log loss, precision and recall, each with a baseline.

The baseline predicts the most frequent class of the training rows for every row, and their class
frequencies as probabilities.  If rows have weights, all metrics and frequencies are weighted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest, norm
from sklearn.metrics import accuracy_score, log_loss, precision_score, recall_score, roc_auc_score

from everystump._evaluation.intervals import (
    NORMAL,
    Interval,
    count_hits,
    delong,
    mean_interval,
    mean_of_proportions,
    standard_error,
    wilson,
)
from everystump._evaluation.labeled_predictions import LabeledPredictions, positive_index
from everystump._sklearn_compat import allow_many_classes

SIGNIFICANCE = 0.05


@allow_many_classes()
def evaluate(
    rows: LabeledPredictions,
    classes: Sequence[Any],
    positive: int | None = None,
    counts: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Return metrics as plain data.

    Parameters
    ----------
    rows : LabeledPredictions
        Actual and predicted classes.
    classes : sequence
        Labels of the classes.
    positive : int, optional
        Index of the positive class, if there are two classes.
    counts : sequence of float, optional
        Number of training rows of each class, or their total weight; by default, that of ``rows``.

    Returns
    -------
    dict
        ``n_rows``, ``n_wrong``; ``baseline``: its ``answer``, and the rows it was computed
        ``from``; ``better``: whether the predictions beat it (True, False, or None if the
        difference is not significant); ``approximate``: whether the rows are of several folds,
        which intervals and ``better`` treat as independent although their models share training
        rows; ``weighted``: whether rows have weights; ``figures``: for each metric ``value``,
        ``low`` and ``high`` (95% confidence limits, None where there is no valid interval),
        ``interval`` (the method) and ``baseline``; ``classes``: precision and recall of each class.

    Examples
    --------
    >>> actual, predicted = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> rows = LabeledPredictions(actual, predicted, predicted - 0.5, None, (slice(0, 4),))
    >>> metrics = evaluate(rows, ["no", "yes"], positive=1)
    >>> metrics["figures"]["accuracy"]["value"], metrics["figures"]["accuracy"]["baseline"]
    (0.75, 0.75)
    >>> metrics["baseline"]["answer"], metrics["better"]
    ('no', False)
    """
    n_classes = len(classes)
    own = np.bincount(rows.actual, rows.weight, minlength=n_classes)
    class_counts = own if counts is None else counts
    prior = np.asarray(class_counts, dtype=np.float64) / np.sum(class_counts)
    answer = int(np.argmax(prior))
    constant = np.full(len(rows.actual), answer)
    by_class = [_class_metrics(rows, rows.predicted, k) for k in range(n_classes)]
    metrics = {
        "accuracy": _accuracy(rows, constant),
        "balanced_accuracy": _balanced_accuracy(rows, constant, by_class),
        "auc": _auc(rows),
        "log_loss": _log_loss(rows, prior),
    }
    metrics |= (
        _positive_metrics(rows, constant, by_class, positive)
        if positive is not None
        else {"precision": _macro_precision(rows, n_classes)}
    )
    return {
        "n_rows": len(rows.actual),
        "n_wrong": int(np.sum(rows.actual != rows.predicted)),
        "baseline": {
            "answer": classes[answer],
            "from": "these rows" if counts is None else "training rows",
        },
        "better": _better(rows, constant),
        "approximate": len(rows.folds) > 1,
        "weighted": rows.weight is not None,
        "positive": None if positive is None else classes[positive],
        "figures": {name: found for name, found in metrics.items() if found is not None},
        "classes": [
            {"class": label} | metrics for label, metrics in zip(classes, by_class, strict=True)
        ],
    }


def evaluate_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    positive: Any = None,
    counts: Sequence[int] | None = None,
    unseen: bool = True,
) -> dict[str, Any]:
    """Return the metrics of a fitted classifier on labeled rows; see `evaluate`.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : frame or array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels.
    positive : object, optional
        Label of the positive class, if there are two classes; the second one by default.
    counts : sequence of int, optional
        Number of training rows of each class.
    unseen : bool, default=True
        Whether the samples were not used for training; otherwise there are no intervals.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = [[0], [1], [2]], ["no", "yes", "yes"]
    >>> metrics = evaluate_model(DummyClassifier().fit(X, y), X, y, unseen=False)
    >>> metrics["n_wrong"], metrics["positive"], metrics["figures"]["accuracy"]["low"]
    (1, 'yes', None)
    """
    labels = model.classes_.tolist()
    index = positive_index(labels, positive)
    metrics = evaluate(LabeledPredictions.from_model(model, X, y), labels, index, counts)
    if unseen:
        return metrics
    classes = [
        record | without_intervals({name: record[name] for name in ("precision", "recall")})
        for record in metrics["classes"]
    ]
    return metrics | {"figures": without_intervals(metrics["figures"]), "classes": classes}


def without_intervals(figures: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the records of metrics without intervals, which would be invalid on training rows."""
    none = {"low": None, "high": None, "interval": None}
    return {name: found | none for name, found in figures.items()}


def metric(
    value: float | None, baseline: float | None, limits: Interval | None = None, method: str = ""
) -> dict[str, Any]:
    """Return the record of a metric: its value, limits and baseline."""
    low, high = limits or (None, None)
    return {
        "value": None if value is None else float(value),
        "low": low,
        "high": high,
        "interval": method if limits else None,
        "baseline": None if baseline is None else float(baseline),
    }


def _accuracy(rows: LabeledPredictions, constant: np.ndarray) -> dict[str, Any]:
    value, baseline = (
        accuracy_score(rows.actual, predicted, sample_weight=rows.weight)
        for predicted in (rows.predicted, constant)
    )
    limits = wilson(*count_hits(rows.actual == rows.predicted, rows.weight))
    return metric(value, baseline, limits, "Wilson")


def _balanced_accuracy(
    rows: LabeledPredictions, constant: np.ndarray, by_class: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the mean recall of the classes that occur."""
    present = np.unique(rows.actual)
    score = {"labels": present, "average": "macro", "zero_division": 0.0}
    score |= {"sample_weight": rows.weight}
    recalls = [by_class[k]["recall"] for k in present]
    limits = mean_of_proportions(
        [recall["n_hits"] for recall in recalls], [recall["n"] for recall in recalls]
    )
    return metric(
        recall_score(rows.actual, rows.predicted, **score),
        recall_score(rows.actual, constant, **score),
        limits,
        "square-and-add of Wilson's",
    )


def _auc(rows: LabeledPredictions) -> dict[str, Any] | None:
    """Return the area under the ROC curve, for several classes the mean of one-vs-rest areas.

    Scores of different models are not comparable, so folds are averaged.
    """
    areas = [area for fold in rows.folds if (area := _area(rows, fold)) is not None]
    if not areas:
        return None
    is_single = len(rows.folds) == 1
    limits = delong(rows.actual, rows.ranking, rows.weight) if is_single else None
    return metric(float(np.mean(areas)), 0.5, limits, "DeLong, logit scale")


def _area(rows: LabeledPredictions, fold: slice) -> float | None:
    """Return the area of a fold, None if its rows are all of one class."""
    actual = rows.actual[fold]
    present = np.unique(actual)
    if len(present) < 2:
        return None
    weight = None if rows.weight is None else rows.weight[fold]
    if rows.scores.ndim == 1:
        return float(roc_auc_score(actual == 1, rows.scores[fold], sample_weight=weight))
    by_class = rows.ranking[fold]
    areas = [roc_auc_score(actual == k, by_class[:, k], sample_weight=weight) for k in present]
    return float(np.mean(areas))


def _log_loss(rows: LabeledPredictions, prior: np.ndarray) -> dict[str, Any] | None:
    losses = rows.log_losses
    if losses is None:
        return None
    limits = mean_interval(losses, rows.weight)
    options = {"labels": np.arange(len(prior)), "sample_weight": rows.weight}
    constant = np.tile(prior, (len(rows.actual), 1))
    return metric(
        log_loss(rows.actual, rows.probabilities, **options),
        log_loss(rows.actual, constant, **options),
        None if limits is None else (max(limits[0], 0.0), limits[1]),
        NORMAL,
    )


def _positive_metrics(
    rows: LabeledPredictions, constant: np.ndarray, by_class: list[dict[str, Any]], positive: int
) -> dict[str, Any]:
    """Return precision and recall of the positive class."""
    baseline = _class_metrics(rows, constant, positive)
    model = by_class[positive]
    return {
        name: {key: model[name][key] for key in ("value", "low", "high", "interval")}
        | {"baseline": baseline[name]["value"]}
        for name in ("precision", "recall")
    }


def _macro_precision(rows: LabeledPredictions, n_classes: int) -> dict[str, Any]:
    """Return the mean precision of the classes, 0 for a class that is never predicted.

    That of a constant prediction, which never predicts the other classes, is undefined.
    """
    score = {"labels": np.arange(n_classes), "average": "macro", "zero_division": 0.0}
    score |= {"sample_weight": rows.weight}
    return metric(precision_score(rows.actual, rows.predicted, **score), None)


def _class_metrics(rows: LabeledPredictions, predicted: np.ndarray, k: int) -> dict[str, Any]:
    """Return precision and recall of a class, None where they are undefined."""
    is_hit = (rows.actual == k) & (predicted == k)
    parts = {"precision": predicted == k, "recall": rows.actual == k}
    return {
        name: _proportion(is_hit[part], None if rows.weight is None else rows.weight[part])
        for name, part in parts.items()
    }


def _proportion(is_hit: np.ndarray, weight: np.ndarray | None) -> dict[str, Any]:
    n_hits, n = count_hits(is_hit, weight)
    limits = wilson(n_hits, n)
    low, high = limits or (None, None)
    found = {"value": n_hits / n if n else None, "low": low, "high": high}
    return found | {"interval": "Wilson" if limits else None, "n_hits": n_hits, "n": n}


def _better(rows: LabeledPredictions, constant: np.ndarray) -> bool | None:
    """Return whether predictions are correct more often than a constant one.

    None if they are, but not significantly at the 5% level: by an exact one-sided sign test, or if
    rows have weights by the normal approximation.
    """
    correct, baseline = rows.actual == rows.predicted, rows.actual == constant
    if rows.weight is not None:
        gains = correct.astype(float) - baseline
        gain, error = np.average(gains, weights=rows.weight), standard_error(gains, rows.weight)
        if gain <= 0.0:
            return False
        return True if norm.sf(gain / error) <= SIGNIFICANCE else None
    n_better, n_worse = int(np.sum(correct & ~baseline)), int(np.sum(~correct & baseline))
    if n_better <= n_worse:
        return False
    p = binomtest(n_better, n_better + n_worse, 0.5, alternative="greater").pvalue
    return True if p <= SIGNIFICANCE else None
