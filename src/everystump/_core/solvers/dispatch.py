"""The solvers by name; the loss of a problem names the one that it needs."""

from __future__ import annotations

from collections.abc import Callable

from everystump._core.solvers.augmented_lagrangian import solve_augmented_lagrangian
from everystump._core.solvers.newton import solve_newton
from everystump._core.solvers.problem import Problem, Progress, Solution
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.span import TableKernelMatrix

SOLVERS: dict[str, Callable[..., Solution]] = {
    "augmented_lagrangian": solve_augmented_lagrangian,
    "newton": solve_newton,
}


def solve(
    problem: Problem,
    rows: Rows,
    *,
    tol: float,
    max_iter: int,
    progress: Progress = lambda n_iter, primal, dual: None,
    start: Solution | None = None,
    kernel_matrix: TableKernelMatrix | None = None,
) -> Solution:
    """Minimize the objective of `Problem` with the solver that its loss names.

    Parameters
    ----------
    problem : Problem
        The problem.
    rows : Rows
        Its rows.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        The largest number of Newton steps.
    progress : callable, optional
        Called with the number of Newton steps, the primal and the dual value.
    start : Solution, optional
        The solution for another C.
    kernel_matrix : TableKernelMatrix, optional
        The kernel matrix of the table, used if it makes the solution faster.

    Returns
    -------
    Solution
        Weights, bias and dual variables with their certificate.
    """
    return SOLVERS[problem.loss.solver](
        problem,
        rows,
        tol=tol,
        max_iter=max_iter,
        progress=progress,
        start=start,
        kernel_matrix=kernel_matrix,
    )
