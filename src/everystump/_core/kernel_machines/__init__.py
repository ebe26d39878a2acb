"""Kernel machines: the registry of kernels, kernel matrices, training, leave-one-out."""

from everystump._core.kernel_machines.expansion import Expansion
from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix, bytes_needed
from everystump._core.kernel_machines.kernels import (
    CallableKernel,
    Kernel,
    NamedKernel,
    PrecomputedKernel,
    gamma_scale,
    make_kernel,
    takes_gamma,
)
from everystump._core.kernel_machines.leave_one_out import leave_one_out
from everystump._core.kernel_machines.problem import LOSSES, KernelProblem, KernelSolution
from everystump._core.kernel_machines.products import count_cuts
from everystump._core.kernel_machines.registry import (
    KERNELS,
    KernelSpec,
    constant_of,
    kernel_names,
    mean_abs_cosine,
)
from everystump._core.kernel_machines.train import train

__all__ = [
    "KERNELS",
    "LOSSES",
    "CallableKernel",
    "Expansion",
    "Kernel",
    "KernelProblem",
    "KernelSolution",
    "KernelSpec",
    "LazyKernelMatrix",
    "NamedKernel",
    "PrecomputedKernel",
    "bytes_needed",
    "constant_of",
    "count_cuts",
    "gamma_scale",
    "kernel_names",
    "leave_one_out",
    "make_kernel",
    "mean_abs_cosine",
    "takes_gamma",
    "train",
]
