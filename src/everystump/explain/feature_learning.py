"""Boosting as feature learning (Wang et al., Fig. 1): samples, votes and their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._core.boosting.stumps import Stumps
from everystump._tables.frames import Feature
from everystump._tables.labels import class_indices
from everystump._tables.validation import check_rows
from everystump.explain._display import (
    LINE_COLORS,
    TEXT,
    class_colors,
    display_names,
    escape,
    round_ticks,
    training_attribute,
    truncate,
)

_MAX_TICKS, _MAX_LENGTH = 12, 12
_GAP = 0.1  # between numbers and missing values, relative to the range of the numbers
_CLASS_COLORS = class_colors(2)
_VOTE_COLORS = ("#f6d9c4", "#f4f4f4", "#c9d6e6")  # of the votes -1, 0 and 1
_LINE = "#9aa4b1"
_MAX_SAMPLES = 2000
_MAX_LABEL_LENGTH = 30  # of all tick labels of the x-axis, before they are rotated
_JITTER = 0.3  # samples of a level are spread at random within this distance


@dataclass
class FeatureLearningDisplay:
    """Three panels: samples with the splits of the stumps, votes, and the weights of the votes.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        At most 2,000 samples, those of ``classes[0]`` first, each class sorted by score; a category
        is the index of its level, a missing value is NaN.
    label : ndarray of int, shape (n_samples,)
        The index of each sample's class.
    stumps : Stumps
        The stumps with the weights of the SVM.
    boosting_weights : ndarray of shape (n_stumps,)
        The weights of AdaBoost.
    names : list of str
        Names of the features.
    classes : list of str
        Names of the classes.
    features : tuple of Feature
        The kinds of the features, with the names of levels.
    figure_ : matplotlib Figure
        The plot, set by `plot`.
    axes_ : ndarray of matplotlib Axes
        One per panel.
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
        """Draw the features that a fitted `BoostedStumpSVC` learned, for two classes.

        Parameters
        ----------
        estimator : BoostedStumpSVC
            Fitted, for two classes.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their labels.
        feature_names : list of str, optional
            Names of the features; those of the training data by default.

        Returns
        -------
        FeatureLearningDisplay
            With ``figure_`` and ``axes_``.
        """
        requirement = "must be a BoostedStumpSVC that was fitted to two classes"
        weights = training_attribute(estimator, "boosting_weights_", requirement)
        stumps = training_attribute(estimator, "stumps_", requirement)
        if not isinstance(stumps, Stumps):
            raise ValueError(f"estimator={estimator!r} {requirement}.")
        values = check_rows(estimator, X)
        score = estimator.decision_function(X)
        label = class_indices(y, estimator.classes_, len(score))
        order = np.lexsort((score, label))
        order = order[:: -(-len(order) // _MAX_SAMPLES)]
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
        """Draw the three panels on a new figure."""
        import matplotlib.pyplot as plt

        self.figure_, self.axes_ = plt.subplots(
            1, 3, figsize=(12.0, 3.9), layout="constrained", width_ratios=(1.0, 1.25, 1.0)
        )
        self._draw_samples(self.axes_[0])
        self._draw_votes(self.axes_[1])
        self._draw_weights(self.axes_[2])
        for axis in self.axes_:
            axis.tick_params(labelsize=8, colors=TEXT)
            axis.title.set_fontsize(10)
        return self

    def _draw_samples(self, axis: Any) -> None:
        """Draw the samples on the two features that most stumps use."""
        is_split = ~np.isneginf(self.stumps.threshold)
        counts = np.bincount(self.stumps.feature[is_split], minlength=self.X.shape[1])
        first, second = (*np.argsort(-counts, kind="stable"), 0)[:2]
        across, up = (AxisPositions(self.features[d], self.X[:, d]) for d in (first, second))
        for d, positions, draw in ((first, across, axis.axvline), (second, up, axis.axhline)):
            is_used = is_split & (self.stumps.feature == d)
            splits = zip(self.stumps.threshold[is_used], self.stumps.level[is_used], strict=True)
            for line in sorted({x for split in splits for x in positions.boundaries(*split)}):
                draw(line, color=_LINE, linewidth=0.6, alpha=0.6)
        x, y = _jitter(across, 0), _jitter(up, 1)
        dots = [
            axis.scatter(x[self.label == k], y[self.label == k], s=9, color=_CLASS_COLORS[k])
            for k in range(len(self.classes))
        ]
        for positions, side in ((across, axis.xaxis), (up, axis.yaxis)):
            ticks = positions.ticks()
            if ticks is not None:
                is_long = side is axis.xaxis and sum(map(len, ticks[1])) > _MAX_LABEL_LENGTH
                side.set_ticks(*ticks, rotation=90 if is_long else 0)
        axis.set_xlabel(escape(self.names[first]))
        axis.set_ylabel(escape(self.names[second]))
        axis.set_title("1. samples x and splits of the stumps")
        axis.legend(dots, [escape(name) for name in self.classes], fontsize=8, loc="upper right")

    def _draw_votes(self, axis: Any) -> None:
        """Draw the votes on each sample as one line of an image."""
        from matplotlib.colors import ListedColormap

        votes = np.array([(1 + v) / 2 for v in self.stumps.votes(self.X)]).T
        axis.imshow(
            votes,
            aspect="auto",
            interpolation="nearest",
            cmap=ListedColormap(_VOTE_COLORS),
            vmin=0,
            vmax=1,
        )
        n_first = int(np.sum(self.label == 0))
        axis.axhline(n_first - 0.5, color=TEXT, linewidth=1.0)
        middles = [n_first / 2, (n_first + len(self.label)) / 2]
        axis.set_yticks(middles, [escape(name) for name in self.classes])
        axis.set_xlabel("stump (in boosting order)")
        axis.set_title("2. features z(x): votes of the stumps")

    def _draw_weights(self, axis: Any) -> None:
        """Draw the weights of AdaBoost and of the SVM, each as fractions of their sum."""
        order = 1 + np.arange(len(self.boosting_weights))
        pairs = (
            ("AdaBoost (α)", self.boosting_weights, _LINE, 12),
            ("SVM (β)", self.stumps.weight, LINE_COLORS[1], 7),
        )
        for name, weights, color, size in pairs:
            fraction = weights / (np.abs(weights).sum() or 1.0)
            axis.scatter(order, 100 * fraction, s=size, color=color, label=name)
        axis.axhline(0.0, color=TEXT, linewidth=0.6)
        axis.set_xlabel("stump (in boosting order)")
        axis.set_ylabel("share of the total weight (%)")
        axis.set_title("3. weights of the votes")
        axis.legend(fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)


def _jitter(positions: AxisPositions, seed: int) -> np.ndarray:
    """Return the positions of samples, those of a level spread around it."""
    values = np.where(np.isnan(positions.x), positions.missing, positions.x)
    if positions.feature.levels is None:
        return values
    return values + np.random.default_rng(seed).uniform(-_JITTER, _JITTER, len(values))


@dataclass(frozen=True, eq=False)
class AxisPositions:
    """Positions of numbers, of levels side by side, and of missing values beyond them."""

    feature: Feature
    x: np.ndarray  # numbers, or indices of levels with -1 for unknown ones; NaN where missing

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest number; 0 if all are missing."""
        present = self.x[~np.isnan(self.x)]
        return (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)

    @property
    def missing(self) -> float:
        """The position of missing values."""
        if self.feature.levels is not None:
            return float(self.feature.n_levels)
        low, high = self.range
        return high + (_GAP * (high - low) or 1.0)

    def boundaries(self, threshold: float, level: int) -> list[float]:
        """Return the boundaries between the two sides of a stump; see `Stumps`."""
        if level >= 0:
            return [level - 0.5, level + 0.5]
        if np.isposinf(threshold):
            return [(self.range[1] + self.missing) / 2]
        return [float(threshold)]

    def ticks(self) -> tuple[list[float], list[str]] | None:
        """Return ticks and their labels; None for plain numbers, which need no labels."""
        has_missing = bool(np.isnan(self.x).any())
        if self.feature.levels is None and not has_missing:
            return None
        ticks = self._level_ticks() if self.feature.levels is not None else self._number_ticks()
        ticks += [(self.missing, "missing")] if has_missing else []
        return [position for position, _ in ticks], [label for _, label in ticks]

    def _level_ticks(self) -> list[tuple[float, str]]:
        levels: list[Any] = [] if self.feature.levels is None else self.feature.levels.tolist()
        step = -(-len(levels) // _MAX_TICKS) or 1
        ticks = [
            (float(k), escape(truncate(str(levels[k]), _MAX_LENGTH)))
            for k in range(0, len(levels), step)
        ]
        return [(-1.0, "unknown"), *ticks] if np.any(self.x < 0) else ticks

    def _number_ticks(self) -> list[tuple[float, str]]:
        if np.isnan(self.x).all():
            return []
        return [(tick, f"{tick:.6g}") for tick in round_ticks(*self.range)]
