"""Solvers of the chain problem, each result with its certificate."""

from everystump.solvers.certificate import Certificate, InseparableError
from everystump.solvers.hinge import solve_hinge
from everystump.solvers.problem import Problem, Progress, Solution
from everystump.solvers.rows import Rows
from everystump.solvers.smooth import solve_smooth

__all__ = [
    "Certificate",
    "InseparableError",
    "Problem",
    "Progress",
    "Rows",
    "Solution",
    "solve_hinge",
    "solve_smooth",
]
