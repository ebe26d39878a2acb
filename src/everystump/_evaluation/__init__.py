"""How well a classifier predicts rows whose classes are known, beside a constant answer."""

from everystump._evaluation.figures import evaluate, evaluate_model
from everystump._evaluation.outcome import Outcome, positive_number
from everystump._evaluation.words import figure_rows, interval_title, verdict

__all__ = [
    "Outcome",
    "evaluate",
    "evaluate_model",
    "figure_rows",
    "interval_title",
    "positive_number",
    "verdict",
]
