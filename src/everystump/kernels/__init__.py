"""Kernels that embody hypotheses: stumps, middle stumps, perceptrons, trees, and any others.

All take tables ``X`` and ``Y`` (``X`` again by default) and return the matrix of their rows'
products, as the kernels of scikit-learn do, in an array ``out`` if one is given.  Constants matter
to machines without a bias only.
"""

from everystump.kernels.embodied import EmbodiedKernel
from everystump.kernels.named import (
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
