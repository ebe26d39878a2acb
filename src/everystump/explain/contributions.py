"""The contribution of each feature and interaction to the score of a sample."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from everystump._core.shapes import ShapeModel
from everystump._explanations.access import (
    class_labels,
    class_model_indices,
    shape_models,
    sum_name,
)
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
    add_note,
    check_max_features,
    display_names,
    edit_notes,
    escape,
    favored_notes,
    sign_colors,
    truncate,
    wrap,
)

_TOTAL = "#9aa4b1"
_MAX_LABEL_LENGTH = 60
_LEFT_PADDING, _RIGHT_PADDING = 0.02, 0.14
_LEFT_HALF = 0.5  # negative bars that end in the left half need space for their numbers
_FONT_SIZE, _OFFSET, _DOT_SIZE = 8, 4, 7  # points
_MIN_FIXED, _MAX_FIXED = 1e-5, 1e8  # numbers outside are written with exponents


@dataclass
class ContributionsDisplay(AxesDisplay):
    """A waterfall plot from the intercept to the score of a sample, largest contributions first.

    Of a regressor, it leads to the prediction or, with a log link, to its logarithm.

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
        Which class a positive score favors, the prediction if its logarithm is drawn, and whether
        the model was edited.
    colors : (str, str)
        The colors of positive and of negative contributions.
    total : str
        What the contributions add up to: "score", or "prediction" for a regressor.
    from_zero : bool
        Whether intercept and score are bars that begin at 0; those of a regressor are dots, because
        0 may be far away.
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
    total: str = "score"
    from_zero: bool = True
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
            (k,) = class_model_indices(class_labels(estimator), len(models), class_label)
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
            "; ".join(_notes(estimator, models, k, float(scores[k]))),
            sign_colors(len(class_labels(estimator)), k),
            sum_name(estimator),
            len(class_labels(estimator)) > 0,
        ).plot(ax=ax)

    def _figure_size(self) -> tuple[float, float]:
        return 6.4, 1.4 + 0.26 * (len(self.labels) + 2) + 0.15 * self._xlabel().count("\n")

    def _xlabel(self) -> str:
        return wrap(add_note(self.total, [self.title] if self.title else []))

    def _draw(self, ax: Any) -> None:
        sums = self.intercept + np.cumsum(self.contributions)
        numbers = np.concatenate([[self.intercept], self.contributions, [self.score]])
        ends = np.concatenate([[self.intercept], sums, [self.score]])
        starts = np.concatenate([[0.0, self.intercept], sums[:-1], [0.0]])
        if not self.from_zero:
            starts[[0, -1]] = ends[[0, -1]]
        lengths, positions = ends - starts, np.arange(len(ends))
        self._draw_bars(ax, positions, starts, ends)
        texts = _texts(numbers, signed_totals=self.from_zero)
        for position, end, length, text in zip(positions, ends, lengths, texts, strict=True):
            _annotate(ax, float(position), end, length, text)
        names = ["intercept (baseline)", *map(escape, self.labels), wrap(self.total)]
        ax.set_yticks(positions, names)
        ax.set_ylim(len(positions) - 0.4, -0.6)
        low, high = min(starts.min(), ends.min()), max(starts.max(), ends.max())
        width = high - low or 1.0
        ax.set_xlim(low - _LEFT_PADDING * width, high + _RIGHT_PADDING * width)
        ax.set_xlabel(escape(self._xlabel()), fontsize=9)
        ax.tick_params(labelsize=9)
        is_left = (lengths < 0) & (ends < low + _LEFT_HALF * width)
        on_the_left = [text for text, is_own in zip(texts, is_left, strict=True) if is_own]
        ax.tick_params(axis="y", length=0, pad=_OFFSET + _widest(on_the_left))

    def _draw_bars(
        self, ax: Any, positions: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> None:
        """Draw contributions as bars, and intercept and score as bars or dots."""
        positive, negative = self.colors
        colors = [positive if length >= 0 else negative for length in ends - starts]
        colors[0] = colors[-1] = _TOTAL
        ax.barh(positions, ends - starts, left=starts, height=0.66, color=colors)
        if self.from_zero:
            ax.axvline(0.0, color=TEXT, linewidth=0.6)
        else:
            ax.plot(ends[[0, -1]], positions[[0, -1]], "o", color=_TOTAL, markersize=_DOT_SIZE)
        ax.vlines(ends[:-1], positions[:-1] + 0.33, positions[1:] - 0.33, color=TEXT, linewidth=0.6)


def _notes(estimator: Any, models: list[ShapeModel], k: int, score: float) -> list[str]:
    """Return the class that a positive score favors, or the prediction that it is a function of."""
    notes = favored_notes(estimator, models, k)
    if getattr(estimator, "link_", None) == "log":
        notes.append(f"prediction {np.exp(score):.4g}")
    return notes + edit_notes(estimator)


def _check_row(row: Any, X: Any) -> int:
    """Return the position of a sample as an int."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows == 0:
        raise ValueError("X has no rows; pass a table with the row to explain.")
    if not isinstance(row, Integral) or not 0 <= int(row) < n_rows:
        raise ValueError(f"row={row!r} must be an integer from 0 to {n_rows - 1}.")
    return int(row)


def _annotate(ax: Any, position: float, end: float, length: float, text: str) -> None:
    """Write a text beyond the end of a bar, or of a dot if it has no length."""
    offset = _OFFSET if length else _OFFSET + _DOT_SIZE / 2
    ax.annotate(
        text,
        (end, position),
        xytext=(offset if length >= 0 else -offset, 0),
        textcoords="offset points",
        ha="left" if length >= 0 else "right",
        va="center",
        fontsize=_FONT_SIZE,
        color=TEXT,
        bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},
    )


def _texts(numbers: np.ndarray, *, signed_totals: bool) -> list[str]:
    """Return the intercept, the contributions and the score as text, with equally many decimals."""
    largest = float(np.abs(numbers[1:-1]).max(initial=0.0))
    if 0.0 < largest < _MIN_FIXED or np.abs(numbers).max() >= _MAX_FIXED:
        texts = [f"{number:+.2e}" for number in numbers]
    else:
        # Two decimals from 0.1 to 100, and four significant digits otherwise.
        power = int(np.floor(np.log10(largest))) if largest else 0
        decimals = 2 if -1 <= power <= 1 else max(0, 3 - power)
        texts = [f"{round(number, decimals) + 0.0:+.{decimals}f}" for number in numbers]
    if not signed_totals:
        texts[0], texts[-1] = texts[0].removeprefix("+"), texts[-1].removeprefix("+")
    return [text.replace("-", "−") for text in texts]


def _widest(texts: list[str]) -> float:
    """Return the width in points of the longest number next to a bar."""
    return _OFFSET + 0.65 * _FONT_SIZE * max(map(len, texts)) if texts else 0.0


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
