"""How well a classifier predicts rows whose classes are known, beside a constant answer."""

from everystump.evaluation.figures import evaluate, evaluate_model
from everystump.evaluation.outcome import Outcome, positive_number
from everystump.evaluation.words import figure_rows, interval_title, verdict

__all__ = [
    "Outcome",
    "evaluate",
    "evaluate_model",
    "figure_rows",
    "interval_title",
    "positive_number",
    "verdict",
]
