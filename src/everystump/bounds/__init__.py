"""Bounds on the error of a fitted ensemble, each with the assumptions that it rests on.

`loo_bound`, `det_loo_bound`, `ensemble_margin_bound` and `radius_margin_bound` bound leave-one-out
errors of kernel machines, `stability_bound` and `validation_bound` the error on new samples,
`boosting_training_bound` and `margin_distribution_bound` the training error and the margins of
AdaBoost.  All return a `Bound`.  `loo_error`, `det_loo_error` and `measured_stability` compute what
is bounded, by refitting.
"""

from everystump.bounds._boosting_training_bound import boosting_training_bound
from everystump.bounds._bound import Bound
from everystump.bounds._det_loo_bound import det_loo_bound
from everystump.bounds._det_loo_error import det_loo_error
from everystump.bounds._ensemble_margin_bound import ensemble_margin_bound
from everystump.bounds._loo_bound import loo_bound
from everystump.bounds._loo_error import loo_error
from everystump.bounds._margin_distribution_bound import margin_distribution_bound
from everystump.bounds._radius_margin_bound import radius_margin_bound
from everystump.bounds._soft_margin import soft_margin_loss
from everystump.bounds._stability import combining_helps, measured_stability, uniform_stability
from everystump.bounds._stability_bound import stability_bound
from everystump.bounds._validation_bound import validation_bound

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
