"""Kernels of infinite ensembles: stumps, midpoint stumps, perceptrons, decision trees, and others.

Each function takes arrays ``X`` and ``Y`` (by default ``X``) and returns their kernel matrix, like
the functions of `sklearn.metrics.pairwise`.  Additive constants matter only for machines without an
intercept.
"""

from everystump.kernels._embodied import EmbodiedKernel
from everystump.kernels._pairwise import (
    gaussian_kernel,
    laplacian_kernel,
    middle_stump_kernel,
    perceptron_kernel,
    simplified_stump_kernel,
    stump_kernel,
)

__all__ = [
    "EmbodiedKernel",
    "gaussian_kernel",
    "laplacian_kernel",
    "middle_stump_kernel",
    "perceptron_kernel",
    "simplified_stump_kernel",
    "stump_kernel",
]
