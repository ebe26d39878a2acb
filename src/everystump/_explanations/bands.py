"""Bands around curves and surfaces, from their standard errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import ndtri

from everystump._core.shapes import Shape, ShapeModel
from everystump._core.surfaces import Surface
from everystump._explanations.importance import evaluate_on_density

_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Bands:
    """The standard errors of all scores; ``width`` of them are on each side in a band."""

    errors: list[ShapeModel]
    level: float
    width: float

    def columns(self, values: np.ndarray, errors: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns of a table of contributions."""
        low, high = values - self.width * errors, values + self.width * errors
        return {"std_error": errors, "low": low, "high": high}

    def half_width(self, errors: Shape) -> Shape:
        """Return half the width of the band of a curve, over the same knots."""
        missing = None if errors.missing is None else self.width * errors.missing
        return replace(errors, values=self.width * errors.values, missing=missing)


def check_bands(estimator: Any, bands: Any) -> Bands | None:
    """Return the bands of an estimator; None if ``bands`` is False.

    ``bands`` may also be the level of confidence, 0.95 by default.
    """
    if bands is False:
        return None
    if bands is not True and not (isinstance(bands, Real) and 0.0 < float(bands) < 1.0):
        raise ValueError(f"bands={bands!r} must be a boolean, or a level between 0 and 1.")
    level = _LEVEL if bands is True else float(bands)
    errors = getattr(estimator, "standard_errors_", None)
    if errors is None:
        raise ValueError(f"bands={bands!r}: {_missing_errors(estimator)}.")
    models = errors if isinstance(errors, list) else [errors]
    return Bands(models, level, float(ndtri((1 + level) / 2)))


def _missing_errors(estimator: Any) -> str:
    name = type(estimator).__name__
    if getattr(estimator, "edits_", ()):
        return f"{name} was edited and has no standard errors; use the model before its edits"
    if hasattr(estimator, "compute_bands"):
        return f"{name} has no standard errors yet; call compute_bands(X, y) first"
    return f"{name} has no standard errors; use a stump ensemble such as StumpRegressor"


def point_values(shape: Shape) -> np.ndarray:
    """Return the values of a curve at its knots or levels, that of missing values last."""
    values = shape.levels if shape.is_category else shape.values
    return values if shape.missing is None else np.append(values, shape.missing)


def describe_band(
    term: Shape | Surface, error: Shape | Surface, density: Any, bands: Bands
) -> dict[str, float]:
    """Return the columns of a term in a table of terms.

    ``std_error`` is the root mean square over the samples; ``low`` and ``high`` are the extremes
    of the band.
    """
    if isinstance(term, Shape) and isinstance(error, Shape):
        limits = bands.columns(point_values(term), point_values(error))
        squares, weights = evaluate_on_density(error, density)
    else:
        limits = bands.columns(term.values, error.values)
        squares, weights = density.evaluate(error)
    mean = np.average(squares**2, weights=weights) if weights.any() else 0.0
    return {
        "std_error": float(np.sqrt(mean)),
        "low": float(np.min(limits["low"])),
        "high": float(np.max(limits["high"])),
    }
