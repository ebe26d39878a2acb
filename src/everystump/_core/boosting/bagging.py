"""Bagging: the mean vote of stumps, each found on a bootstrap sample (Sugiyama, Fig. 30.5).

A bootstrap sample is a weight for each row, the number of times that it was drawn, so no row is
copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from everystump._core import rowloops
from everystump._core.blocks import Block
from everystump._core.boosting.boosting import Choice
from everystump._core.boosting.search import CHANCE, Search, Stump
from everystump._core.boosting.vote import Stumps
from everystump._core.packing import Packing
from everystump._core.threads import share

# Whole weights are drawn row by row up to this mean; beyond, their counts are drawn at once.
_MOST_REPEATED = 10
_MOST_DRAWS = 2**62


class Bag(NamedTuple):
    """What bagging found.

    Attributes
    ----------
    stumps : Stumps
        Each with weight ``1 / n_estimators``, or 0 if its sample had none better than a coin.
    out_of_bag : ndarray of shape (n_rows,)
        The mean vote on each row of the stumps whose samples it was not in; NaN if there are none.
    """

    stumps: Stumps
    out_of_bag: np.ndarray


class _Sample:
    """A bootstrap sample as weights; what `boosting.WeightedHistograms` asks for."""

    def __init__(
        self, block: Block, packing: Packing, weight: np.ndarray, sums: np.ndarray
    ) -> None:
        self._block, self._packing, self._weight, self._sums = block, packing, weight, sums

    def tables(self) -> np.ndarray:
        """Return the weights of both sides at each place of each feature."""
        return self._packing.by_feature(self._block.scatter_by_class(self._weight, out=self._sums))

    def histogram_of(self, feature: int) -> np.ndarray:
        """Return the weights of both sides at each place of a feature."""
        home = self._packing.locations[feature]
        return home.own(self._block.scatter_by_class(self._weight, home.joint, home.joint + 1))


def bag(
    packing: Packing,
    positive: np.ndarray,
    search: Search,
    choice: Callable[[np.random.Generator], Choice],
    *,
    sample_weight: np.ndarray | None,
    cost: np.ndarray,
    n_estimators: int,
    seed: int,
    n_threads: int,
    report: Callable[[float], None] = lambda error: None,
) -> Bag:
    """Find the best stump of each of ``n_estimators`` bootstrap samples.

    ``sample_weight`` says how often a row is drawn, ``cost`` what it counts once drawn.
    """
    order = _canonical_order(packing, sample_weight)
    block = Block(packing, order, positive[order])
    draw = _drawer(len(order), None if sample_weight is None else sample_weight[block.index])
    cost = cost[block.index]
    seeds = np.random.SeedSequence(seed).spawn(n_estimators)

    def work(lane: _Lane) -> None:
        for j in lane.turns:
            rng = np.random.default_rng(seeds[j])
            weight = draw(rng)
            weight *= cost
            stump = choice(rng)(search, _Sample(block, packing, weight, lane.sums))
            lane.add(search, stump, weight == 0)
            report(lane.found[-1].error)

    n_lanes = min(n_threads, n_estimators)
    lanes = [_Lane(range(k, n_estimators, n_lanes), block, packing) for k in range(n_lanes)]
    share(work, lanes, n_threads)
    out_of_bag = np.empty(len(order))
    with np.errstate(invalid="ignore"):
        mean = sum(lane.votes for lane in lanes) / sum(lane.times for lane in lanes)
    out_of_bag[block.index] = mean
    by_turn = [lanes[j % n_lanes].found[j // n_lanes] for j in range(n_estimators)]
    weights = [0.0 if stump.is_chance else 1 / n_estimators for stump in by_turn]
    return Bag(Stumps.of(by_turn, weights), out_of_bag)


class _Lane:
    """One thread's share of the samples."""

    def __init__(self, turns: range, block: Block, packing: Packing) -> None:
        self.turns, self._block, self._packing = turns, block, packing
        self.found: list[Stump] = []
        self.votes = np.zeros(len(block.index))
        self.times = np.zeros(len(block.index))
        self.sums = np.empty((2, packing.starts[-1]))
        self._vote = np.empty(len(block.index))

    def add(self, search: Search, stump: Stump | None, unseen: np.ndarray) -> None:
        """Take a stump, and its votes on the rows that its sample did not hold."""
        self.found.append(stump or CHANCE)
        self.times += unseen
        if stump is not None:
            joint, votes = stump.votes_by_bin(search, self._packing)
            self._block.gather_joint(joint, np.array([votes, votes]), self._vote)
            self._vote *= unseen
            self.votes += self._vote


def _canonical_order(packing: Packing, weight: np.ndarray | None) -> np.ndarray:
    """Return the rows in an order that depends on what they are, not on how they came.

    So a bootstrap sample of shuffled rows, or of rows given as weights, is the same sample.
    """
    key = np.empty(packing.codes.shape[1])
    marks = np.random.default_rng(0).random(packing.starts[-1])
    rowloops.gather(packing.codes, packing.starts, marks, key)
    return np.argsort(key, kind="stable") if weight is None else np.lexsort((weight, key))


def _drawer(n_rows: int, weight: np.ndarray | None) -> Callable[[np.random.Generator], np.ndarray]:
    """Return what draws a bootstrap sample, as the number of times that each row is in it.

    Whole weights count rows, and as many are drawn; with other weights it is one draw a row.
    """
    if weight is None:
        return lambda rng: _count(rng.integers(n_rows, size=n_rows, dtype=np.uint32), n_rows)
    total = float(weight.sum())
    whole = bool(np.all(weight == np.floor(weight)))
    if whole and total <= _MOST_REPEATED * n_rows:
        rows = np.repeat(np.arange(n_rows, dtype=np.uint32), weight.astype(int))
        n_draws = len(rows)
        return lambda rng: _count(
            rows[rng.integers(n_draws, size=n_draws, dtype=np.uint32)], n_rows
        )
    n_draws = int(min(total, _MOST_DRAWS)) if whole else n_rows
    return lambda rng: rng.multinomial(n_draws, weight / total).astype(np.float64)


def _count(drawn: np.ndarray, n_rows: int) -> np.ndarray:
    """Return how often each row was drawn: a scatter of ones."""
    counts = np.empty(n_rows)
    once = np.broadcast_to(1.0, drawn.shape)
    rowloops.scatter(drawn[None, :], np.zeros(1, dtype=np.int64), once, 0, len(drawn), counts)
    return counts
