"""What boosting asks of the rows: their weights by place, and to hear a stump's votes."""

from __future__ import annotations

import numpy as np

from everystump._core import rowloops
from everystump._core.blocks import Block, Blocks
from everystump._core.boosting.losses import BoostingLoss, DerivativeKernel
from everystump._core.boosting.search import Search, Stump
from everystump._core.packing import Packing

# Exponents are kept where neither the weights nor their sums leave the normal numbers.
_LEAST, _MOST = -700.0, 300.0


class BoostedBlock(Block):
    """Rows with their margins, their weights and the votes of the latest stump."""

    def __init__(
        self, packing: Packing, index: np.ndarray, positive: np.ndarray, cost: np.ndarray
    ) -> None:
        super().__init__(packing, index, positive)
        self.cost = self.in_order(cost)
        self.margin = np.zeros(len(index))
        self.vote = np.zeros(len(index))
        self.odds = np.ones(len(index))
        self.weight = self.cost.copy()
        self.sums = np.empty((2, self.starts[-1]))

    def apply_votes(self, joint: int, votes: np.ndarray) -> None:
        """Take the votes, 1 where they agree with a row's class, else -1."""
        self.gather_joint(joint, np.array([votes, -votes]), self.vote)

    def move(self, loss: BoostingLoss, step: float, log_scale: float, scale: float) -> None:
        """Go a step along the votes and take the weights that the loss gives to the margins."""
        rowloops.advance(
            self.vote, step, loss.rate, log_scale, _LEAST, _MOST, self.margin, self.odds
        )
        np.exp(self.odds, out=self.odds)
        np.multiply(self.cost, loss.weight(self.odds, scale), out=self.weight)

    def along(self, slopes: DerivativeKernel, factor: float, scale: float) -> np.ndarray:
        """Return minus the slope, and the curvature, of the summed loss after a step."""
        return np.array(slopes(self.odds, self.vote, self.cost, factor, scale))


class BoostedRows(Blocks[BoostedBlock]):
    """The rows of one two-class problem.

    Parameters
    ----------
    packing : Packing
        Codes of the rows.
    positive : ndarray of bool, shape (n_rows,)
        Whether each row is in the positive class.
    cost : ndarray of shape (n_rows,)
        What each row's loss counts, positive.
    loss : BoostingLoss
        The loss of a margin.
    n_threads : int
        How many threads share the rows.
    """

    def __init__(
        self,
        packing: Packing,
        positive: np.ndarray,
        cost: np.ndarray,
        loss: BoostingLoss,
        n_threads: int,
    ) -> None:
        index = np.arange(len(positive))
        cost = cost / cost.mean()

        def block(part: slice) -> BoostedBlock:
            return BoostedBlock(packing, index[part], positive[part], cost[part])

        super().__init__(packing, len(index), block, n_threads)
        self._loss = loss
        self._log_scale = 0.0
        self.initial_histograms = self.tables().copy()

    @property
    def _scale(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(self._log_scale))

    def tables(self) -> np.ndarray:
        """Return the weights of positive and of negative rows at each place of each feature.

        The next call writes over them.
        """

        def scatter(block: BoostedBlock) -> np.ndarray:
            return block.scatter_by_class(block.weight, out=block.sums)

        parts = self.each(scatter, self.n_rows)
        joint = parts[0]
        for part in parts[1:]:
            joint += part
        return self.packing.by_feature(joint)

    def histogram_of(self, feature: int) -> np.ndarray:
        """Return the weights of positive and of negative rows at each place of a feature."""
        home = self.packing.locations[feature]

        def scatter(block: BoostedBlock) -> np.ndarray:
            return block.scatter_by_class(block.weight, home.joint, home.joint + 1)

        return home.own(sum(self.each(scatter, self.n_rows / self.n_joint)))

    def apply_votes(self, stump: Stump, search: Search) -> None:
        """Let the rows hear a stump."""
        joint, votes = stump.votes_by_bin(search, self.packing)
        self.each(lambda block: block.apply_votes(joint, votes), self.n_rows / self.n_joint)

    def along(self, slopes: DerivativeKernel, step: float) -> tuple[float, float]:
        """Return minus the slope, and the curvature, of the summed loss after a step."""
        factor, scale = float(np.exp(-self._loss.rate * step)), self._scale
        slope, curvature = sum(
            self.each(lambda block: block.along(slopes, factor, scale), self.n_rows)
        )
        return float(slope), float(curvature)

    def move(self, step: float, total: float) -> None:
        """Go a step along the stump that was heard; ``total`` is the sum of the weights before."""
        # Weights shrink as margins grow: count them in units of their latest mean.
        self._log_scale -= float(np.log(total / self.n_rows))
        scale = self._scale
        self.each(lambda block: block.move(self._loss, step, self._log_scale, scale), self.n_rows)

    def resume(self) -> None:
        """Weigh the rows by their margins alone."""
        least = min(float(block.margin.min()) for block in self.blocks)
        self._log_scale = self._loss.rate * (
            max(least, 0.0) if self._loss.has_bounded_weights else least
        )
        self.move(0.0, self.n_rows)
