"""What the bounds on kernel machines share: the machines that they read, and what they ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._arguments import as_float_array
from everystump._text import format_percent
from everystump.bounds._bound import Bound, UnsupportedModelError
from everystump.bounds._kernel_ensemble import KernelEnsemble
from everystump.bounds._protocol import SupportsKernelEnsembles

PAPER = "Evgeniou, Pontil & Elisseeff (2004)"
# A row this near to being counted is counted.
_ROUNDING = 1e-9

LOO_THEOREM = "Theorem 3.1, eq. 8"
NO_BIAS = "no bias outside the kernel: with one the bound is not proven"
FIXED_KERNEL = "kernels and costs known before the rows were"
OPTIMAL = "machines so near to their optimum that their duality gaps make no difference"


def read_ensembles(fitted: Any, X: Any, y: Any, bound: str) -> list[KernelEnsemble]:
    """Return a fitted machine or vote of machines, or say which ones the bound is for.

    There is one for two classes, else one for each class against the rest.
    """
    if not isinstance(fitted, SupportsKernelEnsembles):
        raise UnsupportedModelError(
            f"fitted={fitted!r} is no kernel machine; {bound} is for a fitted KernelSVC or "
            f"StumpSVC, or a SubsampleVotingClassifier of them."
        )
    problems = fitted.kernel_ensembles(X, y)
    if problems[0].combines_signs:
        raise UnsupportedModelError(
            f'outputs="votes" combines signs, and {bound} is for scores; use outputs="scores".'
        )
    return problems


def read_ensemble(fitted: Any, X: Any, y: Any, bound: str) -> KernelEnsemble:
    """Return a fitted machine or vote for two classes."""
    problems = read_ensembles(fitted, X, y, bound)
    if len(problems) > 1:
        raise UnsupportedModelError(
            f"fitted has {len(problems)} classes, and {bound} is for two; fit one class against "
            f"the rest."
        )
    return problems[0]


def bound_left_out_error(problems: list[KernelEnsemble], theorem: str, sample_weight: Any) -> Bound:
    """Bound an error on left-out rows by the rows that may be wrong without themselves.

    By Lemma 3.1 a row's margin falls by ``sum of c_t a_i^t K^t(x_i, x_i)`` at most.  Of several
    classes a row is right if it is so in every class against the rest.
    """
    wrong = _doubtful(problems)
    weight = _check_weight(sample_weight, len(wrong))
    value = float(np.average(wrong, weights=weight))
    assumptions = assumptions_of(problems)
    violations = violations_of(problems, value, weight)
    return Bound.of(value, f"{PAPER}, {theorem}", assumptions, violations)


def assumptions_of(problems: list[KernelEnsemble]) -> tuple[str, ...]:
    """Return what a bound on the error on left-out rows asks for; a machine has no weights."""
    is_vote = any(len(one.machines) > 1 or one.subsample is not None for one in problems)
    fixed = ("fixed weights of the vote",) if is_vote else ()
    return (*fixed, NO_BIAS, FIXED_KERNEL, OPTIMAL)


def _doubtful(problems: list[KernelEnsemble], within_gaps: bool = False) -> np.ndarray:
    """Return which rows may be wrong without themselves."""
    influence = [v.influence_within_gaps if within_gaps else v.influence for v in problems]
    pairs = zip(influence, problems, strict=True)
    return np.any([own - vote.margin > -_ROUNDING for own, vote in pairs], axis=0)


def violations_of(
    problems: list[KernelEnsemble], value: float, weight: np.ndarray | None = None
) -> tuple[str, ...]:
    """Return what keeps a bound on the error on left-out rows from being proven."""
    found = tuple(dict.fromkeys(text for vote in problems for text in vote.violations))
    proven = float(np.average(_doubtful(problems, within_gaps=True), weights=weight))
    if proven > value * (1 + _ROUNDING):
        found += (f"within the duality gaps only {format_percent(proven)} is proven; lower tol",)
    return found


def _check_weight(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Return what each row that was trained on counts; rows of weight 0 were not."""
    if sample_weight is None:
        return None
    wanted = f"one number for each of the {n_rows} training rows, none negative, not all 0"
    weight = as_float_array(sample_weight, "sample_weight", wanted)
    positive = weight[weight > 0] if weight.ndim == 1 else weight
    weight = positive if positive.shape == (n_rows,) else weight
    proper = np.all((weight >= 0) & (weight < np.inf)) and weight.any()
    if weight.shape != (n_rows,) or not proper:
        raise ValueError(f"sample_weight has shape {weight.shape} and must be {wanted}.")
    return weight
