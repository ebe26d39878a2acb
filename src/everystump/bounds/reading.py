"""What the bounds on kernel machines share: the machines that they read, and what they ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.arguments import as_numbers
from everystump.bounds.bound import Bound, UnsuitedError
from everystump.machines import Combination

PAPER = "Evgeniou, Pontil & Elisseeff (2004)"
# A row this near to being counted is counted.
_ROUNDING = 1e-9

LOO_THEOREM = "Theorem 3.1, eq. 8"
NO_BIAS = "no bias outside the kernel: with one the bound is not proven"
FIXED_KERNEL = "kernels and costs known before the rows were"
OPTIMAL = "machines at their optimum, up to the gap of their certificates"


def read_problems(fitted: Any, X: Any, y: Any, bound: str) -> list[Combination]:
    """Return a fitted machine or vote of machines, or say which ones the bound is for.

    There is one for two classes, else one for each class against the rest.
    """
    read = getattr(fitted, "_combinations", None)
    if read is None:
        raise UnsuitedError(
            f"fitted={fitted!r} is no kernel machine; {bound} is for a fitted KernelSVC or "
            f"StumpSVC, or a SubsampleVotingClassifier of them."
        )
    problems = read(X, y)
    if problems[0].votes:
        raise UnsuitedError(
            f'outputs="votes" combines signs, and {bound} is for scores; use outputs="scores".'
        )
    return problems


def read_combination(fitted: Any, X: Any, y: Any, bound: str) -> Combination:
    """Return a fitted machine or vote for two classes."""
    problems = read_problems(fitted, X, y, bound)
    if len(problems) > 1:
        raise UnsuitedError(
            f"fitted has {len(problems)} classes, and {bound} is for two; fit one class against "
            f"the rest."
        )
    return problems[0]


def count_doubtful(problems: list[Combination], theorem: str, sample_weight: Any) -> Bound:
    """Bound an error on left-out rows by the rows that may be wrong without themselves.

    By Lemma 3.1 a row's margin falls by ``sum of c_t a_i^t K^t(x_i, x_i)`` at most.  Of several
    classes a row is right if it is so in every class against the rest.
    """
    doubtful = [vote.influence - vote.margin > -_ROUNDING for vote in problems]
    wrong = np.any(doubtful, axis=0)
    value = float(np.average(wrong, weights=_check_weight(sample_weight, len(wrong))))
    holds = all(is_plain(vote) for vote in problems)
    assumptions = ("fixed weights of the vote", NO_BIAS, FIXED_KERNEL, OPTIMAL)
    return Bound(value, assumptions, holds, value >= 1, f"{PAPER}, {theorem}")


def is_plain(combination: Combination) -> bool:
    """Tell whether all machines are as the theorems want them: no bias, fixed, optimal."""
    return all(m.fixed and m.converged and not m.biased for m in combination.machines)


def _check_weight(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Return what each row that was trained on counts; rows of weight 0 were not."""
    if sample_weight is None:
        return None
    wanted = f"one number for each of the {n_rows} training rows, none negative, not all 0"
    weight = as_numbers(sample_weight, "sample_weight", wanted)
    positive = weight[weight > 0] if weight.ndim == 1 else weight
    weight = positive if positive.shape == (n_rows,) else weight
    proper = np.all((weight >= 0) & (weight < np.inf)) and weight.any()
    if weight.shape != (n_rows,) or not proper:
        raise ValueError(f"sample_weight has shape {weight.shape} and must be {wanted}.")
    return weight
