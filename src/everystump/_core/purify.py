"""Purification: what an interaction adds beyond functions of fewer features.

Given the values ``V`` of an interaction in each cell of a grid and the weights ``W`` of the
training rows in the cells, solve

    minimize over F:  sum of W (V - F)^2

where ``F`` is a sum of functions of one feature less: ``F[i, j] = a[i] + b[j]`` for a pair,
``F[i, j, k] = a[i, j] + b[i, k] + c[j, k]`` for three features.  What is left over, ``V - F``, has
weighted mean zero along each axis, for all combinations of the other indices.  The parts of ``F``
are purified in turn by the same rule, under the marginal weights.

Weights of zero leave some of ``F`` undetermined.  It is chosen as if each cell had a small weight
in addition, so that the remainder is moderate in empty cells too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Parts = dict[tuple[int, ...], np.ndarray]

# The axes that the parts of three features depend on, and the one that they do not.
_MATRICES = (((0, 1), 2), ((0, 2), 1), ((1, 2), 0))
# Eigenvalues below this are those of groups of rows and columns that have no weight in common.
_MIN_EIGENVALUE = 1e-12
_REFINEMENTS = 3
# For three features: the small weight, relative to the mean, and the limits of the iteration.
_SMALL_WEIGHT = 1e-4
_MAX_STEPS, _MAX_ROUNDS = 1000, 6
_FIRST_TOLERANCE, _TOLERANCE = 1e-6, 1e-15


class Purified(NamedTuple):
    """An interaction without the functions of fewer features that it contained.

    ``values`` has weighted mean zero along each axis.  ``removed`` holds what was removed, by the
    axes of each part: ``()`` is a constant, ``(1,)`` a vector over axis 1, ``(0, 2)`` a matrix over
    axes 0 and 2.  Each part is purified itself.
    """

    values: np.ndarray
    removed: Parts


def purify(values: np.ndarray, weights: np.ndarray) -> Purified:
    """Return an interaction and its purified parts of lower order; their sum is ``values``.

    Parameters
    ----------
    values : ndarray with two or three axes
        The value in each cell.
    weights : ndarray of the same shape
        The weight of the training rows in each cell; non-negative.

    Examples
    --------
    >>> pure = purify(np.array([[0.0, 1.0], [2.0, 7.0]]), np.ones((2, 2)))
    >>> pure.values
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> pure.removed[()], pure.removed[(0,)], pure.removed[(1,)]
    (array(2.5), array([-2.,  2.]), array([-1.5,  1.5]))
    """
    return Purifier(weights).purify(values)


class Purifier:
    """Purifies interactions with the same weights; what depends on these is computed once."""

    def __init__(self, weights: np.ndarray) -> None:
        weights = np.asarray(weights, dtype=np.float64)
        scale = weights.max(initial=0.0)
        self._weights = weights / scale if scale > 0.0 else np.ones_like(weights)
        self._fit = _VectorFit(self._weights) if weights.ndim == 2 else None

    def purify(self, values: np.ndarray) -> Purified:
        """Return an interaction and its purified parts of lower order; see `purify`."""
        values = np.asarray(values, dtype=np.float64)
        if self._weights.shape != values.shape or values.ndim not in (2, 3):
            raise ValueError(
                f"values and weights have the shapes {values.shape} and {self._weights.shape}; "
                f"pass two arrays of the same shape with two or three axes."
            )
        if self._fit is not None:
            removed = _center(*self._fit.solve(values), self._weights)
        else:
            removed = _purify_matrices(_fit_matrices(values, self._weights), self._weights)
        rest = values.copy()
        for axes, part in removed.items():
            rest -= _expand(part, axes, values.ndim)
        return Purified(rest, removed)


def _expand(part: np.ndarray, axes: tuple[int, ...], order: int) -> np.ndarray:
    """Return a part with axes of length 1 in place of those that it does not depend on."""
    return np.expand_dims(part, tuple(j for j in range(order) if j not in axes))


# Pairs


def _center(a: np.ndarray, b: np.ndarray, weights: np.ndarray) -> Parts:
    """Return the parts of ``a[i] + b[j]``: two vectors with weighted mean zero and a constant."""
    mean_a = np.average(a, weights=weights.sum(axis=1))
    mean_b = np.average(b, weights=weights.sum(axis=0))
    return {(0,): a - mean_a, (1,): b - mean_b, (): np.array(mean_a + mean_b)}


class _VectorFit:
    """Finds ``a`` and ``b`` for which ``a[i] + b[j]`` is closest to given values."""

    def __init__(self, weights: np.ndarray) -> None:
        # The longer vector is eliminated.
        self._is_transposed = len(weights) < weights.shape[1]
        self._weights = weights.T if self._is_transposed else weights
        rows, columns = self._weights.sum(axis=1), self._weights.sum(axis=0)
        rows[rows == 0.0] = columns[columns == 0.0] = 1.0
        self._share, self._root = self._weights / rows[:, None], np.sqrt(columns)
        # The system for b, scaled to a diagonal of at most 1.
        matrix = np.diag(self._weights.sum(axis=0)) - self._weights.T @ self._share
        eigenvalues, self._Q = np.linalg.eigh(matrix / self._root[:, None] / self._root)
        self._inverse = np.zeros_like(eigenvalues)
        np.divide(1.0, eigenvalues, out=self._inverse, where=eigenvalues > _MIN_EIGENVALUE)
        self._groups = _connected_groups(self._weights)

    def solve(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``a`` and ``b``."""
        if self._is_transposed:
            b, a = self._solve(values.T)
            return a, b
        return self._solve(values)

    def _solve(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share, Q, root = self._share, self._Q, self._root
        row_means = (share * values).sum(axis=1)
        b = np.zeros(values.shape[1])
        for _ in range(_REFINEMENTS):
            left = values - (row_means - share @ b)[:, None] - b
            b += Q @ (self._inverse * (Q.T @ ((self._weights * left).sum(axis=0) / root))) / root
        return _align_groups(values, row_means - share @ b, b, self._groups)


def _connected_groups(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each row and column: those joined by cells with weights."""
    n_rows, n_columns = weights.shape
    i, j = np.nonzero(weights)
    size = n_rows + n_columns
    graph = csr_array((np.ones(len(i), dtype=bool), (i, n_rows + j)), shape=(size, size))
    labels = connected_components(graph, directed=False)[1]
    return labels[:n_rows], labels[n_rows:]


def _align_groups(
    values: np.ndarray, a: np.ndarray, b: np.ndarray, groups: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return ``a`` and ``b`` shifted against each other in each connected group.

    A shift ``t`` of a group, ``a + t`` and ``b - t``, changes the fit in empty cells only.  The
    shifts minimize the squared remainder there, each cell counted once.
    """
    n = max(part.max() for part in groups) + 1
    if n == 1:
        return a, b
    in_rows, in_columns = (np.equal.outer(np.arange(n), part).astype(float) for part in groups)
    left = values - a[:, None] - b
    n_rows, n_columns = in_rows.sum(axis=1), in_columns.sum(axis=1)
    matrix = np.diag(n_rows * len(b) + n_columns * len(a))
    matrix -= np.outer(n_rows, n_columns) + np.outer(n_columns, n_rows)
    right = in_rows @ left.sum(axis=1) - in_columns @ left.sum(axis=0)
    # Equal shifts of all groups change nothing: their sum is fixed.
    shifts = np.linalg.solve(matrix + 1.0, right)
    return a + shifts[groups[0]], b - shifts[groups[1]]


# Three features


def _purify_matrices(matrices: Sequence[np.ndarray], weights: np.ndarray) -> Parts:
    """Return the purified matrices, the sums of their vectors and of their constants."""
    removed: Parts = {}
    for (axes, other), matrix in zip(_MATRICES, matrices, strict=True):
        pure = purify(matrix, weights.sum(axis=other))
        removed[axes] = pure.values
        for inner, part in pure.removed.items():
            outer = tuple(axes[j] for j in inner)
            removed[outer] = removed.get(outer, 0.0) + part
    return removed


def _fit_matrices(values: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """Return matrices over axes (0, 1), (0, 2) and (1, 2) whose sum is closest to the values.

    The first fit counts empty cells with a small weight; the following ones correct it until the
    means are zero to rounding.
    """
    matrices = _solve(values, weights + _SMALL_WEIGHT * weights.mean(), _FIRST_TOLERANCE)
    size = np.sqrt(np.sum(weights * values**2))
    for _ in range(_MAX_ROUNDS):
        left = values - _sum_matrices(matrices)
        norm = np.sqrt(np.sum(weights * left**2)) or 1.0
        changes = _solve(left, weights, _TOLERANCE * size / norm)
        matrices = [matrix + change for matrix, change in zip(matrices, changes, strict=True)]
        if not any(change.any() for change in changes):
            break
    return matrices


def _solve(values: np.ndarray, weights: np.ndarray, tolerance: float) -> list[np.ndarray]:
    """Return matrices whose sum is closest to the values, by conjugate gradients.

    The gradient is scaled by the marginal weights.  Its norm, relative to that of the values, is
    at most the tolerance at the end, unless steps no longer reduce it.
    """
    totals = _marginals(weights)
    scale = [np.where(total > 0.0, total, 1.0) for total in totals]
    matrices = [np.zeros_like(total) for total in totals]
    left = weights * values
    goal = tolerance**2 * np.sum(left * values)
    gradient = _marginals(left)
    direction = [g / s for g, s in zip(gradient, scale, strict=True)]
    norm = _inner(gradient, direction)
    for _ in range(_MAX_STEPS):
        if norm <= goal:
            break
        change = weights * _sum_matrices(direction)
        curvature = _inner(_marginals(change), direction)
        if curvature <= 0.0:  # rounding errors are all that is left
            break
        step = norm / curvature
        for matrix, d in zip(matrices, direction, strict=True):
            matrix += step * d
        left -= step * change
        gradient = _marginals(left)
        scaled = [g / s for g, s in zip(gradient, scale, strict=True)]
        norm, last = _inner(gradient, scaled), norm
        direction = [g + norm / last * d for g, d in zip(scaled, direction, strict=True)]
    return matrices


def _sum_matrices(matrices: Sequence[np.ndarray]) -> np.ndarray:
    ab, ac, bc = matrices
    return ab[:, :, None] + ac[:, None, :] + bc


def _marginals(array: np.ndarray) -> list[np.ndarray]:
    return [array.sum(axis=other) for _, other in _MATRICES]


def _inner(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> float:
    return float(sum(np.vdot(a, b) for a, b in zip(first, second, strict=True)))
