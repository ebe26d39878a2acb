"""Kernel matrices of named kernels, from float64 arrays, without input validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from everystump._core.kernel_machines.registry import KERNELS, constant_of

_CDIST = {"manhattan": "cityblock", "euclidean": "euclidean"}


def kernel_product(
    name: str,
    X: np.ndarray,
    Y: np.ndarray,
    parameters: dict[str, Any],
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the matrix ``K(X[i], Y[j])`` of a kernel in `KERNELS`, in ``out`` if it is given."""
    spec = KERNELS[name]
    if "cuts" in parameters:
        X, Y = (count_cuts(rows, parameters["cuts"]) for rows in (X, Y))
    if spec.is_linear:
        return np.dot(X, Y.T, out=out)
    if spec.takes_gamma:
        exponent = _scaled_distance(spec.distance, X, Y, -parameters["gamma"], out)
        return np.exp(exponent, out=exponent)
    distance = _scaled_distance(spec.distance, X, Y, 1.0, out)
    return np.subtract(constant_of(parameters), distance, out=distance)


def count_cuts(X: np.ndarray, cuts: list[np.ndarray]) -> np.ndarray:
    """Return the number of cuts that are at most each value."""
    columns = zip(cuts, X.T, strict=True)
    counts = [np.searchsorted(c, x, side="right") for c, x in columns]
    return np.column_stack(counts).astype(np.float64)


def _scaled_distance(
    distance: str, X: np.ndarray, Y: np.ndarray, factor: float, out: np.ndarray | None
) -> np.ndarray:
    """Return ``factor`` times the distances."""
    if distance == "squared_euclidean":
        return _scaled_squares(X, Y, factor, out)
    found = cdist(X, Y, _CDIST[distance], out=out)
    if factor != 1.0:
        found *= factor
    return found


def _scaled_squares(
    X: np.ndarray, Y: np.ndarray, factor: float, out: np.ndarray | None
) -> np.ndarray:
    """Return ``factor`` times the squared Euclidean distances, by a single matrix product.

    ``|x - y|^2 = |x|^2 + |y|^2 - 2 x.y`` is the product of rows with two more features each.
    Centered rows are small, which limits the cancellation.
    """
    center = Y.mean(axis=0)
    X, Y = X - center, Y - center
    left, right = factor * np.einsum("ij,ij->i", X, X), factor * np.einsum("ij,ij->i", Y, Y)
    extended_X = np.column_stack([-2.0 * factor * X, left, np.ones(len(X))])
    extended_Y = np.column_stack([Y, np.ones(len(Y)), right])
    return np.dot(extended_X, extended_Y.T, out=out)
