"""Scores of the models of a path on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import check_scoring

from everystump._sklearn_compat import score_function
from everystump._tables.frames import as_supported_table
from everystump._tables.labels import labels_from_scores, log_probabilities
from everystump._tables.training_table import ClassTable, NumberTable, TrainingTable


@dataclass(frozen=True)
class Candidate:
    """A model to be scored."""

    scores: Callable[[np.ndarray], np.ndarray]  # of rows, given their indices in the table
    model: Callable[[], Any]  # returns a fitted estimator, which is slower


# Returns the score of a model; higher is better.
Score = Callable[[Candidate], float]


class Metric(NamedTuple):
    """A metric of regression: its name as a scorer, and its function."""

    name: str
    function: Callable[..., float]  # of targets, predictions and sample_weight
    sign: int = -1  # 1 if larger values are better
    degree: int = 1  # values grow with this power of the unit of the targets


def accuracy(scores: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the weighted fraction of rows whose class has the highest score."""
    n_classes = 2 if scores.ndim == 1 else scores.shape[1]
    return float(
        np.average(labels_from_scores(scores, np.arange(n_classes)) == label, weights=weight)
    )


def neg_log_loss(
    scores: np.ndarray, label: np.ndarray, weight: np.ndarray | None, *, softmax: bool = False
) -> float:
    """Return the weighted mean log-probability of the rows' classes; the scores are log-odds.

    Unlike scikit-learn's scorer, it accepts rows that do not have all classes.  See
    `log_probabilities` for ``softmax``.
    """
    if scores.ndim == 1:
        log_p = -np.logaddexp(0.0, np.where(label == 1, -scores, scores))
    else:
        log_p = log_probabilities(scores, softmax=softmax)[np.arange(len(label)), label]
    return float(np.average(log_p, weights=weight))


def r2(target: np.ndarray, predictions: np.ndarray, sample_weight: np.ndarray | None) -> float:
    """Return the R2 of predictions as `sklearn.metrics.r2_score` does, without its slow checks.

    Examples
    --------
    >>> r2(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]), None)
    0.5
    """
    if len(target) < 2:
        return np.nan
    deviations = target - np.average(target, weights=sample_weight)
    error, total = (
        float(np.average(values**2, weights=sample_weight))
        for values in (target - predictions, deviations)
    )
    if total == 0.0:
        return float(error == 0.0)
    return 1.0 - error / total


_BUILT_IN = ("accuracy", "neg_log_loss")


def _built_in_metric(estimator: Any, scoring: Any) -> Callable[..., float] | None:
    """Return the metric of a usual scorer; None for others, and if there are no probabilities."""
    if not isinstance(scoring, str):
        return None
    if scoring == "accuracy":
        return accuracy
    if scoring == "neg_log_loss" and hasattr(estimator, "predict_proba"):
        return partial(neg_log_loss, softmax=estimator._has_softmax)
    return None


def make_class_score(estimator: Any, scoring: Any, table: ClassTable, test: np.ndarray) -> Score:
    """Return the function that scores a classifier on the rows ``test`` of a table.

    The usual scorers are computed here: they accept folds without some of the classes, and avoid
    scikit-learn's checks, which take longer than the scores.  The log loss that is the default of
    an estimator has the weights of its fit, class weights included.
    """
    label = table.label[test]
    metric = _built_in_metric(estimator, scoring)
    if metric is not None:
        is_default_loss = estimator.scoring is None and scoring == "neg_log_loss"
        is_weighted = is_default_loss and estimator.class_weight is not None
        weight = table.weight[test] if is_weighted else _test_weight(table, test)
        return lambda candidate: metric(candidate.scores(test), label, weight)
    return _scikit_learn_score(estimator, scoring, table, table.classes[label], test)


def make_number_score(estimator: Any, scoring: Any, table: NumberTable, test: np.ndarray) -> Score:
    """Return the function that scores a regressor on the rows ``test`` of a table.

    ``scoring`` is a name of scikit-learn, a scorer, or a metric: a function of targets,
    predictions and ``sample_weight`` whose values are better if they are smaller.
    """
    if not isinstance(scoring, Metric):
        return _scikit_learn_score(estimator, scoring, table, table.y[test], test)
    target, weight = table.target[test], _test_weight(table, test)

    def score(candidate: Candidate) -> float:
        # In the units of y, squares of very small or large targets would leave the range of floats.
        predictions = table.scale.unscaled().predictions(candidate.scores(test))
        value = float(scoring.function(target, predictions, sample_weight=weight))
        return scoring.sign * table.scale.scale**scoring.degree * value

    return score


def _test_weight(table: TrainingTable, test: np.ndarray) -> np.ndarray | None:
    return None if table.sample_weight is None else table.sample_weight[test]


def _scikit_learn_score(
    estimator: Any, scoring: Any, table: TrainingTable, y: np.ndarray, test: np.ndarray
) -> Score:
    if table.X is None:
        raise ValueError(
            f"scoring={scoring!r} needs the samples, which fit_chunks does not keep; use one of "
            f"{list(_BUILT_IN)}, or fit."
        )
    scorer = check_scoring(estimator, scoring=scoring)
    X, weight, weights = table.X[test], _test_weight(table, test), {}
    if weight is not None and _accepts_weights(scorer):
        weights = {"sample_weight": weight}
    rows = as_supported_table(X)  # sparse tables as SciPy matrices, for the user's scorer
    return lambda candidate: float(scorer(candidate.model(), rows, y, **weights))


def _accepts_weights(scorer: Callable) -> bool:
    """Whether a scorer, possibly a plain function, accepts sample weights."""
    parameters = signature(score_function(scorer)).parameters.values()
    return any(p.name == "sample_weight" or p.kind == p.VAR_KEYWORD for p in parameters)
