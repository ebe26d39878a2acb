"""Evaluation of kernel machines from their coefficients: margins and the certificate.

For ``f = sum of a_j y_j K(x_j, .)`` and an intercept ``b``,

    primal:  |f|^2 / 2 + sum over i of loss_i(y_i (f(x_i) + b))
    dual:    sum over i of dual_i(a_i) - |f|^2 / 2 - imbalance

for every ``a`` within its limits.  The imbalance is ``b sum of y a`` if ``b`` is fixed; if it is
free, an upper bound on the cost of making ``sum of y a`` 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from everystump._core.losses import QuadraticLoss
from everystump._core.solvers.certificate import (
    SAFETY_FACTOR,
    UNIT_ROUNDOFF,
    Certificate,
    ObjectiveTerms,
    certify,
    exact_sum,
)
from everystump._core.solvers.kernel_products import KernelProducts, Scores

# Sums are repeated in twice the precision if rounding is more than this fraction of the tolerance,
# or of the value itself.
_MAX_ROUNDING_OF_TOL, _MAX_ROUNDING = 0.1, 1e-10
_FEW_UNITS = 4 * UNIT_ROUNDOFF


class Intercept(NamedTuple):
    """The intercept ``b``, the imbalance of the dual value, and a bound on its rounding."""

    value: float
    imbalance: float
    rounding: float


@dataclass(frozen=True)
class EvaluatedExpansion:
    """The intercept, the margins, and the certificate of a machine."""

    b: float
    margin: np.ndarray
    certificate: Certificate


def fixed_intercept(b: float, coef: np.ndarray) -> Callable[[Scores], Intercept]:
    """Return a function of the scores that always returns the intercept ``b``."""
    shift = b * exact_sum(coef)
    intercept = Intercept(b, shift, 2 * UNIT_ROUNDOFF * abs(shift))
    return lambda scores: intercept


def evaluate_expansion(
    products: KernelProducts,
    sign: np.ndarray,
    loss: QuadraticLoss,
    a: np.ndarray,
    tol: float,
    intercept: Callable[[Scores], Intercept],
) -> EvaluatedExpansion:
    """Evaluate the machine with dual variables ``a``, each within its limits.

    ``intercept`` maps its scores to the intercept.  Sums are taken in twice the precision if that
    would change the certificate.
    """
    for extended in (False, True):
        scores = products.scores(a * sign, extended)
        found = _evaluate(scores, sign, loss, a, tol, intercept(scores))
        if found.certificate.rounding <= min(_MAX_ROUNDING_OF_TOL * tol, _MAX_ROUNDING):
            break
    return found


def _evaluate(
    scores: Scores,
    sign: np.ndarray,
    loss: QuadraticLoss,
    a: np.ndarray,
    tol: float,
    intercept: Intercept,
) -> EvaluatedExpansion:
    """Evaluate a machine with given scores.

    Long sums are rounded once; each term adds a few units of rounding from its few operations.
    """
    coef = a * sign
    norm_terms, dual_terms = coef * scores.value, loss.dual(a)
    norm = exact_sum(norm_terms)
    norm_rounding = float(np.abs(coef) @ scores.rounding)
    norm_rounding += _FEW_UNITS * float(np.abs(norm_terms).sum())
    margin = sign * (scores.value + intercept.value)
    total = exact_sum(loss.per_row(margin))
    error = scores.rounding + _FEW_UNITS * np.abs(margin)
    worst = exact_sum(loss.per_row(loss.worst_within(margin, error)))
    loss_rounding = max(worst - total, 0.0) + 2 * _FEW_UNITS * worst
    dual_rounding = _FEW_UNITS * float((np.abs(a) + np.abs(dual_terms - a)).sum())
    terms = ObjectiveTerms(
        norm=norm,
        loss=total,
        dual_loss=exact_sum(dual_terms),
        dual_norm=norm,
        imbalance=intercept.imbalance,
        primal_rounding=SAFETY_FACTOR * (loss_rounding + norm_rounding / 2),
        dual_rounding=SAFETY_FACTOR * (dual_rounding + norm_rounding / 2) + intercept.rounding,
    )
    return EvaluatedExpansion(intercept.value, margin, certify(terms, tol))
