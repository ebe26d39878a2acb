"""A finite ensemble of stumps: plain arrays, and the shape model that they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from everystump.shapes import Shape, ShapeModel
from everystump.stumps.search import Stump


class Stumps(NamedTuple):
    """Stumps in the order in which they were found, as arrays of shape (n_stumps,).

    Attributes
    ----------
    feature : ndarray of int
        The feature that each looks at.
    threshold : ndarray
        Rows with ``x >= threshold`` get the vote ``direction``, others its opposite; a constant
        vote has the threshold minus infinity.
    direction : ndarray of int
        1 or -1.
    weight : ndarray
        What the vote counts.
    error : ndarray
        The weighted training error when it was found.
    """

    feature: np.ndarray
    threshold: np.ndarray
    direction: np.ndarray
    weight: np.ndarray
    error: np.ndarray

    @classmethod
    def of(cls, stumps: Sequence[Stump], weights: Sequence[float]) -> Self:
        """Gather single stumps."""
        return cls(
            np.array([stump.feature for stump in stumps], dtype=np.int64),
            np.array([stump.threshold for stump in stumps], dtype=np.float64),
            np.array([stump.direction for stump in stumps], dtype=np.int64),
            np.array(weights, dtype=np.float64),
            np.array([stump.error for stump in stumps], dtype=np.float64),
        )

    def first(self, n: int) -> Self:
        """Return the first ``n`` stumps."""
        return type(self)(*(array[:n] for array in self))

    def votes(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield each stump's votes on the rows of ``X``, 1 or -1."""
        for d, threshold, direction in zip(*self[:3], strict=True):
            yield np.where(X[:, d] >= threshold, 1.0, -1.0) * direction

    def staged_scores(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the score of each row of ``X`` after each stump."""
        score = np.zeros(len(X))
        for weight, vote in zip(self.weight, self.votes(X), strict=True):
            score = score + weight * vote
            yield score

    def shape_model(self, n_features: int) -> ShapeModel:
        """Return the weighted vote as one curve a feature; constant votes are the intercept."""
        constant = np.isneginf(self.threshold)
        strength = self.weight * self.direction
        shapes = tuple(
            _staircase(self.threshold[chosen], strength[chosen])
            for chosen in (~constant & (self.feature == d) for d in range(n_features))
        )
        return ShapeModel(shapes, float(strength[constant].sum()))


def _staircase(thresholds: np.ndarray, strength: np.ndarray) -> Shape:
    """Return the curve of stumps on one feature: a jump of twice its strength at each."""
    cuts, which = np.unique(thresholds, return_inverse=True)
    jumps = np.bincount(which, weights=strength, minlength=len(cuts))
    below = np.concatenate([[0.0], np.cumsum(jumps)])
    above = np.concatenate([[0.0], np.cumsum(jumps[::-1])])[::-1]
    return Shape.steps(cuts, below - above)
