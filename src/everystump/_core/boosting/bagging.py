"""Bagging: the mean vote of stumps, each found on a bootstrap sample (Sugiyama, Fig. 30.5).

A bootstrap sample is represented by weights, the number of times that each row was drawn, so no row
is copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from everystump._core import rowloops
from everystump._core.blocks import ClassSortedBlock
from everystump._core.boosting.boosting import StumpChoice
from everystump._core.boosting.search import CHANCE, Stump, StumpSearch
from everystump._core.boosting.stumps import Stumps
from everystump._core.codes import Codes
from everystump._core.packing import Packing
from everystump._core.threads import thread_map

# Integer weights up to this mean are drawn row by row, larger ones by their multinomial counts.
_MAX_REPEATED = 10
_MAX_DRAWS = 2**62


class BaggingResult(NamedTuple):
    """Stumps of weight ``1 / n_estimators``, or 0 if no better than chance, and their votes."""

    stumps: Stumps
    # (n_rows,): the mean vote on each row of the stumps whose samples do not contain it, else NaN.
    out_of_bag: np.ndarray


class _Sample:
    """A bootstrap sample as weights; implements `HistogramSource`."""

    def __init__(
        self, block: ClassSortedBlock, packing: Packing, weight: np.ndarray, sums: np.ndarray
    ) -> None:
        self._block, self._packing, self._weight, self._sums = block, packing, weight, sums

    def histograms(self) -> np.ndarray:
        """Return the class-weight histograms of all features."""
        return self._packing.fold(self._block.scatter_by_class(self._weight, out=self._sums))

    def feature_histogram(self, feature: int) -> np.ndarray:
        """Return the class-weight histogram of a feature."""
        location = self._packing.locations[feature]
        return location.feature_sums(
            self._block.scatter_by_class(self._weight, location.joint, location.joint + 1)
        )


def bag_stumps(
    packing: Packing,
    positive: np.ndarray,
    search: StumpSearch,
    choice: Callable[[np.random.Generator], StumpChoice],
    *,
    sample_weight: np.ndarray | None,
    cost: np.ndarray,
    n_estimators: int,
    seed: int,
    n_threads: int,
    report: Callable[[float], None] = lambda error: None,
) -> BaggingResult:
    """Find the best stump of each of ``n_estimators`` bootstrap samples.

    ``sample_weight`` determines how often a row is drawn, ``cost`` its weight in a sample.
    """
    order = _canonical_order(packing, sample_weight)
    block = ClassSortedBlock(packing, order, positive[order])
    draw = _sampler(len(order), None if sample_weight is None else sample_weight[block.index])
    cost = cost[block.index]
    seeds = np.random.SeedSequence(seed).spawn(n_estimators)

    def work(worker: _Worker) -> None:
        for j in worker.samples:
            rng = np.random.default_rng(seeds[j])
            weight = draw(rng)
            weight *= cost
            stump = choice(rng)(search, _Sample(block, packing, weight, worker.sums))
            worker.add(search, stump, weight == 0)
            report(worker.stumps[-1].error)

    n_workers = min(n_threads, n_estimators)
    workers = [_Worker(range(k, n_estimators, n_workers), block, packing) for k in range(n_workers)]
    thread_map(work, workers, n_threads)
    out_of_bag = np.empty(len(order))
    with np.errstate(invalid="ignore"):
        mean = sum(worker.votes for worker in workers) / sum(worker.counts for worker in workers)
    out_of_bag[block.index] = mean
    stumps = [workers[j % n_workers].stumps[j // n_workers] for j in range(n_estimators)]
    weights = [0.0 if stump.is_chance else 1 / n_estimators for stump in stumps]
    return BaggingResult(Stumps.from_stumps(stumps, weights), out_of_bag)


class _Worker:
    """The bootstrap samples of one thread, and sums of out-of-bag votes."""

    def __init__(self, samples: range, block: ClassSortedBlock, packing: Packing) -> None:
        self.samples, self._block, self._packing = samples, block, packing
        self.stumps: list[Stump] = []
        self.votes = np.zeros(len(block.index))
        self.counts = np.zeros(len(block.index))
        self.sums = np.empty((2, packing.starts[-1]))
        self._vote = np.empty(len(block.index))

    def add(self, search: StumpSearch, stump: Stump | None, out_of_bag: np.ndarray) -> None:
        """Add a stump, and its votes on the rows that are not in its sample."""
        self.stumps.append(stump or CHANCE)
        self.counts += out_of_bag
        if stump is not None:
            joint, votes = stump.votes_by_bin(search, self._packing)
            self._block.gather_joint(joint, np.array([votes, votes]), self._vote)
            self._vote *= out_of_bag
            self.votes += self._vote


def _canonical_order(packing: Packing, weight: np.ndarray | None) -> np.ndarray:
    """Return an order of the rows that depends on their values only.

    Shuffling the rows, or giving repeated rows as weights, then yields the same samples.
    """
    key = np.empty(packing.codes.n_rows)
    bin_keys = np.random.default_rng(0).random(packing.starts[-1])
    rowloops.gather(packing.codes, bin_keys, key)
    return np.argsort(key, kind="stable") if weight is None else np.lexsort((weight, key))


def _sampler(n_rows: int, weight: np.ndarray | None) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a function that draws a bootstrap sample, as the count of each row.

    Integer weights are repetitions, which add to the sample size; otherwise it is ``n_rows``.
    """
    if weight is None:
        return lambda rng: _count(rng.integers(n_rows, size=n_rows, dtype=np.uint32), n_rows)
    total = float(weight.sum())
    integers = bool(np.all(weight == np.floor(weight)))
    if integers and total <= _MAX_REPEATED * n_rows:
        rows = np.repeat(np.arange(n_rows, dtype=np.uint32), weight.astype(int))
        n_draws = len(rows)
        return lambda rng: _count(
            rows[rng.integers(n_draws, size=n_draws, dtype=np.uint32)], n_rows
        )
    n_draws = int(min(total, _MAX_DRAWS)) if integers else n_rows
    return lambda rng: rng.multinomial(n_draws, weight / total).astype(np.float64)


def _count(drawn: np.ndarray, n_rows: int) -> np.ndarray:
    """Return how often each row was drawn, by a scatter of ones."""
    counts = np.empty(n_rows)
    ones = np.broadcast_to(1.0, drawn.shape)
    codes = Codes.from_bins(drawn[None, :], np.array([0, len(counts)]))
    rowloops.scatter(codes, ones, 0, len(drawn), counts)
    return counts
