"""Blocks of rows with what a solver stores for each of them: margins, dual variables, losses.

Methods that return something return sums over the rows of the block, which can be added up; see
`everystump._core.solvers.rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from everystump._core import rowloops
from everystump._core.blocks import Block, Blocks, max_block_rows, subsample_rows
from everystump._core.codes import Codes, concatenate_rows
from everystump._core.losses import LossFamily
from everystump._core.packing import Packing
from everystump._core.threads import thread_buffer

# If less than this fraction of the rows have curvature, their codes are copied.
_MAX_COPIED_FRACTION = 0.75


@dataclass
class RowSums:
    """Sums over the rows at their margins; pairs are for positive and for negative ``y a``."""

    tables: np.ndarray  # (2, n_bins): scattered absolute values of the dual variables
    totals: np.ndarray  # (2,): sums of these
    duals: np.ndarray  # (2,): sums of their dual terms
    loss: float
    pairing: float  # sum of dual(a) - a m, at most the loss
    min_margin: float

    def __add__(self, other: RowSums) -> RowSums:
        return RowSums(
            self.tables + other.tables,
            self.totals + other.totals,
            self.duals + other.duals,
            self.loss + other.loss,
            self.pairing + other.pairing,
            min(self.min_margin, other.min_margin),
        )


@dataclass
class CertificateSums:
    """Sums over the rows at their margins and dual variables, for bounds on their rounding."""

    sums: RowSums
    worst_loss: float  # of the worst margins within their rounding error
    dual_size: float  # the absolute values of what is added up in the dual terms

    def __add__(self, other: CertificateSums) -> CertificateSums:
        return CertificateSums(
            self.sums + other.sums,
            self.worst_loss + other.worst_loss,
            self.dual_size + other.dual_size,
        )


@dataclass
class StepLoss:
    """The loss and the smallest margin after a step."""

    loss: float
    min_margin: float

    def __add__(self, other: StepLoss) -> StepLoss:
        return StepLoss(self.loss + other.loss, min(self.min_margin, other.min_margin))


@dataclass
class Curvature:
    """The curvature at the margins by joint bin, and the number of rows that have any."""

    table: np.ndarray
    n_active: int

    def __add__(self, other: Curvature) -> Curvature:
        return Curvature(self.table + other.table, self.n_active + other.n_active)


@dataclass
class Noise:
    """Independent noise of the rows with variance ``W``, by joint bin, and its total."""

    table: np.ndarray
    total: float

    def __add__(self, other: Noise) -> Noise:
        return Noise(self.table + other.table, self.total + other.total)


@dataclass
class ActiveRows:
    """The codes and the curvature ``weight`` of the rows that have any."""

    codes: Codes
    weight: np.ndarray

    def __add__(self, other: ActiveRows) -> ActiveRows:
        codes = concatenate_rows([self.codes, other.codes])
        return ActiveRows(codes, np.concatenate([self.weight, other.weight]))

    def gather(self, joint: np.ndarray) -> np.ndarray:
        """Return the score of each row, given a joint table."""
        out = np.empty(len(self.weight))
        rowloops.gather(self.codes, joint, out)
        return out

    def scatter(self, r: np.ndarray) -> np.ndarray:
        """Return the sums of ``r`` by joint bin."""
        out = np.empty(self.codes.n_entries)
        rowloops.scatter(self.codes, r, 0, len(r), out)
        return out


# Methods of a block that change nothing in it.
READ_ONLY = frozenset(
    {
        "active_rows",
        "certificate_sums",
        "complementarity",
        "directional_slopes",
        "full_step_loss",
        "product",
        "scatter",
        "scatter_noise",
        "total_distance",
    }
)


class SolverBlock(Block):
    """A block of rows with their margins, dual variables ``a`` and losses.

    ``scaled_weight`` returns the weights of the rows times a factor.
    """

    def __init__(
        self,
        packing: Packing,
        index: slice | np.ndarray,
        target: np.ndarray,
        loss: LossFamily,
        scaled_weight: Callable[[float], np.ndarray],
        C: float,
    ) -> None:
        super().__init__(packing, index, target > 0)
        self.target, self.sign = target, loss.signs(target)
        self._scaled_weight = scaled_weight
        self.row_weight = scaled_weight(1.0)
        self._family = loss
        self.set_c(C)
        self.margin = np.zeros(len(target))
        self.step = np.zeros(len(target))
        self.a = np.zeros(len(target))
        self.weight = np.empty(0)  # the curvature, see `curvature`
        self._active: np.ndarray | None = None  # the rows that have any; None for all

    def set_c(self, C: float) -> None:
        """Set C, and with it the cost of every row."""
        self.true_loss = self.loss = self._family.for_rows(self._scaled_weight(C), self.target)

    def smooth_at_box_center(self, penalty: float, fraction: float) -> None:
        """Smooth the loss around ``fraction`` times the middle of each row's box.

        The box of a hard margin is infinite; the row's weight is used instead of its middle.
        """
        self._smooth(penalty, fraction * self.true_loss.box_center(self.row_weight))

    def smooth_at_duals(self, penalty: float) -> None:
        """Smooth the loss around the current dual variables."""
        self._smooth(penalty, self.a.copy())

    def smooth_at(self, penalty: float, dual_coef: np.ndarray) -> None:
        """Smooth the loss around other dual variables ``y a``, one per row of the table."""
        self._smooth(penalty, self.true_loss.clip(self.sign * dual_coef[self.index]))

    def _smooth(self, penalty: float, center: np.ndarray) -> None:
        self.loss = self.true_loss.smoothed(center, self._scaled_weight(penalty))

    def set_duals(self, dual_coef: np.ndarray) -> None:
        """Set the dual variables, given as ``y a`` with one entry per row of the table."""
        self.a = self.sign * dual_coef[self.index]

    def scale_duals(self, scale: np.ndarray) -> None:
        """Multiply the dual variables by factors for positive and for negative ``y a``."""
        side, _ = self.true_loss.sides(self.positive, self.a)
        self.a *= np.where(side, scale[0], scale[1])

    def _table(self) -> np.ndarray:
        return np.empty(self.codes.n_entries)

    def sums(self, refit: bool) -> RowSums:
        """Set the dual variables to the slopes at the margins if ``refit``; return the sums."""
        if refit and self.loss is self.true_loss:
            dual = thread_buffer(self.n_rows)
            loss = self.loss.slope_dual_total(self.margin, self.a, dual)
        else:
            if refit:
                self.loss.slope(self.margin, self.a)
            dual, loss = self.true_loss.dual(self.a), self.true_loss.total(self.margin)
        return self._sums(dual, loss)

    def _sums(self, dual: np.ndarray, loss: float) -> RowSums:
        """Return the sums, given the dual terms and the summed loss."""
        side, size = self.true_loss.sides(self.positive, self.a)
        totals = np.array(rowloops.sum_by_class(size, side))
        duals = totals if dual is size else np.array(rowloops.sum_by_class(dual, side))
        return RowSums(
            self.scatter_by_side(size, side),
            totals,
            duals,
            loss,
            float(duals.sum() - self.a @ self.margin),
            float(self.margin.min()),
        )

    def curvature(self) -> Curvature:
        """Compute the curvature at the margins.

        Active rows are those with curvature; `product` uses only them.
        """
        is_full = len(self.weight) == self.n_rows
        weight = self.weight if is_full else thread_buffer(self.n_rows)
        self.loss.curvature(self.margin, weight)
        n_active = int(np.count_nonzero(weight))
        if n_active < _MAX_COPIED_FRACTION * self.n_rows:
            self._active = np.flatnonzero(weight)
            self.weight = weight[self._active]
            self._active_codes, self._active_offset = self.codes.take(self._active, self.offset), 0
        else:
            self._active = None
            self.weight = weight if is_full else weight.copy()
            self._active_codes, self._active_offset = self.codes, self.offset
        table, n = self._table(), len(self.weight)
        rowloops.scatter(self._active_codes, self.weight, 0, n, table, self._active_offset)
        return Curvature(table, n_active)

    def active_rows(self) -> ActiveRows:
        """Return codes and curvature of the active rows."""
        rows = np.flatnonzero(self.weight)
        return ActiveRows(self._active_codes.take(rows, self._active_offset), self.weight[rows])

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

    def scatter_noise(self, seed: int) -> Noise:
        """Return the sums of ``W^(1/2)`` times random signs over the active rows.

        The sign of a row depends on the seed and on its number in the table only.
        """
        n, table = len(self.weight), self._table()
        rows = self.row_numbers()
        noise = np.sqrt(self.weight)
        rowloops.random_signs(
            np.uint64(seed), rows if self._active is None else rows[self._active], noise
        )
        rowloops.scatter(self._active_codes, noise, 0, n, table, self._active_offset)
        return Noise(table, float(noise.sum()))

    def set_scores(self, scores: np.ndarray) -> None:
        """Set the margins, given the score of each row of the table."""
        self.margin[:] = self.sign * scores[self.index]

    def set_direction(self, table: np.ndarray, intercept: float) -> None:
        """Set the direction of the margins, given that of the joint table and of the intercept."""
        rowloops.gather(self.codes, table, self.step, self.offset)
        self.step += intercept
        self.step *= self.sign

    def set_margins(self, table: np.ndarray, intercept: float) -> None:
        """Compute the margins of a joint table and an intercept."""
        self.set_direction(table, intercept)
        self.margin[:] = self.step

    def take_step(self, t: float) -> None:
        """Move the margins by ``t`` times the direction."""
        self.margin += np.multiply(self.step, t, out=thread_buffer(self.n_rows))

    def directional_slopes(self, lengths: Sequence[float]) -> np.ndarray:
        """Return minus the derivatives of the summed loss along the direction at some lengths."""
        return np.array([self.loss.directional_slope(self.margin, self.step, t) for t in lengths])

    def full_step_loss(self) -> StepLoss:
        """Return the loss and the smallest margin after a full step."""
        margin = np.add(self.margin, self.step, out=thread_buffer(self.n_rows))
        return StepLoss(self.true_loss.total(margin), float(margin.min()))

    def certificate_sums(self, radius: float) -> CertificateSums:
        """Return the sums, and the loss of the worst margins within ``radius``."""
        dual = self.true_loss.dual(self.a)
        return CertificateSums(
            self._sums(dual, self.true_loss.total(self.margin)),
            self.true_loss.total_within(self.margin, radius),
            self.true_loss.dual_size(self.a, dual),
        )

    def complementarity(self) -> float:
        """Return the sum of the dual variables times the distances of the margins from 1."""
        return float(self.a @ self.true_loss.distance(self.margin))

    def total_distance(self) -> float:
        """Return the weighted sum of the distances of the margins from the kink."""
        return float(self.row_weight @ self.true_loss.distance(self.margin))


class SolverBlocks(Blocks[SolverBlock]):
    """The rows of one binary problem in memory.

    ``index`` are the rows of the table that belong to the problem, None for all; ``target`` is
    whether each of them is positive, or the number to predict (see `LossFamily`).
    """

    def __init__(
        self,
        packing: Packing,
        index: np.ndarray | None,
        target: np.ndarray,
        loss: LossFamily,
        weight: np.ndarray,
        C: float,
        n_threads: int,
        block_class: type[SolverBlock] = SolverBlock,
    ) -> None:
        n_rows = len(target)
        max_rows = min(n_rows, max_block_rows(n_threads))
        # Multiples of equal weights are stored only once.
        equal = lru_cache(maxsize=4)(lambda factor: np.full(max_rows, factor * weight[0]))

        def make_block(part: slice) -> SolverBlock:
            row_weight, rows = weight[part], part if index is None else index[part]

            def scaled_weight(factor: float) -> np.ndarray:
                if row_weight.strides == (0,):
                    return equal(factor)[: len(row_weight)]
                return row_weight if factor == 1.0 else factor * row_weight

            return block_class(packing, rows, target[part], loss, scaled_weight, C)

        super().__init__(packing, n_rows, make_block, n_threads)
        self._arguments = index, target, loss, weight
        self.total_weight = float(weight.sum())
        self.n_positive = int(np.count_nonzero(target > 0))

    def subsample(self, k: int, C: float) -> SolverBlocks:
        """Return one out of every ``k`` rows as a separate problem with another C."""
        index, target, loss, weight = self._arguments
        sampled = subsample_rows(0, self.n_rows, k)
        equal = weight.strides == (0,)
        return SolverBlocks(
            self.packing,
            sampled if index is None else index[sampled],
            target[sampled],
            loss,
            weight[: len(sampled)] if equal else weight[sampled],
            C,
            self.n_threads,
        )

    def dual_coef(self) -> np.ndarray:
        """Return ``y a`` for all rows of the table, 0 for rows outside the problem."""
        out = np.zeros(self.packing.codes.n_rows)
        for block in self.blocks:
            out[block.index] = block.sign * block.a
        return out
