"""Kernel machines evaluated from their coefficients: margins, and the certificate.

For ``f = sum of a_j y_j K(x_j, .)`` and a bias ``b``,

    primal:  |f|^2 / 2 + sum over i of loss_i(y_i (f(x_i) + b))
    dual:    sum over i of dual_i(a_i) - |f|^2 / 2 - imbalance

for every ``a`` within its limits.  The imbalance is ``b sum of y a`` where ``b`` is fixed; where it
is free, what it takes at most to make ``sum of y a`` 0.
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
    Values,
    certify,
    exact_sum,
)
from everystump._core.solvers.products import Products, Scores

# Sums are taken again in twice the precision where rounding is more than this share of the gap
# that was asked for, or of the value itself.
_SHARE_OF_GAP, _SHARE_OF_VALUE = 0.1, 1e-10
_FEW = 4 * UNIT_ROUNDOFF


class Imbalance(NamedTuple):
    """By how much the dual value is too high because ``sum of y a`` is not 0, and its rounding."""

    value: float
    rounding: float


@dataclass(frozen=True)
class Evaluated:
    """A kernel machine's scores without the bias, its margins with it, and its certificate."""

    scores: Scores
    margin: np.ndarray
    certificate: Certificate


def evaluate(
    products: Products,
    sign: np.ndarray,
    loss: QuadraticLoss,
    a: np.ndarray,
    b: float,
    tol: float,
) -> Evaluated:
    """Evaluate a machine whose bias is fixed, in twice the precision where that matters."""
    for doubled in (False, True):
        scores = products.scores(a * sign, doubled)
        shift = b * exact_sum(a * sign)
        found = judge(
            scores, sign, loss, a, b, Imbalance(shift, 2 * UNIT_ROUNDOFF * abs(shift)), tol
        )
        if not rounding_matters(found.certificate, tol):
            break
    return found


def rounding_matters(certificate: Certificate, tol: float) -> bool:
    """Tell whether more digits would make another certificate."""
    return certificate.rounding > min(_SHARE_OF_GAP * tol, _SHARE_OF_VALUE)


def judge(
    scores: Scores,
    sign: np.ndarray,
    loss: QuadraticLoss,
    a: np.ndarray,
    b: float,
    imbalance: Imbalance,
    tol: float,
) -> Evaluated:
    """Return the machine of ``a``, which is within its limits and has these scores.

    Long sums are rounded once; each term, made by few operations, rounds by a few units more.
    """
    coef = a * sign
    terms, parts = coef * scores.value, loss.dual(a)
    norm = exact_sum(terms)
    norm_rounding = float(np.abs(coef) @ scores.rounding) + _FEW * float(np.abs(terms).sum())
    margin = sign * (scores.value + b)
    total = exact_sum(loss.per_row(margin))
    off = scores.rounding + _FEW * np.abs(margin)
    worst = exact_sum(loss.per_row(loss.worst_within(margin, off)))
    values = Values(
        norm=norm,
        loss=total,
        gain=exact_sum(parts),
        reach=norm,
        imbalance=imbalance.value,
        primal_rounding=SAFETY_FACTOR
        * (max(worst - total, 0.0) + 2 * _FEW * worst + norm_rounding / 2),
        dual_rounding=SAFETY_FACTOR
        * (_FEW * float((np.abs(a) + np.abs(parts - a)).sum()) + norm_rounding / 2)
        + imbalance.rounding,
    )
    return Evaluated(scores, margin, certify(values, tol))
