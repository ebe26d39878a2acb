"""Blocks of rows of a multinomial problem: scores, probabilities and dual variables of all classes.

Arrays of a block have one row per class and one column per sample; tables have one row per class.
Methods that return something return sums over the rows of the block, which can be added up; see
`everystump._core.solvers.multinomial_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everystump._core import rowloops, softmaxloops
from everystump._core.blocks import Blocks, RowBlock
from everystump._core.packing import Packing


@dataclass
class ClassSums:
    """Sums over the rows at their scores, with ``p`` the probabilities of the classes."""

    loss: float
    totals: np.ndarray  # (n_classes,): sums of cost p_k
    curvature: np.ndarray  # (n_classes, n_classes): sum of cost (diag(p) - p p')
    smallest: np.ndarray  # (n_classes,): the smallest probabilities

    def __add__(self, other: ClassSums) -> ClassSums:
        return ClassSums(
            self.loss + other.loss,
            self.totals + other.totals,
            self.curvature + other.curvature,
            np.minimum(self.smallest, other.smallest),
        )


@dataclass
class DualSums:
    """Sums over the rows of the dual variables ``a``."""

    tables: np.ndarray  # (n_classes, n_bins): scattered dual variables
    totals: np.ndarray  # (n_classes,): sums of |a_k|
    imbalance: np.ndarray  # (n_classes,): sums of a_k
    dual: float  # sum of the dual terms
    size: float  # sum of their sizes, for bounds on rounding

    def __add__(self, other: DualSums) -> DualSums:
        return DualSums(
            self.tables + other.tables,
            self.totals + other.totals,
            self.imbalance + other.imbalance,
            self.dual + other.dual,
            self.size + other.size,
        )


@dataclass
class Largest:
    """The largest values of blocks."""

    values: np.ndarray

    def __add__(self, other: Largest) -> Largest:
        return Largest(np.maximum(self.values, other.values))


# Methods of a block that change nothing in it but a started product, which nothing else uses.
READ_ONLY = frozenset(
    {
        "class_curvature",
        "curvature_along",
        "curved_direction",
        "directional_slopes",
        "finish_product",
        "largest_scores",
        "worst_loss",
    }
)
# Methods whose effect lasts only until the next of them.
TRANSIENT = frozenset({"start_noise", "start_product"})


class MultinomialBlock(RowBlock):
    """A block of rows with the scores, probabilities and dual variables of all classes."""

    def __init__(
        self,
        packing: Packing,
        index: slice | np.ndarray,
        label: np.ndarray,
        cost: np.ndarray,
        n_classes: int,
    ) -> None:
        super().__init__(packing, index, len(label))
        self.label, self.cost = label.astype(np.int64), cost
        shape = n_classes, len(label)
        self.score, self.p, self.step = np.zeros(shape), np.empty(shape), np.zeros(shape)
        # Dual variables are never needed after the direction of a next step is set, nor vice versa.
        self.a = self.step

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of each row of an array."""
        out = np.empty(len(values))
        softmaxloops.sum_rows(values, out)
        return out

    def _scatter(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of each row of an array by joint bin."""
        tables = np.empty((len(values), self.codes.n_entries))
        for row, table in zip(values, tables, strict=True):
            rowloops.scatter(self.codes, row, 0, self.n_rows, table, self.offset)
        return tables

    def set_direction(self, tables: np.ndarray, intercepts: np.ndarray) -> None:
        """Set the direction of the scores, given that of the joint tables and intercepts."""
        for table, row in zip(tables, self.step, strict=True):
            rowloops.gather(self.codes, table, row, self.offset)
        self.step += intercepts[:, None]

    def set_row_scores(self, scores: np.ndarray) -> None:
        """Set the scores, given those of each row of the table."""
        self.score[:] = scores[:, self.index]

    def set_scores(self, tables: np.ndarray, intercepts: np.ndarray) -> None:
        """Compute the scores of joint tables and intercepts."""
        self.set_direction(tables, intercepts)
        self.score[:] = self.step

    def shift_direction(self, intercepts: np.ndarray) -> None:
        """Add the direction of the intercepts to that of the scores."""
        self.step += intercepts[:, None]

    def shift_scores(self, intercepts: np.ndarray) -> None:
        """Add intercepts to the scores."""
        self.score += intercepts[:, None]

    def take_step(self, t: float) -> None:
        """Move the scores by ``t`` times the direction."""
        self.score += t * self.step

    def directional_slopes(self, lengths: Sequence[float]) -> np.ndarray:
        """Return minus the derivatives of the summed loss along the direction at some lengths."""
        rows = self.label, self.cost
        slope = softmaxloops.directional_slope
        return np.array([slope(self.score, self.step, t, *rows) for t in lengths])

    def probabilities(self) -> ClassSums:
        """Compute the probabilities at the scores; return their sums."""
        loss = softmaxloops.softmax(self.score, self.label, self.cost, self.p)
        weighted = self.cost * self.p
        totals = self._sums(weighted)
        # The sum of each row is 0, but the difference from `totals` is inaccurate near certainty.
        curvature = -(weighted @ self.p.T)
        np.fill_diagonal(curvature, 0.0)
        np.fill_diagonal(curvature, -curvature.sum(axis=1))
        return ClassSums(loss, totals, curvature, self.p.min(axis=1))

    def duals(self, shift: np.ndarray, fraction: float, frequency: np.ndarray) -> DualSums:
        """Set the dual variables; see `softmaxloops.duals`."""
        found = softmaxloops.duals(
            self.p, self.label, self.cost, shift, fraction, frequency, self.a
        )
        totals = self._sums(np.abs(self.a))
        return DualSums(self._scatter(self.a), totals, self._sums(self.a), *found)

    def curvature_along(self, basis: np.ndarray) -> np.ndarray:
        """Return the curvature by joint bin in each direction of a basis of the classes."""
        curvature = np.empty((basis.shape[1], len(self.cost)))
        softmaxloops.curvature_along(self.p, self.cost, np.ascontiguousarray(basis), curvature)
        return self._scatter(curvature)

    def class_curvature(self, basis: np.ndarray) -> np.ndarray:
        """Return the curvature by joint bin between all pairs of directions of a basis.

        One row per pair, those of the lower triangle of a matrix, row by row.
        """
        means, tables = basis.T @ self.p, []
        for k, mean in enumerate(means):
            covariance = (basis[:, : k + 1].T * basis[:, k]) @ self.p - means[: k + 1] * mean
            tables.append(self._scatter(self.cost * covariance))
        return np.concatenate(tables)

    def curved_direction(self) -> np.ndarray:
        """Return the sum over the rows of the curvature times the direction."""
        product = self.step.copy()
        softmaxloops.curvature_product(self.p, self.cost, product)
        return self._sums(product)

    def start_product(self, tables: np.ndarray) -> np.ndarray:
        """Gather tables and multiply them by the curvature ``W``; return the sums over the rows."""
        for table, row in zip(tables, self.step, strict=True):
            rowloops.gather(self.codes, table, row, self.offset)
        softmaxloops.curvature_product(self.p, self.cost, self.step)
        return self._sums(self.step)

    def start_noise(self, seed: int) -> np.ndarray:
        """Start a product with noise of variance ``W`` instead of it; return its sums.

        The noise of a row depends on its number in the table only.
        """
        softmaxloops.noise(self.p, self.cost, self.row_numbers(), seed, self.step)
        return self._sums(self.step)

    def finish_product(self, intercepts: np.ndarray) -> np.ndarray:
        """Add ``W`` times intercepts to a started product; return its sums by joint bin."""
        softmaxloops.add_curvature_shift(self.p, self.cost, intercepts, self.step)
        return self._scatter(self.step)

    def worst_loss(self, radius: float) -> float:
        """Return the summed loss of the worst scores within ``radius``."""
        return softmaxloops.total_within(self.score, self.label, self.cost, radius)

    def largest_scores(self, intercepts: np.ndarray) -> Largest:
        """Return the largest absolute score of each class without its intercept."""
        return Largest(np.abs(self.score - intercepts[:, None]).max(axis=1))


class MultinomialBlocks(Blocks[MultinomialBlock]):
    """The rows of a multinomial problem in memory.

    ``index`` are the rows of the table that belong to the problem, None for all; ``label`` is the
    class of each of them, and ``cost`` the weight of its loss.
    """

    def __init__(
        self,
        packing: Packing,
        index: np.ndarray | None,
        label: np.ndarray,
        cost: np.ndarray,
        n_classes: int,
        n_threads: int,
    ) -> None:
        def make_block(part: slice) -> MultinomialBlock:
            rows = part if index is None else index[part]
            own_cost = np.ascontiguousarray(cost[part])
            return MultinomialBlock(packing, rows, label[part], own_cost, n_classes)

        super().__init__(packing, len(label), make_block, n_threads, n_classes)
        self.class_costs = np.bincount(label, cost, n_classes)

    @property
    def n_sum_additions(self) -> int:
        """The largest number of additions that a row's term goes through in a sum over all rows."""
        largest = max(block.n_rows for block in self.blocks)
        return softmaxloops.count_additions(largest) + len(self.blocks)

    def dual_coef(self) -> np.ndarray:
        """Return the dual variables of all rows of the table, 0 for rows outside the problem."""
        out = np.zeros((len(self.class_costs), self.packing.codes.n_rows))
        for block in self.blocks:
            out[:, block.index] = block.a
        return out
