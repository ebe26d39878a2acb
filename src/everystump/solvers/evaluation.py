"""Kernel machines evaluated from their coefficients: margins, and the certificate.

For ``f = sum of a_j y_j K(x_j, .)`` and a bias ``b``,

    primal:  |f|^2 / 2 + sum over i of loss_i(y_i (f(x_i) + b))
    dual:    sum over i of dual_i(a_i) - |f|^2 / 2 - imbalance

for every ``a`` within its limits.  The imbalance is ``b sum of y a`` where ``b`` is fixed; where it
is free, what it takes at most to make ``sum of y a`` 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Protocol

import numpy as np

from everystump.losses import Box
from everystump.solvers.certificate import UNIT, Certificate, Values, certify, sum_rounding
from everystump.solvers.products import Products, Scores

# Sums are taken again in twice the precision where rounding is more than this share of the gap
# that was asked for, or of the value itself.
_SHARE_OF_GAP, _SHARE_OF_VALUE = 0.1, 1e-10


class QuadraticLoss(Protocol):
    """A record of `everystump.losses` that has a ``box``."""

    def total(self, margin: np.ndarray) -> float:
        """Return the summed loss."""

    def dual(self, a: np.ndarray) -> np.ndarray:
        """Return each row's part of the dual value."""

    def box(self) -> Box:
        """Return the limits of the dual variables."""


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
        found = judge(scores, sign, loss, a, b, b * fsum(a * sign), tol)
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
    imbalance: float,
    tol: float,
) -> Evaluated:
    """Return the machine of ``a``, which is within its limits and has these scores."""
    coef, rows = a * sign, len(a)
    terms = coef * scores.value
    norm = fsum(terms)
    norm_rounding = float(np.abs(coef) @ scores.rounding) + 2 * UNIT * float(np.abs(terms).sum())
    parts = loss.dual(a)
    margin = sign * (scores.value + b)
    total = loss.total(margin)
    worst = loss.total(_worst(loss, margin, scores.rounding + UNIT * np.abs(margin)))
    values = Values(
        norm=norm,
        loss=total,
        gain=fsum(parts),
        reach=norm,
        imbalance=imbalance,
        primal_rounding=max(worst - total, 0.0) + sum_rounding(rows) * worst + norm_rounding / 2,
        dual_rounding=4 * UNIT * float((np.abs(a) + np.abs(parts - a)).sum()) + norm_rounding / 2,
    )
    return Evaluated(scores, margin, certify(values, tol))


def _worst(loss: QuadraticLoss, margin: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Return the margins of highest loss that are ``off`` from the given ones at most."""
    two_sided = np.isneginf(loss.box().low)  # the loss of a margin above 1 rises again
    return np.where(two_sided, 1.0 - np.abs(1.0 - margin), margin) - off
