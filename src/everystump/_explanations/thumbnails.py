"""Small static drawings of the most important curves, as HTML for notebooks.

Colors and sizes are attributes of the elements: there are no scripts, style sheets or ids, so the
drawings of several models in one notebook cannot affect each other, or the notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape
from everystump._explanations.access import class_labels, feature_names, shape_models, sum_name
from everystump._explanations.importance import importances, level_weights
from everystump._text import displayable, format_number, pluralize

_MAX_CURVES = 8
_MAX_LEVELS = 6
_MAX_CLASSES = 8  # that have a color
_MAX_POINTS = 200  # of the lines of all classes
_MAX_LETTERS, _MAX_LEVEL_LETTERS = 40, 11
_WIDTH, _HEIGHT = 170, 96
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 4, 6, 14
_LEVELS, _MAX_BAR = 70, 18  # the width of the names of levels, and the height of a bar
_TAILS = (0.005, 0.995)  # the quantiles of the samples between which a curve is drawn
# Readable on light and on dark backgrounds.
_POSITIVE, _NEGATIVE = "#3a7bc8", "#c8642b"
_COLORS = (_POSITIVE, _NEGATIVE, "#3d9468", "#bd5c98", "#a1871c", "#6b8998", "#2f9494", "#92724f")


class _Plane(NamedTuple):
    """The range of all curves, and the vertical coordinate of a contribution."""

    low: float
    high: float

    def at(self, value: float) -> float:
        ground = _HEIGHT - _BOTTOM
        return ground - (value - self.low) / (self.high - self.low) * (ground - _TOP)


def curves_html(estimator: Any) -> str:
    """Return drawings of the most important curves of a fitted estimator as HTML.

    Parameters
    ----------
    estimator : estimator
        Fitted, with curves.

    Returns
    -------
    str
        One drawing per feature, on a common vertical scale, and what the curves add up to.
    """
    models = shape_models(estimator)
    densities = getattr(estimator, "density_", None) or (None,) * len(models[0])
    totals = np.sum(importances(models, densities), axis=0)
    n_features = len(models[0])
    order = [d for d in np.argsort(-totals[:n_features], kind="stable") if totals[d] > 0]
    chosen = order[:_MAX_CURVES]
    names = feature_names(estimator.feature_info_)
    plane = _plane([model[d] for model in models for d in chosen])
    drawings = [
        _figure(
            str(names[d]),
            _left_out(models[0][d]),
            _draw([model[d] for model in models], estimator.feature_info_[d], densities[d], plane),
        )
        for d in chosen
    ]
    note = _note(estimator, len(chosen), len(order), len(models[0].surfaces))
    return (
        '<div class="everystump-curves" style="margin-top:8px;font:12px/1.4 system-ui,sans-serif">'
        f'<div style="opacity:0.8">{note}</div>{_legend(class_labels(estimator), len(models))}'
        '<div style="display:flex;flex-wrap:wrap;gap:8px 16px;margin-top:6px">'
        f"{''.join(drawings)}</div></div>"
    )


def _plane(shapes: Sequence[Shape]) -> _Plane:
    ends = [0.0]
    for shape in shapes:
        values = shape.levels if shape.is_category else shape.values
        ends += [float(values.min()), float(values.max())] if len(values) else []
    low, high = min(ends), max(ends)
    padding = 0.06 * (high - low) or 1.0
    return _Plane(low - padding, high + padding)


def _note(estimator: Any, n_shown: int, n_used: int, n_surfaces: int) -> str:
    labels = [_short(str(label)) for label in class_labels(estimator).tolist()]
    what = sum_name(estimator)
    if len(labels) == 2:
        what += f" (above zero favors “{labels[1]}”, below “{labels[0]}”)"
    shown = f"the {n_shown} most important of {n_used}" if n_shown < n_used else f"all {n_shown}"
    more = f", without {pluralize(n_surfaces, 'interaction')}" if n_surfaces else ""
    return escape(
        f"Curves: contributions to the {what}, {shown} features that are used{more}. "
        f"everystump.show(model) shows the whole report."
    )


def _legend(labels: np.ndarray, n_models: int) -> str:
    if not 1 < n_models <= _MAX_CLASSES:
        return ""
    items = (
        f'<span style="color:{color};margin-right:12px">&#9632; {escape(_short(str(label)))}</span>'
        for label, color in zip(labels.tolist(), _COLORS, strict=False)
    )
    return f"<div>{''.join(items)}</div>"


def _left_out(shape: Shape) -> str:
    """Return how many levels of a category are drawn, if it has more."""
    n_levels = len(shape.levels) if shape.is_category else 0
    return f" ({_MAX_LEVELS} of {n_levels:,} levels)" if n_levels > _MAX_LEVELS else ""


def _figure(name: str, left_out: str, drawing: str) -> str:
    return (
        f'<figure style="margin:0;width:{_WIDTH}px"><figcaption style="font-weight:600;overflow:'
        f'hidden;text-overflow:ellipsis;white-space:nowrap" title="{escape(displayable(name))}">'
        f'{escape(_short(name))}<span style="font-weight:400">{left_out}</span></figcaption>'
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="Curve of {escape(_short(name))}" style="display:block">{drawing}</svg>'
        f"</figure>"
    )


def _draw(shapes: list[Shape], info: Any, density: RowDensity | None, plane: _Plane) -> str:
    if shapes[0].is_category:
        values = np.array([shape.levels for shape in shapes])
        weights = None if density is None else level_weights(density, values.shape[1])
        return _draw_bars(info.levels, values, weights, plane)
    present = np.empty(0) if density is None else density.values[density.counts > 0]
    if len(present) == 2:
        values = np.array([shape(present) for shape in shapes])
        return _draw_bars([_number(x) for x in present], values, None, plane)
    low, high = _ends(shapes, density)
    end = _WIDTH - _RIGHT
    ground = _HEIGHT - _BOTTOM
    texts = [
        _text(_LEFT - 3, plane.at(value) + 3, format_number(value, 2), "end")
        for value in _marks(plane)
    ]
    texts += [
        _text(_LEFT, _HEIGHT - 3, _number(low), "start"),
        _text(end, _HEIGHT - 3, _number(high), "end"),
    ]
    zero = plane.at(0.0)
    axes = (
        f'<path d="M{_LEFT} {zero:.1f}H{end}" stroke="currentColor" stroke-opacity="0.5" '
        f'stroke-dasharray="3 3" stroke-width="0.8"/>'
        f'<path d="M{_LEFT} {_TOP}V{ground}H{end}" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.25"/>'
    )
    n_points = max(_MAX_POINTS // (1 + len(shapes)), 25)
    lines = [_path(shape, low, high, plane, n_points) for shape in shapes]
    if len(shapes) > 1:
        colors = _COLORS if len(shapes) <= _MAX_CLASSES else ("currentColor",) * len(shapes)
        opacity = 1.0 if len(shapes) <= _MAX_CLASSES else 0.4
        drawn = [_stroke(line, color, opacity) for line, color in zip(lines, colors, strict=False)]
    else:  # nested drawings cut the line at zero, without the ids of clip paths
        drawn = [
            f'<svg y="{top:.1f}" width="{_WIDTH}" height="{height:.1f}" '
            f'viewBox="0 {top:.1f} {_WIDTH} {height:.1f}">{_stroke(lines[0], color)}</svg>'
            for top, height, color in ((0, zero, _POSITIVE), (zero, _HEIGHT - zero, _NEGATIVE))
        ]
    return axes + "".join(drawn) + "".join(texts)


def _marks(plane: _Plane) -> list[float]:
    """Return 0 and a round number at which most of the range ends."""
    size = max(plane.high, -plane.low)
    step = 10.0 ** np.floor(np.log10(size))
    unit = next(step * factor for factor in (5, 2, 1, 0.5) if step * factor <= 0.95 * size)
    return [value for value in (-unit, 0.0, unit) if plane.low < value < plane.high]


def _ends(shapes: list[Shape], density: RowDensity | None) -> tuple[float, float]:
    """Return the range in which almost all samples are, or that of the knots."""
    if density is not None and density.counts.sum() > 0:
        cumulative = np.cumsum(density.counts) / density.counts.sum()
        low, high = density.values[np.searchsorted(cumulative, _TAILS)]
    else:
        knots = np.concatenate([shape.knots for shape in shapes])
        low, high = (knots.min(), knots.max()) if len(knots) else (0.0, 1.0)
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(high) + 0.5)


def _path(shape: Shape, low: float, high: float, plane: _Plane, n_points: int) -> str:
    """Return the path of a curve through its knots, or through evenly spaced points if many."""
    inner = shape.knots[(shape.knots > low) & (shape.knots < high)]
    xs = np.unique(np.concatenate([[low, high], inner]))
    if len(xs) > n_points:
        xs = np.linspace(low, high, n_points)
    width = _WIDTH - _RIGHT - _LEFT
    left, right = shape.left_limit(xs), shape(xs)
    points: list[str] = []
    for x, before, after in zip(xs, left, right, strict=True):
        at = _LEFT + (x - low) / (high - low) * width
        for value in (before, after) if before != after else (after,):
            points.append(f"{at:.1f} {plane.at(float(value)):.1f}")
    return "M" + "L".join(points)


def _stroke(path: str, color: str, opacity: float = 1.0) -> str:
    return (
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.6" '
        f'stroke-linejoin="round" stroke-opacity="{opacity}"/>'
    )


def _draw_bars(
    levels: Sequence[Any], values: np.ndarray, weights: np.ndarray | None, plane: _Plane
) -> str:
    """Return bars of the most important levels: one per class, if each class has a color."""
    size = np.abs(values).sum(axis=0) * (1.0 if weights is None else weights)
    chosen = np.sort(np.argsort(-size, kind="stable")[:_MAX_LEVELS])
    height = min(_MAX_BAR, (_HEIGHT - 4) / max(len(chosen), 1))
    width = _WIDTH - _LEVELS - _RIGHT

    def at(value: float) -> float:
        return _LEVELS + (value - plane.low) / (plane.high - plane.low) * width

    shown = values if len(values) <= _MAX_CLASSES else values[:0]
    parts = []
    for row, code in enumerate(chosen):
        top = 2 + row * height
        name = _short(str(levels[code]), _MAX_LEVEL_LETTERS)
        parts.append(_text(_LEVELS - 5, top + 0.5 * height + 3, name, "end"))
        for k, value in enumerate(shown[:, code]):
            color = _COLORS[k] if len(shown) > 1 else (_POSITIVE if value >= 0 else _NEGATIVE)
            thin = (height - 3) / len(shown)
            parts.append(
                f'<rect x="{min(at(0.0), at(value)):.1f}" y="{top + 1.5 + k * thin:.1f}" '
                f'height="{thin:.1f}" width="{abs(at(value) - at(0.0)):.1f}" fill="{color}"/>'
            )
    bottom = 2 + len(chosen) * height
    line = f'<path d="M{at(0.0):.1f} 0V{bottom:.1f}" stroke="currentColor" stroke-opacity="0.4"/>'
    return "".join(parts) + line


def _number(value: float) -> str:
    return format_number(float(value), 3 if abs(value) < 1000 else 5)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="9.5" fill="currentColor" fill-opacity="0.75" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _short(text: str, n_letters: int = _MAX_LETTERS) -> str:
    text = displayable(text)
    return text if len(text) <= n_letters else text[: n_letters - 1] + "…"
