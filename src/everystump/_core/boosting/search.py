"""The best stump, given the weight of the positive and of the negative rows at each place.

The places of a feature form a tree (see `everystump._core.columns`), and a stump is one of its
edges: a threshold, "is it this level?", or "is it missing?".  It is named by the place beyond the
edge; the first place, the root, stands for the constant vote.  With ``S`` the positive minus
the negative weight of a side and ``W`` their sum, a criterion says what a stump gains:

- error: ``|S_beyond - S_before|``, so that the largest gain is the smallest weighted error (the
  stump of Sugiyama and of Wang et al., over all n + 1 thresholds and both directions);
- gini: ``sqrt(W (S_before^2 / W_before + S_beyond^2 / W_beyond))``, the split of a decision tree of
  depth one, each side voting for its heavier class.  The root makes it a weight, as the error's
  gain is.

Ties are decided up to ``ROUNDING`` of all weight, so that equal stumps are told apart by their
order and not by how weights were summed: of equal gains the first stump is taken, and a side whose
classes weigh the same votes with the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from everystump._core.columns import Column
from everystump._core.jit import kernel
from everystump._core.packing import Packing

# Gains, and the two classes' weights on a side, nearer to each other than this share of all weight
# are equal but for rounding.
ROUNDING = 1e-12


def stump_votes(
    x: np.ndarray, threshold: float, level: int, direction: int, missing: int
) -> np.ndarray:
    """Return a stump's votes, 1 or -1, or 0 on what it knows nothing of; see `Stump`."""
    if level >= 0:
        votes = np.where(x == level, direction, -direction).astype(np.float64)
        votes[x < 0] = 0.0
    else:
        # A plain float would be rounded to the type of the values.
        votes = np.where(x >= np.float64(threshold), 1.0, -1.0) * direction
    votes[np.isnan(x)] = missing
    return votes


class Stump(NamedTuple):
    """A stump and how it did.

    Rows with ``x >= threshold`` get the vote ``direction``, others its opposite; if ``level`` is 0
    or more, those at that level of a category do.  A missing value gets the vote ``missing``, 0 if
    none was seen.  The threshold infinity asks "is it missing?", of a category with the number
    after its last level; a constant vote has the threshold minus infinity.

    ``place`` is the place beyond the stump's edge, 0 for a constant vote.  ``right`` and ``wrong``
    are the weights of the rows that are on their right and on their wrong side.
    """

    feature: int
    place: int
    threshold: float
    level: int
    direction: int
    missing: int
    right: float
    wrong: float

    @property
    def error(self) -> float:
        """The weighted error."""
        return self.wrong / (self.right + self.wrong)

    @property
    def log_odds(self) -> float:
        """The logarithm of ``(1 - error) / error``, finite however small the error is."""
        return float(np.log(self.right) - np.log(max(self.wrong, np.finfo(np.float64).tiny)))

    @property
    def is_chance(self) -> bool:
        """Whether the error is one half, up to rounding."""
        return self.right - self.wrong <= ROUNDING * (self.right + self.wrong)

    def vote(self, X: np.ndarray) -> np.ndarray:
        """Return the vote on each row of ``X``."""
        x = X[:, self.feature]
        return stump_votes(x, self.threshold, self.level, self.direction, self.missing)

    def votes_by_bin(self, search: Search, packing: Packing) -> tuple[int, np.ndarray]:
        """Return the joint column that the stump looks at, and its vote at each place there."""
        joint, places = packing.locations[self.feature]
        beyond = search.columns[self.feature].beyond(self.place)
        return joint, np.where(beyond[places], 1.0, -1.0) * self.direction


CHANCE = Stump(0, 0, -np.inf, -1, 1, 1, 0.5, 0.5)


@kernel
def sum_beyond(starts, parents, sums):
    """Turn sums by place into sums over all places beyond the edge to each."""
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        for k in range(starts[d + 1] - 1, first, -1):
            sums[first + parents[k]] += sums[k]


@kernel
def error_gains(positive, negative, starts, parents, out):
    """Write what the stump of each place gains in weighted error."""
    for k in range(out.shape[0]):
        out[k] = positive[k] - negative[k]
    sum_beyond(starts, parents, out)
    for d in range(starts.shape[0] - 1):
        total = out[starts[d]]
        for k in range(starts[d], starts[d + 1]):
            out[k] = abs(total - 2.0 * out[k])


@kernel
def gini_gains(positive, negative, starts, parents, out):
    """Write what the stump of each place gains in Gini impurity."""
    weights = positive + negative
    for k in range(out.shape[0]):
        out[k] = positive[k] - negative[k]
    sum_beyond(starts, parents, out)
    sum_beyond(starts, parents, weights)
    for d in range(starts.shape[0] - 1):
        total, weight = out[starts[d]], weights[starts[d]]
        for k in range(starts[d], starts[d + 1]):
            beyond, beyond_weight = out[k], weights[k]
            before, before_weight = total - beyond, weight - beyond_weight
            out[k] = beyond * beyond / beyond_weight if beyond_weight > 0.0 else 0.0
            if before_weight > 0.0:
                out[k] += before * before / before_weight
            out[k] = np.sqrt(weight * out[k])


@kernel
def exclude_small_sides(positive, negative, starts, parents, least, gains):
    """Take the gain from stumps that leave less weight than ``least`` on a side.

    The constant vote has one side only and keeps its gain.
    """
    weights = positive + negative
    sum_beyond(starts, parents, weights)
    for d in range(starts.shape[0] - 1):
        for k in range(starts[d] + 1, starts[d + 1]):
            if weights[k] < least or weights[starts[d]] - weights[k] < least:
                gains[k] = -1.0


@kernel
def first_at_least(gains, least):
    """Return the first place whose gain is at least so much."""
    for k in range(gains.shape[0]):
        if gains[k] >= least:
            return k
    return 0


Gains = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]
GAINS: dict[str, Gains] = {"error": error_gains, "gini": gini_gains}


class Search:
    """Finds stumps of the features ``columns``, by a criterion of `GAINS`.

    Each side of a stump is to hold ``least_share`` of all weight at least.

    Examples
    --------
    >>> from everystump._core.columns import make_columns
    >>> columns = make_columns(np.array([[1.0], [2.0], [4.0]]), max_bins=256).columns
    >>> tables = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    >>> Search(columns).best(tables)
    Stump(feature=0, place=2, threshold=3.0, level=-1, direction=1, missing=0, right=3.0, wrong=0.0)
    """

    def __init__(
        self, columns: tuple[Column, ...], criterion: str = "error", least_share: float = 0.0
    ) -> None:
        self.columns = columns
        self._least_share = least_share
        self._gains = GAINS[criterion]
        self._parents = [column.parents for column in columns]
        self._all_parents = np.concatenate(self._parents)
        self._starts = np.concatenate([[0], np.cumsum([column.n_bins for column in columns])])

    def best(self, tables: np.ndarray) -> Stump:
        """Return the best stump of all features.

        ``tables`` holds the weights of the positive and of the negative rows at each place of
        each feature, end to end.  Among equals the first feature's lowest threshold is taken.
        """
        flat = self._first_best(tables, self._starts, self._all_parents)
        feature = int(np.searchsorted(self._starts, flat, side="right")) - 1
        part = slice(self._starts[feature], self._starts[feature + 1])
        return self._stump(feature, flat - int(part.start), tables[:, part])

    def best_of_feature(self, feature: int, tables: np.ndarray) -> Stump:
        """Return the best stump of one feature, given the weights at its places."""
        place = self._first_best(tables, np.array([0, tables.shape[1]]), self._parents[feature])
        return self._stump(feature, place, tables)

    def judge(self, stump: Stump, tables: np.ndarray) -> Stump:
        """Return the same stump with the weights that other tables give to its two sides."""
        part = slice(self._starts[stump.feature], self._starts[stump.feature + 1])
        beyond = self.columns[stump.feature].beyond(stump.place)
        right, wrong = _sides(tables[:, part], beyond, stump.direction)
        return stump._replace(right=right, wrong=wrong)

    def _first_best(self, tables: np.ndarray, starts: np.ndarray, parents: np.ndarray) -> int:
        gains = np.empty(tables.shape[1])
        self._gains(tables[0], tables[1], starts, parents, gains)
        weight = tables[:, : starts[1]].sum()
        if self._least_share > 0:
            least = (self._least_share - ROUNDING) * weight
            exclude_small_sides(tables[0], tables[1], starts, parents, least, gains)
        return int(first_at_least(gains, gains.max() - ROUNDING * weight))

    def _stump(self, feature: int, place: int, tables: np.ndarray) -> Stump:
        """Return the stump of an edge, each side voting for its heavier class."""
        column = self.columns[feature]
        beyond = column.beyond(place)
        least = ROUNDING * tables.sum()
        before_tilt, tilt = _tilt(tables[:, ~beyond], least), _tilt(tables[:, beyond], least)
        level = -1
        if before_tilt * tilt >= 0:
            place, threshold, direction = 0, -np.inf, 1 if before_tilt + tilt > 0 else -1
        else:
            direction = 1 if tilt > 0 else -1
            if column.is_category:
                level = place - column.first
            if place == column.missing_bin:
                threshold = np.inf
            elif column.is_category:
                threshold = np.nan
            else:
                place, threshold = self._middle(column, place, tables.sum(axis=0))
        beyond = column.beyond(place)
        missing = 0
        if column.missing > 0:
            missing = direction if beyond[column.missing_bin] else -direction
        elif place == 0:
            missing = direction
        sides = _sides(tables, beyond, direction)
        return Stump(feature, place, threshold, level, direction, missing, *sides)

    def _middle(self, column: Column, place: int, weight: np.ndarray) -> tuple[int, float]:
        """Return the middle of the gap before a place, which may hold places without weight."""
        if column.missing > 0:  # what is missing stays on its side of the threshold
            weight[column.missing_parent] += weight[column.missing_bin]
            weight = weight[: column.missing_bin]
        if weight[place - 1] > 0 and weight[place] > 0:
            return place, float(column.cuts[place - 1])
        low = int(np.flatnonzero(weight[:place])[-1])
        high = place + int(np.flatnonzero(weight[place:])[0])
        threshold = column.values[low] / 2 + column.values[high] / 2
        place = int(np.clip(column.bin_of(threshold, -1), low + 1, high))
        # Rows of a binned feature lie all around the value of their place: cut between bins only.
        return place, float(threshold if column.exact else column.cuts[place - 1])


def _tilt(tables: np.ndarray, least: float) -> float:
    """Return the positive minus the negative weight of a side, 0 if it is a tie up to rounding."""
    tilt = float(tables[0].sum() - tables[1].sum())
    return tilt if abs(tilt) > least else 0.0


def _sides(tables: np.ndarray, beyond: np.ndarray, direction: int) -> tuple[float, float]:
    """Return the weights of the rows on their right and on their wrong side."""
    # Sums of what is there, never differences of sums: an error may be as small as it likes.
    positive, negative = tables[:, ~beyond].sum(axis=1)
    more_positive, more_negative = tables[:, beyond].sum(axis=1)
    up, down = float(negative + more_positive), float(positive + more_negative)
    return (up, down) if direction > 0 else (down, up)
