"""Machines with one row left out, each from the machine with all rows.

A row whose dual variable is 0 leaves the machine as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from everystump.losses import Box
from everystump.machines.gram import Gram
from everystump.machines.kernel import PrecomputedKernel
from everystump.machines.train import Task, Trained, train
from everystump.solvers import BoxSolution, QuadraticLoss, WholeMatrix, solve_box

# Margins of machines without a row are wanted to many digits: a bound may be met exactly.
_TOL = 1e-10


@dataclass(frozen=True)
class _Without:
    """A loss that one row does not have."""

    loss: QuadraticLoss
    row: int

    def total(self, margin: np.ndarray) -> float:
        met = margin.copy()
        met[self.row] = 1.0  # where none of the losses costs anything
        return self.loss.total(met)

    def dual(self, a: np.ndarray) -> np.ndarray:
        return self.loss.dual(a)

    def box(self) -> Box:
        ridge, low, high = (limit.copy() for limit in self.loss.box())
        low[self.row] = high[self.row] = 0.0
        return Box(ridge, low, high)


def leave_each_out(
    square: np.ndarray, task: Task, whole: Trained
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each row that matters, with all margins of the machine that is trained without it.

    Parameters
    ----------
    square : ndarray of shape (n_rows, n_rows)
        The kernel matrix.
    task : Task
        What was trained.
    whole : Trained
        The machine with all rows.

    Yields
    ------
    (int, ndarray of shape (n_rows,))
        The row and the margins.
    """
    left_out = _with_bias if task.bias else _without_bias
    for row in np.flatnonzero(whole.a):
        yield int(row), left_out(square, task, whole, int(row))


def _without_bias(square: np.ndarray, task: Task, whole: Trained, row: int) -> np.ndarray:
    a = whole.a.copy()
    a[row] = 0.0
    change = whole.a[row] * task.sign[row]
    start = BoxSolution(a, whole.margin - change * task.sign * square[row], whole.certificate, 0)
    return solve_box(
        WholeMatrix(square),
        task.sign,
        _Without(task.loss, row),
        tol=_TOL,
        max_iter=task.max_iter,
        start=start,
    ).margin


def _with_bias(square: np.ndarray, task: Task, whole: Trained, row: int) -> np.ndarray:
    rest = np.delete(np.arange(len(square)), row)
    sign = task.sign[rest]
    if len(np.unique(sign)) < 2:
        return task.sign * sign[0]
    kernel, products = PrecomputedKernel(), square[np.ix_(rest, rest)]
    part = replace(task, sign=sign, loss=replace(task.loss, cost=task.loss.cost[rest]), tol=_TOL)
    found = train(kernel, products, Gram(kernel, products, np.inf), part, lambda *_: None)
    return task.sign * ((found.a * sign) @ square[rest] + found.b)
