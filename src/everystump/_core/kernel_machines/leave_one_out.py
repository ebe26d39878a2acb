"""Leave-one-out kernel machines, each obtained from the machine trained on all rows.

Leaving out a row whose dual variable is 0 changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from everystump._core.dual_box import Box
from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix
from everystump._core.kernel_machines.kernels import PrecomputedKernel
from everystump._core.kernel_machines.problem import KernelProblem
from everystump._core.kernel_machines.train import train
from everystump._core.losses import QuadraticLoss
from everystump._core.solvers.box import solve_box
from everystump._core.solvers.kernel_certificate import DenseKernelMatrix

# Leave-one-out margins may equal a bound, so they are computed to high precision.
_TOL = 1e-10


@dataclass(frozen=True)
class _LossWithout(QuadraticLoss):
    """A loss without one of its rows."""

    loss: QuadraticLoss
    row: int

    def total(self, margin: np.ndarray) -> float:
        return self.loss.total(self._without(margin))

    def per_row(self, margin: np.ndarray) -> np.ndarray:
        return self.loss.per_row(self._without(margin))

    def worst_within(self, margin: np.ndarray, radius: np.ndarray) -> np.ndarray:
        return self.loss.worst_within(margin, radius)

    def _without(self, margin: np.ndarray) -> np.ndarray:
        margin = margin.copy()
        margin[self.row] = 1.0  # where all losses are 0
        return margin

    def dual(self, a: np.ndarray) -> np.ndarray:
        return self.loss.dual(a)

    def box(self) -> Box:
        ridge, low, high = (limit.copy() for limit in self.loss.box())
        low[self.row] = high[self.row] = 0.0
        return Box(ridge, low, high)


def leave_one_out(
    square: np.ndarray, problem: KernelProblem, a: np.ndarray, margin: np.ndarray, rows: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each of ``rows`` that has an effect, and the margins of all rows without it.

    ``square`` is the kernel matrix, ``a`` and ``margin`` are those of the machine on all rows.
    """
    for row in rows[a[rows] != 0].tolist():
        if problem.fit_intercept:
            yield row, _with_intercept(square, problem, row)
        else:
            yield row, _without_intercept(square, problem, row, a, margin)


def _without_intercept(
    square: np.ndarray, problem: KernelProblem, row: int, a: np.ndarray, margin: np.ndarray
) -> np.ndarray:
    y, rest = problem.y, a.copy()
    rest[row] = 0.0
    start = rest, margin - a[row] * y[row] * y * square[row]
    return solve_box(
        DenseKernelMatrix(square),
        y,
        _LossWithout(problem.loss.cost, problem.loss, row),
        tol=_TOL,
        max_iter=problem.max_iter,
        start=start,
    ).margin


def _with_intercept(square: np.ndarray, problem: KernelProblem, row: int) -> np.ndarray:
    rest = np.delete(np.arange(len(square)), row)
    y, loss = problem.y[rest], problem.loss
    if len(np.unique(y)) < 2:
        return problem.y * y[0]
    part = replace(problem, y=y, loss=replace(loss, cost=loss.cost[rest]), tol=_TOL)
    gram = LazyKernelMatrix(PrecomputedKernel(), square[np.ix_(rest, rest)], np.inf)
    solution = train(gram, part, lambda n_iter, primal, dual: None)
    return problem.y * ((solution.a * y) @ square[rest] + solution.b)
