"""What each feature adds to the score of one row."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from everystump._sklearn_compat import safe_indexing
from everystump._tables import Feature
from everystump._tables.validation import check_rows
from everystump.estimators._reading import class_model_indices, curves_of
from everystump.explain.colors import FIRST, SECOND, TEXT, side_colors
from everystump.explain.edits import edit_notes
from everystump.explain.names import display_names, favored_class, shortened, verbatim

_WHOLE = "#9aa4b1"
_ROOM_ON_THE_LEFT, _ROOM_ON_THE_RIGHT = 0.02, 0.14
_NEAR = 0.5  # numbers of bars that end closer to the left need room there
_NUMBER_SIZE, _BESIDE = 8, 4  # points


@dataclass
class ContributionsDisplay:
    """The way from the intercept to the score of a row, the largest steps first.

    Attributes
    ----------
    labels : list of str
        The features with the row's values; the last one may stand for several.
    contributions : ndarray of shape (n_labels,)
        What each adds to the score.
    intercept, score : float
        Where the way begins and where it ends.
    title : str
        Which class a positive score speaks for, and whether the model was edited.
    colors : (str, str)
        Those of what adds to the score and of what takes away.
    figure_, ax_ : matplotlib Figure and Axes
        The picture, once drawn.

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
        """Draw the score of a row.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``shapes_``.
        X : array-like of shape (n_rows, n_features)
            Rows.
        row : int, default=0
            The place of the row in ``X``, from 0 on.
        max_features : int, default=12
            Draw at most this many one by one, and the others together.
        class_label : label, optional
            Whose score, for several classes; that of the predicted class by default.
        feature_names : list of str, optional
            Names; those of the training table by default.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ContributionsDisplay
            With ``figure_`` and ``ax_``.
        """
        if max_features < 1:
            raise ValueError(f"max_features={max_features} must be at least 1.")
        models = curves_of(estimator)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows == 0:
            raise ValueError("X has no rows; pass a table with the row to explain.")
        if not isinstance(row, Integral) or not 0 <= int(row) < n_rows:
            raise ValueError(f"row={row!r} must be a number from 0 to {n_rows - 1}.")
        x = check_rows(estimator, safe_indexing(X, [int(row)]))
        scores = [model.evaluate(x)[0] for model in models]
        k = int(np.argmax(scores))
        if class_label is not None:
            (k,) = class_model_indices(estimator, models, class_label)
        names = display_names(estimator, len(models[k]), feature_names)
        parts = models[k].contributions(x)[0]
        labels = [
            _with_value(*part) for part in zip(names, x[0], estimator.feature_info_, strict=True)
        ]
        order = np.argsort(-np.abs(parts), kind="stable")
        shown, rest = order[:max_features], order[max_features:]
        labels = [labels[d] for d in shown]
        if len(rest):
            labels.append(f"{len(rest)} more feature{'s' if len(rest) > 1 else ''}")
        return cls(
            labels,
            np.append(parts[shown], parts[rest].sum()) if len(rest) else parts[shown],
            models[k].intercept,
            float(scores[k]),
            ",\n".join([favored_class(estimator, models, k), *edit_notes(estimator)]),
            side_colors(len(estimator.classes_), k),
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the way on ``ax`` or on a new figure."""
        import matplotlib.pyplot as plt

        if ax is None:
            height = 1.4 + 0.26 * (len(self.labels) + 2)
            _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
        upto = self.intercept + np.cumsum(self.contributions)
        starts = np.concatenate([[0.0, self.intercept], upto[:-1], [0.0]])
        lengths = np.concatenate([[self.intercept], self.contributions, [self.score]])
        places = np.arange(len(lengths))
        more, less = self.colors
        colors = [more if length >= 0 else less for length in lengths]
        colors[0] = colors[-1] = _WHOLE
        ax.axvline(0.0, color=TEXT, linewidth=0.6)
        ax.barh(places, lengths, left=starts, height=0.66, color=colors)
        ends = starts + lengths
        ax.vlines(ends[:-1], places[:-1] + 0.33, places[1:] - 0.33, color=TEXT, linewidth=0.6)
        for place, start, length in zip(places, starts, lengths, strict=True):
            _write(ax, float(place), start, length)
        ax.set_yticks(places, ["intercept", *map(verbatim, self.labels), "score"])
        ax.set_ylim(len(places) - 0.4, -0.6)
        low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
        width = high - low or 1.0
        ax.set_xlim(low - _ROOM_ON_THE_LEFT * width, high + _ROOM_ON_THE_RIGHT * width)
        ax.set_xlabel(f"score, {verbatim(self.title)}")
        ax.tick_params(labelsize=9, colors=TEXT)
        at_the_left = lengths[(lengths < 0) & (ends < low + _NEAR * width)]
        ax.tick_params(axis="y", length=0, pad=_BESIDE + _widest(at_the_left))
        ax.spines[["top", "right", "left"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _write(ax: Any, place: float, start: float, length: float) -> None:
    """Write what a bar adds beyond its end."""
    ax.annotate(
        _shown(length),
        (start + length, place),
        xytext=(_BESIDE if length >= 0 else -_BESIDE, 0),
        textcoords="offset points",
        ha="left" if length >= 0 else "right",
        va="center",
        fontsize=_NUMBER_SIZE,
        color=TEXT,
    )


def _shown(length: float) -> str:
    return f"{round(length, 2) + 0.0:+.2f}".replace("-", "−")


def _widest(lengths: np.ndarray) -> float:
    """Return how many points the longest of some numbers needs beside its bar."""
    characters = [len(_shown(length)) for length in lengths]
    return _BESIDE + 0.65 * _NUMBER_SIZE * max(characters) if characters else 0.0


def _with_value(name: str, value: float, feature: Feature) -> str:
    """Return a feature's name with the value of a row."""
    name = shortened(name, 30)
    if np.isnan(value):
        return f"{name} is missing"
    if feature.levels is None:
        return f"{name} = {value:.6g}"
    if value < 0:
        return f"{name} is an unknown level"
    return f"{name} = {shortened(str(feature.levels.tolist()[int(value)]), 20)}"
