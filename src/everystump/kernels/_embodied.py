"""The kernel of any set of hypotheses (Lin & Li, Definition 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from everystump._arguments import check_feature_range, check_positive


class EmbodiedKernel:
    """The kernel of a set of hypotheses, ``sum of r^2 h(x) h(y)`` (Lin & Li, Definition 1).

    Each hypothesis and its negation have the weight ``r``, so that an ensemble needs no negative
    weights.  A constant hypothesis and its negation have a separate weight.  With hypotheses
    sampled at random, the kernel is a Monte Carlo estimate of the integral over all of them, whose
    error decreases as ``1 / sqrt(n_hypotheses)``.

    Parameters
    ----------
    votes : callable
        Maps samples to the predictions of all hypotheses, an array of 1 and -1 of shape
        (n_samples, n_hypotheses).
    r : float or array-like of shape (n_hypotheses,), default=1.0
        The weight of each hypothesis, positive.
    constant : float, default=0.0
        The weight of the constant hypothesis, not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump.kernels import EmbodiedKernel
    >>> two_stumps = EmbodiedKernel(lambda X: np.where(X >= [[0.0, 2.0]], 1, -1), r=0.5)
    >>> two_stumps([[-1.0], [1.0], [3.0]]).round(6) + 0.0
    array([[ 1.,  0., -1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  1.]])
    """

    def __init__(
        self, votes: Callable[[np.ndarray], np.ndarray], *, r: Any = 1.0, constant: float = 0.0
    ) -> None:
        self._votes = votes
        self._r = np.asarray(r, dtype=np.float64)
        self._constant = float(constant)
        if not (np.all(np.isfinite(self._r)) and np.all(self._r > 0) and self._constant >= 0):
            raise ValueError(
                f"r={r!r} must be positive and constant={constant!r} must not be negative."
            )

    @classmethod
    def of_stumps(cls, feature_range: Any, n_hypotheses: int, *, random_state: Any = None) -> Self:
        """Return the kernel of random stumps; its limit is `stump_kernel`.

        Parameters
        ----------
        feature_range : array-like of shape (n_features, 2)
            The range of thresholds of each feature.
        n_hypotheses : int
            The number of stumps.
        random_state : int, RandomState instance or None, default=None
            Controls the sampling of stumps.

        Returns
        -------
        EmbodiedKernel
            The kernel.
        """
        low, high = check_feature_range(feature_range, len(feature_range)).T
        length = high - low
        check_positive(n_hypotheses=n_hypotheses, length_of_feature_range=length.sum())
        rng = check_random_state(random_state)
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
        """Return the kernel of random perceptrons whose hyperplanes intersect a ball around 0.

        Its limit is ``E|cos|`` times `perceptron_kernel` with this radius, where ``E|cos|`` is the
        mean absolute cosine of the angle between a random and a fixed direction.

        Parameters
        ----------
        n_features : int
            The number of features.
        radius : float
            The radius of the ball.
        n_hypotheses : int
            The number of perceptrons.
        random_state : int, RandomState instance or None, default=None
            Controls the sampling of perceptrons.

        Returns
        -------
        EmbodiedKernel
            The kernel.
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
        """Return features whose inner products are the kernel.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_hypotheses + 1)
            The weighted predictions of the hypotheses, and the constant in the last column.
        """
        X = np.asarray(X, dtype=np.float64)
        votes = np.asarray(self._votes(X), dtype=np.float64)
        if votes.ndim != 2 or len(votes) != len(X) or not np.all(np.abs(votes) == 1):
            raise ValueError(
                f"votes returned an array of shape {votes.shape} for {len(X)} samples; it must "
                f"return 1 or -1 for each sample and hypothesis."
            )
        if self._r.ndim and self._r.shape != votes.shape[1:]:
            raise ValueError(
                f"r has shape {self._r.shape}, but there are {votes.shape[1]} hypotheses; pass one "
                f"weight per hypothesis."
            )
        constant = np.full((len(X), 1), self._constant)
        return np.sqrt(2) * np.hstack([votes * self._r, constant])

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the kernel matrix of ``X`` and ``Y``."""
        features = self.features(X)
        return features @ (features if Y is None else self.features(Y)).T
