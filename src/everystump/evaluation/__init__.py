"""How well a classifier predicts rows whose classes are known, beside a constant answer."""

from everystump.evaluation.figures import evaluate, training_shares, without_intervals
from everystump.evaluation.outcome import Outcome, positive_number
from everystump.evaluation.words import figure_rows, verdict

__all__ = [
    "Outcome",
    "evaluate",
    "figure_rows",
    "positive_number",
    "training_shares",
    "verdict",
    "without_intervals",
]
