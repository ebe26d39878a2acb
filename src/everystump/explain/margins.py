"""How the margins of rows are distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._tables.labels import class_indices, classifier_scores
from everystump._text import format_short_percent
from everystump.explain.colors import LINE_COLORS, TEXT
from everystump.explain.names import verbatim


@dataclass
class MarginsDisplay:
    """The share of rows whose margin is at most a number, for every number.

    The margin of a row is ``y f(x)``, the score for its own class; for several classes it is by
    how much that score is above the best of the others.  At 0 or below, the row is not told right.

    Attributes
    ----------
    margins : dict of ndarray
        The margins of each set of rows, ascending.
    figure_, ax_ : matplotlib Figure and Axes
        The picture, once drawn.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(100, random_state=0)
    >>> model = StumpBoostingClassifier(n_estimators=20).fit(X, y)
    >>> display = MarginsDisplay.from_estimator(model, X, y)
    >>> display.margins["training rows"].shape
    (100,)
    """

    margins: dict[str, np.ndarray]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the margins that any fitted classifier gives to rows.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, with a decision function or probabilities.
        X, y : array-like, optional
            The training rows and their labels.
        X_test, y_test : array-like, optional
            Held-out rows and their labels.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginsDisplay
            With ``figure_`` and ``ax_``.
        """
        pairs = {"training rows": (X, y), "held-out rows": (X_test, y_test)}
        for name, pair in pairs.items():
            if (pair[0] is None) != (pair[1] is None):
                raise ValueError(f"rows and labels belong together: pass both of the {name}.")
        given = {name: pair for name, pair in pairs.items() if pair[0] is not None}
        if not given:
            raise ValueError("X=None and X_test=None leave no rows; pass some with their labels.")
        found = {name: np.sort(_margins(estimator, *pair)) for name, pair in given.items()}
        return cls(found).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the distributions on ``ax`` or on a new figure."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(5.8, 3.8), layout="constrained")
        ax.axvline(0.0, color=TEXT, linewidth=0.8, linestyle=(0, (4, 4)))
        ends = [(margins[0], margins[-1]) for margins in self.margins.values()]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        room = 0.04 * (high - low) or 0.5
        for (name, margins), color in zip(self.margins.items(), LINE_COLORS, strict=False):
            wrong = format_short_percent(float(np.mean(margins <= 0)))
            ax.step(
                np.concatenate([[low - room], margins, [high + room]]),
                np.concatenate([[0.0], np.arange(1, len(margins) + 1) / len(margins), [1.0]]),
                where="post",
                color=color,
                linewidth=1.8,
                label=f"{verbatim(name)}:\n{wrong} at or below 0",
            )
        ax.set_xlim(low - room, high + room)
        ax.set_ylim(0.0, 1.02)
        ax.set_xlabel("margin y f(x)")
        ax.set_ylabel("share of rows with at most this margin")
        ax.legend(frameon=False, fontsize=9, loc="lower right", handlelength=1.2)
        ax.tick_params(colors=TEXT)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _margins(estimator: Any, X: Any, y: Any) -> np.ndarray:
    """Return by how much the score of each row's class is above that of the others."""
    score = classifier_scores(estimator, X)
    label = class_indices(y, estimator.classes_, len(score))
    if score.ndim == 1:
        return np.where(label == 1, score, -score)
    rows = np.arange(len(label))
    own = score[rows, label]
    others = score.copy()
    others[rows, label] = -np.inf
    return own - others.max(axis=1)
