"""The solver of each problem, which its loss names."""

from __future__ import annotations

from collections.abc import Callable

from everystump._core.solvers.hinge import solve_hinge
from everystump._core.solvers.problem import Problem, Progress, Solution
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.smooth import solve_smooth
from everystump._core.solvers.span import Gram

SOLVERS: dict[str, Callable[..., Solution]] = {
    "augmented_lagrangian": solve_hinge,
    "newton": solve_smooth,
}


def solve(
    problem: Problem,
    rows: Rows,
    *,
    tol: float,
    max_iter: int,
    progress: Progress = lambda n_iter, primal, dual: None,
    start: Solution | None = None,
    gram: Gram | None = None,
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
    gram : Gram, optional
        The kernel matrix of the table, used if it makes the solution faster.
    """
    solver = SOLVERS[problem.loss.solver]
    return solver(
        problem,
        rows,
        tol=tol,
        max_iter=max_iter,
        progress=progress,
        start=start,
        gram=gram,
    )
