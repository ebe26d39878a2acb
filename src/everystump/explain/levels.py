"""The bars of a category: levels that move scores most, the others together, what is missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape
from everystump._tables import Feature
from everystump._text import format_short_percent
from everystump.estimators._reading import share_missing
from everystump.explain.names import shortened

_MOST_LEVELS = 8
_LONGEST = 16


class LevelBar(NamedTuple):
    """What a level, several of them or a missing value add to the score.

    Attributes
    ----------
    place : float
        Where the bar stands, from below.
    value : float
        What is added; of several levels the mean over their rows.
    label : str
        The name, and the share of the rows if it is known.
    is_level, is_missing : bool
        Whether it is one level, or what is missing; neither for the other levels together.
    """

    place: float
    value: float
    label: str
    is_level: bool
    is_missing: bool


def level_bars(shape: Shape, feature: Feature, density: RowDensity | None) -> list[LevelBar]:
    """Return the bars from below: the missing ones apart, then levels by what they add.

    Examples
    --------
    >>> shape = Shape.category(np.array([0.5, -1.0]))
    >>> feature = Feature("size", np.array(["m", "xl"], dtype=object))
    >>> [bar.label for bar in level_bars(shape, feature, None)]
    ['xl', 'm']
    """
    values, weights = shape.levels, _weights(shape, density)
    names = [] if feature.levels is None else [str(level) for level in feature.levels.tolist()]
    shares = None if density is None else weights / (weights.sum() + density.missing)
    # Over all rows a level moves the scores by its weight times what it adds.
    order = np.argsort(-weights * np.abs(values), kind="stable")
    n_shown = len(names) if len(names) <= _MOST_LEVELS else _MOST_LEVELS - 1
    shown, rest = order[:n_shown], order[n_shown:]
    entries = [(values[k], names[k], None if shares is None else shares[k], True) for k in shown]
    if len(rest):
        mean = np.average(values[rest], weights=weights[rest] if weights[rest].any() else None)
        share = None if shares is None else shares[rest].sum()
        entries.append((mean, f"{len(rest)} more", share, False))
    entries.sort(key=lambda entry: entry[0])
    bars = [
        LevelBar(float(place), float(value), _label(name, share), is_level, False)
        for place, (value, name, share, is_level) in enumerate(entries)
    ]
    if shape.missing is None:
        return bars
    share = None if density is None else share_missing(density)
    return [LevelBar(-1.5, shape.missing, _label("missing", share), False, True), *bars]


def _weights(shape: Shape, density: RowDensity | None) -> np.ndarray:
    """Return the weight of the rows of each level; rows of unknown levels are not counted."""
    weights = np.zeros(len(shape.levels))
    if density is None:
        return weights + 1.0
    known = density.values >= 0
    weights[density.values[known].astype(int)] = density.counts[known]
    return weights


def _label(name: str, share: float | None) -> str:
    name = shortened(name, _LONGEST)
    return name if share is None else f"{name}  {format_short_percent(share)}"
