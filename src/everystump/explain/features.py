"""Boosting as feature learning (Wang et al., Fig. 1): rows become votes, votes get weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump.explain.names import feature_names as names_of
from everystump.labels import class_numbers
from everystump.stumps import Stumps

_SIDES = ("#c2571a", "#1f5fa8")
_PALE = ("#f6d9c4", "#c9d6e6")
_LINE, _TEXT = "#9aa4b1", "#555555"
_MOST_ROWS = 2000


@dataclass
class FeatureLearningDisplay:
    """Three steps: the rows with the stumps' thresholds, the votes, the weights of the votes.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows, 2,000 of them at most, those of ``classes[0]`` first, each class in the order of its
        scores.
    label : ndarray of int, shape (n_rows,)
        The class number of each.
    stumps : Stumps
        The stumps with the machine's weights.
    boosting_weights : ndarray of shape (n_stumps,)
        The weights that AdaBoost gave.
    names : list of str
        Names of the features.
    classes : list of str
        Names of the classes.
    figure_ : matplotlib Figure
        The picture, once drawn.
    axes_ : ndarray of matplotlib Axes
        One a step.
    """

    X: np.ndarray
    label: np.ndarray
    stumps: Stumps
    boosting_weights: np.ndarray
    names: list[str]
    classes: list[str]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, feature_names: Any = None) -> Self:
        """Draw what a fitted `BoostedStumpSVC` of two classes makes of some rows.

        Parameters
        ----------
        estimator : BoostedStumpSVC
            Fitted, for two classes.
        X : array-like of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels.
        feature_names : list of str, optional
            Names; those of the training table by default.

        Returns
        -------
        FeatureLearningDisplay
            With ``figure_`` and ``axes_``.
        """
        stumps = getattr(estimator, "stumps_", None)
        if not isinstance(stumps, Stumps) or not hasattr(estimator, "boosting_weights_"):
            raise ValueError(
                f"estimator={estimator!r} must be a BoostedStumpSVC that was fitted to two classes."
            )
        values = np.asarray(X, dtype=np.float64)
        score = estimator.decision_function(X)
        label = class_numbers(y, estimator.classes_, len(score))
        order = np.lexsort((score, label))
        order = order[:: -(-len(order) // _MOST_ROWS)]
        return cls(
            values[order],
            label[order],
            stumps,
            np.asarray(estimator.boosting_weights_),
            names_of(estimator, values.shape[1], feature_names),
            [str(name) for name in estimator.classes_],
        ).plot()

    def plot(self) -> Self:
        """Draw the three steps on a new figure."""
        import matplotlib.pyplot as plt

        self.figure_, self.axes_ = plt.subplots(
            1, 3, figsize=(12.0, 3.9), layout="constrained", width_ratios=(1.0, 1.25, 1.0)
        )
        self._draw_rows(self.axes_[0])
        self._draw_votes(self.axes_[1])
        self._draw_weights(self.axes_[2])
        for axis in self.axes_:
            axis.tick_params(labelsize=8, colors=_TEXT)
            axis.title.set_fontsize(10)
        return self

    def _draw_rows(self, axis: Any) -> None:
        """Draw the rows on the two features that most stumps look at."""
        cutting = np.isfinite(self.stumps.threshold)
        times = np.bincount(self.stumps.feature[cutting], minlength=self.X.shape[1])
        first, second = (*np.argsort(-times, kind="stable"), 0)[:2]
        for d, line in ((first, axis.axvline), (second, axis.axhline)):
            for threshold in np.unique(self.stumps.threshold[cutting & (self.stumps.feature == d)]):
                line(threshold, color=_LINE, linewidth=0.6, alpha=0.6)
        for k, name in enumerate(self.classes):
            rows = self.X[self.label == k]
            axis.scatter(rows[:, first], rows[:, second], s=9, color=_SIDES[k], label=name)
        axis.set_xlabel(self.names[first])
        axis.set_ylabel(self.names[second])
        axis.set_title("1  rows x, and where stumps cut")
        axis.legend(fontsize=8, loc="upper right")

    def _draw_votes(self, axis: Any) -> None:
        """Draw each row's votes as one line of the picture."""
        from matplotlib.colors import ListedColormap

        votes = np.array([np.where(v > 0, 1, 0) for v in self.stumps.votes(self.X)]).T
        axis.imshow(
            votes,
            aspect="auto",
            interpolation="nearest",
            cmap=ListedColormap(_PALE),
            vmin=0,
            vmax=1,
        )
        n_first = int(np.sum(self.label == 0))
        axis.axhline(n_first - 0.5, color=_TEXT, linewidth=1.0)
        middles = [n_first / 2, (n_first + len(self.label)) / 2]
        axis.set_yticks(middles, self.classes)
        axis.set_xlabel("stump, in AdaBoost's order")
        axis.set_title("2  features z(x) = the stumps' votes")

    def _draw_weights(self, axis: Any) -> None:
        """Draw the weights of AdaBoost and of the machine, each as shares of their sum."""
        order = 1 + np.arange(len(self.boosting_weights))
        pairs = (
            ("AdaBoost, α", self.boosting_weights, _LINE, 12),
            ("SVM, β", self.stumps.weight, _SIDES[1], 7),
        )
        for name, weights, color, size in pairs:
            share = weights / (np.abs(weights).sum() or 1.0)
            axis.scatter(order, 100 * share, s=size, color=color, label=name)
        axis.axhline(0.0, color=_TEXT, linewidth=0.6)
        axis.set_xlabel("stump, in AdaBoost's order")
        axis.set_ylabel("share of all weight, %")
        axis.set_title("3  weights of the votes")
        axis.legend(fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
