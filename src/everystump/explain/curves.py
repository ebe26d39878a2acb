"""The curves of a shape model, feature by feature, with the data's density under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import RowDensity
from everystump._core.shapes import Shape, ShapeModel
from everystump._tables import Feature
from everystump._tables.validation import check_rows
from everystump._text import format_short_percent
from everystump.estimators._reading import (
    class_model_indices,
    densities,
    number_of,
    share_missing,
    spread,
)
from everystump.explain.colors import FIRST, MISSING, PALE, SECOND, TEXT, side_colors
from everystump.explain.edits import edit_notes
from everystump.explain.levels import level_bars
from everystump.explain.names import display_names, favored_class, shortened, verbatim
from everystump.explain.places import round_ticks

_COLUMNS = 4
_TALLEST, _STRIP = 0.3, 0.11
_LEAST_ROOM = 3.6  # a bar of a category is no thicker than with this many of them


@dataclass
class CurvesDisplay:
    """Curves of the features that move the score most, or of chosen ones.

    Numbers have a line, categories a bar for each of the levels that move the scores most, over
    all rows, and one for the mean of the others; what a missing value adds stands apart.

    Attributes
    ----------
    names : list of str
        The features drawn, most influential first unless they were chosen.
    shapes : list of Shape
        Their curves.
    features : list of Feature
        What they are, with the names of levels.
    densities : list of RowDensity or None
        Where the rows lie in each; None if that is not known.
    caption : str
        Which class the score speaks for, how many of how many features, and whether the model was
        edited.
    colors : (str, str)
        Those of what is above and below zero.
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
    colors: tuple[str, str] = (SECOND, FIRST)

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
    ) -> Self:
        """Draw the curves of a fitted stump ensemble.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``shapes_``.
        X : array-like of shape (n_rows, n_features), optional
            Rows whose density is drawn under the curves and which say how far each curve moves
            the score; the training rows by default.
        features : list of str or int, optional
            Draw these, by their names or numbers, in this order; by default those that move the
            score most.
        max_features : int, default=12
            Draw at most this many of the latter.
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
        k = class_model_indices(estimator, models, class_label)[0]
        model = models[k]
        names = display_names(estimator, len(model), feature_names)
        seen = getattr(estimator, "density_", None)
        if X is not None:
            seen = densities(check_rows(estimator, X))
        if features is None:
            order = _most_moving(model, seen)[:max_features]
        else:
            order = _chosen(estimator, features, names)
        whose = favored_class(estimator, models, k)
        return cls(
            [names[d] for d in order],
            [model[d] for d in order],
            [estimator.feature_info_[d] for d in order],
            None if seen is None else [seen[d] for d in order],
            _caption(estimator, whose, len(order), len(model), features is not None),
            side_colors(len(estimator.classes_), k),
        ).plot()

    def plot(self) -> Self:
        """Draw the curves on a new figure."""
        import matplotlib.pyplot as plt

        n_columns = min(_COLUMNS, len(self.shapes))
        n_rows = -(-len(self.shapes) // n_columns)
        # A narrow picture needs a caption of several lines.
        caption = self.caption if n_columns > 2 else self.caption.replace(", ", ",\n")
        self.figure_, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(3.1 * n_columns, 2.3 * n_rows + 0.3 + 0.15 * caption.count("\n")),
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
        self.figure_.supxlabel(verbatim(caption), color=TEXT, fontsize=9)
        return self

    def _draw_curve(self, axis: Any, k: int, limits: tuple[float, float]) -> None:
        shape, density = self.shapes[k], None if self.densities is None else self.densities[k]
        places = _places(shape, density)
        low, high = (float(places.min()), float(places.max())) if len(places) else (0.0, 0.0)
        margin = 0.04 * (high - low) or 0.5
        if density is not None:
            _draw_density(axis, density, low, high)
        axis.axhline(0.0, color=TEXT, linewidth=0.6, linestyle=(0, (4, 4)))
        x = np.concatenate([[low - margin], shape.knots, [high + margin]])
        y = np.concatenate([shape.values[:1], shape.values, shape.values[-1:]])
        axis.set_xlim(low - margin, high + margin)
        axis.set_ylim(*limits)
        _draw_halves(axis, x, y, self.colors)
        axis.set_xticks(round_ticks(low, high) if len(places) else [])
        if shape.missing is not None:
            share = None if density is None else share_missing(density)
            width = _STRIP * (high - low + 2 * margin)
            _draw_missing(axis, shape.missing, high + margin, width, share)
        self._finish(axis, k)

    def _draw_levels(self, axis: Any, k: int, limits: tuple[float, float]) -> None:
        density = None if self.densities is None else self.densities[k]
        bars = level_bars(self.shapes[k], self.features[k], density)
        above, below = self.colors
        of_levels = [above if bar.value > 0 else below for bar in bars]
        colors = [
            color if bar.is_level else MISSING if bar.is_missing else PALE
            for color, bar in zip(of_levels, bars, strict=True)
        ]
        places = [bar.place for bar in bars]
        axis.barh(places, [bar.value for bar in bars], color=colors, height=0.7)
        axis.axvline(0.0, color=TEXT, linewidth=0.6)
        axis.set_yticks(places, [verbatim(bar.label) for bar in bars])
        axis.set_xlim(*limits)
        axis.set_ylim(places[0] - 0.6, max(places[-1] + 0.6, places[0] + _LEAST_ROOM))
        self._finish(axis, k)
        axis.tick_params(axis="y", labelsize=7, length=0)

    def _finish(self, axis: Any, k: int) -> None:
        axis.set_title(verbatim(shortened(self.names[k], 34)), fontsize=10)
        axis.tick_params(labelsize=8, colors=TEXT)
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


def _most_moving(model: ShapeModel, seen: Any) -> list[int]:
    """Return the features that move the score, most first; one at least."""
    moves = [
        float(np.std(shape.values)) if seen is None else spread(shape, seen[d])
        for d, shape in enumerate(model)
    ]
    return np.argsort(moves)[::-1][: max(1, np.count_nonzero(moves))].tolist()


def _chosen(estimator: Any, features: Any, names: list[str]) -> list[int]:
    """Return the numbers of features given by name, as drawn or as trained on, or by number."""
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        raise ValueError(f"features={features!r} must be a list; pass [{features!r}].")
    chosen = [names.index(one) if one in names else number_of(estimator, one) for one in features]
    if not chosen:
        raise ValueError("features=[] leaves nothing to draw; name a feature, or pass None.")
    return list(dict.fromkeys(chosen))


def _caption(estimator: Any, whose: str, n_drawn: int, n_features: int, chosen: bool) -> str:
    score = "the axes' part of the score" if hasattr(estimator, "axis_shapes_") else "the score"
    parts = [f"what is added to {score}, {whose}"]
    if n_drawn < n_features:
        some = f"{n_drawn} of {n_features} features"
        parts.append(some if chosen else f"the {some} that move it most")
    return ", ".join(parts + edit_notes(estimator))


def _limits(shapes: list[Shape]) -> tuple[float, float]:
    """Return the range of what all curves add, with some room."""
    values = np.concatenate([np.append(shape.values, shape.at_missing()) for shape in shapes])
    low, high = float(values.min()), float(values.max())
    room = 0.07 * (high - low) or 0.5
    return low - room, high + room


def _places(shape: Shape, density: RowDensity | None) -> np.ndarray:
    """Return where the curve bends and rows lie; the one knot of a constant is anywhere."""
    knots = shape.knots if len(shape.knots) > 1 else np.empty(0)
    return knots if density is None else np.append(knots, density.values[density.counts > 0])


def _draw_halves(axis: Any, x: np.ndarray, y: np.ndarray, colors: tuple[str, str]) -> None:
    """Draw a curve in one color above zero and in another below."""
    from matplotlib.patches import Rectangle

    for color, end in zip(colors, axis.get_ylim()[::-1], strict=True):
        (line,) = axis.plot(x, y, color=color, linewidth=1.6)
        half = Rectangle((0.0, 0.0), 1.0, end, transform=axis.get_yaxis_transform())
        line.set_clip_path(half)


def _draw_density(axis: Any, density: RowDensity, low: float, high: float) -> None:
    """Draw where the rows lie, at the foot of the picture."""
    places, counts, width = density.bars(low, high)
    axis.bar(
        places,
        _TALLEST * counts / (counts.max(initial=0.0) or 1.0),
        width,
        color=PALE,
        transform=axis.get_xaxis_transform(),
        zorder=0,
    )


def _draw_missing(axis: Any, value: float, end: float, width: float, share: float | None) -> None:
    """Mark what a missing value adds, in a strip of its own."""
    bottom, top = axis.get_ylim()
    middle = end + width / 2
    axis.axvline(end, color=TEXT, linewidth=0.6)
    axis.scatter([middle], [value], marker="D", s=22, color=MISSING, zorder=3, clip_on=False)
    above = value < (bottom + top) / 2
    axis.text(
        middle,
        0.97 if above else 0.03,
        "missing" if share is None else f"missing {format_short_percent(share)}",
        transform=axis.get_xaxis_transform(),
        rotation=90,
        ha="center",
        va="top" if above else "bottom",
        fontsize=7,
        color=MISSING,
    )
    axis.set_xlim(axis.get_xlim()[0], end + width)
