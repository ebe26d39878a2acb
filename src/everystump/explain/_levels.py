"""The bars of a category: its most important levels, the mean of the others, missing values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape
from everystump._explanations.importance import level_weights, missing_fraction
from everystump._tables.frames import Feature
from everystump._text import format_short_percent
from everystump.explain._display import truncate

_MAX_LEVELS = 8
_MAX_LENGTH = 16


class LevelBar(NamedTuple):
    """The contribution of a level, of several levels together, or of a missing value."""

    position: float  # counted from the bottom
    value: float  # the contribution; for several levels its mean over their samples
    label: str  # the name, and the share of the samples if known
    is_level: bool  # False for missing values and for several levels together
    is_missing: bool
    half_width: float = (
        0.0  # of the confidence interval of a level or a missing value; 0 if unknown
    )


def level_bars(
    shape: Shape, feature: Feature, density: RowDensity | None, half_widths: Shape | None = None
) -> list[LevelBar]:
    """Return the bars from the bottom: missing values set apart, then levels by contribution."""
    values = shape.levels
    widths = np.zeros(len(values)) if half_widths is None else half_widths.levels
    weights = np.ones(len(values)) if density is None else level_weights(density, len(values))
    names = [] if feature.levels is None else [str(level) for level in feature.levels.tolist()]
    fractions = None if density is None else weights / (weights.sum() + density.missing)
    # The importance of a level is its weight times its contribution.
    order = np.argsort(-weights * np.abs(values), kind="stable")
    n_single = len(names) if len(names) <= _MAX_LEVELS else _MAX_LEVELS - 1
    single, rest = order[:n_single], order[n_single:]
    entries = [
        (values[k], names[k], None if fractions is None else fractions[k], True, widths[k])
        for k in single
    ]
    if len(rest):
        mean = np.average(values[rest], weights=weights[rest] if weights[rest].any() else None)
        fraction = None if fractions is None else fractions[rest].sum()
        entries.append((mean, f"{len(rest)} more", fraction, False, 0.0))
    entries.sort(key=lambda entry: entry[0])
    bars = [
        LevelBar(float(position), float(value), _label(name, fraction), is_level, False, float(w))
        for position, (value, name, fraction, is_level, w) in enumerate(entries)
    ]
    if shape.missing is None:
        return bars
    fraction = None if density is None else missing_fraction(density)
    width = 0.0 if half_widths is None else half_widths.at_missing()
    return [LevelBar(-1.5, shape.missing, _label("missing", fraction), False, True, width), *bars]


def _label(name: str, fraction: float | None) -> str:
    name = truncate(name, _MAX_LENGTH)
    return name if fraction is None else f"{name}  {format_short_percent(fraction)}"
