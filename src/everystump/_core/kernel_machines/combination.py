"""Trained kernel machines as theorems see them, alone or in a vote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np


class LeaveOneOut(Protocol):
    """Leaves rows out of a machine, one at a time."""

    def __call__(self, rows: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Yield rows, all that matter by default, with the margins of the machine without them."""


@dataclass(frozen=True)
class Machine:
    """One kernel machine (Evgeniou et al., eq. 3).

    Attributes
    ----------
    rows : ndarray of int, shape (n_own_rows,)
        The rows of the whole training table that it was trained on.
    a : ndarray of shape (n_own_rows,)
        Their dual variables.
    margin : ndarray of shape (n_own_rows,)
        Their margins ``y_i f(x_i)``.
    diagonal : ndarray of shape (n_own_rows,)
        The kernel of each row with itself.
    limit : float
        The most that the kernel of a row with itself can be.
    kappa_is_proven : bool
        Whether that is so for all rows there are, not only for those of the training table.
    C : float
        The most that a row's loss costs.
    hinge : bool
        Whether the loss is the hinge.
    capped : bool
        Whether dual variables are at most C: the loss is nowhere steeper than that.
    gap : float
        By how much its objective may be above the optimum.
    refit_gap : float
        By how much those of the machines without a row may be.
    violations : tuple of str
        What the theorems on left-out rows ask for and this machine is not, in sentences: a bias
        that is not in the kernel, a kernel or costs that follow the training rows, and so on.
    leave_one_out : callable or None
        Given some rows, gives each of these that matters with the margins of all own rows for the
        machine without that row; None if there is no quicker way than to train it again.
    """

    rows: np.ndarray
    a: np.ndarray
    margin: np.ndarray
    diagonal: np.ndarray
    limit: float
    kappa_is_proven: bool
    C: float
    hinge: bool
    capped: bool
    gap: float
    refit_gap: float
    violations: tuple[str, ...]
    leave_one_out: LeaveOneOut | None = None

    def left_out(self, rows: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Leave rows out of a machine that knows how."""
        if self.leave_one_out is None:
            raise TypeError("this machine has to be trained again to leave a row out.")
        return self.leave_one_out(rows)

    @property
    def squared_norm(self) -> float:
        """``|f|^2``, one over the squared margin of an SVM."""
        return float(self.a @ self.margin)

    @property
    def squared_radius(self) -> float:
        """The squared radius of the ball around 0 that holds the support vectors."""
        return float(self.diagonal[self.a > 0].max(initial=0.0))


@dataclass(frozen=True)
class KernelEnsemble:
    """A vote ``F = sum of c_t f_t`` of kernel machines; a single machine is a vote of one.

    Attributes
    ----------
    machines : tuple of Machine
        The machines.
    weights : ndarray of shape (n_machines,)
        Their weights ``c_t``.
    margin : ndarray of shape (n_rows,)
        ``y_i F(x_i)`` on the training table.
    votes : bool
        Whether the machines' signs are combined instead of their scores.
    subsample : int or None
        How many rows each machine was given at random; None if all.
    doubts : tuple of str
        Why the table may not be that of the training, in sentences.
    """

    machines: tuple[Machine, ...]
    weights: np.ndarray
    margin: np.ndarray
    votes: bool = False
    subsample: int | None = None
    caveats: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows the training table has."""
        return len(self.margin)

    @cached_property
    def influence(self) -> np.ndarray:
        """``sum of c_t a_i K_t(x_i, x_i)``: by how much a row may raise its own margin.

        Where least squares make ``a_i`` negative the row lowers it, and would do better unseen.
        """
        out = np.zeros(self.n_rows)
        for c, machine in zip(self.weights, self.machines, strict=True):
            out[machine.rows] += c * np.maximum(machine.a, 0.0) * machine.diagonal
        return out

    @cached_property
    def influence_within_gaps(self) -> np.ndarray:
        """The same for machines that are at their optimum only up to their duality gaps.

        With a gap of ``e`` the margin of the best machine without the row is no less than that of
        the dual variables' own function less ``sqrt((a K)^2 + 2 e K)``.  That function is within
        ``sqrt(2 e K)`` of the one that was found, and a machine without the row whose gap is ``r``
        is within ``sqrt(2 r K)`` of the best.
        """
        out = np.zeros(self.n_rows)
        for c, machine in zip(self.weights, self.machines, strict=True):
            reach = np.sqrt(2.0 * machine.gap * machine.diagonal)
            own = np.maximum(machine.a, 0.0) * machine.diagonal
            refit = np.sqrt(2.0 * machine.refit_gap * machine.diagonal)
            out[machine.rows] += c * (np.hypot(own, reach) + reach + refit)
        return out

    @property
    def violations(self) -> tuple[str, ...]:
        """What the theorems on left-out rows ask for and is not so, each sentence once."""
        every = (text for machine in self.machines for text in machine.violations)
        return tuple(dict.fromkeys((*every, *self.caveats)))
