"""Accuracy, balanced accuracy, AUC, log-loss, precision and recall, each beside a baseline.

The baseline gives every row one and the same answer: the most frequent class of the training rows,
and their shares of the classes for probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, log_loss, precision_score, recall_score, roc_auc_score

from everystump._evaluation.intervals import Interval, delong, mean_of_proportions, wilson
from everystump._evaluation.outcome import LabeledPredictions, positive_index

_BY_CHANCE = 0.05


def evaluate(
    outcome: LabeledPredictions,
    classes: Sequence[Any],
    positive: int | None = None,
    counts: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return figures of merit as plain data.

    Parameters
    ----------
    outcome : Outcome
        Predictions of rows whose classes are known.
    classes : sequence
        The labels, by number.
    positive : int, optional
        The number of the positive class, of two.
    counts : sequence of int, optional
        Number of training rows of each class; those of the rows themselves by default.

    Returns
    -------
    dict
        ``n_rows``, ``n_wrong``; ``baseline``: its ``answer`` and the rows that it was found
        ``from``; ``better``: whether the predictions beat it (True, False, or None if the
        difference may be chance); ``approximate``: whether the rows are of several folds, which
        intervals and ``better`` take for independent though their models share training rows;
        ``figures``: for each name ``value``, ``low`` and ``high`` (with 95% confidence, None
        where no interval is known to be right), ``interval`` (the method) and ``baseline``;
        ``classes``: precision and recall of each class.

    Examples
    --------
    >>> actual, predicted = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> rows = LabeledPredictions(actual, predicted, predicted - 0.5, None, (slice(0, 4),))
    >>> found = evaluate(rows, ["no", "yes"], positive=1)
    >>> found["figures"]["accuracy"]["value"], found["figures"]["accuracy"]["baseline"]
    (0.75, 0.75)
    >>> found["baseline"]["answer"], found["better"]
    ('no', False)
    """
    n_classes = len(classes)
    of_rows = np.bincount(outcome.actual, minlength=n_classes)
    prior = _shares(of_rows if counts is None else counts)
    answer = int(np.argmax(prior))
    constant = np.full(len(outcome.actual), answer)
    by_class = [_of_class(outcome.actual, outcome.predicted, k) for k in range(n_classes)]
    figures = {
        "accuracy": _accuracy(outcome, constant),
        "balanced_accuracy": _balanced_accuracy(outcome, constant, by_class),
        "auc": _auc(outcome),
        "log_loss": _log_loss(outcome, prior),
    }
    figures |= (
        _of_positive(outcome, constant, by_class, positive)
        if positive is not None
        else {"precision": _macro_precision(outcome, constant, n_classes)}
    )
    return {
        "n_rows": len(outcome.actual),
        "n_wrong": int(np.sum(outcome.actual != outcome.predicted)),
        "baseline": {
            "answer": classes[answer],
            "from": "these rows" if counts is None else "training rows",
        },
        "better": _better(outcome, constant),
        "approximate": len(outcome.folds) > 1,
        "positive": None if positive is None else classes[positive],
        "figures": {name: one for name, one in figures.items() if one is not None},
        "classes": [{"class": label} | one for label, one in zip(classes, by_class, strict=True)],
    }


def evaluate_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    positive: Any = None,
    counts: Sequence[int] | None = None,
    fresh: bool = True,
) -> dict[str, Any]:
    """Return the figures of a fitted classifier on rows of known classes; see `evaluate`.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : frame or array-like of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Their classes.
    positive : object, optional
        The label of the positive class, of two; the second by default.
    counts : sequence of int, optional
        Number of training rows of each class.
    fresh : bool, default=True
        Whether the rows had no part in the training; there are no intervals otherwise.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = [[0], [1], [2]], ["no", "yes", "yes"]
    >>> found = evaluate_model(DummyClassifier().fit(X, y), X, y, fresh=False)
    >>> found["n_wrong"], found["positive"], found["figures"]["accuracy"]["low"]
    (1, 'yes', None)
    """
    labels = model.classes_.tolist()
    number = positive_index(labels, positive)
    found = evaluate(LabeledPredictions.of(model, X, y), labels, number, counts)
    return found if fresh else _without_intervals(found)


def _without_intervals(found: dict[str, Any]) -> dict[str, Any]:
    """Return figures of rows that the model may have learned from: no interval is right there."""
    none = {"low": None, "high": None, "interval": None}
    classes = [
        one | {name: one[name] | none for name in ("precision", "recall")}
        for one in found["classes"]
    ]
    figures = {name: one | none for name, one in found["figures"].items()}
    return found | {"figures": figures, "classes": classes}


def _shares(counts: Any) -> np.ndarray:
    """Return the share of each class, given how many rows each has."""
    return np.asarray(counts, dtype=np.float64) / np.sum(counts)


def _figure(
    value: float | None, baseline: float | None, limits: Interval | None = None, method: str = ""
) -> dict[str, Any]:
    low, high = limits or (None, None)
    return {
        "value": None if value is None else float(value),
        "low": low,
        "high": high,
        "interval": method if limits else None,
        "baseline": None if baseline is None else float(baseline),
    }


def _accuracy(rows: LabeledPredictions, constant: np.ndarray) -> dict[str, Any]:
    value = accuracy_score(rows.actual, rows.predicted)
    n_right = int(np.sum(rows.actual == rows.predicted))
    limits = wilson(n_right, len(rows.actual))
    return _figure(value, accuracy_score(rows.actual, constant), limits, "Wilson")


def _balanced_accuracy(
    rows: LabeledPredictions, constant: np.ndarray, by_class: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the mean recall of the classes that there are."""
    there = np.unique(rows.actual)
    score = {"labels": there, "average": "macro", "zero_division": 0.0}
    recalls = [by_class[k]["recall"] for k in there]
    limits = mean_of_proportions([one["n_hits"] for one in recalls], [one["n"] for one in recalls])
    return _figure(
        recall_score(rows.actual, rows.predicted, **score),
        recall_score(rows.actual, constant, **score),
        limits,
        "square-and-add of Wilson's",
    )


def _auc(rows: LabeledPredictions) -> dict[str, Any] | None:
    """Return the area under the ROC curve: of several classes the mean of each against the rest.

    Scores of different models cannot be ranked together, so that of folds is their mean.
    """
    areas = [_area(rows, fold) for fold in rows.folds]
    known = [area for area in areas if area is not None]
    if not known:
        return None
    alone = len(rows.folds) == 1 and rows.scores.ndim == 1
    limits = delong(rows.actual == 1, rows.scores) if alone else None
    return _figure(float(np.mean(known)), 0.5, limits, "DeLong, logit scale")


def _area(rows: LabeledPredictions, fold: slice) -> float | None:
    """Return the area of some rows, None if they are all of one class."""
    actual = rows.actual[fold]
    there = np.unique(actual)
    if len(there) < 2:
        return None
    if rows.scores.ndim == 1:
        return float(roc_auc_score(actual == 1, rows.scores[fold]))
    by_class = (rows.scores if rows.probabilities is None else rows.probabilities)[fold]
    return float(np.mean([roc_auc_score(actual == k, by_class[:, k]) for k in there]))


def _log_loss(rows: LabeledPredictions, prior: np.ndarray) -> dict[str, Any] | None:
    if rows.probabilities is None:
        return None
    labels = np.arange(len(prior))
    constant = np.tile(prior, (len(rows.actual), 1))
    return _figure(
        log_loss(rows.actual, rows.probabilities, labels=labels),
        log_loss(rows.actual, constant, labels=labels),
    )


def _of_positive(
    rows: LabeledPredictions, constant: np.ndarray, by_class: list[dict[str, Any]], positive: int
) -> dict[str, Any]:
    """Return precision and recall of the positive class."""
    always = _of_class(rows.actual, constant, positive)
    own = by_class[positive]
    return {
        name: {key: own[name][key] for key in ("value", "low", "high", "interval")}
        | {"baseline": always[name]["value"]}
        for name in ("precision", "recall")
    }


def _macro_precision(
    rows: LabeledPredictions, constant: np.ndarray, n_classes: int
) -> dict[str, Any]:
    """Return the mean precision of the classes; one that is never predicted counts as 0."""
    score = {"labels": np.arange(n_classes), "average": "macro", "zero_division": 0.0}
    return _figure(
        precision_score(rows.actual, rows.predicted, **score),
        precision_score(rows.actual, constant, **score),
    )


def _of_class(actual: np.ndarray, predicted: np.ndarray, k: int) -> dict[str, Any]:
    """Return precision and recall of a class, None where there is nothing to divide by."""
    n_hits = int(np.sum((actual == k) & (predicted == k)))
    return {
        "precision": _share(n_hits, int(np.sum(predicted == k))),
        "recall": _share(n_hits, int(np.sum(actual == k))),
    }


def _share(n_hits: int, n: int) -> dict[str, Any]:
    limits = wilson(n_hits, n)
    low, high = limits or (None, None)
    method = "Wilson" if limits else None
    value = n_hits / n if n else None
    return {
        "value": value,
        "low": low,
        "high": high,
        "interval": method,
        "n_hits": n_hits,
        "n": n,
    }


def _better(rows: LabeledPredictions, constant: np.ndarray) -> bool | None:
    """Tell whether predictions are right more often than a constant answer.

    None if they are, but not more than chance may have it (exact test of the sign, one-sided 5 %).
    """
    right, by_answer = rows.actual == rows.predicted, rows.actual == constant
    won, lost = int(np.sum(right & ~by_answer)), int(np.sum(~right & by_answer))
    if won <= lost:
        return False
    p = binomtest(won, won + lost, 0.5, alternative="greater").pvalue
    return True if p <= _BY_CHANCE else None
