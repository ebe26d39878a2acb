"""Solvers of stump ensembles and of kernel machines; every solution comes with a certificate."""

from everystump._core.solvers.box import BoxSolution, solve_box
from everystump._core.solvers.certificate import Certificate, InseparableError
from everystump._core.solvers.dispatch import solve
from everystump._core.solvers.kernel_products import DenseKernelMatrix, KernelProducts, weighted_sum
from everystump._core.solvers.problem import Problem, Progress, Solution, SolverOptions
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.table_kernel import TableKernelMatrix

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
    "SolverOptions",
    "TableKernelMatrix",
    "solve",
    "solve_box",
    "weighted_sum",
]
