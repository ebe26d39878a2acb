"""Kernels that embody hypotheses: stumps, middle stumps, perceptrons, trees, and any others.

All take tables ``X`` and ``Y`` (``X`` again by default) and return the matrix of their rows'
products, as the kernels of scikit-learn do, in an array ``out`` if one is given.  Constants matter
to machines without a bias only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaln
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils import check_random_state

from everystump.arguments import check_range
from everystump.columns import middles

# Maps rows to the votes, 1 or -1, of all hypotheses: (n_rows, n_hypotheses).
Votes = Callable[[np.ndarray], np.ndarray]


def stump_kernel(
    X: Any, Y: Any = None, *, feature_range: Any = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return ``sum of (R - L) / 2 - |x - y|_1``: all stumps with thresholds in [L, R].

    Definition 2 of Lin & Li.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Rows.
    Y : array-like of shape (n_other_rows, n_features), optional
        Other rows.
    feature_range : (low, high) or array-like of shape (n_features, 2), optional
        The ranges [L, R]; those of ``X`` by default.
    out : ndarray of shape (n_rows, n_other_rows), optional
        Where to write the matrix.

    Returns
    -------
    ndarray of shape (n_rows, n_other_rows)
        The kernel matrix.

    Examples
    --------
    >>> stump_kernel([[0.0], [1.0], [4.0]])
    array([[ 2.,  1., -2.],
           [ 1.,  2., -1.],
           [-2., -1.,  2.]])
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    if feature_range is None:
        length = np.ptp(X, axis=0)
    else:
        length = np.diff(check_range(feature_range, X.shape[1]))
    between = cdist(X, Y, "cityblock", out=out)
    return np.subtract(length.sum() / 2, between, out=between)


def simplified_stump_kernel(X: Any, Y: Any = None, *, out: np.ndarray | None = None) -> np.ndarray:
    """Return ``-|x - y|_1``, which is as good as the stump kernel where there is a bias.

    Parameters
    ----------
    X, Y, out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_rows, n_other_rows)
        The kernel matrix, positive definite on weights that sum to 0.
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    between = cdist(X, Y, "cityblock", out=out)
    return np.negative(between, out=between)


def middle_stump_kernel(
    X: Any, Y: Any = None, *, training: Any = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return the kernel of the stumps at the middles between neighbouring training values.

    Each pair of a stump and its negation has the weight that it has in the stump kernel for a gap
    of length 1: half the number of middles, less the number of middles between x and y.

    Parameters
    ----------
    X, Y
        As in `stump_kernel`.
    training : array-like of shape (n_training_rows, n_features), optional
        The rows between whose values the middles lie; ``X`` by default.
    out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_rows, n_other_rows)
        The kernel matrix.

    Examples
    --------
    >>> middle_stump_kernel([[0.0], [1.0], [4.0]])
    array([[ 1.,  0., -1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  1.]])
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    given = X if training is None else check_pairwise_arrays(training, X, dtype=np.float64)[0]
    values = [np.unique(column) for column in given.T]
    cuts = [middles(v[:-1], v[1:]) for v in values]

    def places(rows: np.ndarray) -> np.ndarray:
        columns = zip(cuts, rows.T, strict=True)
        number = [np.searchsorted(c, x, side="right") for c, x in columns]
        return np.column_stack(number).astype(np.float64)

    between = cdist(places(X), places(Y), "cityblock", out=out)
    return np.subtract(sum(len(c) for c in cuts) / 2, between, out=between)


def perceptron_kernel(
    X: Any, Y: Any = None, *, radius: float | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return ``-|x - y|_2``: all perceptrons, up to a constant and a factor.

    Parameters
    ----------
    X, Y
        As in `stump_kernel`.
    radius : float, optional
        Adds the constant of the perceptrons whose planes meet a ball of this radius, which makes
        the matrix of rows within such a ball positive definite.
    out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_rows, n_other_rows)
        The kernel matrix; without a radius positive definite on weights that sum to 0.
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    constant = 0.0 if radius is None else radius / mean_abs_cosine(X.shape[1])
    between = cdist(X, Y, out=out)
    return np.subtract(constant, between, out=between)


def mean_abs_cosine(n_features: int) -> float:
    """Return the mean of ``|cos|`` of the angle between a random and a fixed direction."""
    half = n_features / 2
    return float(np.exp(gammaln(half) - gammaln(half + 0.5)) / np.sqrt(np.pi))


def laplacian_kernel(
    X: Any, Y: Any = None, *, gamma: float | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return ``exp(-gamma |x - y|_1)``: infinite ensembles of decision trees.

    Parameters
    ----------
    X, Y
        As in `stump_kernel`.
    gamma : float, optional
        ``1 / n_features`` by default.
    out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_rows, n_other_rows)
        The kernel matrix.
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    between = cdist(X, Y, "cityblock", out=out)
    between *= -_positive_gamma(gamma, X.shape[1])
    return np.exp(between, out=between)


def gaussian_kernel(
    X: Any, Y: Any = None, *, gamma: float | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return ``exp(-gamma |x - y|_2^2)``.

    Parameters
    ----------
    X, Y
        As in `stump_kernel`.
    gamma : float, optional
        ``1 / n_features`` by default.
    out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_rows, n_other_rows)
        The kernel matrix.
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    gamma = _positive_gamma(gamma, X.shape[1])
    out = np.empty((len(X), len(Y))) if out is None else out
    np.dot((2.0 * gamma) * X, Y.T, out=out)
    out -= gamma * np.einsum("ij,ij->i", X, X)[:, None]
    out -= gamma * np.einsum("ij,ij->i", Y, Y)
    np.minimum(out, 0.0, out=out)  # equal rows, but for rounding
    return np.exp(out, out=out)


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
        low, high = check_range(feature_range, len(feature_range)).T
        length = high - low
        _check_positive(n_hypotheses=n_hypotheses, length_of_feature_range=length.sum())
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
        _check_positive(n_features=n_features, radius=radius, n_hypotheses=n_hypotheses)
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


def _positive_gamma(gamma: float | None, n_features: int) -> float:
    if gamma is None:
        return 1.0 / n_features
    _check_positive(gamma=gamma)
    return float(gamma)


def _check_positive(**arguments: float) -> None:
    for name, value in arguments.items():
        if not value > 0:
            raise ValueError(f"{name}={value} must be positive.")
