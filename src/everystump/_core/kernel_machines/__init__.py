"""Kernel machines: expansions with and without a bias, trained within a given memory."""

from everystump._core.kernel_machines.combination import Combination, LeaveEachOut, Machine
from everystump._core.kernel_machines.expansion import Expansion
from everystump._core.kernel_machines.gram import Gram
from everystump._core.kernel_machines.kernel import (
    KERNELS,
    Kernel,
    PairKernel,
    gamma_scale,
    has_gamma,
    make_kernel,
)
from everystump._core.kernel_machines.leave_out import leave_each_out
from everystump._core.kernel_machines.task import LOSSES, Task, Trained
from everystump._core.kernel_machines.train import train

__all__ = [
    "KERNELS",
    "LOSSES",
    "Combination",
    "Expansion",
    "Gram",
    "Kernel",
    "LeaveEachOut",
    "Machine",
    "PairKernel",
    "Task",
    "Trained",
    "gamma_scale",
    "has_gamma",
    "leave_each_out",
    "make_kernel",
    "train",
]
