"""Metrics of classifiers and regressors, next to those of a constant prediction."""

from everystump._evaluation.comparison import compare_classifiers, compare_regressors
from everystump._evaluation.conformal import PredictionInterval
from everystump._evaluation.formatting import (
    baseline_answer,
    baseline_warning,
    interval_title,
    metric_rows,
    scorer_title,
)
from everystump._evaluation.labeled_predictions import LabeledPredictions, positive_index
from everystump._evaluation.metrics import evaluate, evaluate_model
from everystump._evaluation.regression import (
    constant_baseline,
    evaluate_numbers,
    evaluate_regressor,
)

__all__ = [
    "LabeledPredictions",
    "PredictionInterval",
    "baseline_answer",
    "baseline_warning",
    "compare_classifiers",
    "compare_regressors",
    "constant_baseline",
    "evaluate",
    "evaluate_model",
    "evaluate_numbers",
    "evaluate_regressor",
    "interval_title",
    "metric_rows",
    "positive_index",
    "scorer_title",
]
