"""A finite ensemble of stumps: plain arrays, and the shape model that they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from everystump._core.boosting.search import Stump, stump_votes
from everystump._core.columns import Column
from everystump._core.measures import ChosenStumps
from everystump._core.shapes import Shape, ShapeModel


class Stumps(NamedTuple):
    """Stumps in the order in which they were found, as arrays of shape (n_stumps,).

    Attributes
    ----------
    feature : ndarray of int
        The feature that each looks at.
    threshold : ndarray
        Rows with ``x >= threshold`` get the vote ``direction``, others its opposite; infinity asks
        "is it missing?", and a constant vote has the threshold minus infinity.
    level : ndarray of int
        The number of the level of a category that gets the vote ``direction``, that after the last
        if it asks "is it missing?"; -1 for numbers.
    direction : ndarray of int
        1 or -1.
    missing : ndarray of int
        The vote on a missing value, 0 if training saw none.
    weight : ndarray
        What the vote counts.
    error : ndarray
        The weighted training error when it was found.
    """

    feature: np.ndarray
    threshold: np.ndarray
    level: np.ndarray
    direction: np.ndarray
    missing: np.ndarray
    weight: np.ndarray
    error: np.ndarray

    def __repr__(self) -> str:
        n_features = len(np.unique(self.feature[~self._constant]))
        return f"<Stumps: {len(self.weight)} stumps on {n_features} features>"

    @classmethod
    def of(cls, stumps: Sequence[Stump], weights: Sequence[float]) -> Self:
        """Gather single stumps."""
        return cls(
            np.array([stump.feature for stump in stumps], dtype=np.int64),
            np.array([stump.threshold for stump in stumps], dtype=np.float64),
            np.array([stump.level for stump in stumps], dtype=np.int64),
            np.array([stump.direction for stump in stumps], dtype=np.int64),
            np.array([stump.missing for stump in stumps], dtype=np.int64),
            np.array(weights, dtype=np.float64),
            np.array([stump.error for stump in stumps], dtype=np.float64),
        )

    def first(self, n: int) -> Self:
        """Return the first ``n`` stumps."""
        return type(self)(*(array[:n] for array in self))

    def votes(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield each stump's votes on the rows of ``X``, 1 or -1, 0 on what it knows nothing of."""
        for d, *asked in zip(*self[:5], strict=True):
            yield stump_votes(X[:, d], *asked)

    def staged_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the score of each row of ``X`` after each stump."""
        score = np.zeros(len(X))
        for weight, vote in zip(self.weight, self.votes(X), strict=True):
            score = score + weight * vote
            yield score

    def shape_model(self, n_levels: Sequence[int], intercept: float = 0.0) -> ShapeModel:
        """Return the weighted vote as one curve a feature; constant votes join the intercept.

        ``n_levels`` says how many levels each feature has, 0 for numbers.
        """
        chosen = self._by_feature(len(n_levels))
        shapes = tuple(self._curve(*part) for part in zip(chosen, n_levels, strict=True))
        constant = float((self.weight * self.direction)[self._constant].sum())
        return ShapeModel(shapes, intercept + constant)

    def _curve(self, chosen: np.ndarray, n_levels: int) -> Shape:
        """Return the vote of the stumps of one feature."""
        strength = (self.weight * self.direction)[chosen]
        at_missing = self.missing[chosen]
        missing = float(self.weight[chosen] @ at_missing) if at_missing.any() else None
        threshold, level = self.threshold[chosen], self.level[chosen]
        others = -float(strength[np.isposinf(threshold)].sum())
        if n_levels:
            asking = (level >= 0) & (level < n_levels)
            yes = np.bincount(level[asking], weights=strength[asking], minlength=n_levels)
            return Shape.category(others + 2 * yes - yes.sum(), missing)
        cutting = np.isfinite(threshold)
        return _staircase(threshold[cutting], strength[cutting], others, missing)

    def chosen(self, n_features: int) -> ChosenStumps:
        """Return the measure of these stumps alone, one found twice counting twice."""
        by_feature = self._by_feature(n_features)
        asked = [(self.threshold[part], self.level[part]) for part in by_feature]
        return ChosenStumps(
            [threshold[np.isfinite(threshold)] for threshold, _ in asked],
            [level[(level >= 0) & ~np.isposinf(threshold)] for threshold, level in asked],
            [int(np.isposinf(threshold).sum()) for threshold, _ in asked],
        )

    def with_jumps(self, columns: Sequence[Column], steps: Sequence[np.ndarray]) -> Self:
        """Return the stumps with the weights that make their vote take given steps.

        ``steps`` holds by how much the table of each feature changes beyond each of its places.
        Equal stumps share a step equally; constant votes get none of the weight.
        """
        weight = np.zeros(len(self.weight))
        for chosen, column, step in zip(
            self._by_feature(len(columns)), columns, steps, strict=True
        ):
            asked = zip(self.threshold[chosen], self.level[chosen], strict=True)
            place = np.array([column.bin_of(*question) for question in asked], dtype=int)
            times = np.bincount(place, minlength=len(step))
            weight[chosen] = step[place] / (2 * times[place]) * self.direction[chosen]
        return self._replace(weight=weight)

    @property
    def _constant(self) -> np.ndarray:
        return np.isneginf(self.threshold)

    def _by_feature(self, n_features: int) -> list[np.ndarray]:
        """Return which stumps cut each feature."""
        cutting = np.flatnonzero(~self._constant)
        order = cutting[np.argsort(self.feature[cutting], kind="stable")]
        return np.split(order, np.searchsorted(self.feature[order], np.arange(1, n_features)))


def _staircase(
    thresholds: np.ndarray, strength: np.ndarray, constant: float, missing: float | None
) -> Shape:
    """Return the curve of stumps on one feature: a jump of twice its strength at each."""
    cuts, which = np.unique(thresholds, return_inverse=True)
    jumps = np.bincount(which, weights=strength, minlength=len(cuts))
    below = np.concatenate([[0.0], np.cumsum(jumps)])
    above = np.concatenate([[0.0], np.cumsum(jumps[::-1])])[::-1]
    return Shape.steps(cuts, below - above + constant, missing)
