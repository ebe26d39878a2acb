"""Functions of two or three features: the interactions of a fitted model.

A surface has a value at each point of a grid, one axis per feature.  It is multilinear between the
knots of its axes and constant beyond them; along an axis it follows the rules of a curve: two
equal knots make a jump, where the right value counts, a category is looked up by its code, and
missing values have their own entry.  At an unknown level, or at a missing value where training had
none, a surface adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from everystump._core import multilinear


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of a surface.

    Attributes
    ----------
    knots : ndarray of shape (n_knots,)
        Ascending; the same number twice is a jump.  For a category, the codes of its levels,
        which are 0, 1, ...
    is_category : bool
        Whether the feature is a category.
    has_missing : bool
        Whether the last entry along the axis is the one of missing values.

    Examples
    --------
    >>> len(Axis(np.array([0.0, 1.0, 2.0]), has_missing=True))
    4
    """

    knots: np.ndarray
    is_category: bool = False
    has_missing: bool = False

    @classmethod
    def category(cls, n_levels: int, has_missing: bool = False) -> Axis:
        """Return the axis of a category."""
        return cls(np.arange(n_levels, dtype=np.float64), True, has_missing)

    def __len__(self) -> int:
        return len(self.knots) + self.has_missing

    @property
    def jump_ends(self) -> np.ndarray:
        """The indices of the right value of each jump."""
        changes = np.concatenate([[True], self.knots[1:] > self.knots[:-1], [True]])
        return np.flatnonzero(~changes[:-1] & changes[1:])

    def shares(self, x: np.ndarray) -> np.ndarray:
        """Return the share of each entry in the surface at each ``x``, one row per ``x``.

        Examples
        --------
        >>> Axis(np.array([0.0, 1.0]), has_missing=True).shares(np.array([-2.0, 0.25, np.nan]))
        array([[1.  , 0.  , 0.  ],
               [0.75, 0.25, 0.  ],
               [0.  , 0.  , 1.  ]])
        """
        x = np.asarray(x, dtype=np.float64)
        out = np.zeros((len(x), len(self)))
        if self.is_category:
            known = np.flatnonzero((x >= 0) & (x < len(self.knots)))
            out[known, x[known].astype(int)] = 1.0
        else:
            known = np.flatnonzero(~np.isnan(x))
            lower, upper, fraction = _locate(self.knots, x[known], is_left=False)
            np.add.at(out, (known, lower), 1.0 - fraction)
            np.add.at(out, (known, upper), fraction)
        if self.has_missing:
            out[np.isnan(x), -1] = 1.0
        return out

    def same_as(self, other: Axis) -> bool:
        """Whether both axes have the same entries."""
        flags = (self.is_category, self.has_missing) == (other.is_category, other.has_missing)
        return flags and np.array_equal(self.knots, other.knots)


@dataclass(frozen=True, eq=False)
class Surface:
    """A function of two or three features.

    Attributes
    ----------
    features : tuple of int
        The features, in ascending order.
    axes : tuple of Axis
        One axis per feature.
    values : ndarray
        The value at each point of the grid, one array axis per feature; the length of array axis
        ``j`` is ``len(axes[j])``.

    Examples
    --------
    >>> unit = Axis(np.array([0.0, 1.0]))
    >>> product = Surface((2, 5), (unit, unit), np.array([[0.0, 0.0], [0.0, 1.0]]))
    >>> product(np.array([[0.5, 0.5], [0.5, 7.0]]))
    array([0.25, 0.5 ])
    """

    features: tuple[int, ...]
    axes: tuple[Axis, ...]
    values: np.ndarray

    def __post_init__(self) -> None:
        ascending = list(self.features) == sorted(set(self.features))
        if len(self.features) not in (2, 3) or not ascending or self.features[0] < 0:
            raise ValueError(
                f"features={self.features!r} of a surface must be two or three numbers of "
                f"features, in ascending order."
            )
        shape = tuple(len(axis) for axis in self.axes)
        if len(shape) != len(self.features) or self.values.shape != shape:
            raise ValueError(
                f"values of the surface of features {self.features} have shape "
                f"{self.values.shape}, but its axes have {shape} entries; pass one axis per "
                f"feature and one value per combination of their entries."
            )

    @property
    def order(self) -> int:
        """The number of features."""
        return len(self.features)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the surface's value at each row of ``X``.

        ``X`` has shape (..., order): its last axis holds the values of the features of the surface,
        in their order.
        """
        X = np.asarray(X, dtype=np.float64)
        if X.ndim == 0 or X.shape[-1] != self.order:
            raise ValueError(
                f"X has shape {X.shape}, but the surface has the features {self.features}; pass "
                f"one column for each of them."
            )
        table = replace(self, features=tuple(range(self.order))).table()
        out = np.zeros(X.size // self.order)
        multilinear.add(X.reshape(-1, self.order), multilinear.concatenate([table]), out)
        return out.reshape(X.shape[:-1])

    def with_features(self, features: Sequence[int]) -> Surface:
        """Return the surface as a function of other features, given in the order of its axes."""
        order = np.argsort(features)
        return Surface(
            tuple(int(features[j]) for j in order),
            tuple(self.axes[j] for j in order),
            self.values.transpose(order),
        )

    def with_levels(self, codes: Sequence[np.ndarray | None], n_levels: Sequence[int]) -> Surface:
        """Return a surface over more levels of its categories; it is 0 at the added ones.

        For each axis, ``codes`` are the codes of its own levels among ``n_levels`` new ones, which
        is 0 for numbers.
        """
        axes, values = list(self.axes), self.values
        for j, (axis, n) in enumerate(zip(self.axes, n_levels, strict=True)):
            if n:
                axes[j] = Axis.category(n, axis.has_missing)
                values = _spread(values, axis, codes[j], axes[j], j)
        return Surface(self.features, tuple(axes), values)

    def table(self) -> multilinear.Table:
        """Return the table for the loops over rows."""
        grids, values = [], self.values
        for j, (feature, axis) in enumerate(zip(self.features, self.axes, strict=True)):
            grid, values = _make_grid(feature, axis, values, j)
            grids.append(grid)
        return multilinear.Table(tuple(grids), values)


def combine_surfaces(surfaces: Sequence[Surface], weights: Sequence[float]) -> Surface:
    """Return the weighted sum of surfaces of the same features.

    Along each axis it has the knots of all of them, so that the sum is exact.
    """
    axes = tuple(
        _union([surface.axes[j] for surface in surfaces]) for j in range(surfaces[0].order)
    )
    total = np.zeros(tuple(len(axis) for axis in axes))
    for weight, surface in zip(weights, surfaces, strict=True):
        values = surface.values
        for j, (own, axis) in enumerate(zip(surface.axes, axes, strict=True)):
            if not own.same_as(axis):
                values = _resample(values, own, axis, j)
        total += weight * values
    return Surface(surfaces[0].features, axes, total)


def entry_positions(own: Axis, axis: Axis) -> np.ndarray:
    """Return the entry of an axis for each entry of another one, all of whose knots it has.

    A knot at which the axis has a jump in addition becomes its right value.
    """
    is_left = np.append(own.knots[1:] == own.knots[:-1], False)
    first = np.searchsorted(axis.knots, own.knots, side="left")
    last = np.searchsorted(axis.knots, own.knots, side="right") - 1
    entries = np.where(is_left, first, last)
    return np.append(entries, [len(axis) - 1] * own.has_missing).astype(int)


def _make_grid(
    feature: int, axis: Axis, values: np.ndarray, j: int
) -> tuple[multilinear.Grid, np.ndarray]:
    """Return the grid of an axis, and the values with one entry per index of the grid."""
    n_knots = len(axis.knots)
    if axis.is_category:
        grid, kept = multilinear.level_grid(feature, n_knots), np.arange(n_knots)
    else:
        grid, kept = multilinear.linear_grid(feature, axis.knots), np.arange(n_knots)
        known = np.moveaxis(values, j, 0)[:n_knots]
        changes = np.any(known[1:] != known[:-1], axis=tuple(range(1, known.ndim)))
        if not np.any(changes & (axis.knots[1:] > axis.knots[:-1])):
            kept = np.append(0, axis.jump_ends)
            grid = multilinear.step_grid(feature, axis.knots[kept[1:]])
    shape = (*values.shape[:j], grid.size, *values.shape[j + 1 :])
    entries, out = np.moveaxis(values, j, 0), np.zeros(shape)
    target = np.moveaxis(out, j, 0)
    target[: len(kept)] = entries[kept]
    if axis.has_missing:
        target[len(kept)] = entries[-1]
    return grid, out


def _union(axes: Sequence[Axis]) -> Axis:
    """Return the axis with the knots and jumps of all axes."""
    has_missing = any(axis.has_missing for axis in axes)
    if len({axis.is_category for axis in axes}) > 1:
        raise ValueError(
            "a feature is a category in one surface and numeric in another; combine surfaces of "
            "the same features."
        )
    if axes[0].is_category:
        return Axis.category(max(len(axis.knots) for axis in axes), has_missing)
    if all(axis.same_as(axes[0]) for axis in axes):
        return axes[0]
    knots = np.unique(np.concatenate([axis.knots for axis in axes]))
    jumps = np.concatenate([axis.knots[axis.jump_ends] for axis in axes])
    return Axis(np.repeat(knots, 1 + np.isin(knots, jumps)), has_missing=has_missing)


def _resample(values: np.ndarray, own: Axis, axis: Axis, j: int) -> np.ndarray:
    """Return values along array axis ``j`` at the knots of another axis, which has all its own."""
    if axis.is_category:
        return _spread(values, own, own.knots, axis, j)
    lower, upper, fraction = _brackets(own, axis)
    entries = np.moveaxis(values, j, 0)
    out = np.zeros((len(axis), *entries.shape[1:]))
    column = fraction.reshape(-1, *(1,) * (entries.ndim - 1))
    out[: len(axis.knots)] = entries[lower] + column * (entries[upper] - entries[lower])
    if own.has_missing:
        out[-1] = entries[-1]
    return np.moveaxis(out, 0, j)


def _brackets(own: Axis, axis: Axis) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return between which of its own knots each knot of another axis lies, and how far along.

    The first of two equal knots takes the limit from the left.
    """
    is_left = np.zeros(len(axis.knots), dtype=bool)
    is_left[axis.jump_ends - 1] = True
    return _locate(own.knots, axis.knots, is_left)


def _locate(
    knots: np.ndarray, x: np.ndarray, is_left: np.ndarray | bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return between which knots each ``x`` lies, and how far along; or its limit from the left."""
    first = np.searchsorted(knots, x, side="left")
    last = np.searchsorted(knots, x, side="right") - 1
    is_knot = first <= last
    lower = np.where(is_knot & is_left, first, last)
    upper = np.where(is_knot, lower, first)
    lower, upper = (np.clip(index, 0, len(knots) - 1) for index in (lower, upper))
    fraction = np.zeros(len(x))
    with np.errstate(over="ignore"):
        width = knots[upper] - knots[lower]
    inside = (width > 0.0) & np.isfinite(width)
    np.divide(x - knots[lower], width, out=fraction, where=inside)
    return lower, upper, fraction


def _spread(
    values: np.ndarray, own: Axis, codes: np.ndarray | None, axis: Axis, j: int
) -> np.ndarray:
    """Return values along array axis ``j`` with the own levels at some codes of another axis."""
    entries = np.moveaxis(values, j, 0)
    out = np.zeros((len(axis), *entries.shape[1:]))
    if codes is not None and len(codes):
        out[codes.astype(int)] = entries[: len(own.knots)]
    if own.has_missing:
        out[-1] = entries[-1]
    return np.moveaxis(out, 0, j)
