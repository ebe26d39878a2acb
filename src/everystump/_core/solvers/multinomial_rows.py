"""The rows of a multinomial problem: the solver's interface to the data.

As in `everystump._core.solvers.rows`, a solver passes tables and gets back tables and a few sums;
scores, probabilities and dual variables are stored with the rows, in parts.  Tables have one row
per class.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from everystump._core.blocks import Parts
from everystump._core.solvers.multinomial_blocks import ClassSums, DualSums, Largest


class MultinomialParts(Parts, Protocol):
    """The rows of a multinomial problem in parts, with the methods of `MultinomialBlock`."""

    @property
    def class_costs(self) -> np.ndarray:
        """The total cost of the rows of each class."""

    @property
    def n_sum_additions(self) -> int:
        """The largest number of additions that a row's term goes through in a sum over all rows."""

    def dual_coef(self) -> np.ndarray:
        """Return the dual variables of all rows, by class; none if rows are in other processes."""


class MultinomialRows:
    """The rows of a multinomial problem.

    ``passes`` counts the passes over all codes, one per class, so far.
    """

    def __init__(self, parts: MultinomialParts) -> None:
        self._parts, self.packing, self.n_threads = parts, parts.packing, parts.n_threads
        self.class_costs = parts.class_costs
        self.n_classes = len(self.class_costs)
        self.passes = 0.0

    @property
    def total_cost(self) -> float:
        """The sum of the costs of all rows."""
        return float(self.class_costs.sum())

    @property
    def n_additions(self) -> int:
        """The largest number of additions that a row's term goes through in a sum or a table."""
        joint = 0 if self.packing.is_trivial else int(np.diff(self.packing.starts).max())
        return self._parts.n_additions + joint

    @property
    def n_sum_additions(self) -> int:
        """The largest number of additions that a row's term goes through in a sum over all rows."""
        return self._parts.n_sum_additions

    def set_row_scores(self, scores: np.ndarray) -> None:
        """Set the scores, given those of each row of the table, by class."""
        self._parts.update("set_row_scores", scores)

    def set_scores(self, tables: np.ndarray, intercepts: np.ndarray) -> None:
        """Compute the scores of tables and intercepts, free of the rounding of many steps."""
        self.passes += self.n_classes
        self._parts.update("set_scores", self.packing.expand(tables), intercepts)

    def set_direction(self, tables: np.ndarray) -> None:
        """Set the direction of the next step, given the direction of the tables."""
        self.passes += self.n_classes
        no_change = np.zeros(self.n_classes)
        self._parts.update("set_direction", self.packing.expand(tables), no_change)

    def shift_direction(self, intercepts: np.ndarray) -> None:
        """Add the direction of the intercepts."""
        self._parts.update("shift_direction", intercepts)

    def shift_scores(self, intercepts: np.ndarray) -> None:
        """Add intercepts to the scores."""
        self._parts.update("shift_scores", intercepts)

    def take_step(self, t: float) -> None:
        """Move the scores by ``t`` times the direction."""
        self._parts.update("take_step", t)

    def directional_slopes(self, *lengths: float) -> np.ndarray:
        """Return minus the derivatives of the summed loss along the direction at some lengths."""
        return self._parts.call("directional_slopes", lengths)

    def probabilities(self) -> ClassSums:
        """Compute the probabilities at the scores; return their sums."""
        return self._parts.call("probabilities")

    def duals(self, shift: np.ndarray, fraction: float, frequency: np.ndarray) -> DualSums:
        """Set the dual variables; return their sums.  See `softmaxloops.duals`."""
        self.passes += self.n_classes
        sums: DualSums = self._parts.call("duals", shift, fraction, frequency)
        sums.tables = self.packing.fold(sums.tables)
        return sums

    def curvature_along(self, basis: np.ndarray) -> np.ndarray:
        """Return the curvature by joint bin in each direction of a basis of the classes."""
        self.passes += self.n_classes
        return self._parts.call("curvature_along", basis)

    def class_curvature(self, basis: np.ndarray) -> np.ndarray:
        """Return the curvature by bin between all pairs of directions of a basis of the classes.

        The shape is (n_directions, n_directions, n_entries).
        """
        n = basis.shape[1]
        self.passes += n * (n + 1) / 2
        folded = self.packing.fold(self._parts.call("class_curvature", basis))
        out = np.empty((n, n, folded.shape[1]))
        lower = np.tril_indices(n)
        out[lower] = out[lower[::-1]] = folded
        return out

    def curved_direction(self) -> np.ndarray:
        """Return the sum over the rows of the curvature times the direction."""
        return self._parts.call("curved_direction")

    def start_product(self, tables: np.ndarray) -> np.ndarray:
        """Gather tables and multiply them by the curvature; return the sums over the rows.

        This overwrites the direction.
        """
        self.passes += self.n_classes
        return self._parts.call("start_product", self.packing.expand(tables))

    def start_noise(self, seed: int) -> np.ndarray:
        """Start a product with random noise of variance ``W`` instead; return its sums."""
        return self._parts.call("start_noise", seed)

    def finish_product(self, intercepts: np.ndarray) -> np.ndarray:
        """Add the curvature times intercepts to a started product; return its sums by bin."""
        self.passes += self.n_classes
        return self.packing.fold(self._parts.call("finish_product", intercepts))

    def worst_loss(self, radius: float) -> float:
        """Return the summed loss of the worst scores within ``radius``."""
        return self._parts.call("worst_loss", radius)

    def largest_scores(self, intercepts: np.ndarray) -> np.ndarray:
        """Return the largest absolute score of each class without its intercept."""
        found: Largest = self._parts.call("largest_scores", intercepts)
        return found.values

    def dual_coef(self) -> np.ndarray:
        """Return the dual variables of all rows of the table, 0 for rows outside the problem."""
        return self._parts.dual_coef()
