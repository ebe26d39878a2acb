"""Search for the best stump, given class-weight histograms.

A histogram holds the weights of the positive and of the negative rows in each bin of a feature.
The bins form a tree (see `everystump._core.columns`), and a stump is one of its edges: a threshold,
"is this level", or "is missing".  A stump is identified by the bin beyond its edge; bin 0,
the root, stands for a constant vote.

Ties are resolved up to a fraction ``ROUNDING`` of the total weight, so that the result does not
depend on the order of summation: the first of equal gains is taken, and a side whose classes have
equal weights votes with the other side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from everystump._core.boosting.gains import GAINS, exclude_small_sides, first_at_least
from everystump._core.columns import Column
from everystump._core.packing import Packing

# Gains, and the weights of two classes on a side, are equal if they differ by less than this
# fraction of the total weight.
ROUNDING = 1e-12


def stump_votes(
    x: np.ndarray, threshold: float, level: int, direction: int, missing: int
) -> np.ndarray:
    """Return the votes of a stump: 1 or -1, or 0 for unknown levels; see `Stump`."""
    if level >= 0:
        votes = np.where(x == level, direction, -direction).astype(np.float64)
        votes[x < 0] = 0.0
    else:
        # A Python float would be rounded to the dtype of x.
        votes = np.where(x >= np.float64(threshold), 1.0, -1.0) * direction
    votes[np.isnan(x)] = missing
    return votes


class Stump(NamedTuple):
    """A stump and its training weights.

    Rows with ``x >= threshold`` get the vote ``direction``, others its opposite.  If ``level`` is 0
    or more, rows at that level of a category get it instead.  A missing value gets the vote
    ``missing``, 0 if training had none.  An infinite threshold stands for "is missing" (for a
    category, with the level after the last one), minus infinity for a constant vote.

    ``edge`` is the number of the bin beyond the stump's edge, 0 for a constant vote.  ``correct``
    and ``incorrect`` are the weights of correctly and incorrectly classified rows.
    """

    feature: int
    edge: int
    threshold: float
    level: int
    direction: int
    missing: int
    correct: float
    incorrect: float

    @property
    def error(self) -> float:
        """The weighted error."""
        return self.incorrect / (self.correct + self.incorrect)

    @property
    def log_odds(self) -> float:
        """``log((1 - error) / error)``, finite for any error."""
        return float(np.log(self.correct) - np.log(max(self.incorrect, np.finfo(np.float64).tiny)))

    @property
    def is_chance(self) -> bool:
        """Whether the error is no better than chance, one half up to rounding."""
        return self.correct - self.incorrect <= ROUNDING * (self.correct + self.incorrect)

    def vote(self, X: np.ndarray) -> np.ndarray:
        """Return the vote on each row of ``X``."""
        x = X[:, self.feature]
        return stump_votes(x, self.threshold, self.level, self.direction, self.missing)

    def votes_by_bin(self, search: StumpSearch, packing: Packing) -> tuple[int, np.ndarray]:
        """Return the joint column of the stump's feature, and the vote in each bin of it."""
        joint, bins = packing.locations[self.feature]
        beyond = search.columns[self.feature].beyond(self.edge)
        return joint, np.where(beyond[bins], 1.0, -1.0) * self.direction


# Edge, threshold and level of a constant vote.
CONSTANT = 0, -np.inf, -1
# The placeholder where no stump is better than chance.
CHANCE = Stump(0, 0, -np.inf, -1, 1, 1, 0.5, 0.5)


class StumpSearch:
    """Finds the best stump by a criterion of `GAINS`.

    ``min_fraction`` is the minimum fraction of the total weight on each side of a stump.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump._core.columns import make_columns
    >>> columns = make_columns(np.array([[1.0], [2.0], [4.0]]), max_bins=256).columns
    >>> histograms = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    >>> StumpSearch(columns).best(histograms)
    Stump(feature=0, edge=2, threshold=3.0, level=-1, direction=1, missing=0, correct=3.0,
    incorrect=0.0)
    """

    def __init__(
        self, columns: tuple[Column, ...], criterion: str = "error", min_fraction: float = 0.0
    ) -> None:
        self.columns = columns
        self._min_fraction = min_fraction
        self._gains = GAINS[criterion]
        self._parents = [column.parents for column in columns]
        self._all_parents = np.concatenate(self._parents)
        self._starts = np.concatenate([[0], np.cumsum([column.n_bins for column in columns])])

    def best(self, histograms: np.ndarray) -> Stump:
        """Return the best stump of all features, given their concatenated histograms.

        Ties are broken by the first feature, then the lowest threshold.
        """
        flat = self._first_best(histograms, self._starts, self._all_parents)
        feature = int(np.searchsorted(self._starts, flat, side="right")) - 1
        part = slice(self._starts[feature], self._starts[feature + 1])
        return self._stump(feature, flat - int(part.start), histograms[:, part])

    def best_of_feature(self, feature: int, histogram: np.ndarray) -> Stump:
        """Return the best stump of one feature, given its histogram."""
        starts = np.array([0, histogram.shape[1]])
        edge = self._first_best(histogram, starts, self._parents[feature])
        return self._stump(feature, edge, histogram)

    def reweighted(self, stump: Stump, histograms: np.ndarray) -> Stump:
        """Return the stump with the weights of other histograms of all features."""
        part = slice(self._starts[stump.feature], self._starts[stump.feature + 1])
        beyond = self.columns[stump.feature].beyond(stump.edge)
        correct, incorrect = _sides(histograms[:, part], beyond, stump.direction)
        return stump._replace(correct=correct, incorrect=incorrect)

    def _first_best(self, histograms: np.ndarray, starts: np.ndarray, parents: np.ndarray) -> int:
        gains = np.empty(histograms.shape[1])
        self._gains(histograms[0], histograms[1], starts, parents, gains)
        weight = histograms[:, : starts[1]].sum()
        if self._min_fraction > 0:
            min_weight = (self._min_fraction - ROUNDING) * weight
            exclude_small_sides(histograms[0], histograms[1], starts, parents, min_weight, gains)
        return int(first_at_least(gains, gains.max() - ROUNDING * weight))

    def _stump(self, feature: int, edge: int, histogram: np.ndarray) -> Stump:
        """Return the stump of the edge to a bin, each side voting for its heavier class."""
        column = self.columns[feature]
        beyond = column.beyond(edge)
        tolerance = ROUNDING * histogram.sum()
        before, after = (_imbalance(histogram[:, side], tolerance) for side in (~beyond, beyond))
        if before * after >= 0:
            rule, direction = CONSTANT, 1 if before + after > 0 else -1
        else:
            rule, direction = _rule(column, edge, histogram.sum(axis=0)), 1 if after > 0 else -1
        return self._with_rule(feature, rule, direction, histogram)

    def _with_rule(
        self, feature: int, rule: tuple[int, float, int], direction: int, histogram: np.ndarray
    ) -> Stump:
        """Return the stump of an edge, a threshold and a level."""
        column, edge = self.columns[feature], rule[0]
        beyond = column.beyond(edge)
        missing = 0
        if column.missing > 0:
            missing = direction if beyond[column.missing_bin] else -direction
        elif edge == 0:
            missing = direction
        sides = _sides(histogram, beyond, direction)
        return Stump(feature, *rule, direction, missing, *sides)


class SplitSearch(StumpSearch):
    """Finds the best split of a regression, whose sides may have any two values.

    Histograms hold ``(w + u) / 2`` and ``(w - u) / 2``, for the weights ``w`` of rows and the
    weighted numbers ``u`` that are fitted by least squares: their difference and their sum are what
    the Gini impurity needs.  The direction is always 1; a constant vote means that no split helps.
    """

    def __init__(self, columns: tuple[Column, ...], min_fraction: float = 0.0) -> None:
        super().__init__(columns, "gini", min_fraction)

    def _stump(self, feature: int, edge: int, histogram: np.ndarray) -> Stump:
        """Return the stump of the edge to a bin."""
        column = self.columns[feature]
        rule = CONSTANT if edge == 0 else _rule(column, edge, histogram.sum(axis=0))
        stump = self._with_rule(feature, rule, 1, histogram)
        total = stump.correct + stump.incorrect
        incorrect = total / 2 if edge == 0 else 0.0
        return stump._replace(correct=total - incorrect, incorrect=incorrect)


def _rule(column: Column, edge: int, weight: np.ndarray) -> tuple[int, float, int]:
    """Return edge, threshold and level of the stump of the edge to a bin."""
    level = edge - column.first if column.is_category else -1
    if edge == column.missing_bin:
        return edge, np.inf, level
    if column.is_category:
        return edge, np.nan, level
    return *_midpoint(column, edge, weight), level


def _midpoint(column: Column, edge: int, weight: np.ndarray) -> tuple[int, float]:
    """Return the midpoint of the gap before a bin; the gap may include bins without weight."""
    if column.missing > 0:  # missing values stay on their side of the threshold
        weight[column.missing_parent] += weight[column.missing_bin]
        weight = weight[: column.missing_bin]
    if weight[edge - 1] > 0 and weight[edge] > 0:
        return edge, float(column.cuts[edge - 1])
    low = int(np.flatnonzero(weight[:edge])[-1])
    high = edge + int(np.flatnonzero(weight[edge:])[0])
    threshold = column.values[low] / 2 + column.values[high] / 2
    edge = int(np.clip(column.bin_of(threshold, -1), low + 1, high))
    # In a binned feature rows are spread around the value of their bin: cut between bins.
    return edge, float(threshold if column.exact else column.cuts[edge - 1])


def _imbalance(histogram: np.ndarray, tolerance: float) -> float:
    """Return the positive minus the negative weight of a side, 0 for a tie up to rounding."""
    difference = float(histogram[0].sum() - histogram[1].sum())
    return difference if abs(difference) > tolerance else 0.0


def _sides(histogram: np.ndarray, beyond: np.ndarray, direction: int) -> tuple[float, float]:
    """Return the weights of correctly and of incorrectly classified rows."""
    # Sums instead of differences of sums, so that small errors keep their precision.
    positive, negative = histogram[:, ~beyond].sum(axis=1)
    positive_beyond, negative_beyond = histogram[:, beyond].sum(axis=1)
    up, down = float(negative + positive_beyond), float(positive + negative_beyond)
    return (up, down) if direction > 0 else (down, up)
