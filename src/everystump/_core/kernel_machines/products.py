"""The products themselves: tables of float64 in, the matrix out, nothing checked.

Each writes into ``out`` if it is given.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from everystump._core.columns import midpoints


def stump(
    X: np.ndarray, Y: np.ndarray, *, constant: float, out: np.ndarray | None = None
) -> np.ndarray:
    """Return ``constant - |x - y|_1``."""
    between = cdist(X, Y, "cityblock", out=out)
    return np.subtract(constant, between, out=between)


def midpoints_of(training: np.ndarray) -> list[np.ndarray]:
    """Return the middles between neighbouring values of each feature."""
    values = [np.unique(column) for column in training.T]
    return [midpoints(v[:-1], v[1:]) for v in values]


def middle_stump(
    X: np.ndarray, Y: np.ndarray, *, cuts: list[np.ndarray], out: np.ndarray | None = None
) -> np.ndarray:
    """Return half the number of ``cuts`` less the number of those between x and y."""

    def places(rows: np.ndarray) -> np.ndarray:
        columns = zip(cuts, rows.T, strict=True)
        number = [np.searchsorted(c, x, side="right") for c, x in columns]
        return np.column_stack(number).astype(np.float64)

    return stump(places(X), places(Y), constant=sum(len(c) for c in cuts) / 2, out=out)


def perceptron(
    X: np.ndarray, Y: np.ndarray, *, constant: float, out: np.ndarray | None = None
) -> np.ndarray:
    """Return ``constant - |x - y|_2``."""
    between = cdist(X, Y, out=out)
    return np.subtract(constant, between, out=between)


def mean_abs_cosine(n_features: int) -> float:
    """Return the mean of ``|cos|`` of the angle between a random and a fixed direction."""
    half = n_features / 2
    return float(np.exp(gammaln(half) - gammaln(half + 0.5)) / np.sqrt(np.pi))


def laplacian(
    X: np.ndarray, Y: np.ndarray, *, gamma: float, out: np.ndarray | None = None
) -> np.ndarray:
    """Return ``exp(-gamma |x - y|_1)``."""
    between = cdist(X, Y, "cityblock", out=out)
    between *= -gamma
    return np.exp(between, out=between)


def gaussian(
    X: np.ndarray, Y: np.ndarray, *, gamma: float, out: np.ndarray | None = None
) -> np.ndarray:
    """Return ``exp(-gamma |x - y|_2^2)``.

    The exponent is one product of rows with two features more: few passes over the matrix.
    Around their centre the rows are small, which keeps its digits.
    """
    centre = Y.mean(axis=0)
    X, Y = X - centre, Y - centre
    left, right = -gamma * np.einsum("ij,ij->i", X, X), -gamma * np.einsum("ij,ij->i", Y, Y)
    own = np.column_stack([2.0 * gamma * X, left, np.ones(len(X))])
    other = np.column_stack([Y, np.ones(len(Y)), right])
    out = np.dot(own, other.T, out=out)
    return np.exp(out, out=out)
