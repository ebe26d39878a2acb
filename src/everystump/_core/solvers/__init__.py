"""Solvers of stump ensembles and of kernel machines; every solution comes with a certificate."""

from everystump._core.solvers.augmented_lagrangian import solve_augmented_lagrangian
from everystump._core.solvers.newton import solve_newton
from everystump._core.solvers.problem import Problem, Solution, SolverOptions
from everystump._core.solvers.rows import Rows

# The loss of a problem names the solver that it needs.
SOLVERS = {"augmented_lagrangian": solve_augmented_lagrangian, "newton": solve_newton}


def solve(problem: Problem, rows: Rows, options: SolverOptions) -> Solution:
    """Minimize the objective of `Problem` with the solver of its loss."""
    return SOLVERS[problem.loss.solver](problem, rows, options)
