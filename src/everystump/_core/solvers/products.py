"""Products of a kernel matrix with coefficients, and how far rounding may put them off.

Plain sums are taken of short runs of terms first and then of the runs, so that no term goes through
many additions; they lose digits where large terms cancel.  Doubled ones carry the rounding of each
product and each sum along in a second number (Ogita, Rump & Oishi, 2005), as if in twice the
precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from everystump._core.jit import jit
from everystump._core.solvers.certificate import SAFETY_FACTOR, UNIT_ROUNDOFF, sum_rounding

_RUN = 64  # terms that are summed by themselves
_SPLITTER = 2.0**27 + 1.0  # cuts a number into two halves of its digits


class Scores(NamedTuple):
    """``sum over j of coef_j K(x_j, x_i)`` for each row i, and a bound on its rounding."""

    value: np.ndarray
    rounding: np.ndarray


class Products(Protocol):
    """The kernel matrix of the rows."""

    @property
    def whole(self) -> np.ndarray | None:
        """The matrix, None if rows of it are better asked for one by one."""

    @property
    def width(self) -> int:
        """How many rows of it may be held."""

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of it."""

    def scores(self, coef: np.ndarray, doubled: bool = False) -> Scores:
        """Return the matrix times some coefficients, few of which need to differ from 0."""


@dataclass(frozen=True)
class WholeMatrix:
    """A kernel matrix that is in memory."""

    whole: np.ndarray

    @property
    def width(self) -> int:
        """All rows are held."""
        return len(self.whole)

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return some rows of it."""
        return self.whole[index]

    def scores(self, coef: np.ndarray, doubled: bool = False) -> Scores:
        """Return the matrix times some coefficients."""
        total = RowSum(len(coef), doubled)
        total.add(self.whole, np.flatnonzero(coef), coef)
        return total.scores()


class RowSum:
    """A sum of multiples of rows, with a bound on its rounding.

    Parameters
    ----------
    length : int
        How long the rows are.
    doubled : bool
        Whether to sum in twice the precision.
    """

    def __init__(self, length: int, doubled: bool) -> None:
        self._doubled, self._n_terms, self._n_runs = doubled, 0, 0
        self.value, self.rest, self._size = np.zeros((3, length))

    def add(self, rows: np.ndarray, slots: np.ndarray, coef: np.ndarray) -> None:
        """Add ``coef[k] * rows[k]`` for each ``k`` in ``slots``."""
        self._n_terms += len(slots)
        self._n_runs += -(-len(slots) // _RUN)
        if self._doubled:
            _add_doubled(rows, slots, coef, self.value, self.rest, self._size)
        else:
            _add_plain(rows, slots, coef, self.value, self._size)

    def scores(self) -> Scores:
        """Return the sum."""
        if not self._doubled:
            n_operations = min(self._n_terms, _RUN) + self._n_runs
            return Scores(self.value, sum_rounding(n_operations) * self._size)
        value = self.value + self.rest
        return Scores(value, UNIT_ROUNDOFF * np.abs(value) + self.rest_rounding)

    @property
    def rest_rounding(self) -> np.ndarray:
        """A bound on the rounding of ``value`` and ``rest`` together, if doubled."""
        return sum_rounding(self._n_terms + 2) ** 2 * self._size


def weighted_sum(rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return ``rows' coef``, computed in twice the precision."""
    total = RowSum(rows.shape[1], doubled=True)
    total.add(rows, np.flatnonzero(coef), coef)
    return total.scores().value


def linear_scores(X: np.ndarray, coef: np.ndarray, doubled: bool = False) -> Scores:
    """Return ``X (X' coef)``, whose terms are far smaller than those of ``(X X') coef``."""
    chosen = np.flatnonzero(coef)
    weights = RowSum(X.shape[1], doubled)
    weights.add(X, chosen, coef)
    off = weights.rest_rounding if doubled else weights.scores().rounding
    columns, every = np.ascontiguousarray(X.T), np.arange(X.shape[1])
    out = RowSum(len(X), doubled)
    out.add(columns, every, weights.value)
    if doubled:
        out.add(columns, every, weights.rest)
    value, rounding = out.scores()
    return Scores(value, rounding + SAFETY_FACTOR * (np.abs(X) @ off))


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
def _add_doubled(
    rows: np.ndarray,
    slots: np.ndarray,
    coef: np.ndarray,
    value: np.ndarray,
    rest: np.ndarray,
    size: np.ndarray,
) -> None:
    """Add products; ``rest`` takes what each product and each sum round off."""
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
            off = ((c_high * x_high - term) + c_high * x_low + c_low * x_high) + c_low * x_low
            old = value[j]
            new = old + term
            part = new - old
            rest[j] += off + ((old - (new - part)) + (term - part))
            value[j] = new
            size[j] += abs(term)
