"""Machines with one row left out, each from the machine with all rows.

A row whose dual variable is 0 leaves the machine as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from everystump._core.kernel_machines.gram import Gram
from everystump._core.kernel_machines.kernel import PrecomputedKernel
from everystump._core.kernel_machines.task import Task
from everystump._core.kernel_machines.train import train
from everystump._core.losses import Box, QuadraticLoss
from everystump._core.solvers import WholeMatrix, solve_box

# Margins of machines without a row are wanted to many digits: a bound may be met exactly.
_TOL = 1e-10


@dataclass(frozen=True)
class _Without(QuadraticLoss):
    """A loss that one row does not have."""

    loss: QuadraticLoss
    row: int

    def total(self, margin: np.ndarray) -> float:
        return self.loss.total(self._met(margin))

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        return self.loss.per_row(self._met(margin))

    def worst_within(self, margin: np.ndarray, off: np.ndarray) -> np.ndarray:
        return self.loss.worst_within(margin, off)

    def _met(self, margin: np.ndarray) -> np.ndarray:
        met = margin.copy()
        met[self.row] = 1.0  # where none of the losses costs anything
        return met

    def dual(self, a: np.ndarray) -> np.ndarray:
        return self.loss.dual(a)

    def box(self) -> Box:
        ridge, low, high = (limit.copy() for limit in self.loss.box())
        low[self.row] = high[self.row] = 0.0
        return Box(ridge, low, high)


def leave_one_out(
    square: np.ndarray, task: Task, a: np.ndarray, margin: np.ndarray, rows: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each of some rows that matters, with all margins of the machine without it.

    Parameters
    ----------
    square : ndarray of shape (n_rows, n_rows)
        The kernel matrix.
    task : Task
        What was trained.
    a, margin : ndarray of shape (n_rows,)
        Dual variables and margins of the machine with all rows.
    rows : ndarray of int
        The rows to leave out, one at a time.

    Yields
    ------
    (int, ndarray of shape (n_rows,))
        The row and the margins.
    """
    for row in rows[a[rows] != 0].tolist():
        if task.bias:
            yield row, _with_bias(square, task, row)
        else:
            yield row, _without_bias(square, task, row, a, margin)


def _without_bias(
    square: np.ndarray, task: Task, row: int, a: np.ndarray, margin: np.ndarray
) -> np.ndarray:
    rest = a.copy()
    rest[row] = 0.0
    change = a[row] * task.sign[row]
    start = rest, margin - change * task.sign * square[row]
    return solve_box(
        WholeMatrix(square),
        task.sign,
        _Without(task.loss.cost, task.loss, row),
        tol=_TOL,
        max_iter=task.max_iter,
        start=start,
    ).margin


def _with_bias(square: np.ndarray, task: Task, row: int) -> np.ndarray:
    rest = np.delete(np.arange(len(square)), row)
    sign = task.sign[rest]
    if len(np.unique(sign)) < 2:
        return task.sign * sign[0]
    part = replace(task, sign=sign, loss=replace(task.loss, cost=task.loss.cost[rest]), tol=_TOL)
    gram = Gram(PrecomputedKernel(), square[np.ix_(rest, rest)], np.inf)
    found = train(gram, part, lambda n_iter, primal, dual: None)
    return task.sign * ((found.a * sign) @ square[rest] + found.b)
