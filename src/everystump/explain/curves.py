"""The curves of a shape model, feature by feature, with the data's density under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump.columns import RowDensity
from everystump.estimators.reading import densities, models_of_class, share_missing, spread
from everystump.estimators.table import check_rows
from everystump.explain.levels import level_bars
from everystump.explain.names import feature_names as names_of
from everystump.explain.names import percent, shortened, speaks_for
from everystump.frames import Feature
from everystump.shapes import Shape, ShapeModel

_COLUMNS = 4
_BINS, _TALLEST = 30, 0.3
_LEAST_ROOM = 3.6  # a bar of a category is no thicker than with this many of them
_LINE, _FILL, _TEXT, _MISSING = "#1f5fa8", "#c9d6e6", "#555555", "#c2571a"


@dataclass
class CurvesDisplay:
    """Curves of the features that move the score most.

    Numbers have a line, categories a bar for each of their most frequent levels; what a missing
    value adds stands apart.

    Attributes
    ----------
    names : list of str
        The features drawn, most influential first.
    shapes : list of Shape
        Their curves.
    features : list of Feature
        What they are, with the names of levels.
    densities : list of RowDensity or None
        Where the rows lie in each; None if that is not known.
    caption : str
        Which class the score speaks for, and how many of how many features.
    figure_ : matplotlib Figure
        The picture, once drawn.
    axes_ : ndarray of matplotlib Axes
        One a feature.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> model = StumpSVC().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"])
    >>> CurvesDisplay.from_estimator(model).caption
    "what is added to the score, positive for class 'yes'"
    """

    names: list[str]
    shapes: list[Shape]
    features: list[Feature]
    densities: list[RowDensity] | None
    caption: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        max_features: int = 12,
        class_label: Any = None,
        feature_names: Any = None,
    ) -> Self:
        """Draw the curves of a fitted stump ensemble.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``shapes_``.
        X : array-like of shape (n_rows, n_features), optional
            Rows whose density is drawn under the curves and which say how far each curve moves
            the score; the training rows by default.
        max_features : int, default=12
            Draw at most this many.
        class_label : label, optional
            Whose curves, for several classes; the first class's by default.
        feature_names : list of str, optional
            Names; those of the training table by default.

        Returns
        -------
        CurvesDisplay
            With ``figure_`` and ``axes_``.
        """
        check_is_fitted(estimator)
        if max_features < 1:
            raise ValueError(f"max_features={max_features} must be at least 1.")
        models = _models(estimator)
        k = models_of_class(estimator, models, class_label)[0]
        model = models[k]
        names = names_of(estimator, len(model), feature_names)
        seen = getattr(estimator, "density_", None)
        if X is not None:
            seen = densities(check_rows(estimator, X))
        moves = [
            np.std(shape.values) if seen is None else spread(shape, seen[d])
            for d, shape in enumerate(model)
        ]
        order = np.argsort(moves)[::-1][: max(1, min(max_features, np.count_nonzero(moves)))]
        return cls(
            [names[d] for d in order],
            [model[d] for d in order],
            [estimator.features_[d] for d in order],
            None if seen is None else [seen[d] for d in order],
            _caption(estimator, speaks_for(estimator, models, k), len(order), len(model)),
        ).plot()

    def plot(self) -> Self:
        """Draw the curves on a new figure."""
        import matplotlib.pyplot as plt

        n_columns = min(_COLUMNS, len(self.shapes))
        n_rows = -(-len(self.shapes) // n_columns)
        self.figure_, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(3.1 * n_columns, 2.3 * n_rows + 0.3),
            squeeze=False,
            layout="constrained",
        )
        self.axes_ = axes.ravel()
        limits = _limits(self.shapes)
        for k, axis in enumerate(self.axes_):
            if k >= len(self.shapes):
                axis.set_visible(False)
            elif self.shapes[k].is_category:
                self._draw_levels(axis, k, limits)
            else:
                self._draw_curve(axis, k, limits)
        # A narrow picture needs a caption of several lines.
        caption = self.caption if n_columns > 2 else self.caption.replace(", ", ",\n")
        self.figure_.supxlabel(caption, color=_TEXT, fontsize=9)
        return self

    def _draw_curve(self, axis: Any, k: int, limits: tuple[float, float]) -> None:
        shape, density = self.shapes[k], None if self.densities is None else self.densities[k]
        low, high = _reach(shape, density)
        margin = 0.04 * (high - low) or 0.5
        if density is not None:
            _draw_density(axis, density, low, high)
        axis.axhline(0.0, color=_TEXT, linewidth=0.6, linestyle=(0, (4, 4)))
        x = np.concatenate([[low - margin], shape.knots, [high + margin]])
        y = np.concatenate([shape.values[:1], shape.values, shape.values[-1:]])
        axis.plot(x, y, color=_LINE, linewidth=1.6)
        axis.set_xlim(low - margin, high + margin)
        axis.set_ylim(*limits)
        _few_ticks(axis, low, high)
        if shape.missing is not None:
            share = None if density is None else share_missing(density)
            _draw_missing(axis, shape.missing, high + margin, 3 * margin, share)
        self._finish(axis, k)

    def _draw_levels(self, axis: Any, k: int, limits: tuple[float, float]) -> None:
        density = None if self.densities is None else self.densities[k]
        bars = level_bars(self.shapes[k], self.features[k], density)
        colors = [_LINE if bar.is_level else _MISSING if bar.is_missing else _FILL for bar in bars]
        places = [bar.place for bar in bars]
        axis.barh(places, [bar.value for bar in bars], color=colors, height=0.7)
        axis.axvline(0.0, color=_TEXT, linewidth=0.6)
        axis.set_yticks(places, [bar.label for bar in bars])
        axis.set_xlim(*limits)
        axis.set_ylim(places[0] - 0.6, max(places[-1] + 0.6, places[0] + _LEAST_ROOM))
        self._finish(axis, k)
        axis.tick_params(axis="y", labelsize=7, length=0)

    def _finish(self, axis: Any, k: int) -> None:
        axis.set_title(shortened(self.names[k], 34), fontsize=10)
        axis.tick_params(labelsize=8, colors=_TEXT)
        axis.spines[["top", "right"]].set_visible(False)


def _models(estimator: Any) -> list[ShapeModel]:
    """Return the curves of each class; a `PerceptronSVC` has those of its axes."""
    models = getattr(estimator, "shapes_", None) or getattr(estimator, "axis_shapes_", None)
    if models is None:
        raise ValueError(
            f"estimator={estimator!r} has no curves; pass an ensemble of stumps, or a "
            f"PerceptronSVC with include_axes=True."
        )
    return [models] if isinstance(models, ShapeModel) else models


def _caption(estimator: Any, whose: str, n_drawn: int, n_features: int) -> str:
    score = "the axes' part of the score" if hasattr(estimator, "axis_shapes_") else "the score"
    parts = [f"what is added to {score}, {whose}"]
    if n_drawn < n_features:
        parts.append(f"the {n_drawn} of {n_features} features that move it most")
    return ", ".join(parts)


def _limits(shapes: list[Shape]) -> tuple[float, float]:
    """Return the range of what all curves add, with some room."""
    values = np.concatenate([np.append(shape.values, shape.at_missing()) for shape in shapes])
    low, high = float(values.min()), float(values.max())
    room = 0.07 * (high - low) or 0.5
    return low - room, high + room


def _reach(shape: Shape, density: RowDensity | None) -> tuple[float, float]:
    """Return how far the knots and the rows reach."""
    seen = shape.knots if density is None or len(density.values) == 0 else density.values
    return float(min(shape.knots[0], seen[0])), float(max(shape.knots[-1], seen[-1]))


def _draw_density(axis: Any, density: RowDensity, low: float, high: float) -> None:
    """Draw where the rows lie, at the foot of the picture."""
    ends = (low, high) if high > low else (low - 0.5, high + 0.5)
    counts, edges = np.histogram(density.values, _BINS, range=ends, weights=density.counts)
    axis.bar(
        edges[:-1],
        _TALLEST * counts / (counts.max() or 1.0),
        np.diff(edges),
        align="edge",
        color=_FILL,
        transform=axis.get_xaxis_transform(),
        zorder=0,
    )


def _draw_missing(axis: Any, value: float, end: float, width: float, share: float | None) -> None:
    """Mark what a missing value adds, in a strip of its own."""
    bottom, top = axis.get_ylim()
    middle = end + width / 2
    axis.axvline(end, color=_TEXT, linewidth=0.6)
    axis.scatter([middle], [value], marker="D", s=22, color=_MISSING, zorder=3, clip_on=False)
    above = value < (bottom + top) / 2
    axis.text(
        middle,
        0.97 if above else 0.03,
        "missing" if share is None else f"missing {percent(share)}",
        transform=axis.get_xaxis_transform(),
        rotation=90,
        ha="center",
        va="top" if above else "bottom",
        fontsize=7,
        color=_MISSING,
    )
    axis.set_xlim(axis.get_xlim()[0], end + width)


def _few_ticks(axis: Any, low: float, high: float) -> None:
    """Set some round ticks within the reach of the data."""
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    axis.set_xticks([tick for tick in ticks if low <= tick <= high])
