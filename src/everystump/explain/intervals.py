"""Plots of prediction intervals with the actual targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._tables.labels import check_numbers
from everystump._text import format_short_percent
from everystump.explain._display import FIRST, PALE, SECOND, TEXT

_WIDTH = 0.9  # of an interval, where neighbors are at a distance of 1
_MAX_DOTS = 150  # with more samples, dots are smaller


@dataclass
class IntervalsDisplay:
    """The prediction intervals of samples, sorted by their predictions, and the actual targets.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples,)
        Predictions, ascending.
    low, high : ndarray of shape (n_samples,)
        The ends of the intervals.
    actual : ndarray of shape (n_samples,)
        Targets.
    caption : str
        The level of the intervals, and the fraction of all samples inside theirs.
    figure_ : matplotlib Figure
        The plot, set by `plot`.
    axes_ : matplotlib Axes
        Its axes.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpRegressor
    >>> from everystump.conformal import SplitConformalRegressor
    >>> X = np.arange(90.0)[:, None]
    >>> y = X[:, 0] + np.tile([0.0, 1.0, 2.0], 30)
    >>> conformal = SplitConformalRegressor(StumpRegressor().fit(X[::2], y[::2]))
    >>> conformal = conformal.conformalize(X[1::2], y[1::2])
    >>> IntervalsDisplay.from_estimator(conformal, X, y).caption.split(";")[0]
    '90% intervals'
    """

    predictions: np.ndarray
    low: np.ndarray
    high: np.ndarray
    actual: np.ndarray
    caption: str = ""

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, max_samples: int = 200) -> Self:
        """Draw the intervals of a conformal regressor.

        Parameters
        ----------
        estimator : conformal regressor
            With ``predict_interval``, after ``conformalize``; the first of several confidence
            levels is drawn.
        X : array-like of shape (n_samples, n_features)
            Samples that were used neither for training nor for calibration.
        y : array-like of shape (n_samples,)
            Their targets.
        max_samples : int, default=200
            Maximum number of samples to draw: if there are more, evenly chosen ones.

        Returns
        -------
        IntervalsDisplay
            With ``figure_`` and ``axes_``.
        """
        predictions, intervals = estimator.predict_interval(X)
        actual = check_numbers(y, len(predictions))
        low, high = intervals[:, :, 0].T
        fraction = np.mean((low <= actual) & (actual <= high))
        level = np.ravel(estimator.confidence_level)[0]
        order = np.argsort(predictions, kind="stable")
        n_drawn = min(max_samples, len(order))
        order = order[np.linspace(0, len(order) - 1, n_drawn).astype(int)]
        caption = (
            f"{format_short_percent(level)} intervals; {format_short_percent(float(fraction))} of "
            f"{len(actual):,} samples are inside"
        )
        return cls(predictions[order], low[order], high[order], actual[order], caption).plot()

    def plot(self) -> Self:
        """Draw the intervals on a new figure."""
        import matplotlib.pyplot as plt

        self.figure_, axis = plt.subplots(figsize=(8.0, 3.6), layout="constrained")
        self.axes_ = axis
        x = np.arange(len(self.actual))
        inside = (self.low <= self.actual) & (self.actual <= self.high)
        axis.bar(x, self.high - self.low, _WIDTH, self.low, color=PALE, label="interval")
        axis.plot(x, self.predictions, color=TEXT, linewidth=1.2, label="prediction")
        size = 14 if len(x) <= _MAX_DOTS else 8
        for part, color, label in ((inside, SECOND, "inside"), (~inside, FIRST, "outside")):
            axis.scatter(x[part], self.actual[part], s=size, color=color, zorder=3, label=label)
        axis.use_sticky_edges = False  # leave a margin below the bars
        axis.set_xlim(-1, len(x))
        axis.set_xticks([])
        axis.set_xlabel("samples, sorted by prediction", color=TEXT, fontsize=9)
        axis.set_ylabel("target", color=TEXT, fontsize=9)
        axis.set_title(self.caption, fontsize=10)
        axis.tick_params(labelsize=8, colors=TEXT)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")
        return self
