"""Breiman's two-norm, three-norm and ring-norm problems, and label noise.

In ``d`` dimensions, with ``1 = (1, ..., 1)``, ``s = (1, -1, 1, ...)`` and two equally likely
classes:

==========  =================================================  ==========
problem     class +1                                           class -1
==========  =================================================  ==========
two-norm    N(a 1, I), a = 2 / sqrt(d)                         N(-a 1, I)
three-norm  N(a 1, I) or N(-a 1, I) equally, a = 2 / sqrt(d)   N(a s, I)
ring-norm   N(0, 4 I)                                          N(a 1, I)
==========  =================================================  ==========

References
----------
.. [1] L. Breiman, "Bias, variance, and arcing classifiers", Technical Report 460, Statistics
   Department, University of California, Berkeley, 1996.
.. [2] H.-T. Lin and L. Li, "Infinite ensemble learning with support vector machines", European
   Conference on Machine Learning, 2005.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

RandomStateLike: TypeAlias = int | RandomState | None
Sample: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]


def make_twonorm(
    n_samples: int = 300, n_features: int = 20, *, random_state: RandomStateLike = None
) -> Sample:
    """Simulate Breiman's two-norm problem: two spherical normal classes with means 4 apart.

    The optimal boundary is a hyperplane through the origin; its error is Phi(-2) = 2.3% in any
    dimension.

    Parameters
    ----------
    n_samples : int, default=300
        Number of samples.
    n_features : int, default=20
        Number of features.
    random_state : int, RandomState instance or None, default=None
        Random number generator; pass an int for reproducible output across calls.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The labels, -1 or +1.

    Examples
    --------
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(1000, random_state=0)
    >>> X.shape
    (1000, 20)
    >>> error = ((X.sum(axis=1) > 0) != (y > 0)).mean()
    >>> bool(0.01 < error < 0.04)
    True
    """
    y, noise, _ = _sample(n_samples, n_features, random_state)
    return noise + 2.0 / math.sqrt(n_features) * y[:, np.newaxis], y


def make_threenorm(
    n_samples: int = 300, n_features: int = 20, *, random_state: RandomStateLike = None
) -> Sample:
    """Simulate Breiman's three-norm problem: class +1 is a mixture of two normal distributions.

    The optimal boundary is curved; its error is 10.5% in any even dimension.

    Parameters
    ----------
    n_samples : int, default=300
        Number of samples.
    n_features : int, default=20
        Number of features.
    random_state : int, RandomState instance or None, default=None
        Random number generator; pass an int for reproducible output across calls.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The labels, -1 or +1.

    Examples
    --------
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(4, 2, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((4, 2), [-1, 1])
    """
    y, noise, rng = _sample(n_samples, n_features, random_state)
    side = rng.choice((-1.0, 1.0), size=(n_samples, 1))
    alternating = np.where(np.arange(n_features) % 2 == 0, 1.0, -1.0)
    direction = np.where(y[:, np.newaxis] > 0, side, alternating)
    return noise + 2.0 / math.sqrt(n_features) * direction, y


def make_ringnorm(
    n_samples: int = 300,
    n_features: int = 20,
    *,
    a: float | None = None,
    random_state: RandomStateLike = None,
) -> Sample:
    """Simulate Breiman's ring-norm problem: a narrow normal class inside a wide one.

    Parameters
    ----------
    n_samples : int, default=300
        Number of samples.
    n_features : int, default=20
        Number of features.
    a : float or None, default=None
        Each coordinate of the mean of class -1. None means ``1 / sqrt(n_features)``, as in Breiman
        and in Lin and Li; some collections use ``2 / sqrt(n_features)``.
    random_state : int, RandomState instance or None, default=None
        Random number generator; pass an int for reproducible output across calls.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples; class +1 has twice the standard deviation of class -1.
    y : ndarray of shape (n_samples,)
        The labels, -1 or +1.

    Examples
    --------
    >>> from everystump.datasets import make_ringnorm
    >>> X, y = make_ringnorm(1000, random_state=0)
    >>> bool(X[y > 0].std() > 1.5 * X[y < 0].std())
    True
    """
    if a is not None and not (isinstance(a, Real) and math.isfinite(a)):
        raise ValueError(f"a={a!r} is not a valid mean: pass a finite number or None.")
    y, noise, _ = _sample(n_samples, n_features, random_state)
    mean = 1.0 / math.sqrt(n_features) if a is None else float(a)
    return np.where(y[:, np.newaxis] > 0, 2.0 * noise, noise + mean), y


def flip_labels(
    y: ArrayLike, fraction: float, *, random_state: RandomStateLike = None
) -> NDArray[Any]:
    """Return a copy of binary labels with an exact fraction of them flipped.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels with two distinct values of any type.
    fraction : float
        Fraction of the labels to flip, between 0 and 1: ``round(fraction * n_samples)`` labels are
        chosen at random.
    random_state : int, RandomState instance or None, default=None
        Random number generator; pass an int for reproducible output across calls.

    Returns
    -------
    ndarray of shape (n_samples,)
        The noisy labels; `y` is not modified.

    Examples
    --------
    >>> from everystump.datasets import flip_labels
    >>> noisy = flip_labels(["no", "no", "yes", "yes"], 0.25, random_state=0)
    >>> int((noisy != ["no", "no", "yes", "yes"]).sum())
    1
    """
    labels = np.array(y)
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}: pass labels of shape (n_samples,).")
    classes = np.unique(labels)
    if classes.size != 2:
        raise ValueError(
            f"y has {classes.size} distinct labels: pass labels of exactly two classes."
        )
    if not (isinstance(fraction, Real) and 0.0 <= fraction <= 1.0):
        raise ValueError(f"fraction={fraction!r} is not a fraction: pass a number between 0 and 1.")
    rng = check_random_state(random_state)
    chosen = rng.choice(labels.size, size=round(fraction * labels.size), replace=False)
    labels[chosen] = np.where(labels[chosen] == classes[0], classes[1], classes[0])
    return labels


def _sample(
    n_samples: int, n_features: int, random_state: RandomStateLike
) -> tuple[NDArray[np.int64], NDArray[np.float64], RandomState]:
    """Return labels, standard normal noise, and the generator for further draws."""
    for name, value in (("n_samples", n_samples), ("n_features", n_features)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name}={value!r} is invalid: pass an integer of at least 1.")
    rng = check_random_state(random_state)
    y = rng.choice(np.array([-1, 1], dtype=np.int64), size=n_samples)
    return y, rng.standard_normal((n_samples, n_features)), rng
