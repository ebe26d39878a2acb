"""What bounds ask of an estimator.

Every estimator of the package tells which of some rows it learned from (`HasTrainingOverlap`).
Those that may go on from an earlier fit tell whether it was to the same table (`WarmStartable`).
Kernel machines, or votes of them, show these (`SupportsKernelEnsembles`), and the machines that a
vote is made of show themselves (`SupportsKernelMachines`).  A vote over subsamples shows its
members (`SubsampleEnsemble`).
Estimators of other packages may offer the same methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from everystump._tables.overlap import Overlap
from everystump.bounds._kernel_ensemble import KernelEnsemble, KernelMachine


class NotTrainingDataError(ValueError):
    """A bound was asked of a table that is not the one of the training."""


@runtime_checkable
class HasTrainingOverlap(Protocol):
    """A fitted estimator that knows its training rows again."""

    def training_overlap(self, X: Any, y: Any) -> Overlap:
        """Compare labelled rows with those that were learned from."""


@runtime_checkable
class WarmStartable(HasTrainingOverlap, Protocol):
    """A fitted estimator that may have gone on from an earlier fit."""

    @property
    def fitted_on_single_table(self) -> bool:
        """Whether all fits that it goes on from were to one table with the same weights."""


@runtime_checkable
class SupportsKernelEnsembles(Protocol):
    """A fitted kernel machine, or a vote of such with fixed weights."""

    def kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        """Return it as theorems see it, given the very table of its training.

        There is one vote for two classes, else one for each class against the rest.  Raises
        `NotTrainingDataError` for any other table.
        """


@runtime_checkable
class SupportsKernelMachines(Protocol):
    """A fitted kernel machine that may be part of a vote."""

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return it as theorems see it, one for each row of ``signs``.

        ``rows`` gives its training rows as numbers; ``signs`` are their labels as 1 and -1, a row
        for two classes, else one for each class against the rest.
        """


class EnsembleMember(NamedTuple):
    """A machine of a vote with its weight and its own part of the training table."""

    machine: Any
    weight: float
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray


@runtime_checkable
class SubsampleEnsemble(Protocol):
    """A fitted vote of machines, each of which drew some rows."""

    @property
    def has_fixed_weights(self) -> bool:
        """Whether the weights were not learned from the rows."""

    @property
    def combines_signs(self) -> bool:
        """Whether the machines' signs are combined instead of their scores."""

    def ensemble_members(self, X: Any, y: Any) -> list[EnsembleMember]:
        """Return the machines, given the very table of the training."""

    def clone_for_leave_one_out(self) -> Any:
        """Return an unfitted copy that draws as many rows for a machine, at most all but one."""
