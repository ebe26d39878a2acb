"""Definition 1 of Lin & Li: the kernel of any hypotheses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from everystump._arguments import check_feature_range, check_positive

# Maps rows to the votes, 1 or -1, of all hypotheses: (n_rows, n_hypotheses).
Votes = Callable[[np.ndarray], np.ndarray]


class EmbodiedKernel:
    """The kernel of a set of hypotheses, ``sum of r^2 h(x) h(y)`` (Definition 1 of Lin & Li).

    Each hypothesis stands for itself and its negation, each with weight ``r``, so that an ensemble
    needs no negative weights; a constant hypothesis and its negation are added with a weight of
    their own.  Hypotheses drawn at random stand for the integral over all of them: the error falls
    as ``1 / sqrt(n_hypotheses)``.

    Parameters
    ----------
    votes : callable
        Maps rows to the votes of all hypotheses, an array of 1 and -1 of shape
        (n_rows, n_hypotheses).
    r : float or array-like of shape (n_hypotheses,), default=1.0
        The weight of each hypothesis, positive.
    constant : float, default=0.0
        The weight of the constant hypothesis.

    Examples
    --------
    >>> two_stumps = EmbodiedKernel(lambda X: np.where(X >= [[0.0, 2.0]], 1, -1), r=0.5)
    >>> two_stumps([[-1.0], [1.0], [3.0]]).round(6) + 0.0
    array([[ 1.,  0., -1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  1.]])
    """

    def __init__(self, votes: Votes, *, r: Any = 1.0, constant: float = 0.0) -> None:
        self._votes = votes
        self._r = np.asarray(r, dtype=np.float64)
        self._constant = float(constant)
        if not (np.all(np.isfinite(self._r)) and np.all(self._r > 0) and self._constant >= 0):
            raise ValueError(
                f"r={r!r} must be positive and constant={constant!r} must not be negative."
            )

    @classmethod
    def of_stumps(cls, feature_range: Any, n_hypotheses: int, *, random_state: Any = None) -> Self:
        """Draw stumps with thresholds in ``feature_range``: the limit is `stump_kernel`.

        Parameters
        ----------
        feature_range : array-like of shape (n_features, 2)
            The range of thresholds of each feature.
        n_hypotheses : int
            How many stumps to draw.
        random_state : int, RandomState instance or None, default=None
            Draws them.

        Returns
        -------
        EmbodiedKernel
            The kernel of these stumps.
        """
        rng = check_random_state(random_state)
        low, high = check_feature_range(feature_range, len(feature_range)).T
        length = high - low
        check_positive(n_hypotheses=n_hypotheses, length_of_feature_range=length.sum())
        feature = rng.choice(len(low), size=n_hypotheses, p=length / length.sum())
        threshold = rng.uniform(low[feature], high[feature])
        return cls(
            lambda X: np.where(X[:, feature] >= threshold, 1.0, -1.0),
            r=np.sqrt(length.sum() / n_hypotheses) / 2,
        )

    @classmethod
    def of_perceptrons(
        cls, n_features: int, radius: float, n_hypotheses: int, *, random_state: Any = None
    ) -> Self:
        """Draw perceptrons whose planes meet the ball of a radius around 0.

        The limit is ``E|cos|`` times `perceptron_kernel` with this radius, E|cos| being
        `mean_abs_cosine`.

        Parameters
        ----------
        n_features : int
            Number of features.
        radius : float
            Thresholds lie between minus and plus this.
        n_hypotheses : int
            How many perceptrons to draw.
        random_state : int, RandomState instance or None, default=None
            Draws them.

        Returns
        -------
        EmbodiedKernel
            The kernel of these perceptrons.
        """
        check_positive(n_features=n_features, radius=radius, n_hypotheses=n_hypotheses)
        rng = check_random_state(random_state)
        direction = rng.normal(size=(n_features, n_hypotheses))
        direction /= np.linalg.norm(direction, axis=0)
        threshold = rng.uniform(-radius, radius, size=n_hypotheses)
        return cls(
            lambda X: np.where(X @ direction >= threshold, 1.0, -1.0),
            r=np.sqrt(2 * radius / n_hypotheses) / 2,
        )

    def features(self, X: Any) -> np.ndarray:
        """Return the rows as features whose inner products are the kernel.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_hypotheses + 1)
            The weighted votes; a hypothesis and its negation share a column, and the last one is
            the constant's.
        """
        X = np.asarray(X, dtype=np.float64)
        votes = np.asarray(self._votes(X), dtype=np.float64)
        if votes.ndim != 2 or len(votes) != len(X) or not np.all(np.abs(votes) == 1):
            raise ValueError(
                f"votes: {len(X)} rows gave an array of shape {votes.shape}; it must hold 1 or -1 "
                f"for each row and hypothesis."
            )
        if self._r.ndim and self._r.shape != votes.shape[1:]:
            raise ValueError(
                f"r has shape {self._r.shape}, but there are {votes.shape[1]} hypotheses; pass one "
                f"weight for each."
            )
        constant = np.full((len(X), 1), self._constant)
        return np.sqrt(2) * np.hstack([votes * self._r, constant])

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the kernel matrix of the rows of ``X`` and ``Y``."""
        own = self.features(X)
        return own @ (own if Y is None else self.features(Y)).T
