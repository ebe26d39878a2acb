"""Curves over the input columns of a pipeline instead of those of its last step.

A step that shifts and scales a column is a non-decreasing function ``T`` of its values, in
floating point as well.  A curve over ``T(x)`` is then a curve over ``x``, whose knots are the
smallest floats that ``T`` maps to the old ones or above: a value stays on the same side of every
jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape
from everystump._tables.frames import Feature

Function = Callable[[np.ndarray], np.ndarray]
_LARGEST = np.finfo(np.float64).max
_SIGN = np.int64(np.iinfo(np.int64).min)


@dataclass(frozen=True)
class ColumnMapping:
    """How an input column becomes a column of the last step."""

    source: int  # the index of the input column
    functions: tuple[Function, ...] = ()  # applied in order; all are non-decreasing
    fill_value: Any = None  # replaces a missing value; None if it stays missing

    def then(self, function: Function) -> ColumnMapping:
        """Return the mapping followed by one more function."""
        value = self.fill_value
        if value is not None:
            value = float(function(np.array([value], dtype=np.float64))[0])
        return replace(self, functions=(*self.functions, function), fill_value=value)

    def fill(self, value: Any) -> ColumnMapping:
        """Return the mapping followed by an imputation."""
        return self if self.fill_value is not None else replace(self, fill_value=value)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the mapped values."""
        with np.errstate(over="ignore"):
            for function in self.functions:
                x = function(x)
        return np.clip(x, -_LARGEST, _LARGEST)

    def curve(self, shape: Shape, feature: Feature) -> Shape:
        """Return a curve of the last step as one over the input column."""
        missing = shape.missing
        if self.fill_value is not None and shape.is_category:
            index = feature.level_index.get(self.fill_value)
            missing = 0.0 if index is None else float(shape.levels[index])
        elif self.fill_value is not None:
            missing = float(shape(np.array([self.fill_value], dtype=np.float64))[0])
        if shape.is_category or not self.functions:
            return replace(shape, missing=missing)
        return _compose(shape, self, missing)

    def density(self, density: RowDensity) -> RowDensity:
        """Return the distribution of the samples in the input column."""
        if not self.functions:
            return density
        return replace(density, values=smallest_preimage(self, density.values))


def smallest_preimage(function: Function, targets: np.ndarray) -> np.ndarray:
    """Return for each target the smallest float that a function maps to it or above.

    If there is none, it is the largest float.
    """
    low = np.full(len(targets), _rank(np.array([-_LARGEST]))[0])
    high = np.full(len(targets), _rank(np.array([_LARGEST]))[0])
    while np.any(low < high):
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        with np.errstate(over="ignore"):
            reaches = function(_float_of_rank(middle)) >= targets
        high = np.where(reaches, middle, high)
        low = np.where(reaches, low, np.minimum(middle + 1, high))
    return _float_of_rank(high)


def _rank(x: np.ndarray) -> np.ndarray:
    """Return the rank of each float among all floats, with rank 0 for zero."""
    bits = x.astype(np.float64).view(np.int64)
    return np.where(bits < 0, _SIGN - bits, bits)


def _float_of_rank(rank: np.ndarray) -> np.ndarray:
    return np.where(rank < 0, _SIGN - rank, rank).view(np.float64)


def _compose(shape: Shape, mapping: ColumnMapping, missing: float | None) -> Shape:
    """Return the curve ``shape(mapping(x))``."""
    knots, counts = np.unique(shape.knots, return_counts=True)
    raw = smallest_preimage(mapping, knots)
    # Knots with the same preimage become one, at which the curve jumps.
    first = np.flatnonzero(np.diff(raw, prepend=-np.inf) > 0.0)
    n_merged = np.add.reduceat(counts, first)
    raw = raw[first]
    mapped = mapping(raw)
    at = shape(mapped)
    before = np.where(mapped >= knots[first], shape.left_limit(knots[first]), at)
    times = np.where((n_merged > 1) & (before != at), 2, 1)
    values = np.repeat(at, times)
    values[np.cumsum(times) - times] = np.where(times == 2, before, at)
    return Shape(np.repeat(raw, times), values, missing)
