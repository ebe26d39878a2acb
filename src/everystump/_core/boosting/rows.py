"""The rows of a boosting problem: their weights, histograms, and margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core import lossloops
from everystump._core.blocks import Blocks, ClassSortedBlock, Parts
from everystump._core.boosting.losses import BoostingLoss, DerivativeLoop
from everystump._core.boosting.search import Stump, StumpSearch
from everystump._core.packing import Packing

# Exponents stay where neither weights nor their sums underflow or overflow.
_MIN_EXPONENT, _MAX_EXPONENT = -700.0, 300.0


# Methods of a block that change nothing in it.
READ_ONLY = frozenset({"derivatives", "histograms", "joint_histogram", "min_margin"})


@dataclass(frozen=True)
class Smallest:
    """A number; the sum of two is the smaller one."""

    value: float

    def __add__(self, other: Smallest) -> Smallest:
        return Smallest(min(self.value, other.value))


class BoostedBlock(ClassSortedBlock):
    """Rows with their margins, their weights and the votes of the latest stump."""

    def __init__(
        self,
        packing: Packing,
        index: np.ndarray,
        positive: np.ndarray,
        cost: np.ndarray,
        loss: BoostingLoss,
    ) -> None:
        super().__init__(packing, index, positive)
        self.cost = self.reorder(cost)
        self._loss = loss
        self.margin = np.zeros(len(index))
        self.vote = np.zeros(len(index))
        self.odds = np.ones(len(index))
        self.weight = self.cost.copy()
        self._sums = np.empty((2, self.codes.n_entries))

    def histograms(self) -> np.ndarray:
        """Return the class-weight histograms of all joint columns, in a buffer that is reused."""
        return self.scatter_by_class(self.weight, out=self._sums)

    def joint_histogram(self, joint: int) -> np.ndarray:
        """Return the class-weight histogram of a joint column."""
        return self.scatter_by_class(self.weight, joint, joint + 1)

    def apply_votes(self, joint: int, votes: np.ndarray) -> None:
        """Store the votes of a stump, 1 where they agree with the class of a row, else -1."""
        self.gather_joint(joint, np.array([votes, -votes]), self.vote)

    def advance(self, step: float, log_scale: float, scale: float) -> None:
        """Add a step along the votes to the margins, and update the weights."""
        scaling = step, self._loss.rate, log_scale, _MIN_EXPONENT, _MAX_EXPONENT
        lossloops.advance(self.vote, *scaling, self.margin, self.odds)
        np.exp(self.odds, out=self.odds)
        np.multiply(self.cost, self._loss.weight(self.odds, scale), out=self.weight)

    def derivatives(self, loop: DerivativeLoop, factor: float, scale: float) -> np.ndarray:
        """Return minus the first derivative of the summed loss after a step, and the second."""
        return np.array(loop(self.odds, self.vote, self.cost, factor, scale))

    def min_margin(self) -> Smallest:
        """Return the smallest margin."""
        return Smallest(float(self.margin.min()))


def boosted_blocks(
    packing: Packing,
    positive: np.ndarray,
    cost: np.ndarray,
    loss: BoostingLoss,
    n_threads: int,
) -> Blocks[BoostedBlock]:
    """Return the rows of a binary problem in memory; ``cost`` is positive, with mean 1."""
    index = np.arange(len(positive))

    def block(part: slice) -> BoostedBlock:
        return BoostedBlock(packing, index[part], positive[part], cost[part], loss)

    return Blocks(packing, len(index), block, n_threads)


class BoostedRows:
    """The rows of a binary problem in parts, with the methods of `BoostedBlock`."""

    def __init__(self, parts: Parts, loss: BoostingLoss) -> None:
        self._parts, self._packing, self._loss = parts, parts.packing, loss
        self._log_scale = 0.0
        self.initial_histograms = self.histograms().copy()

    @classmethod
    def in_memory(
        cls,
        packing: Packing,
        positive: np.ndarray,
        cost: np.ndarray,
        loss: BoostingLoss,
        n_threads: int,
    ) -> BoostedRows:
        """Return the rows of a table in memory; ``cost`` is the weight of each row's loss."""
        return cls(boosted_blocks(packing, positive, cost / cost.mean(), loss, n_threads), loss)

    @property
    def _scale(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(self._log_scale))

    @property
    def _n_rows_of_one_column(self) -> float:
        """The number of rows whose codes are as many as those of all rows in one column."""
        return self._parts.n_rows / self._parts.n_lookups

    def histograms(self) -> np.ndarray:
        """Return the class-weight histograms of all features, in a buffer that is reused."""
        return self._packing.fold(self._parts.call("histograms"))

    def feature_histogram(self, feature: int) -> np.ndarray:
        """Return the class-weight histogram of a feature."""
        location = self._packing.locations[feature]
        n_rows = self._n_rows_of_one_column
        return location.feature_sums(
            self._parts.call("joint_histogram", location.joint, n_rows=n_rows)
        )

    def apply_votes(self, stump: Stump, search: StumpSearch) -> None:
        """Store the votes of a stump on all rows."""
        joint, votes = stump.votes_by_bin(search, self._packing)
        self._parts.update("apply_votes", joint, votes, n_rows=self._n_rows_of_one_column)

    def derivatives(self, loop: DerivativeLoop, step: float) -> tuple[float, float]:
        """Return minus the first derivative of the summed loss after a step, and the second."""
        factor = float(np.exp(-self._loss.rate * step))
        slope, curvature = self._parts.call("derivatives", loop, factor, self._scale)
        return float(slope), float(curvature)

    def advance(self, step: float, total: float) -> None:
        """Take a step along the stored votes; ``total`` is the sum of the weights before it."""
        # Weights shrink as margins grow, so they are rescaled by their latest mean.
        self._log_scale -= float(np.log(total / self._parts.n_rows))
        self._parts.update("advance", step, self._log_scale, self._scale)

    def reset_weights(self) -> None:
        """Compute the weights from the margins alone."""
        smallest = self._parts.call("min_margin").value
        if self._loss.max_weight_is_one:
            smallest = max(smallest, 0.0)
        self._log_scale = self._loss.rate * smallest
        self.advance(0.0, self._parts.n_rows)
