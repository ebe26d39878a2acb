"""Bounds on the error of a fitted ensemble, each with its assumptions.

`loo_bound`, `det_loo_bound`, `ensemble_margin_bound` and `radius_margin_bound` bound leave-one-out
errors of kernel machines, `stability_bound` and `validation_bound` the error on new samples,
`boosting_training_bound` and `margin_distribution_bound` the training error and the margins of
AdaBoost.  All return a `Bound`.  `loo_error`, `det_loo_error` and `measured_stability` compute the
bounded quantities by refitting.
"""

from everystump.bounds._adaboost import boosting_training_bound, margin_distribution_bound
from everystump.bounds._bound import Bound
from everystump.bounds._leave_one_out_bounds import (
    det_loo_bound,
    ensemble_margin_bound,
    loo_bound,
    radius_margin_bound,
)
from everystump.bounds._leave_one_out_errors import det_loo_error, loo_error, soft_margin_loss
from everystump.bounds._stability import (
    combining_helps,
    measured_stability,
    stability_bound,
    uniform_stability,
)
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
