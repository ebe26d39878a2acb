"""Plots of the curves of a model, with the density of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel
from everystump._explanations.access import (
    class_labels,
    class_model_indices,
    shape_models,
    sum_name,
)
from everystump._explanations.bands import check_bands
from everystump._explanations.importance import missing_fraction, sample_densities, shape_std
from everystump._explanations.terms import single_feature
from everystump._tables.frames import Feature
from everystump._tables.validation import check_rows
from everystump._text import format_short_percent, pluralize
from everystump.explain._display import (
    DASHED,
    FIRST,
    MISSING,
    PALE,
    SECOND,
    TEXT,
    add_note,
    check_drawable,
    check_max_features,
    display_names,
    edit_notes,
    escape,
    favored_notes,
    round_ticks,
    sign_colors,
    truncate,
    wrap,
)
from everystump.explain._levels import level_bars

_N_COLUMNS = 4
_DENSITY_HEIGHT, _MISSING_WIDTH = 0.3, 0.11  # relative to the axes
_MIN_BARS = 3.6  # limits the thickness of bars: there is space for at least this many


@dataclass
class CurvesDisplay:
    """The curves of the most important features, or of chosen ones.

    A numeric feature has a line; a category has a bar for each of its most important levels and
    one for the mean of the others.  The contribution of a missing value is set apart.
    After `compute_bands`, the curves have pointwise bands.  `SurfacesDisplay` draws interactions.

    Attributes
    ----------
    names : list of str
        The features drawn, most important first unless they were chosen.
    shapes : list of Shape
        Their curves.
    features : list of Feature
        Their kinds, with the names of levels.
    densities : list of RowDensity or None
        The distribution of the samples in each; None if unknown.
    caption : str
        What the curves add to, which class positive values favor, how many features are drawn, and
        whether the model has interactions or was edited.
    colors : (str, str)
        The colors of positive and of negative contributions.
    half_widths : list of Shape or None
        Half the width of the band around each curve, over the same knots; None without bands.
    figure_ : matplotlib Figure
        The plot, set by `plot`.
    axes_ : ndarray of matplotlib Axes
        One per feature.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> model = StumpSVC().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"])
    >>> CurvesDisplay.from_estimator(model).caption
    "contribution to the score (positive values favor class 'yes')"
    """

    names: list[str]
    shapes: list[Shape]
    features: list[Feature]
    densities: list[RowDensity] | None
    caption: str = ""
    colors: tuple[str, str] = (SECOND, FIRST)
    half_widths: list[Shape] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        features: Any = None,
        max_features: int = 12,
        class_label: Any = None,
        feature_names: Any = None,
        bands: bool | float | None = None,
    ) -> Self:
        """Draw the curves of a fitted stump ensemble.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``shapes_``.
        X : array-like of shape (n_samples, n_features), optional
            Samples whose density is drawn, and on which importance is measured; the training
            samples by default.
        features : list of str or int, optional
            The names or indices of the features to draw, in this order; the most important ones by
            default.
        max_features : int, default=12
            Maximum number of features to draw if `features` is not given.
        class_label : label, optional
            With several classes, the class whose curves are drawn; the first one by default.
        feature_names : list of str, optional
            Names of the features; those of the training data by default.
        bands : bool or float, optional
            Whether to draw bands, or their level.  By default 95% bands are drawn if there are
            standard errors, see `compute_bands`.

        Returns
        -------
        CurvesDisplay
            With ``figure_`` and ``axes_``.
        """
        check_is_fitted(estimator)
        check_max_features(max_features)
        models = shape_models(estimator, include_axes=True)
        k = class_model_indices(class_labels(estimator), len(models), class_label)[0]
        model = models[k]
        names = display_names(estimator, len(model), feature_names)
        densities = getattr(estimator, "density_", None)
        if X is not None:
            densities = sample_densities(check_rows(estimator, X))
        if features is None:
            order = _most_important(model, densities)[:max_features]
        else:
            order = _feature_indices(estimator, features, names)
        favored = favored_notes(estimator, models, k)
        half_widths, note = _half_widths(estimator, k, order, bands)
        return cls(
            [names[d] for d in order],
            [model[d] for d in order],
            [estimator.feature_info_[d] for d in order],
            None if densities is None else [densities[d] for d in order],
            _caption(estimator, model, favored, len(order), features is not None) + note,
            sign_colors(len(class_labels(estimator)), k),
            half_widths,
        ).plot()

    def plot(self) -> Self:
        """Draw the curves on a new figure."""
        import matplotlib.pyplot as plt

        n_columns = min(_N_COLUMNS, len(self.shapes))
        n_rows = -(-len(self.shapes) // n_columns)
        caption = wrap(self.caption, n_columns)
        self.figure_, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(3.1 * n_columns, 2.3 * n_rows + 0.3 + 0.15 * caption.count("\n")),
            squeeze=False,
            layout="constrained",
        )
        self.axes_ = axes.ravel()
        limits = _value_limits(self.shapes, self.half_widths)
        for k, axis in enumerate(self.axes_):
            if k >= len(self.shapes):
                axis.set_visible(False)
            elif self.shapes[k].is_category:
                self._draw_levels(axis, k, limits)
            else:
                self._draw_curve(axis, k, limits)
        self.figure_.supxlabel(escape(caption), color=TEXT, fontsize=9)
        return self

    def _draw_curve(self, axis: Any, k: int, limits: tuple[float, float]) -> None:
        shape, density = self.shapes[k], None if self.densities is None else self.densities[k]
        values = _drawn_values(shape, density)
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        check_drawable(repr(self.names[k]), low, high)
        margin = 0.04 * (high - low) or 0.5
        if density is not None:
            _draw_density(axis, density, low, high)
        axis.axhline(0.0, color=TEXT, linewidth=0.6, linestyle=DASHED)
        x = np.concatenate([[low - margin], shape.knots, [high + margin]])
        y = np.concatenate([shape.values[:1], shape.values, shape.values[-1:]])
        axis.set_xlim(low - margin, high + margin)
        axis.set_ylim(*limits)
        half = None if self.half_widths is None else self.half_widths[k]
        if half is not None:
            widths = np.concatenate([half.values[:1], half.values, half.values[-1:]])
            axis.fill_between(x, y - widths, y + widths, color=TEXT, alpha=0.18, linewidth=0.0)
        _draw_by_sign(axis, x, y, self.colors)
        axis.set_xticks(round_ticks(low, high) if len(values) else [])
        if shape.missing is not None:
            fraction = None if density is None else missing_fraction(density)
            width = _MISSING_WIDTH * (high - low + 2 * margin)
            error = None if half is None else half.missing
            _draw_missing(axis, shape.missing, high + margin, width, fraction, error)
        self._finish(axis, k)

    def _draw_levels(self, axis: Any, k: int, limits: tuple[float, float]) -> None:
        density = None if self.densities is None else self.densities[k]
        half = None if self.half_widths is None else self.half_widths[k]
        bars = level_bars(self.shapes[k], self.features[k], density, half)
        positive, negative = self.colors
        sign_color = [positive if bar.value > 0 else negative for bar in bars]
        colors = [
            color if bar.is_level else MISSING if bar.is_missing else PALE
            for color, bar in zip(sign_color, bars, strict=True)
        ]
        positions = [bar.position for bar in bars]
        axis.barh(positions, [bar.value for bar in bars], color=colors, height=0.7)
        known = [bar for bar in bars if bar.half_width > 0.0]
        axis.errorbar(
            [bar.value for bar in known],
            [bar.position for bar in known],
            xerr=[bar.half_width for bar in known],
            fmt="none",
            ecolor=TEXT,
            elinewidth=0.9,
            capsize=2.0,
        )
        axis.axvline(0.0, color=TEXT, linewidth=0.6)
        axis.set_yticks(positions, [escape(bar.label) for bar in bars])
        axis.set_xlim(*limits)
        axis.locator_params(axis="x", nbins=5)
        axis.set_ylim(positions[0] - 0.6, max(positions[-1] + 0.6, positions[0] + _MIN_BARS))
        self._finish(axis, k)
        axis.tick_params(axis="y", labelsize=7, length=0)

    def _finish(self, axis: Any, k: int) -> None:
        axis.set_title(escape(truncate(self.names[k], 34)), fontsize=10)
        axis.tick_params(labelsize=8, colors=TEXT)
        axis.spines[["top", "right"]].set_visible(False)


def _most_important(model: ShapeModel, densities: Any) -> list[int]:
    """Return the features with a nonzero importance, most important first; at least one."""
    densities = densities or (None,) * len(model)
    importances = [shape_std(shape, own) for shape, own in zip(model, densities, strict=True)]
    return np.argsort(importances)[::-1][: max(1, np.count_nonzero(importances))].tolist()


def _feature_indices(estimator: Any, features: Any, names: list[str]) -> list[int]:
    """Return the indices of features given by index, displayed name or training name."""
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        raise ValueError(f"features={features!r} must be a list; pass [{features!r}].")
    info = estimator.feature_info_
    chosen = [
        names.index(feature) if feature in names else single_feature(info, feature)
        for feature in features
    ]
    if not chosen:
        raise ValueError("features=[] is empty; pass a feature, or None.")
    return list(dict.fromkeys(chosen))


def _caption(
    estimator: Any, model: ShapeModel, favored: list[str], n_drawn: int, chosen: bool
) -> str:
    part = "the axis-aligned part of " if hasattr(estimator, "axis_shapes_") else ""
    parts = [add_note(f"contribution to {part}the {sum_name(estimator)}", favored)]
    if n_drawn < len(model):
        most = "" if chosen else "most important "
        parts.append(f"{'' if chosen else 'the '}{n_drawn} {most}of {len(model)} features")
    if model.surfaces:
        n = pluralize(len(model.surfaces), "interaction")
        parts.append(f"without {n}, which SurfacesDisplay draws")
    return "; ".join(parts + edit_notes(estimator))


def _half_widths(
    estimator: Any, k: int, order: list[int], bands: Any
) -> tuple[list[Shape] | None, str]:
    """Return half the width of the band of each curve, and a note; None without bands."""
    if bands is None:
        bands = getattr(estimator, "standard_errors_", None) is not None
    found = check_bands(estimator, bands)
    if found is None:
        return None, ""
    return [
        found.half_width(found.errors[k][d]) for d in order
    ], f"; {format_short_percent(found.level)} bands"


def _value_limits(shapes: list[Shape], half_widths: list[Shape] | None) -> tuple[float, float]:
    """Return the range of all curves and bands, with some padding."""
    values = np.concatenate([np.append(shape.values, shape.at_missing()) for shape in shapes])
    widths = np.zeros_like(values)
    if half_widths is not None:
        widths = np.concatenate([np.append(half.values, half.at_missing()) for half in half_widths])
    low, high = float((values - widths).min()), float((values + widths).max())
    padding = 0.07 * (high - low) or 0.5
    return low - padding, high + padding


def _drawn_values(shape: Shape, density: RowDensity | None) -> np.ndarray:
    """Return the values on the x-axis: knots, unless the curve is constant, and samples."""
    knots = shape.knots if len(shape.knots) > 1 else np.empty(0)
    return knots if density is None else np.append(knots, density.values[density.counts > 0])


def _draw_by_sign(axis: Any, x: np.ndarray, y: np.ndarray, colors: tuple[str, str]) -> None:
    """Draw a curve in one color above zero and in another below."""
    from matplotlib.patches import Rectangle

    for color, end in zip(colors, axis.get_ylim()[::-1], strict=True):
        (line,) = axis.plot(x, y, color=color, linewidth=1.6)
        half = Rectangle((0.0, 0.0), 1.0, end, transform=axis.get_yaxis_transform())
        line.set_clip_path(half)


def _draw_density(axis: Any, density: RowDensity, low: float, high: float) -> None:
    """Draw a histogram of the samples at the bottom of the axes."""
    centers, counts, width = density.bars(low, high)
    axis.bar(
        centers,
        _DENSITY_HEIGHT * counts / (counts.max(initial=0.0) or 1.0),
        width,
        color=PALE,
        transform=axis.get_xaxis_transform(),
        zorder=0,
    )


def _draw_missing(
    axis: Any,
    value: float,
    end: float,
    width: float,
    fraction: float | None,
    error: float | None = None,
) -> None:
    """Mark the contribution of a missing value, in a strip to the right of the curve."""
    bottom, top = axis.get_ylim()
    middle = end + width / 2
    axis.axvline(end, color=TEXT, linewidth=0.6)
    axis.scatter([middle], [value], marker="D", s=22, color=MISSING, zorder=3, clip_on=False)
    if error is not None:
        axis.errorbar([middle], [value], yerr=[error], ecolor=MISSING, fmt="none", capsize=2.0)
    is_low = value < (bottom + top) / 2
    axis.text(
        middle,
        0.97 if is_low else 0.03,
        "missing" if fraction is None else f"missing {format_short_percent(fraction)}",
        transform=axis.get_xaxis_transform(),
        rotation=90,
        ha="center",
        va="top" if is_low else "bottom",
        fontsize=7,
        color=MISSING,
    )
    axis.set_xlim(axis.get_xlim()[0], end + width)
