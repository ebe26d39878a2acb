"""A finite ensemble of stumps as plain arrays, and its shape functions."""

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
        The feature of each stump.
    threshold : ndarray
        Samples with ``x >= threshold`` get the vote ``direction``, others its opposite.  Infinity
        stands for "is missing", minus infinity for a constant vote.
    level : ndarray of int
        For a category, the number of the level that gets the vote ``direction``; the number after
        the last level stands for "is missing".  -1 for numbers.
    direction : ndarray of int
        1 or -1.
    missing : ndarray of int
        The vote on a missing value, 0 if there was none in training.
    weight : ndarray
        The weight of the vote.
    error : ndarray
        The weighted training error when the stump was found.
    """

    feature: np.ndarray
    threshold: np.ndarray
    level: np.ndarray
    direction: np.ndarray
    missing: np.ndarray
    weight: np.ndarray
    error: np.ndarray

    def __repr__(self) -> str:
        n_features = len(np.unique(self.feature[~self._is_constant]))
        return f"<Stumps: {len(self.weight)} stumps on {n_features} features>"

    @classmethod
    def from_stumps(cls, stumps: Sequence[Stump], weights: Sequence[float]) -> Self:
        """Return an ensemble of single stumps."""
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
        """Yield the votes of each stump on the rows of ``X``: 1 or -1, or 0 for unknown levels."""
        for d, *rule in zip(*self[:5], strict=True):
            yield stump_votes(X[:, d], *rule)

    def staged_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the score of each row of ``X`` after each stump."""
        score = np.zeros(len(X))
        for weight, vote in zip(self.weight, self.votes(X), strict=True):
            score = score + weight * vote
            yield score

    def shape_model(self, n_levels: Sequence[int], intercept: float = 0.0) -> ShapeModel:
        """Return the weighted vote as one shape function per feature and an intercept.

        ``n_levels`` holds the number of levels of each feature, 0 for numbers.
        """
        by_feature = self._by_feature(len(n_levels))
        shapes = tuple(self._shape(*part) for part in zip(by_feature, n_levels, strict=True))
        constant = float((self.weight * self.direction)[self._is_constant].sum())
        return ShapeModel(shapes, intercept + constant)

    def _shape(self, index: np.ndarray, n_levels: int) -> Shape:
        """Return the shape function of the stumps of one feature."""
        strength = (self.weight * self.direction)[index]
        at_missing = self.missing[index]
        missing = float(self.weight[index] @ at_missing) if at_missing.any() else None
        threshold, level = self.threshold[index], self.level[index]
        constant = -float(strength[np.isposinf(threshold)].sum())
        if n_levels:
            by_level = (level >= 0) & (level < n_levels)
            total = np.bincount(level[by_level], weights=strength[by_level], minlength=n_levels)
            return Shape.category(constant + 2 * total - total.sum(), missing)
        by_threshold = np.isfinite(threshold)
        return _step_function(threshold[by_threshold], strength[by_threshold], constant, missing)

    def as_measure(self, n_features: int) -> ChosenStumps:
        """Return the measure of these stumps alone, with multiplicities."""
        rules = [
            (self.threshold[index], self.level[index]) for index in self._by_feature(n_features)
        ]
        return ChosenStumps(
            [threshold[np.isfinite(threshold)] for threshold, _ in rules],
            [level[(level >= 0) & ~np.isposinf(threshold)] for threshold, level in rules],
            [int(np.isposinf(threshold).sum()) for threshold, _ in rules],
        )

    def with_jumps(self, columns: Sequence[Column], jumps: Sequence[np.ndarray]) -> Self:
        """Return the stumps reweighted so that their vote has the given jumps.

        ``jumps`` holds, for each feature, the jump at the edge to each bin.  Equal stumps share a
        jump equally; constant votes get the weight 0.
        """
        weight = np.zeros(len(self.weight))
        by_feature = self._by_feature(len(columns))
        for index, column, jump in zip(by_feature, columns, jumps, strict=True):
            rules = zip(self.threshold[index], self.level[index], strict=True)
            edge = np.array([column.bin_of(*rule) for rule in rules], dtype=int)
            count = np.bincount(edge, minlength=len(jump))
            weight[index] = jump[edge] / (2 * count[edge]) * self.direction[index]
        return self._replace(weight=weight)

    @property
    def _is_constant(self) -> np.ndarray:
        return np.isneginf(self.threshold)

    def _by_feature(self, n_features: int) -> list[np.ndarray]:
        """Return the indices of the stumps of each feature, without constant votes."""
        index = np.flatnonzero(~self._is_constant)
        order = index[np.argsort(self.feature[index], kind="stable")]
        return np.split(order, np.searchsorted(self.feature[order], np.arange(1, n_features)))


def _step_function(
    thresholds: np.ndarray, strength: np.ndarray, constant: float, missing: float | None
) -> Shape:
    """Return the shape function of stumps: a jump of twice its strength at each threshold."""
    cuts, which = np.unique(thresholds, return_inverse=True)
    jumps = np.bincount(which, weights=strength, minlength=len(cuts))
    below = np.concatenate([[0.0], np.cumsum(jumps)])
    above = np.concatenate([[0.0], np.cumsum(jumps[::-1])])[::-1]
    return Shape.steps(cuts, below - above + constant, missing)
