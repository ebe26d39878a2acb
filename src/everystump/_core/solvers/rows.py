"""What a solver may ask of the rows.

A solver never holds anything as long as the rows.  It sends a table (one number a place) and
gets back tables and a few sums; the rows keep their own margins, dual variables and losses.  So
rows may live in blocks: here blocks of one array, shared out to threads, elsewhere chunks on a
disk or on the machines of a cluster.  Sums are taken block by block in a fixed order, so results
depend on the number of threads by rounding at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from everystump._core import rowloops
from everystump._core.blocks import Block, Blocks, max_block_rows
from everystump._core.losses import SmoothedHinge
from everystump._core.packing import Packing

# If fewer than this share of the rows have curvature, their codes are copied side by side.
_WORTH_COPYING = 0.75


@dataclass
class Slopes:
    """What the rows know about the current point; pairs are (positive rows, negative rows).

    Attributes
    ----------
    tables : ndarray of shape (2, n_bins)
        Scattered dual variables.
    totals : ndarray of shape (2,)
        Sums of the dual variables.
    duals : ndarray of shape (2,)
        Sums of their dual parts.
    loss : float
        Sum of the loss.
    pairing : float
        Sum of ``a (1 - m)``.
    min_margin : float
        The smallest margin.
    """

    tables: np.ndarray
    totals: np.ndarray
    duals: np.ndarray
    loss: float
    pairing: float
    min_margin: float


class _Weights:
    """The weights of some rows; if those of all rows are even, multiples are stored only once."""

    def __init__(self, weight: np.ndarray, even: Callable[[float], np.ndarray] | None) -> None:
        self._weight, self._even = weight, even

    def times(self, factor: float) -> np.ndarray:
        """Return the weights times a factor."""
        if self._even is not None:
            return self._even(factor)[: len(self._weight)]
        return self._weight if factor == 1.0 else factor * self._weight


class RowBlock(Block):
    """Rows with their margins, dual variables and losses."""

    def __init__(
        self,
        packing: Packing,
        index: slice | np.ndarray,
        positive: np.ndarray,
        loss: Callable[[np.ndarray], Any],
        weight: _Weights,
        C: float,
    ) -> None:
        super().__init__(packing, index, positive)
        self._weights = weight
        self.row_weight = weight.times(1.0)
        self._loss_of = loss
        self.charge(C)
        self.margin = np.zeros(len(positive))
        self.step = np.zeros(len(positive))
        self.a = np.zeros(len(positive))

    def charge(self, C: float) -> None:
        """Let a unit of loss cost ``C``."""
        self.cost = self._weights.times(C)
        self.true_loss = self.loss = self._loss_of(self.cost)

    def smooth(self, sharpness: float, anchor: np.ndarray) -> None:
        """Smooth the hinge around dual variables ``anchor``."""
        self.loss = SmoothedHinge(self.cost, anchor, self._weights.times(sharpness))

    def _table(self) -> np.ndarray:
        return np.empty(self.starts[-1])

    def slopes(self, refit: bool) -> Slopes:
        """Take the dual variables that fit the margins; return their tables and sums."""
        if refit and self.loss is self.true_loss:
            self.a, dual, loss = self.loss.slope_dual_total(self.margin)
        else:
            if refit:
                self.a = self.loss.slope(self.margin)
            dual, loss = self.true_loss.dual(self.a), self.true_loss.total(self.margin)
        totals = np.array(rowloops.sum_by_class(self.a, self.positive))
        return Slopes(
            self.scatter_by_class(self.a),
            totals,
            totals if dual is self.a else np.array(rowloops.sum_by_class(dual, self.positive)),
            loss,
            float(totals.sum() - self.a @ self.margin),
            float(self.margin.min()),
        )

    def curvature(self) -> tuple[np.ndarray, int]:
        """Fix the curvature and pick the rows that have any; return its joint sums."""
        self.weight = self.loss.curvature(self.margin)
        active = np.flatnonzero(self.weight)
        self._active_codes, self._active_offset = self.codes, self.offset
        if len(active) < _WORTH_COPYING * len(self.weight):
            self.weight = self.weight[active]
            self._active_codes, self._active_offset = self._codes_of(active), 0
        table, n = self._table(), len(self.weight)
        rowloops.scatter(
            self._active_codes, self.starts, self.weight, 0, n, table, self._active_offset
        )
        return table, len(active)

    def _codes_of(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(self.codes), len(rows)), dtype=self.codes.dtype)
        rowloops.take_rows(self.codes, rows, out, self.offset)
        return out

    def active_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return codes and curvature of the rows that have any."""
        rows = np.flatnonzero(self.weight)
        return self._active_codes[:, self._active_offset + rows], self.weight[rows]

    def product(self, table: np.ndarray) -> np.ndarray:
        """Return ``scatter(W gather(table))`` over the active rows."""
        out = self._table()
        rowloops.gather_scatter(
            self._active_codes, self.starts, table, self.weight, out, self._active_offset
        )
        return out

    def combine(self, coef: np.ndarray) -> np.ndarray:
        """Return the sums by joint place of ``coef``, which is for every row of the table."""
        table = self._table()
        r = coef[self.index]
        rowloops.scatter(self.codes, self.starts, r, 0, len(r), table, self.offset)
        return table

    def set_direction(self, table: np.ndarray, bias: float) -> None:
        """Set the direction of the margins."""
        rowloops.gather(self.codes, self.starts, table, self.step, self.offset)
        self.step += bias
        self.step *= self.sign

    def along(self, t: float) -> float:
        """Return minus the derivative of the loss after ``t`` times the direction."""
        return self.loss.directional_slope(self.margin, self.step, t)

    def proposed(self) -> tuple[float, float]:
        """Return the loss and the smallest margin after the whole direction."""
        margin = self.margin + self.step
        return self.true_loss.total(margin), float(margin.min())

    def move(self, t: float) -> None:
        """Go ``t`` times the direction."""
        self.margin += t * self.step

    def place(self, table: np.ndarray, bias: float) -> None:
        """Put the margins where a joint table and a bias say."""
        self.set_direction(table, bias)
        self.margin[:] = self.step


class Rows(Blocks[RowBlock]):
    """The rows of one two-class problem, in blocks.

    Parameters
    ----------
    packing : Packing
        Codes of all rows of the table.
    index : ndarray of shape (n_rows,), optional
        Which rows of the table take part, all by default.
    positive : ndarray of bool, shape (n_rows,)
        Whether each of them is in the positive class.
    loss : callable
        Maps an array of costs to a loss record.
    weight : ndarray of shape (n_rows,)
        The weight of each row; a row twice and a weight of 2 are the same problem.
    C : float
        What a unit of loss costs.
    n_threads : int
        How many threads share the blocks.
    """

    make_block: ClassVar[type[RowBlock]] = RowBlock

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
        even = None
        if weight.strides == (0,):
            most = min(n_rows, max_block_rows(n_threads))
            even = lru_cache(maxsize=4)(lambda factor: np.full(most, factor * weight[0]))

        def block(part: slice) -> RowBlock:
            rows = part if index is None else index[part]
            weights = _Weights(weight[part], even)
            return self.make_block(packing, rows, positive[part], loss, weights, C)

        super().__init__(packing, n_rows, block, n_threads)
        self._given = index, positive, loss, weight
        self.C = C
        self.total_weight = float(weight.sum())
        self.passes = 0.0
        self.n_active = self.n_rows

    def thinned(self, k: int) -> Rows:
        """Return one row out of every ``k`` as a problem of their own, with ``k`` times the C."""
        index, positive, loss, weight = self._given
        n_rows = self.n_rows // k
        some = k * np.arange(n_rows) + np.random.default_rng(0).integers(k, size=n_rows)
        even = weight.strides == (0,)
        return Rows(
            self.packing,
            some if index is None else index[some],
            positive[some],
            loss,
            weight[:n_rows] if even else weight[some],
            k * self.C,
            self.n_threads,
        )

    def minority_size(self) -> int:
        """Return how many rows the smaller of the two classes has."""
        n_positive = int(self._given[1].sum())
        return min(n_positive, self.n_rows - n_positive)

    @property
    def n_additions(self) -> int:
        """Through how many additions the number of a row goes at most in a sum or a table."""
        longest = max(len(block.positive) for block in self.blocks)
        joint = 0 if self.packing.is_trivial else int(np.diff(self.packing.starts).max())
        return longest + len(self.blocks) + joint

    def slopes(self, *, refit: bool = True) -> Slopes:
        """Take the dual variables that fit the margins; return their tables and sums.

        Without ``refit`` the dual variables stay as they are.
        """
        self.passes += 1
        parts = self.map(lambda block: block.slopes(refit), self.n_rows)
        tables = sum(part.tables for part in parts)
        return Slopes(
            self.packing.fold(tables),
            sum(part.totals for part in parts),
            sum(part.duals for part in parts),
            sum(part.loss for part in parts),
            sum(part.pairing for part in parts),
            min(part.min_margin for part in parts),
        )

    def curvature(self) -> tuple[np.ndarray, np.ndarray]:
        """Fix the curvature ``W`` at the margins; return its sums by place and by joint place."""
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
        """Return the rows with curvature by themselves, for solvers that want few rows whole."""
        parts = [block.active_rows() for block in self.blocks]
        return ActiveRows(
            self.packing,
            np.concatenate([codes for codes, _ in parts], axis=1),
            np.concatenate([weight for _, weight in parts]),
        )

    def set_direction(self, table: np.ndarray, bias: float) -> None:
        """Set the direction in which scores may move next."""
        self.passes += 1
        joint = self.packing.expand(table)
        self.map(lambda block: block.set_direction(joint, bias), self.n_rows)

    def along(self, t: float) -> float:
        """Return minus the derivative of the summed loss after ``t`` times the direction."""
        return sum(self.map(lambda block: block.along(t), self.n_rows))

    def proposed(self) -> tuple[float, float]:
        """Return the loss and the smallest margin after the whole direction."""
        parts = self.map(RowBlock.proposed, self.n_rows)
        return sum(part[0] for part in parts), min(part[1] for part in parts)

    def move(self, t: float) -> None:
        """Go ``t`` times the direction."""
        self.map(lambda block: block.move(t), self.n_rows)

    def place(self, table: np.ndarray, bias: float) -> None:
        """Put the margins where tables and bias say, free of the rounding of many moves."""
        self.passes += 1
        joint = self.packing.expand(table)
        self.map(lambda block: block.place(joint, bias), self.n_rows)

    def strain(self) -> float:
        """Return the sum of ``a |1 - m|``."""
        parts = self.map(lambda block: float(block.a @ np.abs(1.0 - block.margin)), self.n_rows)
        return sum(parts)

    def mean_shortfall(self) -> float:
        """Return the weighted mean of ``|1 - m|``."""
        parts = self.map(
            lambda block: float(block.row_weight @ np.abs(1.0 - block.margin)), self.n_rows
        )
        return sum(parts) / self.total_weight

    def charge(self, C: float) -> None:
        """Let a unit of loss cost ``C`` from now on."""
        self.C = C
        for block in self.blocks:
            block.charge(C)

    def smooth_at_box_center(self, sharpness: float, share: float) -> None:
        """Smooth the hinge around ``share`` times the middle of each row's box.

        The box of a hard margin has no middle; the row's weight stands in.
        """
        for block in self.blocks:
            middle = block.row_weight if np.isinf(self.C) else block.cost / 2
            block.smooth(sharpness, share * middle)

    def smooth_at_duals(self, sharpness: float) -> None:
        """Smooth the hinge around the current dual variables."""
        for block in self.blocks:
            block.smooth(sharpness, block.a)

    def smooth_at(self, sharpness: float, dual_coef: np.ndarray) -> None:
        """Smooth the hinge around given dual variables of all rows of the table."""
        for block in self.blocks:
            block.smooth(sharpness, np.minimum(block.cost, np.abs(dual_coef[block.index])))

    def combine(self, coef: np.ndarray) -> np.ndarray:
        """Return the sums by place of ``coef``, which has an entry for every row of the table."""
        self.passes += 1
        return self.packing.fold(sum(self.map(lambda block: block.combine(coef), self.n_rows)))

    def set_duals(self, dual_coef: np.ndarray) -> None:
        """Take signed dual variables of all rows of the table."""
        for block in self.blocks:
            block.a = block.sign * dual_coef[block.index]

    def dual_coef(self, scale: np.ndarray) -> np.ndarray:
        """Return ``y a`` of all rows of the table, 0 for those left out.

        ``scale`` holds factors for positive and for negative rows.
        """
        out = np.zeros(self.packing.codes.shape[1])
        for block in self.blocks:
            out[block.index] = np.where(block.sign > 0, scale[0], -scale[1]) * block.a
        return out


@dataclass(frozen=True)
class ActiveRows:
    """Few rows, whole."""

    packing: Packing
    codes: np.ndarray
    weight: np.ndarray

    def gather(self, table: np.ndarray) -> np.ndarray:
        """Return the score of each row."""
        out = np.empty(len(self.weight))
        rowloops.gather(self.codes, self.packing.starts, self.packing.expand(table), out)
        return out

    def scatter(self, r: np.ndarray) -> np.ndarray:
        """Return the sums of ``r`` by place."""
        out = np.empty(self.packing.starts[-1])
        rowloops.scatter(self.codes, self.packing.starts, r, 0, len(r), out)
        return self.packing.fold(out)

    def places(self) -> np.ndarray:
        """Return the place of each row in each feature, in a flat table."""
        return self.packing.flat_bins(self.codes)
