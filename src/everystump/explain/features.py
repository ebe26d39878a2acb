"""Boosting as feature learning (Wang et al., Fig. 1): rows become votes, votes get weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._core.boosting import Stumps
from everystump._tables import Feature
from everystump._tables.labels import class_indices
from everystump._tables.validation import check_rows
from everystump.explain.colors import LINE_COLORS, TEXT, class_colors
from everystump.explain.edits import training_attribute
from everystump.explain.names import display_names, verbatim
from everystump.explain.places import Places

_SIDES = class_colors(2)
_PALE = ("#f6d9c4", "#f4f4f4", "#c9d6e6")  # of the votes -1, 0 and 1
_LINE = "#9aa4b1"
_MOST_ROWS = 2000
_MOST_LETTERS = 30  # of ticks that stand beside each other
_SPREAD = 0.3  # rows of a level stand beside each other, within this distance of it


@dataclass
class FeatureLearningDisplay:
    """Three steps: the rows with the stumps' thresholds, the votes, the weights of the votes.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows, 2,000 of them at most, those of ``classes[0]`` first, each class in the order of its
        scores; a category is the number of its level, what is missing is NaN.
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
    features : tuple of Feature
        What the features are, with the names of levels.
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
    features: tuple[Feature, ...]

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
        needed = "must be a BoostedStumpSVC that was fitted to two classes"
        weights = training_attribute(estimator, "boosting_weights_", needed)
        stumps = training_attribute(estimator, "stumps_", needed)
        if not isinstance(stumps, Stumps):
            raise ValueError(f"estimator={estimator!r} {needed}.")
        values = check_rows(estimator, X)
        score = estimator.decision_function(X)
        label = class_indices(y, estimator.classes_, len(score))
        order = np.lexsort((score, label))
        order = order[:: -(-len(order) // _MOST_ROWS)]
        return cls(
            values[order],
            label[order],
            stumps,
            np.asarray(weights),
            display_names(estimator, values.shape[1], feature_names),
            [str(name) for name in estimator.classes_],
            estimator.feature_info_,
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
            axis.tick_params(labelsize=8, colors=TEXT)
            axis.title.set_fontsize(10)
        return self

    def _draw_rows(self, axis: Any) -> None:
        """Draw the rows on the two features that most stumps look at."""
        asking = ~np.isneginf(self.stumps.threshold)
        times = np.bincount(self.stumps.feature[asking], minlength=self.X.shape[1])
        first, second = (*np.argsort(-times, kind="stable"), 0)[:2]
        across, up = (Places(self.features[d], self.X[:, d]) for d in (first, second))
        for d, places, line in ((first, across, axis.axvline), (second, up, axis.axhline)):
            asked = np.flatnonzero(asking & (self.stumps.feature == d))
            questions = zip(self.stumps.threshold[asked], self.stumps.level[asked], strict=True)
            for cut in sorted({cut for question in questions for cut in places.cuts(*question)}):
                line(cut, color=_LINE, linewidth=0.6, alpha=0.6)
        x, y = _beside(across, 0), _beside(up, 1)
        dots = [
            axis.scatter(x[self.label == k], y[self.label == k], s=9, color=_SIDES[k])
            for k in range(len(self.classes))
        ]
        for places, marked, is_across in ((across, axis.xaxis, True), (up, axis.yaxis, False)):
            ticks = places.ticks()
            if ticks is not None:
                too_long = is_across and sum(map(len, ticks[1])) > _MOST_LETTERS
                marked.set_ticks(*ticks, rotation=90 if too_long else 0)
        axis.set_xlabel(verbatim(self.names[first]))
        axis.set_ylabel(verbatim(self.names[second]))
        axis.set_title("1  rows x, and where stumps cut")
        axis.legend(dots, [verbatim(name) for name in self.classes], fontsize=8, loc="upper right")

    def _draw_votes(self, axis: Any) -> None:
        """Draw each row's votes as one line of the picture."""
        from matplotlib.colors import ListedColormap

        votes = np.array([(1 + v) / 2 for v in self.stumps.votes(self.X)]).T
        axis.imshow(
            votes,
            aspect="auto",
            interpolation="nearest",
            cmap=ListedColormap(_PALE),
            vmin=0,
            vmax=1,
        )
        n_first = int(np.sum(self.label == 0))
        axis.axhline(n_first - 0.5, color=TEXT, linewidth=1.0)
        middles = [n_first / 2, (n_first + len(self.label)) / 2]
        axis.set_yticks(middles, [verbatim(name) for name in self.classes])
        axis.set_xlabel("stump, in AdaBoost's order")
        axis.set_title("2  features z(x) = the stumps' votes")

    def _draw_weights(self, axis: Any) -> None:
        """Draw the weights of AdaBoost and of the machine, each as shares of their sum."""
        order = 1 + np.arange(len(self.boosting_weights))
        pairs = (
            ("AdaBoost, α", self.boosting_weights, _LINE, 12),
            ("SVM, β", self.stumps.weight, LINE_COLORS[1], 7),
        )
        for name, weights, color, size in pairs:
            share = weights / (np.abs(weights).sum() or 1.0)
            axis.scatter(order, 100 * share, s=size, color=color, label=name)
        axis.axhline(0.0, color=TEXT, linewidth=0.6)
        axis.set_xlabel("stump, in AdaBoost's order")
        axis.set_ylabel("share of all weight, %")
        axis.set_title("3  weights of the votes")
        axis.legend(fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)


def _beside(places: Places, seed: int) -> np.ndarray:
    """Return where the rows are drawn: those of a level beside each other."""
    at = places.of_rows()
    if places.feature.levels is None:
        return at
    return at + np.random.default_rng(seed).uniform(-_SPREAD, _SPREAD, len(at))
