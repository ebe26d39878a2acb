"""Edits of curves: constant regions, limits, and removed features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel
from everystump._explanations.access import training_density
from everystump._explanations.importance import evaluate_on_density
from everystump._tables.frames import Feature
from everystump._text import suggest_name, truncate_list

# Descriptions name at most this many levels.
_MAX_LEVELS = 5


@dataclass(frozen=True, eq=False)
class Region:
    """A region of a shape function: ``low <= x < high``, some levels, or the missing value.

    ``levels`` holds the codes of levels; it is None for numeric features.
    """

    low: float
    high: float
    levels: np.ndarray | None
    missing: bool
    description: str

    def contains(self, values: np.ndarray) -> np.ndarray:
        """Return which values or codes of levels are in the region."""
        if self.levels is not None:
            return np.isin(values, self.levels)
        return (values >= self.low) & (values < self.high)

    def set(self, shape: Shape, value: float) -> Shape:
        """Return the shape function with a constant in this region."""
        missing = value if self.missing else shape.missing
        if self.levels is not None:
            levels = shape.levels
            levels[self.levels] = value
            return Shape.category(levels, missing)
        if self.low == self.high:
            return replace(shape, missing=missing)
        return replace(_constant_between(shape, self.low, self.high, value), missing=missing)

    def mean(self, shape: Shape, density: RowDensity, name: Any) -> float:
        """Return the mean of the shape function over the training samples in this region."""
        weights = np.where(self.contains(density.values), density.counts, 0.0)
        inside = RowDensity(density.values, weights, density.missing if self.missing else 0.0)
        values, weights = evaluate_on_density(shape, inside)
        if weights.sum() == 0:
            raise ValueError(
                f"feature={name!r} has no training samples{self.description} to average over; "
                f"widen the region, or use set_curve."
            )
        return float(np.average(values, weights=weights))


def check_region(
    feature: Feature, name: Any, low: Any, high: Any, levels: Any, missing: bool
) -> Region:
    """Return the region of a shape function that the arguments describe, or raise an error."""
    missing_text = ["where it is missing"] if missing else []
    is_whole = low is None and high is None and levels is None and not missing
    if feature.levels is not None:
        if low is not None or high is not None:
            raise ValueError(
                f"low={low!r}, high={high!r}: {name!r} is a category and has no order; pass some "
                f"of its levels."
            )
        codes = np.arange(feature.n_levels) if is_whole else _level_codes(levels, feature, name)
        names = [repr(level) for level in feature.levels[codes].tolist()]
        level_text = [] if is_whole or not names else [f"at {truncate_list(names, _MAX_LEVELS)}"]
        return Region(np.nan, np.nan, codes, missing, _join_phrases(level_text + missing_text))
    if levels is not None:
        raise ValueError(f"levels={levels!r}: {name!r} is numeric; pass low and high.")
    if missing and low is None and high is None:
        return Region(0.0, 0.0, None, True, _join_phrases(missing_text))
    low, high = check_limits(low, high)
    range_text = [] if is_whole else [_range_text(low, high)]
    return Region(low, high, None, missing, _join_phrases(range_text + missing_text))


class CurveEdit:
    """An edit of the curve of one feature in a region, for some or all classes.

    ``models`` are the edited models; ``weights`` of surfaces do not change.
    """

    weights = None

    def __init__(
        self, estimator: Any, models: list[ShapeModel], d: int, name: Any, region: Region
    ) -> None:
        self.models, self.title, self.description = models, name, region.description
        self._estimator, self._d, self._region = estimator, d, region

    def set(self, k: int, value: float) -> None:
        """Make the curve of class ``k`` constant in the region."""
        shape = self._region.set(self.models[k][self._d], value)
        self.models = replace_curve(self.models, k, self._d, shape)

    def mean(self, k: int) -> float:
        """Return the mean of the curve of class ``k`` over the training samples in the region."""
        density = training_density(self._estimator)[self._d]
        return self._region.mean(self.models[k][self._d], density, self.title)


def replace_curve(models: list[ShapeModel], k: int, d: int, shape: Shape) -> list[ShapeModel]:
    """Return the models with another curve of feature ``d`` in model ``k``."""
    shapes = (*models[k].shapes[:d], shape, *models[k].shapes[d + 1 :])
    return [*models[:k], replace(models[k], shapes=shapes), *models[k + 1 :]]


def remove_curve(
    models: list[ShapeModel], d: int, density: RowDensity
) -> tuple[list[ShapeModel], np.ndarray]:
    """Return the models without the curve of feature ``d``, and its mean contributions.

    The means over the density are added to the intercepts.
    """
    means = np.zeros(len(models))
    for k, model in enumerate(models):
        values, weights = evaluate_on_density(model[d], density)
        means[k] = np.average(values, weights=weights)
        models = replace_curve(models, k, d, _zero_curve(model[d]))
        models[k] = replace(models[k], intercept=model.intercept + float(means[k]))
    return models, means


def cap_shape(shape: Shape, lowest: float, highest: float) -> Shape:
    """Return a curve whose values are limited to an interval, also at missing values.

    Examples
    --------
    >>> ramp = Shape(np.array([0.0, 1.0]), np.array([-1.0, 1.0]))
    >>> cap_shape(ramp, -0.5, np.inf)(np.array([0.0, 0.2, 0.5, 2.0]))
    array([-0.5, -0.5,  0. ,  1. ])
    """
    missing = None if shape.missing is None else float(np.clip(shape.missing, lowest, highest))
    if shape.is_category:
        return Shape.category(np.clip(shape.levels, lowest, highest), missing)
    knots, values = shape.knots, shape.values
    for limit in (lowest, highest):
        # A line that crosses the limit gets a knot there.
        crossing = np.flatnonzero((values[:-1] - limit) * (values[1:] - limit) < 0)
        crossing = crossing[knots[crossing] < knots[crossing + 1]]
        left, right = values[crossing], values[crossing + 1]
        at = knots[crossing] + (limit - left) / (right - left) * np.diff(knots)[crossing]
        knots = np.insert(knots, crossing + 1, at)
        values = np.insert(values, crossing + 1, limit)
    return Shape(knots, np.clip(values, lowest, highest), missing)


def freeze_shape(shape: Shape, low: float, high: float) -> Shape:
    """Return a curve of a number that keeps its values at ``low`` and ``high`` beyond these.

    Examples
    --------
    >>> ramp = Shape(np.array([0.0, 1.0]), np.array([-1.0, 1.0]))
    >>> freeze_shape(ramp, 0.25, np.inf)(np.array([0.0, 0.5, 2.0]))
    array([-0.5,  0. ,  1. ])
    """
    inside = (shape.knots > low) & (shape.knots < high)
    knots, values = shape.knots[inside].tolist(), shape.values[inside].tolist()
    if low > -np.inf:
        knots, values = [low, *knots], [*shape(np.array([low])), *values]
    if high < np.inf:
        ends = np.array([high])
        knots, values = [*knots, high, high], [*values, *shape.left_limit(ends), *shape(ends)]
    return replace(shape, knots=np.array(knots), values=np.array(values))


def check_caps(lowest: Any, highest: Any) -> tuple[float, float]:
    """Return limits of contributions; raise unless one is given and they are in order."""
    bottom = -np.inf if lowest is None else lowest
    top = np.inf if highest is None else highest
    is_given = lowest is not None or highest is not None
    if not (is_given and isinstance(bottom, Real) and isinstance(top, Real) and bottom <= top):
        raise ValueError(
            f"lowest={lowest!r}, highest={highest!r}: pass one or two numbers with lowest <= "
            f"highest."
        )
    return float(bottom), float(top)


def _zero_curve(shape: Shape) -> Shape:
    """Return the zero function over the values of a curve."""
    missing = None if shape.missing is None else 0.0
    if shape.is_category:
        return Shape.category(np.zeros(len(shape.levels)), missing)
    return Shape(np.zeros(1), np.zeros(1), missing)


def _constant_between(shape: Shape, low: float, high: float, value: float) -> Shape:
    """Return the shape function with a constant on ``low <= x < high``, with jumps at both ends."""
    knots: list[float] = []
    values: list[float] = []
    if low > -np.inf:
        left = shape.knots < low
        knots += [*shape.knots[left], low, low]
        values += [*shape.values[left], *shape.left_limit(np.array([low])), value]
    if high < np.inf:
        right = shape.knots > high
        knots += [high, high, *shape.knots[right]]
        values += [value, *shape(np.array([high])), *shape.values[right]]
    return Shape(np.array(knots or [0.0]), np.array(values or [value]))


def check_limits(low: Any, high: Any) -> tuple[float, float]:
    """Return the limits of a region, unbounded where None; raise unless they are in order."""
    bottom = -np.inf if low is None else low
    top = np.inf if high is None else high
    if not (isinstance(bottom, Real) and isinstance(top, Real) and bottom < top):
        raise ValueError(f"low={low!r}, high={high!r}: pass numbers with low < high.")
    return float(bottom), float(top)


def _level_codes(levels: Any, feature: Feature, name: Any) -> np.ndarray:
    """Return the codes of levels that are given by name."""
    if levels is None:
        return np.empty(0, dtype=int)
    if isinstance(levels, str) or not hasattr(levels, "__iter__"):
        levels = [levels]
    codes = feature.level_index
    for level in levels:
        if level not in codes:
            raise ValueError(
                f"levels: {name!r} has no level {level!r}; {suggest_name(level, list(codes))}."
            )
    if len(levels) == 0:
        raise ValueError(f"levels={levels!r} is empty; pass some levels of {name!r}.")
    return np.unique([codes[level] for level in levels])


def _range_text(low: float, high: float) -> str:
    if high == np.inf:
        return f"from {low:.10g} on" if low > -np.inf else "everywhere"
    return f"from {low:.10g} up to {high:.10g}" if low > -np.inf else f"below {high:.10g}"


def _join_phrases(parts: list[str]) -> str:
    return f" {' and '.join(parts)}" if parts else ""
