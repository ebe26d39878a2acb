"""What theory says of a fitted ensemble: each bound a number with the assumptions it rests on."""

from everystump.bounds.boosting_training import boosting_training_bound
from everystump.bounds.bound import Bound
from everystump.bounds.det_loo_bound import det_loo_bound
from everystump.bounds.det_loo_error import det_loo_error
from everystump.bounds.ensemble_margin import ensemble_margin_bound
from everystump.bounds.loo_bound import loo_bound
from everystump.bounds.loo_error import loo_error
from everystump.bounds.margin_distribution import margin_distribution_bound
from everystump.bounds.radius_margin import radius_margin_bound
from everystump.bounds.soft_margin import soft_margin_loss
from everystump.bounds.stability import combining_helps, measured_stability, uniform_stability
from everystump.bounds.stability_bound import stability_bound
from everystump.bounds.validation import validation_bound

__all__ = [
    "Bound",
    "boosting_training_bound",
    "combining_helps",
    "det_loo_bound",
    "det_loo_error",
    "ensemble_margin_bound",
    "loo_bound",
    "loo_error",
    "margin_distribution_bound",
    "measured_stability",
    "radius_margin_bound",
    "soft_margin_loss",
    "stability_bound",
    "uniform_stability",
    "validation_bound",
]
