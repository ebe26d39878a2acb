"""Boosting of numbers: stumps with two values are fitted to the residuals, one after another.

    f <- constant;  repeat:  numbers  u_i = -loss'(f(x_i))
                             stump    the split that fits u_i best by least squares
                             values   the best constant for the residuals of each side
                             f <- f + learning_rate * values

With the squared loss this is L2 boosting; with the absolute loss the numbers are signs, and the
values medians (Friedman, 2001, Greedy function approximation).  A stump with the values ``p`` and
``q`` is a constant ``(p + q) / 2`` plus a vote of weight ``(q - p) / 2``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from everystump._core import rowloops
from everystump._core.blocks import Block, Blocks
from everystump._core.boosting.boosting import StopReason, StumpChoice
from everystump._core.boosting.search import Stump, StumpSearch
from everystump._core.boosting.stumps import Stumps
from everystump._core.packing import Packing
from everystump._core.targets import weighted_quantiles


@dataclass(frozen=True)
class ResidualLoss:
    """A loss of boosting numbers, a function of the residual."""

    value: Callable[[np.ndarray], np.ndarray]
    negative_slope: Callable[[np.ndarray], np.ndarray]  # up to a factor
    center: Callable[[np.ndarray, np.ndarray], float]  # the best constant, given weights


def _mean(residual: np.ndarray, weight: np.ndarray) -> float:
    return float(residual @ weight / weight.sum())


def weighted_median(residual: np.ndarray, weight: np.ndarray) -> float:
    """Return the middle of all medians.

    Examples
    --------
    >>> weighted_median(np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 2.0]))
    3.0
    """
    (low,) = weighted_quantiles(residual, weight, (0.5,))
    (high,) = weighted_quantiles(-residual, weight, (0.5,))
    return (low - high) / 2


RESIDUAL_LOSSES = {
    "squared": ResidualLoss(np.square, lambda residual: residual, _mean),
    "absolute": ResidualLoss(np.abs, np.sign, weighted_median),
}


class _ScatterBlock(Block):
    """Rows whose values are summed by bin."""

    def scatter(self, values: np.ndarray) -> np.ndarray:
        """Return the sums by joint bin of values, which has one entry per row of the table."""
        out, part = np.empty(self.codes.n_entries), values[self.index]
        rowloops.scatter(self.codes, part, 0, len(part), out, self.offset)
        return out


class ResidualRows:
    """The rows of a regression in memory, with their residuals."""

    def __init__(
        self,
        packing: Packing,
        target: np.ndarray,
        weight: np.ndarray,
        loss: ResidualLoss,
        n_threads: int,
    ) -> None:
        self._packing, self._loss = packing, loss
        self._weight = weight / weight.mean()
        self.constant = loss.center(target, self._weight)
        self._residual = target - self.constant
        self._blocks = Blocks(
            packing,
            len(target),
            lambda part: _ScatterBlock(packing, part, self._residual[part] > 0),
            n_threads,
        )
        self._bin_weights = self._sums(self._weight)
        self._beyond = np.zeros(len(target), dtype=bool)

    def _sums(self, values: np.ndarray) -> np.ndarray:
        return self._packing.fold(self._blocks.call("scatter", values))

    def histograms(self) -> np.ndarray:
        """Return the histograms of all features; see `SplitSearch`."""
        numbers = self._sums(self._weight * self._loss.negative_slope(self._residual))
        return np.array([self._bin_weights + numbers, self._bin_weights - numbers]) / 2

    def feature_histogram(self, feature: int) -> np.ndarray:
        """Return the histograms of one feature."""
        joint, bins = self._packing.locations[feature]
        code = self._joint_values(joint, bins.astype(np.float64)).astype(np.intp)
        numbers = self._weight * self._loss.negative_slope(self._residual)
        halves = (self._weight + numbers) / 2, (self._weight - numbers) / 2
        n_bins = int(bins.max()) + 1
        return np.array([np.bincount(code, weights=half, minlength=n_bins) for half in halves])

    def _joint_values(self, joint: int, table: np.ndarray) -> np.ndarray:
        """Return the entry of each row in a table of one joint column."""
        out = np.empty(len(self._residual))
        rowloops.gather(self._packing.codes.columns(joint, joint + 1), table, out)
        return out

    def side_values(self, stump: Stump, search: StumpSearch) -> tuple[float, float]:
        """Return the best constants for the residuals before and beyond the edge of a stump."""
        joint, votes = stump.votes_by_bin(search, self._packing)
        self._beyond = self._joint_values(joint, votes) > 0
        before, beyond = (
            self._loss.center(self._residual[side], self._weight[side])
            for side in (~self._beyond, self._beyond)
        )
        return before, beyond

    def advance(self, before: float, beyond: float) -> None:
        """Subtract values from the residuals of both sides of the last stump."""
        self._residual -= np.where(self._beyond, beyond, before)

    def mean_loss(self) -> float:
        """Return the weighted mean loss of the residuals."""
        return float(np.average(self._loss.value(self._residual), weights=self._weight))


class ResidualBoosting(NamedTuple):
    """The stumps of a boosting run, the constants of rounds, and why it stopped.

    The errors of the stumps are the mean losses after their rounds; the first constant is that
    before the first round.
    """

    stumps: Stumps
    constants: np.ndarray
    stop_reason: StopReason

    def first(self, n: int) -> ResidualBoosting:
        """Return the first ``n`` rounds."""
        return ResidualBoosting(self.stumps.first(n), self.constants[: n + 1], self.stop_reason)


def boost_residuals(
    rows: ResidualRows,
    search: StumpSearch,
    choose: StumpChoice,
    *,
    n_estimators: int,
    learning_rate: float,
    monitor: Callable[[Stump, float, float, float], bool],
) -> ResidualBoosting:
    """Boost until there are ``n_estimators`` stumps or no further gain.

    ``search`` is a `SplitSearch`.  ``monitor`` is called with each stump, its weight, the constant
    of its round and the mean loss after it; True stops boosting.
    """
    stumps: list[Stump] = []
    weights, constants, losses = [], [rows.constant], []
    reason = StopReason.ROUNDS
    while len(stumps) < n_estimators:
        stump = choose(search, rows)
        values = (0.0, 0.0) if stump is None else rows.side_values(stump, search)
        if stump is None or values == (0.0, 0.0):
            reason = StopReason.CHANCE
            break
        before, beyond = (learning_rate * value for value in values)
        stumps.append(stump)
        weights.append((beyond - before) / 2)
        constants.append((beyond + before) / 2)
        rows.advance(before, beyond)
        losses.append(rows.mean_loss())
        if monitor(stump, weights[-1], constants[-1], losses[-1]):
            reason = StopReason.MONITOR
            break
    found = Stumps.from_stumps(stumps, weights)._replace(error=np.array(losses, dtype=np.float64))
    return ResidualBoosting(found, np.array(constants), reason)
