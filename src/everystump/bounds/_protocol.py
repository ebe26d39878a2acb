"""The interface between bounds and estimators: kernel machines as data, and protocols.

- `HasTrainingOverlap`: compares samples with its training samples.  All estimators of this package.
- `WarmStartable`: may continue an earlier fit.
- `SupportsKernelEnsembles`: is a kernel machine or an ensemble of them.
- `SupportsKernelMachines`: is a kernel machine that may be a member of an ensemble.
- `SubsampleEnsemble`: is an ensemble whose members were trained on random subsamples.

Estimators of other packages may implement the same methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from everystump._tables.overlap import Overlap

# Yields rows, by default all that have an effect, and the margins of all rows without them.
LeaveOneOut = Callable[[np.ndarray | None], Iterator[tuple[int, np.ndarray]]]


@dataclass(frozen=True)
class KernelMachine:
    """A fitted kernel machine (Evgeniou et al., eq. 3).

    A machine of several classes has a score ``f_k`` and dual variables ``a_ik`` for each of them.
    Leaving out row i changes its scores by at most ``|a_i| K(x_i, x_i)`` in the Euclidean norm, and
    thus the difference of two of them by ``sqrt(2)`` times as much.  So ``margin`` is the score of
    a row's class minus the largest of the others, ``a`` is ``sqrt(2) |a_i|``, and gaps are doubled.
    """

    rows: np.ndarray  # (n_rows,): indices of its training rows in the whole training table
    a: np.ndarray  # (n_rows,): their dual variables
    margin: np.ndarray  # (n_rows,): their margins y_i f(x_i)
    diagonal: np.ndarray  # (n_rows,): K(x_i, x_i)
    kappa: float  # the supremum of K(x, x)
    kappa_is_proven: bool  # whether it is over all x, not only over the training rows
    C: float  # the largest cost of a row
    has_hinge_loss: bool
    has_bounded_duals: bool  # whether they are at most C, the Lipschitz constant of the loss
    gap: float  # the absolute duality gap, a bound on the distance to the optimum
    refit_gap: float  # the same for machines that are trained without a row
    # The violated assumptions of leave-one-out theorems, as text: an intercept, a kernel or
    # costs that depend on the training rows, and so on.
    violations: tuple[str, ...]
    # Computes leave-one-out margins faster than refitting; None if there is no such method.
    leave_one_out: LeaveOneOut | None = None
    n_classes: int = 2

    def leave_out(self, rows: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Yield rows and all margins without them, if there is a faster method than refitting."""
        if self.leave_one_out is None:
            raise TypeError("this machine must be refitted to leave a row out.")
        return self.leave_one_out(rows)

    @property
    def squared_norm(self) -> float:
        """``|f|^2``, the inverse of the squared margin of an SVM."""
        return float(self.a @ self.margin)

    @property
    def squared_radius(self) -> float:
        """The squared radius of the smallest ball around 0 that contains the support vectors."""
        return float(self.diagonal[self.a > 0].max(initial=0.0))


@dataclass(frozen=True)
class KernelEnsemble:
    """An ensemble ``F = sum of c_t f_t`` of kernel machines, possibly a single one."""

    machines: tuple[KernelMachine, ...]  # f_t
    weights: np.ndarray  # (n_machines,): c_t
    margin: np.ndarray  # (n_rows,): y_i F(x_i) on the training table
    combines_signs: bool = False  # whether signs of scores are combined instead of scores
    subsample: int | None = None  # the number of random rows per machine; None if all
    caveats: tuple[str, ...] = ()  # why the data may not be the training data

    @property
    def n_rows(self) -> int:
        """The number of rows of the training table."""
        return len(self.margin)

    @property
    def n_classes(self) -> int:
        """The number of classes of each machine."""
        return self.machines[0].n_classes

    @cached_property
    def influence(self) -> np.ndarray:
        """``sum of c_t a_i K_t(x_i, x_i)``, the largest contribution of a row to its own margin.

        Where least squares make ``a_i`` negative, the row lowers its own margin, and 0 is used.
        """
        out = np.zeros(self.n_rows)
        for c, machine in zip(self.weights, self.machines, strict=True):
            out[machine.rows] += c * np.maximum(machine.a, 0.0) * machine.diagonal
        return out

    @cached_property
    def influence_within_gaps(self) -> np.ndarray:
        """`influence` for machines that are optimal only up to their duality gaps.

        With a gap ``e``, the margin of the optimal machine without the row is at least that of the
        function of the dual variables minus ``sqrt((a K)^2 + 2 e K)``.  That function is within
        ``sqrt(2 e K)`` of the fitted one, and a machine without the row with the gap ``r`` is
        within ``sqrt(2 r K)`` of the optimal one.
        """
        out = np.zeros(self.n_rows)
        for c, machine in zip(self.weights, self.machines, strict=True):
            distance = np.sqrt(2.0 * machine.gap * machine.diagonal)
            influence = np.maximum(machine.a, 0.0) * machine.diagonal
            refit = np.sqrt(2.0 * machine.refit_gap * machine.diagonal)
            out[machine.rows] += c * (np.hypot(influence, distance) + distance + refit)
        return out

    @property
    def violations(self) -> tuple[str, ...]:
        """The violated assumptions of leave-one-out theorems, without repetitions."""
        violations = (text for machine in self.machines for text in machine.violations)
        return tuple(dict.fromkeys((*violations, *self.caveats)))


class NotTrainingDataError(ValueError):
    """A bound on training data was called with other data."""


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
        """Whether all fits that it continued had the same training data and weights."""


@runtime_checkable
class SupportsKernelEnsembles(Protocol):
    """A fitted kernel machine, or an ensemble of them with fixed weights."""

    def kernel_ensembles(self, X: Any, y: Any) -> list[KernelEnsemble]:
        """Return it as an ensemble: one for two classes, else one for each class against the rest.

        Machines of several classes make a single ensemble.

        Raises `NotTrainingDataError` if ``X`` and ``y`` are not the training data.
        """


@runtime_checkable
class SupportsKernelMachines(Protocol):
    """A fitted kernel machine that may be a member of an ensemble."""

    def kernel_machines(
        self, rows: Callable[[], np.ndarray], signs: np.ndarray
    ) -> list[KernelMachine]:
        """Return its machine for each row of ``signs``, or a single one for several classes.

        ``rows`` returns the training samples as numbers.  ``signs`` holds their labels as 1 and -1:
        one row for two classes, else one for each class against the rest.
        """


class EnsembleMember(NamedTuple):
    """A fitted estimator of an ensemble, its weight, and its training samples and labels."""

    estimator: Any
    weight: float
    rows: np.ndarray  # indices of the samples in the training data
    X: np.ndarray
    y: np.ndarray


@runtime_checkable
class SubsampleEnsemble(Protocol):
    """A fitted ensemble whose members were trained on random subsamples."""

    @property
    def has_fixed_weights(self) -> bool:
        """Whether the weights do not depend on the training data."""

    @property
    def combines_signs(self) -> bool:
        """Whether the signs of the scores are combined instead of the scores."""

    def ensemble_members(self, X: Any, y: Any) -> list[EnsembleMember]:
        """Return the members, given the training data."""

    def clone_for_leave_one_out(self) -> Any:
        """Return an unfitted copy with subsamples of the same size, at most all rows but one."""
