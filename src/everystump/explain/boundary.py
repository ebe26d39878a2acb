"""The decision regions of a classifier on two features (as in Lin & Li, Figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from everystump._tables.frames import Feature, is_frame, read_table, reorder_columns
from everystump._tables.labels import class_indices, classifier_scores
from everystump.explain._display import (
    AxesDisplay,
    check_classifier,
    class_colors,
    display_names,
    escape,
    lighten,
)

_MARKERS = ("o", "+", "^", "s", "x", "D", "v", "*")
_REQUIREMENT = "a boundary plot needs two numeric features without missing values"


@dataclass
class BoundaryDisplay(AxesDisplay):
    """The regions of the classes, the boundaries between them, and some samples.

    Attributes
    ----------
    ticks : tuple of two ndarrays
        The values of each feature that form the grid.
    scores : ndarray of shape (n_second, n_first) or (n_second, n_first, n_classes)
        The scores on the grid.
    X : ndarray of shape (n_samples, 2)
        Samples.
    label : ndarray of int, shape (n_samples,)
        The index of each sample's class.
    classes : list
        The classes.
    names : list of str
        Names of both features.
    figure_, ax_ : matplotlib Figure and Axes
        The plot, set by `plot`.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(100, 2, random_state=0)
    >>> display = BoundaryDisplay.from_estimator(StumpSVC().fit(X, y), X, y, resolution=50)
    >>> display.scores.shape
    (50, 50)
    """

    ticks: tuple[np.ndarray, np.ndarray]
    scores: np.ndarray
    X: np.ndarray
    label: np.ndarray
    classes: list
    names: list[str]
    _hidden_spines: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        limits: Any = None,
        resolution: int = 201,
        feature_names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the decision regions of any fitted classifier on two features.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier.
        X : array-like of shape (n_samples, 2)
            Samples to draw; all values must be numbers.
        y : array-like of shape (n_samples,)
            Their labels.
        limits : (low, high) or a pair of these, optional
            The range of both features, or of each; slightly wider than that of ``X`` by default.
        resolution : int, default=201
            The number of grid values of each feature.
        feature_names : list of str, optional
            Names of the features; those of the training data by default.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        BoundaryDisplay
            With ``figure_`` and ``ax_``.
        """
        check_classifier(estimator, cls)
        X = _in_training_order(estimator, X)
        rows = _check_numbers(X, getattr(estimator, "feature_info_", ()))
        if resolution < 2:
            raise ValueError(f"resolution={resolution} must be at least 2.")
        label = class_indices(y, estimator.classes_, len(rows))
        first, second = (
            np.linspace(low, high, resolution) for low, high in _check_limits(limits, rows)
        )
        grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
        scores = classifier_scores(estimator, _like(X, grid))
        return cls(
            (first, second),
            scores.reshape(resolution, resolution, *scores.shape[1:]),
            rows,
            label,
            estimator.classes_.tolist(),
            display_names(estimator, 2, feature_names),
        ).plot(ax=ax)

    def _figure_size(self) -> tuple[float, float]:
        return 5.0, 4.6

    def _draw(self, ax: Any) -> None:
        n_classes = len(self.classes)
        levels = np.arange(n_classes + 1) - 0.5
        colors = class_colors(n_classes)
        ax.contourf(*self.ticks, self._predicted(), levels=levels, colors=[*map(lighten, colors)])
        for score in self._boundary_scores():
            if score.min() < 0.0 < score.max():
                ax.contour(*self.ticks, score, levels=[0.0], colors="black", linewidths=1.3)
        handles = []
        for k in range(n_classes):
            color, marker = colors[k], _MARKERS[k % len(_MARKERS)]
            hollow = {"fillstyle": "none"} if marker not in "+x" else {}
            points = self.X[self.label == k]
            size = 5 if marker in "+x" else 3.5
            handles += ax.plot(*points.T, marker, color=color, markersize=size, **hollow)
        ax.set_xlim(self.ticks[0][0], self.ticks[0][-1])
        ax.set_ylim(self.ticks[1][0], self.ticks[1][-1])
        ax.set_xlabel(escape(self.names[0]))
        ax.set_ylabel(escape(self.names[1]))
        ax.legend(
            handles,
            [escape(name) for name in self.classes],
            title="class",
            fontsize=8,
            title_fontsize=8,
            loc="best",
            framealpha=0.85,
        )
        ax.tick_params(labelsize=8)

    def _predicted(self) -> np.ndarray:
        """Return the index of the predicted class at each point of the grid."""
        if self.scores.ndim == 2:
            return (self.scores > 0).astype(int)
        return self.scores.argmax(axis=2)

    def _boundary_scores(self) -> list[np.ndarray]:
        """Return arrays that are 0 on the boundaries: one for two classes, else one per class."""
        if self.scores.ndim == 2:
            return [self.scores]
        differences = []
        for k in range(len(self.classes)):
            others = np.delete(self.scores, k, axis=2).max(axis=2)
            differences.append(self.scores[:, :, k] - others)
        return differences


def _in_training_order(estimator: Any, X: Any) -> Any:
    """Return a frame with its columns in the order of the training data."""
    names = [feature.name for feature in getattr(estimator, "feature_info_", ())]
    return reorder_columns(X, names) if is_frame(X) and names and None not in names else X


def _check_numbers(X: Any, training_features: Sequence[Feature]) -> np.ndarray:
    """Return samples of two numeric features as an array."""
    rows, features = read_table(X, "from_dtype")
    if rows.shape[1] != 2:
        raise ValueError(f"X has shape {rows.shape}; {_REQUIREMENT}.")
    names = [d if feature.name is None else feature.name for d, feature in enumerate(features)]
    is_category = [feature.levels is not None for feature in features]
    if len(training_features) == 2:  # numbers may be declared categorical
        pairs = zip(is_category, training_features, strict=True)
        is_category = [declared or feature.levels is not None for declared, feature in pairs]
    if any(is_category):
        raise ValueError(
            f"X: feature {names[is_category.index(True)]!r} is a category; {_REQUIREMENT}."
        )
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        row, d = bad[0].tolist()
        raise ValueError(
            f"X contains {rows[row, d]} in row {row}, feature {names[d]!r}; {_REQUIREMENT}: "
            f"remove such samples."
        )
    return rows.astype(np.float64, copy=False)


def _check_limits(limits: Any, rows: np.ndarray) -> np.ndarray:
    """Return the range of each feature."""
    if limits is None and len(rows) == 0:
        raise ValueError("X has no samples to draw; pass samples or limits.")
    if limits is None:
        low, high = rows.min(axis=0), rows.max(axis=0)
        padding = np.where(high > low, 0.05 * (high - low), 0.5)
        return np.column_stack([low - padding, high + padding])
    ends = np.asarray(limits, dtype=np.float64)
    ends = np.array([ends, ends]) if ends.shape == (2,) else ends
    if ends.shape != (2, 2) or not np.all(ends[:, 0] < ends[:, 1]):
        raise ValueError(
            f"limits={limits!r} must be (low, high) or a pair of these, with low < high."
        )
    return ends


def _like(X: Any, grid: np.ndarray) -> Any:
    """Return the grid as a table of the same type as ``X``, with its column names."""
    if not is_frame(X):
        return grid
    return type(X)({name: grid[:, d] for d, name in enumerate(X.columns)})
