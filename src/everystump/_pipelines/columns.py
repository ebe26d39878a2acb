"""Curves over the columns before a pipeline's steps instead of after them.

A step that shifts and stretches a column is a function ``T`` of its values that never falls, in
floats as well.  A curve over ``T(x)`` is then a curve over ``x``, whose knots are the smallest
floats that ``T`` takes to the old ones: a value is on the same side of every jump as before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape
from everystump._tables import Feature

Map = Callable[[np.ndarray], np.ndarray]
_LARGEST = np.finfo(np.float64).max
_SIGN = np.int64(np.iinfo(np.int64).min)


@dataclass(frozen=True)
class Route:
    """How a column of the last step comes about.

    Attributes
    ----------
    source : int
        The column of the user's table that it is made of.
    maps : tuple of callable
        What happened to its values, in that order; none of it ever falls.
    filled : float, str or None
        What a missing value has become; None if it is still missing.
    """

    source: int
    maps: tuple[Map, ...] = ()
    filled: Any = None

    def then(self, function: Map) -> Route:
        """Return the route on through one map more."""
        filled = self.filled
        if filled is not None:
            filled = float(function(np.array([filled], dtype=np.float64))[0])
        return replace(self, maps=(*self.maps, function), filled=filled)

    def fill(self, value: Any) -> Route:
        """Return the route on through a step that replaces what is missing."""
        return self if self.filled is not None else replace(self, filled=value)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return what becomes of values."""
        with np.errstate(over="ignore"):
            for function in self.maps:
                x = function(x)
        return np.clip(x, -_LARGEST, _LARGEST)

    def curve(self, shape: Shape, feature: Feature) -> Shape:
        """Return a curve over the user's column that is one over the last step's."""
        missing = shape.missing
        if self.filled is not None and shape.is_category:
            number = feature.level_index.get(self.filled)
            missing = 0.0 if number is None else float(shape.levels[number])
        elif self.filled is not None:
            missing = float(shape(np.array([self.filled], dtype=np.float64))[0])
        if shape.is_category or not self.maps:
            return replace(shape, missing=missing)
        return _pulled_back(shape, self, missing)

    def density(self, density: RowDensity) -> RowDensity:
        """Return where rows lie in the user's column."""
        if not self.maps:
            return density
        return replace(density, values=smallest_preimage(self, density.values))


def smallest_preimage(function: Map, targets: np.ndarray) -> np.ndarray:
    """Return for each target the smallest float that a map takes to it or beyond.

    The largest float stands for none.

    Examples
    --------
    >>> smallest_preimage(lambda x: x / 10.0, np.array([0.1, 0.3]))
    array([1., 3.])
    """
    low = np.full(len(targets), _as_order(np.array([-_LARGEST]))[0])
    high = np.full(len(targets), _as_order(np.array([_LARGEST]))[0])
    while np.any(low < high):
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        with np.errstate(over="ignore"):
            reaches = function(_as_float(middle)) >= targets
        high = np.where(reaches, middle, high)
        low = np.where(reaches, low, np.minimum(middle + 1, high))
    return _as_float(high)


def _as_order(x: np.ndarray) -> np.ndarray:
    """Return the number of each float among all floats in their order, 0 being zero."""
    bits = x.astype(np.float64).view(np.int64)
    return np.where(bits < 0, _SIGN - bits, bits)


def _as_float(order: np.ndarray) -> np.ndarray:
    return np.where(order < 0, _SIGN - order, order).view(np.float64)


def _pulled_back(shape: Shape, route: Route, missing: float | None) -> Shape:
    """Return the curve of ``shape(route(x))``."""
    knots, counts = np.unique(shape.knots, return_counts=True)
    raw = smallest_preimage(route, knots)
    # Knots that no float tells apart any more are one, at which the curve jumps.
    first = np.flatnonzero(np.diff(raw, prepend=-np.inf) > 0.0)
    together = np.add.reduceat(counts, first)
    raw = raw[first]
    there = route(raw)
    at = shape(there)
    before = np.where(there >= knots[first], shape.left_limit(knots[first]), at)
    times = np.where((together > 1) & (before != at), 2, 1)
    values = np.repeat(at, times)
    values[np.cumsum(times) - times] = np.where(times == 2, before, at)
    return Shape(np.repeat(raw, times), values, missing)
