"""The predictions of a regressor next to the actual values, and its residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from everystump._evaluation import evaluate_numbers, metric_rows
from everystump._tables.labels import check_numbers
from everystump._text import pluralize
from everystump.explain._display import DASHED, NEUTRAL, TEXT, escape, wrap

_PADDING = 0.05  # around the points, relative to their range
_AREA = 1.4e4  # of all dots, in square points


@dataclass
class ResidualsDisplay:
    """Two panels: actual values against predicted ones, and residuals against predicted values.

    A residual is the actual value minus the predicted one.  Points on the dashed lines are
    predicted exactly; a trend or a funnel in the second panel shows where the model can be
    improved.

    Attributes
    ----------
    y_true, y_pred : ndarray of shape (n_points,)
        The actual and the predicted values that are drawn.
    caption : str
        R², RMSE and MAE of all samples, and how many of them are drawn.
    unit : str
        The unit of the values.
    figure_ : matplotlib Figure
        The plot, set by `plot`.
    axes_ : ndarray of matplotlib Axes
        One per panel.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpRegressor
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> display = ResidualsDisplay.from_estimator(StumpRegressor(C=10).fit(X, y), X, y)
    >>> display.y_pred.shape, display.caption.split(",")[0]
    ((100,), 'R² >0.999')
    """

    y_true: np.ndarray
    y_pred: np.ndarray
    caption: str = ""
    unit: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        unit: str = "",
        subsample: int | None = 1000,
        random_state: Any = 0,
    ) -> Self:
        """Draw the residuals of any fitted regressor.

        Parameters
        ----------
        estimator : estimator
            A fitted regressor.
        X : array-like of shape (n_samples, n_features)
            Samples, preferably ones that it was not trained on.
        y : array-like of shape (n_samples,)
            Their targets.
        unit : str, optional
            The unit of the targets, for the names of the axes.
        subsample : int or None, default=1000
            Maximum number of samples to draw, chosen at random; None for all.
        random_state : int, RandomState instance or None, default=0
            Determines which samples are drawn.

        Returns
        -------
        ResidualsDisplay
            With ``figure_`` and ``axes_``.
        """
        if hasattr(estimator, "classes_"):
            raise ValueError(
                f"estimator={estimator!r} is a classifier, which has no residuals; pass a "
                f"regressor, or draw the classifier with MarginsDisplay."
            )
        predicted = estimator.predict(X)
        return cls.from_predictions(
            y, predicted, unit=unit, subsample=subsample, random_state=random_state
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        unit: str = "",
        subsample: int | None = 1000,
        random_state: Any = 0,
    ) -> Self:
        """Draw the residuals of predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            The actual and the predicted values.
        unit, subsample, random_state
            As in `from_estimator`.

        Returns
        -------
        ResidualsDisplay
            With ``figure_`` and ``axes_``.
        """
        predicted = np.asarray(y_pred, dtype=np.float64)
        actual = check_numbers(y_true, len(predicted))
        if len(actual) == 0:
            raise ValueError("y has no samples to draw; pass at least one.")
        if subsample is not None and subsample < 1:
            raise ValueError(f"subsample={subsample} must be at least 1, or None.")
        rows = metric_rows(evaluate_numbers(actual, predicted))
        parts = [", ".join(f"{row['name']} {row['value']}" for row in rows)]
        if subsample is not None and len(actual) > subsample:
            random = check_random_state(random_state)
            chosen = np.sort(random.choice(len(actual), subsample, replace=False))
            parts.append(f"{subsample:,} of {pluralize(len(actual), 'sample')} drawn")
            actual, predicted = actual[chosen], predicted[chosen]
        return cls(actual, predicted, "; ".join(parts), unit).plot()

    def plot(self) -> Self:
        """Draw both panels on a new figure."""
        import matplotlib.pyplot as plt

        self.figure_, self.axes_ = plt.subplots(1, 2, figsize=(9.0, 4.1), layout="constrained")
        size = float(np.clip(_AREA / len(self.y_true), 8.0, 36.0))
        in_unit = f" ({self.unit})" if self.unit else ""
        ends = _padded(np.append(self.y_true, self.y_pred))
        across = _padded(self.y_pred)
        first, second = self.axes_
        first.plot(ends, ends, color=TEXT, linewidth=0.8, linestyle=DASHED)
        first.set_xlim(*ends)
        first.set_ylim(*ends)
        first.set_aspect("equal", adjustable="box")
        second.axhline(0.0, color=TEXT, linewidth=0.8, linestyle=DASHED)
        second.set_xlim(*across)
        panels = (
            (first, self.y_true, f"actual{in_unit}"),
            (second, self.y_true - self.y_pred, f"residual: actual − predicted{in_unit}"),
        )
        for axis, values, label in panels:
            axis.scatter(self.y_pred, values, s=size, color=NEUTRAL, alpha=0.55, linewidths=0)
            axis.set_xlabel(escape(f"predicted{in_unit}"), fontsize=9)
            axis.set_ylabel(escape(label), fontsize=9)
            axis.tick_params(labelsize=8, colors=TEXT)
            axis.spines[["top", "right"]].set_visible(False)
        self.figure_.supxlabel(escape(wrap(self.caption, 2)), color=TEXT, fontsize=9)
        return self


def _padded(values: np.ndarray) -> tuple[float, float]:
    """Return the range of values with some padding."""
    low, high = float(values.min()), float(values.max())
    padding = _PADDING * (high - low) or 0.5 * abs(high) or 0.5
    return low - padding, high + padding
