"""Kernel functions in the style of `sklearn.metrics.pairwise`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import check_pairwise_arrays

from everystump._arguments import check_feature_range, check_positive
from everystump._core.kernel_machines.registry import kernel_product, mean_abs_cosine, midpoints


def stump_kernel(
    X: Any, Y: Any = None, *, feature_range: Any = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute ``sum of (R - L) / 2 - |x - y|_1``, the kernel of all stumps.

    The thresholds of the stumps are in [L, R] (Lin & Li, Definition 2).

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
        Samples.
    Y : array-like of shape (n_samples_Y, n_features), default=None
        Other samples; None means ``X``.
    feature_range : (low, high) or array-like of shape (n_features, 2), default=None
        The ranges [L, R]; None means the ranges of ``X``.
    out : ndarray of shape (n_samples_X, n_samples_Y), default=None
        The array to write to.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
        The kernel matrix.

    Examples
    --------
    >>> from everystump.kernels import stump_kernel
    >>> stump_kernel([[0.0], [1.0], [4.0]])
    array([[ 2.,  1., -2.],
           [ 1.,  2., -1.],
           [-2., -1.,  2.]])
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    if feature_range is None:
        length = np.ptp(X, axis=0)
    else:
        length = np.diff(check_feature_range(feature_range, X.shape[1]))
    return kernel_product("stump", X, Y, {"constant": length.sum() / 2}, out)


def simplified_stump_kernel(X: Any, Y: Any = None, *, out: np.ndarray | None = None) -> np.ndarray:
    """Compute ``-|x - y|_1``, equivalent to the stump kernel in machines with an intercept.

    Parameters
    ----------
    X, Y, out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
        The kernel matrix, conditionally positive definite: for weights that sum to 0.
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    return kernel_product("stump", X, Y, {"constant": 0.0}, out)


def middle_stump_kernel(
    X: Any, Y: Any = None, *, training: Any = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the kernel of the stumps at the midpoints between neighboring training values.

    It is half the number of midpoints minus the number of midpoints between x and y: each stump has
    the weight that the stump kernel gives to an interval of length 1.

    Parameters
    ----------
    X, Y
        As in `stump_kernel`.
    training : array-like of shape (n_training_samples, n_features), default=None
        The training samples; None means ``X``.
    out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
        The kernel matrix.

    Examples
    --------
    >>> from everystump.kernels import middle_stump_kernel
    >>> middle_stump_kernel([[0.0], [1.0], [4.0]])
    array([[ 1.,  0., -1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  1.]])
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    samples = X if training is None else check_pairwise_arrays(training, X, dtype=np.float64)[0]
    return kernel_product("middle", X, Y, {"cuts": midpoints(samples)}, out)


def perceptron_kernel(
    X: Any, Y: Any = None, *, radius: float | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute ``-|x - y|_2``, the kernel of all perceptrons up to a constant and a factor.

    Parameters
    ----------
    X, Y
        As in `stump_kernel`.
    radius : float, default=None
        If given, the constant of the perceptrons whose hyperplanes intersect a ball of this radius
        is added.  It makes the kernel positive definite on such a ball.
    out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
        The kernel matrix; without a radius, conditionally positive definite: for weights that sum
        to 0.
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    constant = 0.0 if radius is None else radius / mean_abs_cosine(X.shape[1])
    return kernel_product("perceptron", X, Y, {"constant": constant}, out)


def laplacian_kernel(
    X: Any, Y: Any = None, *, gamma: float | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute ``exp(-gamma |x - y|_1)``, a kernel of infinite ensembles of decision trees.

    Parameters
    ----------
    X, Y
        As in `stump_kernel`.
    gamma : float, default=None
        The coefficient of the distance; None means ``1 / n_features``.
    out
        As in `stump_kernel`.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
        The kernel matrix.
    """
    return _exponential("laplacian", X, Y, gamma, out)


def gaussian_kernel(
    X: Any, Y: Any = None, *, gamma: float | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute ``exp(-gamma |x - y|_2^2)``.

    Parameters
    ----------
    X, Y, gamma, out
        As in `laplacian_kernel`.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
        The kernel matrix.
    """
    return _exponential("gaussian", X, Y, gamma, out)


def _exponential(
    name: str, X: Any, Y: Any, gamma: float | None, out: np.ndarray | None
) -> np.ndarray:
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    if gamma is None:
        gamma = 1.0 / X.shape[1]
    check_positive(gamma=gamma)
    return kernel_product(name, X, Y, {"gamma": float(gamma)}, out)
