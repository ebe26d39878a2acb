"""The best stump, given the weight of the positive and of the negative rows at each place.

A stump cuts a feature after one of its places; a cut after the last place is the constant vote.
With ``S`` the positive minus the negative weight of a side and ``W`` their sum, a criterion says
what a cut gains:

- error: ``|S_right - S_left|``, so that the largest gain is the smallest weighted error (the
  stump of Sugiyama and of Wang et al., over all n + 1 thresholds and both directions);
- gini: ``sqrt(W (S_left^2 / W_left + S_right^2 / W_right))``, the split of a decision tree of depth
  one, each side voting for its heavier class.  The root makes it a weight, as the error's gain is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from everystump.columns import Column
from everystump.jit import kernel
from everystump.packing import Packing

# Gains nearer to each other than this share of all weight are equal but for rounding.
ROUNDING = 1e-12


def cast_votes(x: np.ndarray, threshold: float, direction: int) -> np.ndarray:
    """Return a stump's votes, 1 or -1, given the values of its feature."""
    # A plain float would be rounded to the type of the values.
    return np.where(x >= np.float64(threshold), 1.0, -1.0) * direction


class Stump(NamedTuple):
    """A stump and how it did: rows with ``x >= threshold`` get the vote ``direction``.

    ``place`` is the last place of the feature left of the threshold.  A constant vote has place
    -1 and the threshold minus infinity.  ``right`` and ``wrong`` are the weights of the rows that
    are on their right and on their wrong side.
    """

    feature: int
    place: int
    threshold: float
    direction: int
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
    def is_coin(self) -> bool:
        """Whether the error is one half, up to rounding."""
        return self.right - self.wrong <= ROUNDING * (self.right + self.wrong)

    def vote(self, X: np.ndarray) -> np.ndarray:
        """Return the vote on each row of ``X``, 1 or -1."""
        # As a plain float the threshold would be rounded to the type of the rows.
        return (
            np.where(X[:, self.feature] >= np.float64(self.threshold), 1.0, -1.0) * self.direction
        )

    def votes_by_place(self, packing: Packing) -> tuple[int, np.ndarray]:
        """Return the joint column that the stump looks at, and its vote at each place there."""
        joint, places = packing.homes[self.feature]
        return joint, np.where(places > self.place, 1.0, -1.0) * self.direction


COIN = Stump(0, -1, -np.inf, 1, 0.5, 0.5)


@kernel
def error_gains(positive, negative, starts, out):
    """Write what a cut after each place gains in weighted error."""
    for d in range(starts.shape[0] - 1):
        total = 0.0
        for k in range(starts[d], starts[d + 1]):
            total += positive[k] - negative[k]
            out[k] = total
        for k in range(starts[d], starts[d + 1]):
            out[k] = abs(total - 2.0 * out[k])


@kernel
def gini_gains(positive, negative, starts, out):
    """Write what a cut after each place gains in Gini impurity."""
    for d in range(starts.shape[0] - 1):
        total, weight = 0.0, 0.0
        for k in range(starts[d], starts[d + 1]):
            total += positive[k] - negative[k]
            weight += positive[k] + negative[k]
        left, left_weight = 0.0, 0.0
        for k in range(starts[d], starts[d + 1]):
            left += positive[k] - negative[k]
            left_weight += positive[k] + negative[k]
            right, right_weight = total - left, weight - left_weight
            out[k] = left * left / left_weight if left_weight > 0.0 else 0.0
            if right_weight > 0.0:
                out[k] += right * right / right_weight
            out[k] = np.sqrt(weight * out[k])


@kernel
def refuse_thin(positive, negative, starts, least, gains):
    """Take the gain from cuts that leave less weight than ``least`` on a side.

    A cut after the last place, the constant vote, has one side only and keeps its gain.
    """
    for d in range(starts.shape[0] - 1):
        weight = 0.0
        for k in range(starts[d], starts[d + 1]):
            weight += positive[k] + negative[k]
        left = 0.0
        for k in range(starts[d], starts[d + 1] - 1):
            left += positive[k] + negative[k]
            if left < least or weight - left < least:
                gains[k] = -1.0


@kernel
def first_at_least(gains, least):
    """Return the first place whose gain is at least so much."""
    for k in range(gains.shape[0]):
        if gains[k] >= least:
            return k
    return 0


Gains = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]
GAINS: dict[str, Gains] = {"error": error_gains, "gini": gini_gains}


class Search:
    """Finds stumps of the features ``columns``, by a criterion of `GAINS`.

    Each side of a stump is to hold ``least_share`` of all weight at least.

    Examples
    --------
    >>> from everystump.columns import make_columns
    >>> columns = make_columns(np.array([[1.0], [2.0], [4.0]]), max_bins=256).columns
    >>> tables = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    >>> Search(columns).best(tables)
    Stump(feature=0, place=1, threshold=3.0, direction=1, right=3.0, wrong=0.0)
    """

    def __init__(
        self, columns: tuple[Column, ...], criterion: str = "error", least_share: float = 0.0
    ) -> None:
        self.columns = columns
        self._least_share = least_share
        self._gains = GAINS[criterion]
        sizes = [len(column.values) for column in columns]
        self._starts = np.concatenate([[0], np.cumsum(sizes)])

    def best(self, tables: np.ndarray) -> Stump:
        """Return the best stump of all features.

        ``tables`` holds the weights of the positive and of the negative rows at each place of
        each feature, end to end.  Among equals the first feature's lowest threshold is taken.
        """
        flat = self._first_best(tables, self._starts)
        feature = int(np.searchsorted(self._starts, flat, side="right")) - 1
        part = slice(self._starts[feature], self._starts[feature + 1])
        return self._stump(feature, flat - int(part.start), tables[:, part])

    def best_of(self, feature: int, tables: np.ndarray) -> Stump:
        """Return the best stump of one feature, given the weights at its places."""
        place = self._first_best(tables, np.array([0, tables.shape[1]]))
        return self._stump(feature, place, tables)

    def judge(self, stump: Stump, tables: np.ndarray) -> Stump:
        """Return the same stump with the weights that other tables give to its two sides."""
        part = slice(self._starts[stump.feature], self._starts[stump.feature + 1])
        right, wrong = _sides(tables[:, part], stump.place, stump.direction)
        return stump._replace(right=right, wrong=wrong)

    def place(self, feature: int, threshold: float) -> int:
        """Return the last place of a feature left of a threshold, -1 if there is none."""
        return int(np.searchsorted(self.columns[feature].values, threshold)) - 1

    def _first_best(self, tables: np.ndarray, starts: np.ndarray) -> int:
        gains = np.empty(tables.shape[1])
        self._gains(tables[0], tables[1], starts, gains)
        weight = tables[:, : starts[1]].sum()
        if self._least_share > 0:
            refuse_thin(tables[0], tables[1], starts, self._least_share * weight, gains)
        return int(first_at_least(gains, gains.max() - ROUNDING * weight))

    def _stump(self, feature: int, place: int, tables: np.ndarray) -> Stump:
        """Return the stump of a cut, each side voting for its heavier class."""
        left, right = _tilt(tables[:, : place + 1]), _tilt(tables[:, place + 1 :])
        if left * right >= 0:
            place, threshold, direction = -1, -np.inf, 1 if left + right > 0 else -1
        else:
            place, threshold = self._middle(feature, place, tables.sum(axis=0))
            direction = 1 if right > 0 else -1
        return Stump(feature, place, threshold, direction, *_sides(tables, place, direction))

    def _middle(self, feature: int, place: int, weight: np.ndarray) -> tuple[int, float]:
        """Return the middle of the gap around a cut, which may hold places without weight."""
        column = self.columns[feature]
        if weight[place] > 0 and weight[place + 1] > 0:
            return place, float(column.cuts[place])
        low = int(np.flatnonzero(weight[: place + 1])[-1])
        high = place + 1 + int(np.flatnonzero(weight[place + 1 :])[0])
        threshold = column.values[low] / 2 + column.values[high] / 2
        place = int(np.clip(self.place(feature, threshold), low, high - 1))
        # Rows of a binned feature lie all around the value of their place: cut between bins only.
        return place, float(threshold if column.exact else column.cuts[place])


def _tilt(tables: np.ndarray) -> float:
    return float(tables[0].sum() - tables[1].sum())


def _sides(tables: np.ndarray, place: int, direction: int) -> tuple[float, float]:
    """Return the weights of the rows on their right and on their wrong side."""
    # Sums of what is there, never differences of sums: an error may be as small as it likes.
    positive, negative = tables[:, : place + 1].sum(axis=1)
    more_positive, more_negative = tables[:, place + 1 :].sum(axis=1)
    up, down = float(negative + more_positive), float(positive + more_negative)
    return (up, down) if direction > 0 else (down, up)
