"""The rows of a problem: the solvers' interface to the data.

A solver holds no array with one entry per row.  It passes tables, with one number per bin, and gets
back tables and a few sums; margins, dual variables and losses are stored with the rows, in
parts: blocks of a table in memory, or tables on the workers of a cluster.  `Rows` names what is
done to each part (a method of `SolverBlock`) and adds up the results.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from everystump._core.blocks import Parts
from everystump._core.solvers.row_blocks import (
    ActiveRows,
    CertificateSums,
    Curvature,
    Noise,
    RowSums,
    StepLoss,
)


class SolverParts(Parts, Protocol):
    """The rows of one binary problem in parts, with the methods of `SolverBlock`."""

    @property
    def total_weight(self) -> float:
        """The total weight of the rows."""

    @property
    def n_positive(self) -> int:
        """The number of rows of the positive class, or of those with a positive target."""

    def subsample(self, k: int, C: float) -> SolverParts:
        """Return one out of every ``k`` rows as a separate problem with another C."""

    def dual_coef(self) -> np.ndarray:
        """Return ``y a`` for all rows; an empty array if the rows are not in this process."""


class Rows:
    """The rows of one binary problem.

    ``passes`` counts the passes over all codes so far, ``n_active`` the rows with curvature.
    """

    def __init__(self, parts: SolverParts, C: float) -> None:
        self.parts, self.C = parts, C
        self.packing, self.n_rows, self.n_lookups = parts.packing, parts.n_rows, parts.n_lookups
        self.n_threads, self.total_weight = parts.n_threads, parts.total_weight
        self.passes = 0.0
        self.n_active = self.n_rows

    def subsample(self, k: int) -> Rows:
        """Return one out of every ``k`` rows as a separate problem, with C multiplied by ``k``."""
        return Rows(self.parts.subsample(k, k * self.C), k * self.C)

    def minority_size(self) -> int:
        """Return the number of rows of the smaller class, or of the rarer sign of the targets."""
        return min(self.parts.n_positive, self.n_rows - self.parts.n_positive)

    @property
    def n_additions(self) -> int:
        """The largest number of additions that a row's term goes through in a sum or a table."""
        joint = 0 if self.packing.is_trivial else int(np.diff(self.packing.starts).max())
        return self.parts.n_additions + joint

    def sums(self, *, refit: bool = True) -> RowSums:
        """Set the dual variables to the slopes at the margins; return the sums over the rows.

        Without ``refit`` the dual variables are kept.
        """
        self.passes += 1
        sums: RowSums = self.parts.call("sums", refit)
        sums.tables = self.packing.fold(sums.tables)
        return sums

    def curvature(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute the curvature ``W`` at the margins; return its sums by bin and by joint bin."""
        found: Curvature = self.parts.call("curvature")
        self.n_active = found.n_active
        self.passes += self.n_active / self.n_rows
        return self.packing.fold(found.table), found.table

    def product(self, table: np.ndarray) -> np.ndarray:
        """Return ``scatter(W gather(table))``."""
        self.passes += 2 * self.n_active / self.n_rows
        joint = self.packing.expand(table)
        return self.packing.fold(self.parts.call("product", joint, n_rows=self.n_active))

    def scatter_noise(self, seed: int) -> tuple[np.ndarray, float]:
        """Return random noise of variance ``W``: its sums by bin, and its total."""
        self.passes += self.n_active / self.n_rows
        noise: Noise = self.parts.call("scatter_noise", seed, n_rows=self.n_active)
        return self.packing.fold(noise.table), noise.total

    def active(self) -> ActiveRows:
        """Return the rows with curvature, for systems that are solved exactly."""
        return self.parts.call("active_rows")

    def set_margins(self, table: np.ndarray, intercept: float) -> None:
        """Compute the margins of tables and intercept, free of the rounding of many steps."""
        self.passes += 1
        self.parts.update("set_margins", self.packing.expand(table), intercept)

    def set_scores(self, scores: np.ndarray) -> None:
        """Set the margins, given the score of each row of the table."""
        self.parts.call("set_scores", scores)

    def set_direction(self, table: np.ndarray, intercept: float) -> None:
        """Set the direction of the next step, given the direction of tables and intercept."""
        self.passes += 1
        self.parts.update("set_direction", self.packing.expand(table), intercept)

    def directional_slopes(self, *lengths: float) -> np.ndarray:
        """Return minus the derivatives of the summed loss along the direction at some lengths."""
        return self.parts.call("directional_slopes", lengths)

    def full_step_loss(self) -> StepLoss:
        """Return the loss and the smallest margin after a full step along the direction."""
        return self.parts.call("full_step_loss")

    def take_step(self, t: float) -> None:
        """Move the margins by ``t`` times the direction."""
        self.parts.update("take_step", t)

    def certificate_sums(self, radius: float) -> CertificateSums:
        """Return the sums, and the loss of the worst margins within ``radius``."""
        self.passes += 1
        found: CertificateSums = self.parts.call("certificate_sums", radius)
        found.sums.tables = self.packing.fold(found.sums.tables)
        return found

    def complementarity(self) -> float:
        """Return the sum of the dual variables times the distances of the margins from 1."""
        return self.parts.call("complementarity")

    def mean_distance(self) -> float:
        """Return the weighted mean of the distances of the margins from the kink."""
        return self.parts.call("total_distance") / self.total_weight

    def set_c(self, C: float) -> None:
        """Set C, and with it the cost of every row."""
        self.C = C
        self.parts.update("set_c", C)

    def smooth_at_box_center(self, penalty: float, fraction: float) -> None:
        """Smooth the loss around ``fraction`` times the middle of each row's box."""
        self.parts.update("smooth_at_box_center", penalty, fraction)

    def smooth_at_duals(self, penalty: float) -> None:
        """Smooth the loss around the current dual variables."""
        self.parts.update("smooth_at_duals", penalty)

    def smooth_at(self, penalty: float, dual_coef: np.ndarray) -> None:
        """Smooth the loss around other dual variables ``y a``, one per row of the table."""
        self.parts.update("smooth_at", penalty, dual_coef)

    def scatter(self, coef: np.ndarray) -> np.ndarray:
        """Return the sums by bin of ``coef``, which has one entry per row of the table."""
        self.passes += 1
        return self.packing.fold(self.parts.call("scatter", coef))

    def set_duals(self, dual_coef: np.ndarray) -> None:
        """Set the dual variables, given as ``y a`` with one entry per row of the table."""
        self.parts.update("set_duals", dual_coef)

    def scale_duals(self, scale: np.ndarray) -> None:
        """Multiply the dual variables by factors for positive and for negative ``y a``."""
        self.parts.update("scale_duals", scale)

    def dual_coef(self) -> np.ndarray:
        """Return ``y a`` for all rows of the table, 0 for rows outside the problem."""
        return self.parts.dual_coef()
