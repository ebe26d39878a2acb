"""Kernels by name, as scikit-learn has them: check the tables, then take their products."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import check_pairwise_arrays

from everystump._arguments import check_feature_range, check_positive
from everystump._core.kernel_machines import products


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
        length = np.diff(check_feature_range(feature_range, X.shape[1]))
    return products.stump(X, Y, constant=length.sum() / 2, out=out)


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
    return products.stump(X, Y, constant=0.0, out=out)


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
    return products.middle_stump(X, Y, cuts=products.midpoints_of(given), out=out)


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
    constant = 0.0 if radius is None else radius / products.mean_abs_cosine(X.shape[1])
    return products.perceptron(X, Y, constant=constant, out=out)


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
    return products.laplacian(X, Y, gamma=_as_gamma(gamma, X.shape[1]), out=out)


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
    return products.gaussian(X, Y, gamma=_as_gamma(gamma, X.shape[1]), out=out)


def _as_gamma(gamma: float | None, n_features: int) -> float:
    if gamma is None:
        return 1.0 / n_features
    check_positive(gamma=gamma)
    return float(gamma)
