"""The contribution of each feature and interaction to the score of a sample."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from everystump._explanations.access import class_model_indices, shape_models
from everystump._explanations.terms import name_terms
from everystump._sklearn_compat import safe_indexing
from everystump._tables.frames import Feature
from everystump._tables.validation import check_rows
from everystump._text import pluralize
from everystump.explain._display import (
    FIRST,
    SECOND,
    TEXT,
    AxesDisplay,
    check_max_features,
    display_names,
    edit_notes,
    escape,
    favored_class,
    sign_colors,
    truncate,
    wrap,
)

_TOTAL = "#9aa4b1"
_MAX_LABEL_LENGTH = 60
_LEFT_PADDING, _RIGHT_PADDING = 0.02, 0.14
_LEFT_HALF = 0.5  # negative bars that end in the left half need space for their numbers
_FONT_SIZE, _OFFSET = 8, 4  # points


@dataclass
class ContributionsDisplay(AxesDisplay):
    """A waterfall plot from the intercept to the score of a sample, largest contributions first.

    Attributes
    ----------
    labels : list of str
        The features and interactions with the sample's values; the last entry may combine several
        of them.
    contributions : ndarray of shape (n_labels,)
        Their contributions to the score.
    intercept, score : float
        Where the bars begin and where they end.
    title : str
        Which class a positive score favors, and whether the model was edited.
    colors : (str, str)
        The colors of positive and of negative contributions.
    figure_, ax_ : matplotlib Figure and Axes
        The plot, set by `plot`.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> X = [[0, 7], [1, 7], [2, 8], [3, 8]]
    >>> model = StumpSVC().fit(X, [0, 1, 1, 1])
    >>> display = ContributionsDisplay.from_estimator(model, X, row=2)
    >>> display.labels
    ['x0 = 2', 'x1 = 8']
    """

    labels: list[str]
    contributions: np.ndarray
    intercept: float
    score: float
    title: str = ""
    colors: tuple[str, str] = (SECOND, FIRST)
    _hidden_spines: ClassVar[tuple[str, ...]] = ("top", "right", "left")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        row: int = 0,
        max_features: int = 12,
        class_label: Any = None,
        feature_names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the score of a sample.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``shapes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        row : int, default=0
            The position of the sample in ``X``, counting from 0.
        max_features : int, default=12
            Maximum number of features and interactions to draw; the others are combined in one bar.
        class_label : label, optional
            With several classes, the class whose score is drawn; the predicted one by default.
        feature_names : list of str, optional
            Names of the features; those of the training data by default.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        ContributionsDisplay
            With ``figure_`` and ``ax_``.
        """
        check_max_features(max_features)
        models = shape_models(estimator)
        x = check_rows(estimator, safe_indexing(X, [_check_row(row, X)]))
        scores = [model.evaluate(x)[0] for model in models]
        k = int(np.argmax(scores))
        if class_label is not None:
            (k,) = class_model_indices(estimator.classes_, len(models), class_label)
        names = display_names(estimator, len(models[k]), feature_names)
        parts = models[k].contributions(x)[0]
        order = np.argsort(-np.abs(parts), kind="stable")
        largest, rest = order[:max_features], order[max_features:]
        values = [
            _name_and_value(name, value, feature)
            for name, value, feature in zip(names, x[0], estimator.feature_info_, strict=True)
        ]
        labels = name_terms(values, [models[k].terms[t] for t in largest])
        labels = [truncate(label, _MAX_LABEL_LENGTH) for label in labels]
        parts = parts[order]
        if len(rest):
            labels.append(
                pluralize(len(rest), "other term" if models[k].surfaces else "other feature")
            )
            parts = np.append(parts[:max_features], parts[max_features:].sum())
        return cls(
            labels,
            parts,
            models[k].intercept,
            float(scores[k]),
            "; ".join([favored_class(estimator, models, k), *edit_notes(estimator)]),
            sign_colors(len(estimator.classes_), k),
        ).plot(ax=ax)

    def _figure_size(self) -> tuple[float, float]:
        return 6.4, 1.4 + 0.26 * (len(self.labels) + 2) + 0.15 * self._xlabel().count("\n")

    def _xlabel(self) -> str:
        return wrap(f"score ({self.title})" if self.title else "score")

    def _draw(self, ax: Any) -> None:
        sums = self.intercept + np.cumsum(self.contributions)
        starts = np.concatenate([[0.0, self.intercept], sums[:-1], [0.0]])
        lengths = np.concatenate([[self.intercept], self.contributions, [self.score]])
        positions = np.arange(len(lengths))
        positive, negative = self.colors
        colors = [positive if length >= 0 else negative for length in lengths]
        colors[0] = colors[-1] = _TOTAL
        ax.axvline(0.0, color=TEXT, linewidth=0.6)
        ax.barh(positions, lengths, left=starts, height=0.66, color=colors)
        ends = starts + lengths
        ax.vlines(ends[:-1], positions[:-1] + 0.33, positions[1:] - 0.33, color=TEXT, linewidth=0.6)
        for position, end, length in zip(positions, ends, lengths, strict=True):
            _annotate(ax, float(position), end, length)
        names = ["intercept (baseline)", *map(escape, self.labels), "score"]
        ax.set_yticks(positions, names)
        ax.set_ylim(len(positions) - 0.4, -0.6)
        low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
        width = high - low or 1.0
        ax.set_xlim(low - _LEFT_PADDING * width, high + _RIGHT_PADDING * width)
        ax.set_xlabel(escape(self._xlabel()), fontsize=9)
        ax.tick_params(labelsize=9)
        on_the_left = lengths[(lengths < 0) & (ends < low + _LEFT_HALF * width)]
        ax.tick_params(axis="y", length=0, pad=_OFFSET + _widest(on_the_left))


def _check_row(row: Any, X: Any) -> int:
    """Return the position of a sample as an int."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows == 0:
        raise ValueError("X has no rows; pass a table with the row to explain.")
    if not isinstance(row, Integral) or not 0 <= int(row) < n_rows:
        raise ValueError(f"row={row!r} must be an integer from 0 to {n_rows - 1}.")
    return int(row)


def _annotate(ax: Any, position: float, end: float, length: float) -> None:
    """Write the length of a bar beyond its end."""
    ax.annotate(
        _format(length),
        (end, position),
        xytext=(_OFFSET if length >= 0 else -_OFFSET, 0),
        textcoords="offset points",
        ha="left" if length >= 0 else "right",
        va="center",
        fontsize=_FONT_SIZE,
        color=TEXT,
        bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},
    )


def _format(length: float) -> str:
    return f"{round(length, 2) + 0.0:+.2f}".replace("-", "−")


def _widest(lengths: np.ndarray) -> float:
    """Return the width in points of the longest number next to a bar."""
    characters = [len(_format(length)) for length in lengths]
    return _OFFSET + 0.65 * _FONT_SIZE * max(characters) if characters else 0.0


def _name_and_value(name: str, value: float, feature: Feature) -> str:
    """Return a feature's name with the value of a sample."""
    name = truncate(name, 30)
    if np.isnan(value):
        return f"{name} is missing"
    if feature.levels is None:
        return f"{name} = {value:.6g}"
    if value < 0:
        return f"{name} is an unknown level"
    return f"{name} = {truncate(str(feature.levels.tolist()[int(value)]), 20)}"
