"""The rows of a problem: the solvers' interface to the data.

A solver holds no array with one entry per row.  It passes tables, with one number per bin, and gets
back tables and a few sums; margins, dual variables and losses are stored with the rows.  So the
rows can be in blocks: here blocks of one array, shared by threads; they could also be chunks on
disk or on the nodes of a cluster, with the public methods of `Rows` as the interface.  Sums are
taken block by block in a fixed order, so that the number of threads changes results only by
rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from everystump._core import rowloops
from everystump._core.blocks import Block, Blocks, max_block_rows
from everystump._core.codes import Codes, concatenate_rows
from everystump._core.losses import SmoothedHinge
from everystump._core.packing import Packing

# If less than this fraction of the rows have curvature, their codes are copied.
_MAX_COPIED_FRACTION = 0.75


@dataclass
class RowSums:
    """Sums over the rows at their margins; pairs are (positive rows, negative rows)."""

    tables: np.ndarray  # (2, n_bins): scattered dual variables
    totals: np.ndarray  # (2,): sums of the dual variables
    duals: np.ndarray  # (2,): sums of their dual terms
    loss: float
    pairing: float  # sum of a (1 - m)
    min_margin: float


class SolverBlock(Block):
    """A block of rows with their margins, dual variables ``a`` and losses.

    ``scaled_weight`` returns the weights of the rows times a factor.
    """

    def __init__(
        self,
        packing: Packing,
        index: slice | np.ndarray,
        positive: np.ndarray,
        loss: Callable[[np.ndarray], Any],
        scaled_weight: Callable[[float], np.ndarray],
        C: float,
    ) -> None:
        super().__init__(packing, index, positive)
        self._scaled_weight = scaled_weight
        self.row_weight = scaled_weight(1.0)
        self._make_loss = loss
        self.set_c(C)
        self.margin = np.zeros(len(positive))
        self.step = np.zeros(len(positive))
        self.a = np.zeros(len(positive))

    def set_c(self, C: float) -> None:
        """Set C, and with it the cost of every row."""
        self.cost = self._scaled_weight(C)
        self.true_loss = self.loss = self._make_loss(self.cost)

    def smooth(self, penalty: float, center: np.ndarray) -> None:
        """Smooth the hinge around dual variables ``center``."""
        self.loss = SmoothedHinge(self.cost, center, self._scaled_weight(penalty))

    def _table(self) -> np.ndarray:
        return np.empty(self.codes.n_entries)

    def sums(self, refit: bool) -> RowSums:
        """Set the dual variables to the slopes at the margins if ``refit``; return the sums."""
        if refit and self.loss is self.true_loss:
            self.a, dual, loss = self.loss.slope_dual_total(self.margin)
        else:
            if refit:
                self.a = self.loss.slope(self.margin)
            dual, loss = self.true_loss.dual(self.a), self.true_loss.total(self.margin)
        totals = np.array(rowloops.sum_by_class(self.a, self.positive))
        return RowSums(
            self.scatter_by_class(self.a),
            totals,
            totals if dual is self.a else np.array(rowloops.sum_by_class(dual, self.positive)),
            loss,
            float(totals.sum() - self.a @ self.margin),
            float(self.margin.min()),
        )

    def curvature(self) -> tuple[np.ndarray, int]:
        """Compute the curvature at the margins; return its sums by joint bin and the active rows.

        Active rows are those with curvature; `product` uses only them.
        """
        self.weight = self.loss.curvature(self.margin)
        active = np.flatnonzero(self.weight)
        self._active_codes, self._active_offset = self.codes, self.offset
        if len(active) < _MAX_COPIED_FRACTION * len(self.weight):
            self.weight = self.weight[active]
            self._active_codes = self.codes.take(active, self.offset)
            self._active_offset = 0
        table, n = self._table(), len(self.weight)
        rowloops.scatter(self._active_codes, self.weight, 0, n, table, self._active_offset)
        return table, len(active)

    def active_rows(self) -> tuple[Codes, np.ndarray]:
        """Return codes and curvature of the active rows."""
        rows = np.flatnonzero(self.weight)
        return self._active_codes.take(rows, self._active_offset), self.weight[rows]

    def product(self, table: np.ndarray) -> np.ndarray:
        """Return ``scatter(W gather(table))`` over the active rows."""
        out = self._table()
        rowloops.gather_scatter(self._active_codes, table, self.weight, out, self._active_offset)
        return out

    def scatter(self, coef: np.ndarray) -> np.ndarray:
        """Return the sums by joint bin of ``coef``, which has one entry per row of the table."""
        table = self._table()
        r = coef[self.index]
        rowloops.scatter(self.codes, r, 0, len(r), table, self.offset)
        return table

    def set_direction(self, table: np.ndarray, intercept: float) -> None:
        """Set the direction of the margins, given that of the joint table and of the intercept."""
        rowloops.gather(self.codes, table, self.step, self.offset)
        self.step += intercept
        self.step *= self.sign

    def set_margins(self, table: np.ndarray, intercept: float) -> None:
        """Compute the margins of a joint table and an intercept."""
        self.set_direction(table, intercept)
        self.margin[:] = self.step

    def full_step_loss(self) -> tuple[float, float]:
        """Return the loss and the smallest margin after a full step."""
        margin = self.margin + self.step
        return self.true_loss.total(margin), float(margin.min())


class Rows(Blocks[SolverBlock]):
    """The rows of one binary problem, in blocks.

    ``index`` are the rows of the table that belong to the problem, None for all; ``loss`` maps an
    array of costs, C times the weights, to a loss.  ``passes`` counts the passes over all codes so
    far, ``n_active`` the rows with curvature.
    """

    block_class: ClassVar[type[SolverBlock]] = SolverBlock

    def __init__(
        self,
        packing: Packing,
        index: np.ndarray | None,
        positive: np.ndarray,
        loss: Callable[[np.ndarray], Any],
        weight: np.ndarray,
        C: float,
        n_threads: int,
    ) -> None:
        n_rows = len(positive)
        max_rows = min(n_rows, max_block_rows(n_threads))
        # Multiples of equal weights are stored only once.
        equal = lru_cache(maxsize=4)(lambda factor: np.full(max_rows, factor * weight[0]))

        def make_block(part: slice) -> SolverBlock:
            row_weight, rows = weight[part], part if index is None else index[part]

            def scaled_weight(factor: float) -> np.ndarray:
                if row_weight.strides == (0,):
                    return equal(factor)[: len(row_weight)]
                return row_weight if factor == 1.0 else factor * row_weight

            return self.block_class(packing, rows, positive[part], loss, scaled_weight, C)

        super().__init__(packing, n_rows, make_block, n_threads)
        self._arguments = index, positive, loss, weight
        self.C = C
        self.total_weight = float(weight.sum())
        self.passes = 0.0
        self.n_active = self.n_rows

    def subsample(self, k: int) -> Rows:
        """Return one out of every ``k`` rows as a separate problem, with C multiplied by ``k``."""
        index, positive, loss, weight = self._arguments
        n_rows = self.n_rows // k
        sampled = k * np.arange(n_rows) + np.random.default_rng(0).integers(k, size=n_rows)
        equal = weight.strides == (0,)
        return Rows(
            self.packing,
            sampled if index is None else index[sampled],
            positive[sampled],
            loss,
            weight[:n_rows] if equal else weight[sampled],
            k * self.C,
            self.n_threads,
        )

    def minority_size(self) -> int:
        """Return the number of rows of the smaller class."""
        n_positive = int(self._arguments[1].sum())
        return min(n_positive, self.n_rows - n_positive)

    @property
    def n_additions(self) -> int:
        """The largest number of additions that a row's term goes through in a sum or a table."""
        longest = max(len(block.positive) for block in self.blocks)
        joint = 0 if self.packing.is_trivial else int(np.diff(self.packing.starts).max())
        return longest + len(self.blocks) + joint

    def sums(self, *, refit: bool = True) -> RowSums:
        """Set the dual variables to the slopes at the margins; return the sums over the rows.

        Without ``refit`` the dual variables are kept.
        """
        self.passes += 1
        parts = self.map(lambda block: block.sums(refit), self.n_rows)
        tables = sum(part.tables for part in parts)
        return RowSums(
            self.packing.fold(tables),
            sum(part.totals for part in parts),
            sum(part.duals for part in parts),
            sum(part.loss for part in parts),
            sum(part.pairing for part in parts),
            min(part.min_margin for part in parts),
        )

    def curvature(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute the curvature ``W`` at the margins; return its sums by bin and by joint bin."""
        parts = self.map(lambda block: block.curvature(), self.n_rows)
        self.n_active = sum(part[1] for part in parts)
        self.passes += self.n_active / self.n_rows
        joint = sum(part[0] for part in parts)
        return self.packing.fold(joint), joint

    def product(self, table: np.ndarray) -> np.ndarray:
        """Return ``scatter(W gather(table))``."""
        self.passes += 2 * self.n_active / self.n_rows
        joint = self.packing.expand(table)
        total, *others = self.map(lambda block: block.product(joint), self.n_active)
        for other in others:
            total += other
        return self.packing.fold(total)

    def active(self) -> ActiveRows:
        """Return the rows with curvature, for systems that are solved exactly."""
        parts = [block.active_rows() for block in self.blocks]
        return ActiveRows(
            self.packing,
            concatenate_rows([codes for codes, _ in parts]),
            np.concatenate([weight for _, weight in parts]),
        )

    def set_margins(self, table: np.ndarray, intercept: float) -> None:
        """Compute the margins of tables and intercept, free of the rounding of many steps."""
        self.passes += 1
        joint = self.packing.expand(table)
        self.map(lambda block: block.set_margins(joint, intercept), self.n_rows)

    def set_direction(self, table: np.ndarray, intercept: float) -> None:
        """Set the direction of the next step, given the direction of tables and intercept."""
        self.passes += 1
        joint = self.packing.expand(table)
        self.map(lambda block: block.set_direction(joint, intercept), self.n_rows)

    def directional_slope(self, t: float) -> float:
        """Return minus the derivative of the summed loss along the direction at length ``t``."""
        parts = self.map(
            lambda block: block.loss.directional_slope(block.margin, block.step, t), self.n_rows
        )
        return sum(parts)

    def full_step_loss(self) -> tuple[float, float]:
        """Return the loss and the smallest margin after a full step along the direction."""
        parts = self.map(lambda block: block.full_step_loss(), self.n_rows)
        return sum(part[0] for part in parts), min(part[1] for part in parts)

    def take_step(self, t: float) -> None:
        """Move the margins by ``t`` times the direction."""

        def move(block: SolverBlock) -> None:
            block.margin += t * block.step

        self.map(move, self.n_rows)

    def loss_at_shift(self, shift: float) -> float:
        """Return the summed loss if all margins change by ``shift``."""
        return sum(self.map(lambda b: b.true_loss.total(b.margin + shift), self.n_rows))

    def complementarity(self) -> float:
        """Return the sum of ``a |1 - m|``."""
        parts = self.map(lambda block: float(block.a @ np.abs(1.0 - block.margin)), self.n_rows)
        return sum(parts)

    def mean_distance(self) -> float:
        """Return the weighted mean of ``|1 - m|``."""
        parts = self.map(
            lambda block: float(block.row_weight @ np.abs(1.0 - block.margin)), self.n_rows
        )
        return sum(parts) / self.total_weight

    def set_c(self, C: float) -> None:
        """Set C, and with it the cost of every row."""
        self.C = C
        for block in self.blocks:
            block.set_c(C)

    def smooth_at_box_center(self, penalty: float, fraction: float) -> None:
        """Smooth the hinge around ``fraction`` times the middle of each row's box.

        The box of a hard margin is infinite; the row's weight is used instead of its middle.
        """
        for block in self.blocks:
            middle = block.row_weight if np.isinf(self.C) else block.cost / 2
            block.smooth(penalty, fraction * middle)

    def smooth_at_duals(self, penalty: float) -> None:
        """Smooth the hinge around the current dual variables."""
        for block in self.blocks:
            block.smooth(penalty, block.a)

    def smooth_at(self, penalty: float, dual_coef: np.ndarray) -> None:
        """Smooth the hinge around other dual variables, one per row of the table."""
        for block in self.blocks:
            block.smooth(penalty, np.minimum(block.cost, np.abs(dual_coef[block.index])))

    def scatter(self, coef: np.ndarray) -> np.ndarray:
        """Return the sums by bin of ``coef``, which has one entry per row of the table."""
        self.passes += 1
        return self.packing.fold(sum(self.map(lambda block: block.scatter(coef), self.n_rows)))

    def set_duals(self, dual_coef: np.ndarray) -> None:
        """Set the dual variables, given as ``y a`` with one entry per row of the table."""
        for block in self.blocks:
            block.a = block.sign * dual_coef[block.index]

    def dual_coef(self, scale: np.ndarray) -> np.ndarray:
        """Return ``y a`` for all rows of the table, 0 for rows outside the problem.

        ``scale`` holds factors for positive and for negative rows.
        """
        out = np.zeros(self.packing.codes.n_rows)
        for block in self.blocks:
            out[block.index] = np.where(block.sign > 0, scale[0], -scale[1]) * block.a
        return out


@dataclass(frozen=True)
class ActiveRows:
    """The codes and the curvature ``weight`` of the active rows."""

    packing: Packing
    codes: Codes
    weight: np.ndarray

    def gather(self, table: np.ndarray) -> np.ndarray:
        """Return the score of each row."""
        out = np.empty(len(self.weight))
        rowloops.gather(self.codes, self.packing.expand(table), out)
        return out

    def scatter(self, r: np.ndarray) -> np.ndarray:
        """Return the sums of ``r`` by bin."""
        out = np.empty(self.codes.n_entries)
        rowloops.scatter(self.codes, r, 0, len(r), out)
        return self.packing.fold(out)
