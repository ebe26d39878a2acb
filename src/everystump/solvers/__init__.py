"""Solvers of the chain problem and of kernel machines, each result with its certificate."""

from everystump.solvers.box import BoxSolution, solve_box
from everystump.solvers.certificate import Certificate, InseparableError
from everystump.solvers.evaluation import QuadraticLoss
from everystump.solvers.hinge import solve_hinge
from everystump.solvers.problem import Problem, Progress, Solution
from everystump.solvers.products import Products, WholeMatrix, weighted_sum
from everystump.solvers.rows import Rows
from everystump.solvers.smooth import solve_smooth
from everystump.solvers.span import Gram

__all__ = [
    "BoxSolution",
    "Certificate",
    "Gram",
    "InseparableError",
    "Problem",
    "Products",
    "Progress",
    "QuadraticLoss",
    "Rows",
    "Solution",
    "WholeMatrix",
    "solve_box",
    "solve_hinge",
    "solve_smooth",
    "weighted_sum",
]
