"""What theory says of a fitted ensemble: each bound a number with the assumptions it rests on."""

from everystump.bounds.boosting_training import boosting_training_bound
from everystump.bounds.bound import Bound
from everystump.bounds.margin_distribution import margin_distribution_bound

__all__ = ["Bound", "boosting_training_bound", "margin_distribution_bound"]
