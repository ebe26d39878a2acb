"""What scores the models of a path on the rows held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from everystump._sklearn_compat import score_function
from everystump._tables import as_supported_table
from everystump._tables.labels import labels_from_scores, log_probabilities
from everystump._tables.training_table import TrainingTable


@dataclass(frozen=True)
class Candidate:
    """A model to be scored.

    Attributes
    ----------
    scores : callable
        Returns the scores of rows of the training table, given by their numbers.
    model : callable
        Returns the model as a fitted estimator, which takes longer.
    """

    scores: Callable[[np.ndarray], np.ndarray]
    model: Callable[[], Any]


# Says how good a model is; more is better.
Score = Callable[[Candidate], float]


def accuracy(scores: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the weighted share of rows whose class has the highest score."""
    n_classes = 2 if scores.ndim == 1 else scores.shape[1]
    return float(
        np.average(labels_from_scores(scores, np.arange(n_classes)) == label, weights=weight)
    )


def neg_log_loss(scores: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the weighted mean log-probability of the rows' classes, the scores being log-odds.

    Classes without a row among these count as others do.
    """
    if scores.ndim == 1:
        log_p = -np.logaddexp(0.0, np.where(label == 1, -scores, scores))
    else:
        log_p = log_probabilities(scores)[np.arange(len(label)), label]
    return float(np.average(log_p, weights=weight))


_OF_SCORES = {"accuracy": accuracy, "neg_log_loss": neg_log_loss}


def make_score(estimator: Any, scoring: Any, table: TrainingTable, test: np.ndarray) -> Score:
    """Return what scores a model on the rows ``test`` of a table.

    The usual scorers, which need no more than scores, are computed here: they know all classes,
    even those that a fold lacks, and cost a fraction of scikit-learn's checks.
    """
    label = table.label[test]
    weight = None if table.sample_weight is None else table.sample_weight[test]
    known = isinstance(scoring, str) and scoring in _OF_SCORES
    if known and (scoring == "accuracy" or hasattr(estimator, "predict_proba")):
        measure = _OF_SCORES[scoring]
        return lambda candidate: measure(candidate.scores(test), label, weight)
    scorer = check_scoring(estimator, scoring=scoring)
    X, y, weights = table.X[test], table.classes[label], {}
    if weight is not None and _takes_weights(scorer):
        weights = {"sample_weight": weight}
    rows = as_supported_table(X)  # of a sparse table what users know
    return lambda candidate: float(scorer(candidate.model(), rows, y, **weights))


def _takes_weights(scorer: Callable) -> bool:
    """Tell whether a scorer, perhaps a plain function of the user's, accepts sample weights."""
    parameters = signature(score_function(scorer)).parameters.values()
    return any(p.name == "sample_weight" or p.kind == p.VAR_KEYWORD for p in parameters)
