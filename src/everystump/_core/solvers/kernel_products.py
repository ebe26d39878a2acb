"""Products of a kernel matrix with coefficients, and bounds on their rounding error.

Plain sums are taken over short runs of terms first and then over the runs, so that no term goes
through many additions; they lose precision where large terms cancel.  Extended sums accumulate the
rounding error of each product and each sum in a second number (Ogita, Rump & Oishi, 2005), as if in
twice the precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from everystump._core.jit import jit
from everystump._core.solvers.certificate import SAFETY_FACTOR, UNIT_ROUNDOFF, sum_rounding

_RUN = 64  # number of terms in a run
_SPLITTER = 2.0**27 + 1.0  # splits a number into two halves of its digits


class Scores(NamedTuple):
    """``sum over j of coef_j K(x_j, x_i)`` for each row i, and a bound on its rounding."""

    value: np.ndarray
    rounding: np.ndarray


class KernelProducts(Protocol):
    """The kernel matrix of the rows."""

    @property
    def whole(self) -> np.ndarray | None:
        """The whole matrix, or None if only some rows of it should be computed."""

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

    whole: np.ndarray

    @property
    def width(self) -> int:
        """The number of rows."""
        return len(self.whole)

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of the matrix."""
        return self.whole[index]

    def scores(self, coef: np.ndarray, extended: bool = False) -> Scores:
        """Return the matrix times coefficients."""
        total = RowSum(len(coef), extended)
        total.add(self.whole, np.flatnonzero(coef), coef)
        return total.scores()


class RowSum:
    """A sum of multiples of rows, with a bound on its rounding.

    Parameters
    ----------
    length : int
        The length of the rows.
    extended : bool
        Whether to sum in twice the precision.
    """

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
