"""Solvers of stump ensembles and of kernel machines; every solution comes with a certificate."""

from everystump._core.solvers.box import BoxSolution, solve_box
from everystump._core.solvers.certificate import Certificate, InseparableError
from everystump._core.solvers.dispatch import solve
from everystump._core.solvers.kernel_products import DenseKernelMatrix, KernelProducts, weighted_sum
from everystump._core.solvers.problem import Problem, Progress, Solution
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.span import TableKernelMatrix

__all__ = [
    "BoxSolution",
    "Certificate",
    "DenseKernelMatrix",
    "InseparableError",
    "KernelProducts",
    "Problem",
    "Progress",
    "Rows",
    "Solution",
    "TableKernelMatrix",
    "solve",
    "solve_box",
    "weighted_sum",
]
