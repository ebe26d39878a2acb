"""How well a classifier predicts rows whose classes are known, beside a constant answer."""

from everystump._evaluation.figures import evaluate, evaluate_model
from everystump._evaluation.outcome import LabeledPredictions, positive_index
from everystump._evaluation.words import interval_title, metric_rows, verdict

__all__ = [
    "LabeledPredictions",
    "evaluate",
    "evaluate_model",
    "interval_title",
    "metric_rows",
    "positive_index",
    "verdict",
]
