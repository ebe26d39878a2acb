"""What the bounds on kernel machines share."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._text import format_percent
from everystump.bounds._bound import Bound, UnsupportedModelError
from everystump.bounds._checks import check_sample_weight
from everystump.bounds._kernel_ensemble import KernelEnsemble
from everystump.bounds._protocol import SupportsKernelEnsembles

PAPER = "Evgeniou, Pontil & Elisseeff (2004)"
# A row whose margin is this close to being counted is counted.
_ROUNDING = 1e-9

LOO_THEOREM = "Theorem 3.1, eq. 8"
NO_INTERCEPT = "no intercept: with one, the bound is not proven"
FIXED_KERNEL = "kernels and costs that do not depend on the training samples"
OPTIMAL = "machines close enough to their optimum for the duality gaps to make no difference"


def read_ensembles(fitted: Any, X: Any, y: Any, bound: str) -> list[KernelEnsemble]:
    """Return a fitted machine or ensemble, or raise an error that names the supported models.

    There is one for two classes, else one for each class against the rest.
    """
    if not isinstance(fitted, SupportsKernelEnsembles):
        raise UnsupportedModelError(
            f"fitted={fitted!r} is not a kernel machine; {bound} is for a fitted KernelSVC or "
            f"StumpSVC, or a SubsampleVotingClassifier of them."
        )
    ensembles = fitted.kernel_ensembles(X, y)
    if ensembles[0].combines_signs:
        raise UnsupportedModelError(
            f'outputs="votes" combines signs, but {bound} is for scores; use outputs="scores".'
        )
    return ensembles


def read_ensemble(fitted: Any, X: Any, y: Any, bound: str) -> KernelEnsemble:
    """Return a fitted machine or ensemble for two classes."""
    ensembles = read_ensembles(fitted, X, y, bound)
    if len(ensembles) > 1:
        raise UnsupportedModelError(
            f"fitted has {len(ensembles)} classes, but {bound} is for two; fit one class against "
            f"the rest."
        )
    return ensembles[0]


def bound_left_out_error(
    ensembles: list[KernelEnsemble], theorem: str, sample_weight: Any
) -> Bound:
    """Bound a leave-one-out error by the rows that may be misclassified when left out.

    By Lemma 3.1, leaving a row out lowers its margin by at most
    ``sum of c_t a_i^t K^t(x_i, x_i)``.  With several classes, a row is classified correctly if it
    is so in every one-vs-rest problem.
    """
    wrong = _may_be_wrong(ensembles)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, len(wrong))
    value = float(np.average(wrong, weights=weight))
    assumptions = left_out_assumptions(ensembles)
    violations = left_out_violations(ensembles, value, weight)
    return Bound.of(value, f"{PAPER}, {theorem}", assumptions, violations)


def left_out_assumptions(ensembles: list[KernelEnsemble]) -> tuple[str, ...]:
    """Return the assumptions of a bound on a leave-one-out error."""
    several = any(len(one.machines) > 1 or one.subsample is not None for one in ensembles)
    fixed = ("fixed weights of the machines",) if several else ()
    return (*fixed, NO_INTERCEPT, FIXED_KERNEL, OPTIMAL)


def _may_be_wrong(ensembles: list[KernelEnsemble], within_gaps: bool = False) -> np.ndarray:
    """Return which rows may be misclassified when left out."""
    return np.any(
        [
            (one.influence_within_gaps if within_gaps else one.influence) - one.margin > -_ROUNDING
            for one in ensembles
        ],
        axis=0,
    )


def left_out_violations(
    ensembles: list[KernelEnsemble], value: float, weight: np.ndarray | None = None
) -> tuple[str, ...]:
    """Return the violated assumptions of a bound on a leave-one-out error."""
    found = tuple(dict.fromkeys(text for one in ensembles for text in one.violations))
    proven = float(np.average(_may_be_wrong(ensembles, within_gaps=True), weights=weight))
    if proven > value * (1 + _ROUNDING):
        found += (f"the duality gaps allow a proof of {format_percent(proven)} only; lower tol",)
    return found
