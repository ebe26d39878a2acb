"""Solvers of the chain problem and of kernel machines, each result with its certificate."""

from everystump._core.solvers.box import BoxSolution, solve_box
from everystump._core.solvers.certificate import Certificate, InseparableError
from everystump._core.solvers.dispatch import solve
from everystump._core.solvers.hinge import solve_hinge
from everystump._core.solvers.problem import Problem, Progress, Solution
from everystump._core.solvers.products import Products, WholeMatrix, weighted_sum
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.smooth import solve_smooth
from everystump._core.solvers.span import Gram

__all__ = [
    "BoxSolution",
    "Certificate",
    "Gram",
    "InseparableError",
    "Problem",
    "Products",
    "Progress",
    "Rows",
    "Solution",
    "WholeMatrix",
    "solve",
    "solve_box",
    "solve_hinge",
    "solve_smooth",
    "weighted_sum",
]
