"""The rows of a boosting problem: their weights, histograms, and margins."""

from __future__ import annotations

import numpy as np

from everystump._core import lossloops
from everystump._core.blocks import Blocks, ClassSortedBlock
from everystump._core.boosting.losses import BoostingLoss, DerivativeLoop
from everystump._core.boosting.search import Stump, StumpSearch
from everystump._core.packing import Packing

# Exponents stay where neither weights nor their sums underflow or overflow.
_MIN_EXPONENT, _MAX_EXPONENT = -700.0, 300.0


class BoostedBlock(ClassSortedBlock):
    """Rows with their margins, their weights and the votes of the latest stump."""

    def __init__(
        self, packing: Packing, index: np.ndarray, positive: np.ndarray, cost: np.ndarray
    ) -> None:
        super().__init__(packing, index, positive)
        self.cost = self.reorder(cost)
        self.margin = np.zeros(len(index))
        self.vote = np.zeros(len(index))
        self.odds = np.ones(len(index))
        self.weight = self.cost.copy()
        self.sums = np.empty((2, self.codes.n_entries))

    def apply_votes(self, joint: int, votes: np.ndarray) -> None:
        """Store the votes of a stump, 1 where they agree with the class of a row, else -1."""
        self.gather_joint(joint, np.array([votes, -votes]), self.vote)

    def advance(self, loss: BoostingLoss, step: float, log_scale: float, scale: float) -> None:
        """Add a step along the votes to the margins, and update the weights."""
        scaling = step, loss.rate, log_scale, _MIN_EXPONENT, _MAX_EXPONENT
        lossloops.advance(self.vote, *scaling, self.margin, self.odds)
        np.exp(self.odds, out=self.odds)
        np.multiply(self.cost, loss.weight(self.odds, scale), out=self.weight)

    def derivatives(self, loop: DerivativeLoop, factor: float, scale: float) -> np.ndarray:
        """Return minus the first derivative of the summed loss after a step, and the second."""
        return np.array(loop(self.odds, self.vote, self.cost, factor, scale))


class BoostedRows(Blocks[BoostedBlock]):
    """The rows of a binary problem; ``cost`` holds the weight of each row's loss, positive."""

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
        self.initial_histograms = self.histograms().copy()

    @property
    def _scale(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(self._log_scale))

    def histograms(self) -> np.ndarray:
        """Return the class-weight histograms of all features, in a buffer that is reused."""

        def scatter(block: BoostedBlock) -> np.ndarray:
            return block.scatter_by_class(block.weight, out=block.sums)

        parts = self.map(scatter, self.n_rows)
        joint = parts[0]
        for part in parts[1:]:
            joint += part
        return self.packing.fold(joint)

    def feature_histogram(self, feature: int) -> np.ndarray:
        """Return the class-weight histogram of a feature."""
        location = self.packing.locations[feature]

        def scatter(block: BoostedBlock) -> np.ndarray:
            return block.scatter_by_class(block.weight, location.joint, location.joint + 1)

        return location.feature_sums(sum(self.map(scatter, self.n_rows / self.n_lookups)))

    def apply_votes(self, stump: Stump, search: StumpSearch) -> None:
        """Store the votes of a stump on all rows."""
        joint, votes = stump.votes_by_bin(search, self.packing)
        self.map(lambda block: block.apply_votes(joint, votes), self.n_rows / self.n_lookups)

    def derivatives(self, loop: DerivativeLoop, step: float) -> tuple[float, float]:
        """Return minus the first derivative of the summed loss after a step, and the second."""
        factor, scale = float(np.exp(-self._loss.rate * step)), self._scale
        slope, curvature = sum(
            self.map(lambda block: block.derivatives(loop, factor, scale), self.n_rows)
        )
        return float(slope), float(curvature)

    def advance(self, step: float, total: float) -> None:
        """Take a step along the stored votes; ``total`` is the sum of the weights before it."""
        # Weights shrink as margins grow, so they are rescaled by their latest mean.
        self._log_scale -= float(np.log(total / self.n_rows))
        scale = self._scale
        self.map(lambda block: block.advance(self._loss, step, self._log_scale, scale), self.n_rows)

    def reset_weights(self) -> None:
        """Compute the weights from the margins alone."""
        smallest = min(float(block.margin.min()) for block in self.blocks)
        if self._loss.max_weight_is_one:
            smallest = max(smallest, 0.0)
        self._log_scale = self._loss.rate * smallest
        self.advance(0.0, self.n_rows)
