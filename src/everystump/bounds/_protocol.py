"""What bounds require of an estimator.

- `HasTrainingOverlap`: compares samples with its training samples.  All estimators of this package.
- `WarmStartable`: may continue an earlier fit.
- `SupportsKernelEnsembles`: is a kernel machine or an ensemble of them.
- `SupportsKernelMachines`: is a kernel machine that may be a member of an ensemble.
- `SubsampleEnsemble`: is an ensemble whose members were trained on random subsamples.

Estimators of other packages may implement the same methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from everystump._tables.overlap import Overlap
from everystump.bounds._kernel_ensemble import KernelEnsemble, KernelMachine


class NotTrainingDataError(ValueError):
    """A bound on training data was given other data."""


@runtime_checkable
class HasTrainingOverlap(Protocol):
    """A fitted estimator that can compare samples with its training samples."""

    def training_overlap(self, X: Any, y: Any) -> Overlap:
        """Compare labeled samples with the training samples."""


@runtime_checkable
class WarmStartable(HasTrainingOverlap, Protocol):
    """A fitted estimator that may have continued an earlier fit."""

    @property
    def fitted_on_single_table(self) -> bool:
        """Whether all fits that it continues had the same training data and weights."""


@runtime_checkable
class SupportsKernelEnsembles(Protocol):
    """A fitted kernel machine, or an ensemble of them with fixed weights."""

    def kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        """Return it as an ensemble: one for two classes, else one for each class against the rest.

        Raises `NotTrainingDataError` if ``X`` and ``y`` are not the training data.
        """


@runtime_checkable
class SupportsKernelMachines(Protocol):
    """A fitted kernel machine that may be a member of an ensemble."""

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return its machine for each row of ``signs``.

        ``rows`` returns the training samples as numbers.  ``signs`` holds their labels as 1 and -1:
        one row for two classes, else one for each class against the rest.
        """


class EnsembleMember(NamedTuple):
    """A machine of an ensemble, its weight, its rows of the training data, and their values."""

    machine: Any
    weight: float
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray


@runtime_checkable
class SubsampleEnsemble(Protocol):
    """A fitted ensemble of machines that were trained on random subsamples."""

    @property
    def has_fixed_weights(self) -> bool:
        """Whether the weights do not depend on the training data."""

    @property
    def combines_signs(self) -> bool:
        """Whether the signs of the machines are combined instead of their scores."""

    def ensemble_members(self, X: Any, y: Any) -> list[EnsembleMember]:
        """Return the machines, given the training data."""

    def clone_for_leave_one_out(self) -> Any:
        """Return an unfitted copy with subsamples of the same size, at most all rows but one."""
