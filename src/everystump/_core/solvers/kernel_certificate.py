"""Kernel machines evaluated from their coefficients: margins, and the certificate.

For ``f = sum of a_j y_j K(x_j, .)`` and a bias ``b``,

    primal:  |f|^2 / 2 + sum over i of loss_i(y_i (f(x_i) + b))
    dual:    sum over i of dual_i(a_i) - |f|^2 / 2 - imbalance

for every ``a`` within its limits.  The imbalance is ``b sum of y a`` if ``b`` is fixed; if it is
free, an upper bound on the cost of making ``sum of y a`` 0.
"""

from __future__ import annotations

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


class Imbalance(NamedTuple):
    """How much too high the dual value is because ``sum of y a`` is not 0, and its rounding."""

    value: float
    rounding: float


@dataclass(frozen=True)
class EvaluatedExpansion:
    """The scores without the bias, the margins with it, and the certificate."""

    scores: Scores
    margin: np.ndarray
    certificate: Certificate


def evaluate_expansion(
    products: KernelProducts,
    sign: np.ndarray,
    loss: QuadraticLoss,
    a: np.ndarray,
    b: float,
    tol: float,
) -> EvaluatedExpansion:
    """Evaluate a machine with a fixed bias, in twice the precision if that matters."""
    for extended in (False, True):
        scores = products.scores(a * sign, extended)
        shift = b * exact_sum(a * sign)
        imbalance = Imbalance(shift, 2 * UNIT_ROUNDOFF * abs(shift))
        found = certify_expansion(scores, sign, loss, a, b, imbalance, tol)
        if not rounding_matters(found.certificate, tol):
            break
    return found


def rounding_matters(certificate: Certificate, tol: float) -> bool:
    """Whether more digits would change the certificate."""
    return certificate.rounding > min(_MAX_ROUNDING_OF_TOL * tol, _MAX_ROUNDING)


def certify_expansion(
    scores: Scores,
    sign: np.ndarray,
    loss: QuadraticLoss,
    a: np.ndarray,
    b: float,
    imbalance: Imbalance,
    tol: float,
) -> EvaluatedExpansion:
    """Evaluate a machine with given scores, whose ``a`` is within its limits.

    Long sums are rounded once; each term, of few operations, is rounded by a few units more.
    """
    coef = a * sign
    norm_terms, dual_terms = coef * scores.value, loss.dual(a)
    norm = exact_sum(norm_terms)
    norm_rounding = float(np.abs(coef) @ scores.rounding)
    norm_rounding += _FEW_UNITS * float(np.abs(norm_terms).sum())
    margin = sign * (scores.value + b)
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
        imbalance=imbalance.value,
        primal_rounding=SAFETY_FACTOR * (loss_rounding + norm_rounding / 2),
        dual_rounding=SAFETY_FACTOR * (dual_rounding + norm_rounding / 2) + imbalance.rounding,
    )
    return EvaluatedExpansion(scores, margin, certify(terms, tol))
