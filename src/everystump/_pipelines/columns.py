"""Curves over the input columns of a pipeline instead of those of its last step.

A step that shifts and scales a column is a non-decreasing function ``T`` of its values, in
floating point as well.  A curve over ``T(x)`` is then a curve over ``x``, whose knots are the
smallest floats that ``T`` maps to the old ones or above: a value stays on the same side of every
jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
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
    repeats = np.where((n_merged > 1) & (before != at), 2, 1)
    values = np.repeat(at, repeats)
    values[np.cumsum(repeats) - repeats] = np.where(repeats == 2, before, at)
    return Shape(np.repeat(raw, repeats), values, missing)


Mappings = list[ColumnMapping]


def apply_step(step: Any, columns: Mappings, name: str) -> Mappings:
    """Return the columns after a step."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return columns
    read = next((read for kind, read in _readers() if type(step) is kind), None)
    if read is None and hasattr(step, "get_support") and hasattr(step, "inverse_transform"):
        return [columns[d] for d in step.get_support(indices=True)]
    if read is None:
        raise unsupported_error(f"step {name!r} ({type(step).__name__})", "is not supported")
    try:
        return read(step, columns)
    except _UnsupportedOptionError as reason:
        raise unsupported_error(f"step {name!r} ({type(step).__name__})", str(reason)) from None


class _UnsupportedOptionError(Exception):
    """Why a step of a supported class cannot be folded."""


def unsupported_error(part: str, reason: str) -> ValueError:
    """Return the error for a part of a pipeline that cannot be folded into curves."""
    return ValueError(
        f"model: {part} of the pipeline {reason}; supported steps are scalers of single columns, "
        f"SimpleImputer, column selections and passthrough. Transform the table first and pass the "
        f"last step alone, or save the pipeline with skops or joblib."
    )


def _readers() -> list[tuple[type, Callable[[Any, Mappings], Mappings]]]:
    """Return the reader of each supported class of steps; their subclasses are not supported."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import (
        FunctionTransformer,
        MaxAbsScaler,
        MinMaxScaler,
        RobustScaler,
        StandardScaler,
    )

    return [
        (Pipeline, _read_pipeline),
        (ColumnTransformer, _read_column_transformer),
        (FunctionTransformer, _read_function),
        (MaxAbsScaler, lambda step, columns: _scale(columns, None, step.scale_)),
        (MinMaxScaler, _read_min_max),
        (RobustScaler, lambda step, columns: _scale(columns, step.center_, step.scale_)),
        (SimpleImputer, _read_imputer),
        (StandardScaler, _read_standard),
    ]


def _read_pipeline(step: Any, columns: Mappings) -> Mappings:
    for name, inner in step.steps:
        columns = apply_step(inner, columns, name)
    return columns


def _read_column_transformer(step: Any, columns: Mappings) -> Mappings:
    names = getattr(step, "feature_names_in_", None)
    out: Mappings = []
    for name, inner, selected in step.transformers_:
        selection = [columns[d] for d in _column_indices(selected, names, len(columns))]
        if selection and not (isinstance(inner, str) and inner == "drop"):
            out += apply_step(inner, selection, name)
    return out


def _column_indices(columns: Any, names: Any, n: int) -> list[int]:
    """Return the indices of columns as a ColumnTransformer specifies them."""
    column_names = [] if names is None else list(names)
    if isinstance(columns, str):
        return [column_names.index(columns)]
    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        start = column_names.index(start) if isinstance(start, str) else start
        stop = column_names.index(stop) + 1 if isinstance(stop, str) else stop
        return list(range(n))[slice(start, stop, columns.step)]
    if np.ndim(columns) == 0:
        return [range(n)[int(columns)]]
    selected = list(columns)
    if all(isinstance(name, str) for name in selected):
        return [column_names.index(name) for name in selected]
    return np.arange(n)[np.asarray(selected)].tolist()


def _read_function(step: Any, columns: Mappings) -> Mappings:
    if step.func is not None:
        raise _UnsupportedOptionError("calls a Python function")
    return columns


def _read_min_max(step: Any, columns: Mappings) -> Mappings:
    if step.clip:
        raise _UnsupportedOptionError("clips values (clip=True)")
    return _map(lambda scale, low, x: x * scale + low, columns, step.scale_, step.min_)


def _read_standard(step: Any, columns: Mappings) -> Mappings:
    return _scale(columns, step.mean_ if step.with_mean else None, step.scale_)


def _scale(columns: Mappings, centers: Any, scales: Any) -> Mappings:
    """Return columns minus their centers and divided by their scales, if there are any."""
    if centers is not None:
        columns = _map(lambda center, x: x - center, columns, centers)
    return columns if scales is None else _map(lambda scale, x: x / scale, columns, scales)


def _map(function: Callable[..., np.ndarray], columns: Mappings, *parameters: Any) -> Mappings:
    """Return columns followed by a function of their parameters and values."""
    rows = zip(columns, *(parameter.tolist() for parameter in parameters), strict=True)
    return [column.then(partial(function, *values)) for column, *values in rows]


def _read_imputer(step: Any, columns: Mappings) -> Mappings:
    if step.add_indicator:
        raise _UnsupportedOptionError("adds columns (add_indicator=True)")
    if not (isinstance(step.missing_values, float) and np.isnan(step.missing_values)):
        raise _UnsupportedOptionError(
            f"replaces values other than NaN (missing_values={step.missing_values!r})"
        )
    pairs = zip(columns, step.statistics_.tolist(), strict=True)
    return [column.fill(value) for column, value in pairs if value == value]
