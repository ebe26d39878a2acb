"""The axes of a heat map: positions of values, levels and missing values of a feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.gridweights import nearest_entry
from everystump._core.surfaces import Axis
from everystump._explanations.importance import level_weights
from everystump._tables.frames import Feature
from everystump.explain._display import check_drawable, round_ticks, truncate
from everystump.explain._panels import SurfacePanel

_N_PIXELS = 120
_MAX_LEVELS = 8
_MAX_LENGTH = 14
# Relative to the range of the values:
_MARGIN, _GAP, _MISSING_WIDTH, _MAX_TICK = 0.08, 0.03, 0.09, 0.86


class Band(NamedTuple):
    """A part of an axis of a heat map, divided into pixels.

    ``values[i, k]`` is the share of entry ``k`` of the surface in pixel ``i``; ``nearby[i, k]`` is
    1 if samples at entry ``k`` are close to pixel ``i``.
    """

    edges: np.ndarray
    values: np.ndarray
    nearby: np.ndarray


class Bars(NamedTuple):
    """A histogram of the samples: centers, heights and a common width."""

    centers: np.ndarray
    heights: np.ndarray
    width: float


@dataclass(frozen=True, eq=False)
class HeatAxis:
    """An axis of a heat map.

    Attributes
    ----------
    bands : list of Band
        One for values or levels, and one for missing values if there are any.
    ticks, labels : list
        The positions of the ticks and their text.
    missing_at : float or None
        The position of missing values.
    bars : list of Bars
        The distribution of the samples; empty if it is unknown.
    """

    bands: list[Band]
    ticks: list[float]
    labels: list[str]
    missing_at: float | None
    bars: list[Bars]

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the axis."""
        return float(self.bands[0].edges[0]), float(self.bands[-1].edges[-1])


def heat_axis(panel: SurfacePanel, j: int, weights: np.ndarray) -> HeatAxis:
    """Return axis ``j`` of a heat map; the second one is vertical.

    ``weights`` is the importance of each entry along the axis, by which levels are selected.
    """
    axis, density = panel.surface.axes[j], panel.densities[j]
    if axis.is_category:
        return _levels(axis, panel.features[j], density, weights, panel.curves[j].levels)
    return _numbers(repr(panel.names[j]), axis, density, is_vertical=j == 1)


def _range(axis: Axis, density: RowDensity | None) -> tuple[float, float]:
    """Return the range of the values: from the first knot to the last, or beyond it at a jump."""
    knots = axis.knots
    low, high = float(knots[0]), float(knots[-1])
    margin = _MARGIN * (high - low) or 0.5
    if len(knots) == 1:
        return low - margin, high + margin
    ends = [low - margin, high + margin]
    if density is not None and density.counts.any():
        present = density.values[density.counts > 0]
        ends = [max(ends[0], present[0]), min(ends[1], present[-1])]
    low = min(low, ends[0]) if knots[0] == knots[1] else low
    high = max(high, ends[1]) if knots[-1] == knots[-2] else high
    return (low, high) if high > low else (low - margin, high + margin)


def _numbers(name: str, axis: Axis, density: RowDensity | None, is_vertical: bool) -> HeatAxis:
    low, high = _range(axis, density)
    check_drawable(name, low, high)
    edges = np.linspace(low, high, _N_PIXELS + 1)
    centers = (edges[:-1] + edges[1:]) / 2
    main = Band(edges, axis.shares(centers), _neighbors(axis, centers))
    bars = [] if density is None else [Bars(*density.bars(low, high))]
    ticks = round_ticks(low, high)
    if axis.has_missing and not is_vertical:  # leave space for the label of missing values
        ticks = [tick for tick in ticks if tick <= low + _MAX_TICK * (high - low)]
    labels = [f"{tick:g}" for tick in ticks]
    return _with_missing(axis, main, ticks, labels, bars, density)


def _levels(
    axis: Axis,
    feature: Feature,
    density: RowDensity | None,
    weights: np.ndarray,
    contributions: np.ndarray,
) -> HeatAxis:
    """Return the axis of a category, its levels sorted by the contributions of their curve."""
    n_levels = len(axis.knots)
    names = [] if feature.levels is None else [str(level) for level in feature.levels.tolist()]
    counts = np.ones(n_levels) if density is None else level_weights(density, n_levels)
    n_single = n_levels if n_levels <= _MAX_LEVELS else _MAX_LEVELS - 1
    order = np.argsort(-weights[:n_levels], kind="stable")
    groups = [[k] for k in sorted(order[:n_single].tolist(), key=lambda k: contributions[k])]
    labels = [truncate(names[k], _MAX_LENGTH) for (k,) in groups]
    if n_single < n_levels:
        groups.append(sorted(order[n_single:].tolist()))
        labels.append(f"{n_levels - n_single} more")
    values = np.zeros((len(groups), len(axis)))
    for i, group in enumerate(groups):
        shares = counts[group] if counts[group].any() else np.ones(len(group))
        values[i, group] = shares / shares.sum()
    positions = np.arange(len(groups), dtype=float)
    main = Band(np.append(positions - 0.5, len(groups) - 0.5), values, (values > 0).astype(float))
    heights = np.array([counts[group].sum() for group in groups])
    bars = [] if density is None else [Bars(positions, heights, 0.8)]
    return _with_missing(axis, main, positions.tolist(), labels, bars, density)


def _with_missing(
    axis: Axis,
    main: Band,
    ticks: list[float],
    labels: list[str],
    bars: list[Bars],
    density: RowDensity | None,
) -> HeatAxis:
    """Return the heat axis with a band for missing values, if the axis has any."""
    if not axis.has_missing:
        return HeatAxis([main], ticks, labels, None, bars)
    size = float(main.edges[-1] - main.edges[0])
    start = float(main.edges[-1]) + _GAP * size
    width = 1.0 if axis.is_category else _MISSING_WIDTH * size
    entry = np.zeros((1, len(axis)))
    entry[0, -1] = 1.0
    middle = start + width / 2
    if density is not None:
        bars = [*bars, Bars(np.array([middle]), np.array([density.missing]), 0.8 * width)]
    band = Band(np.array([start, start + width]), entry, entry)
    return HeatAxis([main, band], [*ticks, middle], [*labels, "missing"], middle, bars)


def _neighbors(axis: Axis, x: np.ndarray) -> np.ndarray:
    """Return which entries are in the cell of each ``x`` or next to it.

    Each knot has a cell, or each interval between jumps if the axis has only jumps.
    """
    knots = axis.knots
    cell = np.arange(len(knots))
    if len(knots) % 2 == 0 and np.array_equal(knots[::2], knots[1::2]):
        cell = (cell + 1) // 2
    own = cell[nearest_entry(axis, x)]
    nearby = np.zeros((len(x), len(axis)))
    nearby[:, : len(knots)] = np.abs(cell[None, :] - own[:, None]) <= 1
    return nearby
