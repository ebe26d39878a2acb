"""Where a classifier of two features decides for which class (as in Lin & Li, Figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._tables import Feature, is_frame, read_table, reorder_columns
from everystump._tables.labels import class_indices, classifier_scores
from everystump.explain.colors import TEXT, class_colors, pale
from everystump.explain.names import display_names, verbatim

_MARKERS = ("o", "+", "^", "s", "x", "D", "v", "*")
_DRAWN = "a boundary is drawn for two features of numbers without missing values"


@dataclass
class BoundaryDisplay:
    """The regions of the classes, the boundaries between them, and some rows.

    Attributes
    ----------
    ticks : tuple of two ndarrays
        The values of each feature at which scores were taken.
    scores : ndarray of shape (n_second, n_first) or (n_second, n_first, n_classes)
        The scores there.
    X : ndarray of shape (n_rows, 2)
        Rows.
    label : ndarray of int, shape (n_rows,)
        The class number of each.
    classes : list
        The classes.
    names : list of str
        Names of both features.
    figure_, ax_ : matplotlib Figure and Axes
        The picture, once drawn.

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
        """Draw the decisions of any fitted classifier of two features.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier.
        X : array-like of shape (n_rows, 2)
            Rows to draw: numbers, none of them missing.
        y : array-like of shape (n_rows,)
            Their labels.
        limits : (low, high) or a pair of them, optional
            The range of both features, or of each; a little more than the rows' by default.
        resolution : int, default=201
            Scores are taken at this many values of each feature.
        feature_names : list of str, optional
            Names; those of the training table by default.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        BoundaryDisplay
            With ``figure_`` and ``ax_``.
        """
        X = _in_order(estimator, X)
        rows = _numbers(X, getattr(estimator, "feature_info_", ()))
        if resolution < 2:
            raise ValueError(f"resolution={resolution} must be at least 2.")
        label = class_indices(y, estimator.classes_, len(rows))
        ends = _limits(limits, rows)
        first, second = (np.linspace(low, high, resolution) for low, high in ends)
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

    def plot(self, *, ax: Any = None) -> Self:
        """Draw regions, boundaries and rows on ``ax`` or on a new figure."""
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(5.0, 4.6), layout="constrained")
        n_classes = len(self.classes)
        levels = np.arange(n_classes + 1) - 0.5
        colors = class_colors(n_classes)
        ax.contourf(*self.ticks, self._winners(), levels=levels, colors=[*map(pale, colors)])
        for lead in self._leads():
            if lead.min() < 0.0 < lead.max():
                ax.contour(*self.ticks, lead, levels=[0.0], colors="black", linewidths=1.3)
        handles = []
        for k in range(n_classes):
            color, marker = colors[k], _MARKERS[k % len(_MARKERS)]
            hollow = {"fillstyle": "none"} if marker not in "+x" else {}
            of_class = self.X[self.label == k]
            size = 5 if marker in "+x" else 3.5
            handles += ax.plot(*of_class.T, marker, color=color, markersize=size, **hollow)
        ax.set_xlim(self.ticks[0][0], self.ticks[0][-1])
        ax.set_ylim(self.ticks[1][0], self.ticks[1][-1])
        ax.set_xlabel(verbatim(self.names[0]))
        ax.set_ylabel(verbatim(self.names[1]))
        ax.legend(
            handles,
            [verbatim(name) for name in self.classes],
            title="class",
            fontsize=8,
            title_fontsize=8,
            loc="best",
            framealpha=0.85,
        )
        ax.tick_params(labelsize=8, colors=TEXT)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _winners(self) -> np.ndarray:
        """Return the number of the class decided for at each place."""
        if self.scores.ndim == 2:
            return (self.scores > 0).astype(int)
        return self.scores.argmax(axis=2)

    def _leads(self) -> list[np.ndarray]:
        """Return scores that are 0 at the boundaries: one for two classes, else one a class."""
        if self.scores.ndim == 2:
            return [self.scores]
        leads = []
        for k in range(len(self.classes)):
            others = np.delete(self.scores, k, axis=2).max(axis=2)
            leads.append(self.scores[:, :, k] - others)
        return leads


def _in_order(estimator: Any, X: Any) -> Any:
    """Return a frame with its columns in the order of the training table, whose names are drawn."""
    names = [feature.name for feature in getattr(estimator, "feature_info_", ())]
    return reorder_columns(X, names) if is_frame(X) and names and None not in names else X


def _numbers(X: Any, known: Sequence[Feature]) -> np.ndarray:
    """Return rows of two numbers, or say what else they are."""
    rows, features = read_table(X, "from_dtype")
    if rows.shape[1] != 2:
        raise ValueError(f"X has shape {rows.shape}; {_DRAWN}.")
    shown = [d if feature.name is None else feature.name for d, feature in enumerate(features)]
    categories = [feature.levels is not None for feature in features]
    if len(known) == 2:  # numbers as well may have been chosen as levels
        categories = [c or f.levels is not None for c, f in zip(categories, known, strict=True)]
    if any(categories):
        raise ValueError(f"X: feature {shown[categories.index(True)]!r} is a category; {_DRAWN}.")
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        row, d = bad[0].tolist()
        raise ValueError(
            f"X contains {rows[row, d]} in row {row}, feature {shown[d]!r}; {_DRAWN}: leave such "
            f"rows out."
        )
    return rows.astype(np.float64, copy=False)


def _limits(given: Any, rows: np.ndarray) -> np.ndarray:
    """Return the range of each feature."""
    if given is None and len(rows) == 0:
        raise ValueError("X has no rows to draw; pass some, or limits.")
    if given is None:
        low, high = rows.min(axis=0), rows.max(axis=0)
        room = np.where(high > low, 0.05 * (high - low), 0.5)
        return np.column_stack([low - room, high + room])
    ends = np.asarray(given, dtype=np.float64)
    ends = np.array([ends, ends]) if ends.shape == (2,) else ends
    if ends.shape != (2, 2) or not np.all(ends[:, 0] < ends[:, 1]):
        raise ValueError(f"limits={given!r} must be (low, high), or a pair of them, low first.")
    return ends


def _like(X: Any, grid: np.ndarray) -> Any:
    """Return rows as a table of the same kind, with its names."""
    if not is_frame(X):
        return grid
    return type(X)({name: grid[:, d] for d, name in enumerate(X.columns)})
