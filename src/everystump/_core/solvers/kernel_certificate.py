"""Evaluation of kernel machines from their coefficients: scores, margins and the certificate.

For ``f = sum of a_j y_j K(x_j, .)`` and an intercept ``b``,

    primal:  |f|^2 / 2 + sum over i of loss_i(y_i (f(x_i) + b))
    dual:    sum over i of dual_i(a_i) - |f|^2 / 2 - imbalance

for every ``a`` within its limits.  The imbalance is ``b sum of y a`` if ``b`` is fixed; if it is
free, an upper bound on the cost of making ``sum of y a`` 0.

Plain sums are taken over short runs of terms first and then over the runs, so that no term goes
through many additions; they lose precision where large terms cancel.  Extended sums accumulate the
rounding error of each product and each sum in a second number (Ogita, Rump & Oishi, 2005), as if in
twice the precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from everystump._core.jit import jit
from everystump._core.losses import QuadraticLoss
from everystump._core.solvers.certificate import (
    SAFETY_FACTOR,
    UNIT_ROUNDOFF,
    Certificate,
    ObjectiveTerms,
    certify,
    exact_sum,
    sum_rounding,
)

_RUN = 64  # number of terms in a run
_SPLITTER = 2.0**27 + 1.0  # splits a number into two halves of its digits
# Sums are repeated in twice the precision if rounding is more than this fraction of the tolerance,
# or of the value itself.
_MAX_ROUNDING_OF_TOL, _MAX_ROUNDING = 0.1, 1e-10
_FEW_UNITS = 4 * UNIT_ROUNDOFF


class Scores(NamedTuple):
    """``sum over j of coef_j K(x_j, x_i)`` for each row i, and a bound on its rounding."""

    value: np.ndarray
    rounding: np.ndarray


class KernelProducts(Protocol):
    """The kernel matrix of the rows."""

    @property
    def dense_if_cheap(self) -> np.ndarray | None:
        """The full matrix, or None if only some rows of it should be computed."""

    @property
    def width(self) -> int:
        """The number of rows of the matrix that may be kept in memory."""

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of the matrix."""

    def scores(self, coef: np.ndarray, extended: bool = False) -> Scores:
        """Return the matrix times coefficients, most of which may be 0."""


@dataclass(frozen=True)
class DenseKernelMatrix:
    """A kernel matrix in memory."""

    matrix: np.ndarray

    @property
    def dense_if_cheap(self) -> np.ndarray:
        """The matrix."""
        return self.matrix

    @property
    def width(self) -> int:
        """The number of rows."""
        return len(self.matrix)

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of the matrix."""
        return self.matrix[index]

    def scores(self, coef: np.ndarray, extended: bool = False) -> Scores:
        """Return the matrix times coefficients."""
        total = RowSum(len(coef), extended)
        total.add(self.matrix, np.flatnonzero(coef), coef)
        return total.scores()


class RowSum:
    """A sum of multiples of rows, in twice the precision if extended, with its rounding."""

    def __init__(self, length: int, extended: bool) -> None:
        self._extended, self._n_terms, self._n_runs = extended, 0, 0
        self.value, self.rest, self._size = np.zeros((3, length))

    def add(self, rows: np.ndarray, slots: np.ndarray, coef: np.ndarray) -> None:
        """Add ``coef[k] * rows[k]`` for each ``k`` in ``slots``."""
        self._n_terms += len(slots)
        self._n_runs += -(-len(slots) // _RUN)
        if self._extended:
            _add_extended(rows, slots, coef, self.value, self.rest, self._size)
        else:
            _add_plain(rows, slots, coef, self.value, self._size)

    def scores(self) -> Scores:
        """Return the sum."""
        if not self._extended:
            n_operations = min(self._n_terms, _RUN) + self._n_runs
            return Scores(self.value, sum_rounding(n_operations) * self._size)
        value = self.value + self.rest
        return Scores(value, UNIT_ROUNDOFF * np.abs(value) + self.rest_rounding)

    @property
    def rest_rounding(self) -> np.ndarray:
        """A bound on the rounding of ``value + rest``, if extended."""
        return sum_rounding(self._n_terms + 2) ** 2 * self._size


def weighted_sum(rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return ``rows' coef``, computed in twice the precision."""
    total = RowSum(rows.shape[1], extended=True)
    total.add(rows, np.flatnonzero(coef), coef)
    return total.scores().value


def linear_scores(X: np.ndarray, coef: np.ndarray, extended: bool = False) -> Scores:
    """Return ``X (X' coef)``, whose terms are far smaller than those of ``(X X') coef``."""
    nonzero = np.flatnonzero(coef)
    weights = RowSum(X.shape[1], extended)
    weights.add(X, nonzero, coef)
    error = weights.rest_rounding if extended else weights.scores().rounding
    columns, features = np.ascontiguousarray(X.T), np.arange(X.shape[1])
    out = RowSum(len(X), extended)
    out.add(columns, features, weights.value)
    if extended:
        out.add(columns, features, weights.rest)
    value, rounding = out.scores()
    return Scores(value, rounding + SAFETY_FACTOR * (np.abs(X) @ error))


@jit
def _add_plain(
    rows: np.ndarray, slots: np.ndarray, coef: np.ndarray, value: np.ndarray, size: np.ndarray
) -> None:
    run = np.empty(len(value))
    for first in range(0, len(slots), _RUN):
        run[:] = 0.0
        for k in slots[first : first + _RUN]:
            c, row = coef[k], rows[k]
            for j in range(len(value)):
                term = c * row[j]
                run[j] += term
                size[j] += abs(term)
        for j in range(len(value)):
            value[j] += run[j]


@jit
def _add_extended(
    rows: np.ndarray,
    slots: np.ndarray,
    coef: np.ndarray,
    value: np.ndarray,
    rest: np.ndarray,
    size: np.ndarray,
) -> None:
    """Add products; the rounding error of each product and each sum is added to ``rest``."""
    for k in slots:
        c, row = coef[k], rows[k]
        c_high = _SPLITTER * c
        c_high -= c_high - c
        c_low = c - c_high
        for j in range(len(value)):
            x = row[j]
            x_high = _SPLITTER * x
            x_high -= x_high - x
            x_low = x - x_high
            term = c * x
            error = ((c_high * x_high - term) + c_high * x_low + c_low * x_high) + c_low * x_low
            old = value[j]
            new = old + term
            part = new - old
            rest[j] += error + ((old - (new - part)) + (term - part))
            value[j] = new
            size[j] += abs(term)


class Intercept(NamedTuple):
    """The intercept ``b``, the imbalance of the dual value, and a bound on its rounding."""

    value: float
    imbalance: float
    rounding: float


@dataclass(frozen=True)
class EvaluatedExpansion:
    """The intercept, the margins, and the certificate of a kernel machine."""

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
    """Evaluate the kernel machine with dual variables ``a``, each within its limits.

    ``intercept`` maps its scores to the intercept.  Sums are taken in twice the precision if that
    would change the certificate.
    """
    for extended in (False, True):
        scores = products.scores(a * sign, extended)
        evaluated = _evaluate(scores, sign, loss, a, tol, intercept(scores))
        if evaluated.certificate.rounding <= min(_MAX_ROUNDING_OF_TOL * tol, _MAX_ROUNDING):
            break
    return evaluated


def _evaluate(
    scores: Scores,
    sign: np.ndarray,
    loss: QuadraticLoss,
    a: np.ndarray,
    tol: float,
    intercept: Intercept,
) -> EvaluatedExpansion:
    """Evaluate a kernel machine with known scores.

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
