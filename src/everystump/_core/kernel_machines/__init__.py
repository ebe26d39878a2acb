"""Kernel machines: expansions with and without a bias, trained within a given memory."""

from everystump._core.kernel_machines.combination import KernelEnsemble, LeaveOneOut, Machine
from everystump._core.kernel_machines.expansion import Expansion
from everystump._core.kernel_machines.gram import Gram
from everystump._core.kernel_machines.kernel import (
    KERNELS,
    Kernel,
    PairKernel,
    gamma_scale,
    make_kernel,
    takes_gamma,
)
from everystump._core.kernel_machines.leave_out import leave_one_out
from everystump._core.kernel_machines.task import LOSSES, Task, Trained
from everystump._core.kernel_machines.train import train

__all__ = [
    "KERNELS",
    "LOSSES",
    "Expansion",
    "Gram",
    "Kernel",
    "KernelEnsemble",
    "LeaveOneOut",
    "Machine",
    "PairKernel",
    "Task",
    "Trained",
    "gamma_scale",
    "leave_one_out",
    "make_kernel",
    "takes_gamma",
    "train",
]
