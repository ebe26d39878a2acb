"""How much each feature moves the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._tables.validation import check_rows
from everystump.estimators._reading import curves_of, densities, spread, training_density
from everystump.explain.colors import PLAIN, TEXT, class_colors
from everystump.explain.edits import edit_notes
from everystump.explain.names import display_names, shortened, verbatim


@dataclass
class ImportanceDisplay:
    """The standard deviation of what each feature adds to the score, most important first.

    Attributes
    ----------
    names : list of str
        The features drawn.
    importances : ndarray of shape (n_features, n_models)
        The importance of each, one column for two classes, else one a class.
    classes : list
        The classes of the columns; empty for two classes.
    caption : str
        How many of how many features are drawn, and whether the model was edited.
    figure_, ax_ : matplotlib Figure and Axes
        The picture, once drawn.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> model = StumpSVC().fit([[0, 7], [1, 7], [2, 8], [3, 8]], [0, 1, 1, 1])
    >>> display = ImportanceDisplay.from_estimator(model, feature_names=["dose", "size"])
    >>> display.names
    ['dose', 'size']
    """

    names: list[str]
    importances: np.ndarray
    classes: list
    caption: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        max_features: int = 20,
        feature_names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the importances of a fitted stump ensemble.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``shapes_``.
        X : array-like of shape (n_rows, n_features), optional
            Rows to measure on; the training rows by default.
        max_features : int, default=20
            Draw at most this many.
        feature_names : list of str, optional
            Names; those of the training table by default.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ImportanceDisplay
            With ``figure_`` and ``ax_``.
        """
        if max_features < 1:
            raise ValueError(f"max_features={max_features} must be at least 1.")
        models = curves_of(estimator)
        names = display_names(estimator, len(models[0]), feature_names)
        seen = training_density(estimator) if X is None else densities(check_rows(estimator, X))
        moves = np.array(
            [[spread(model[d], seen[d]) for model in models] for d in range(len(names))]
        )
        order = np.argsort(-moves.sum(axis=1), kind="stable")[:max_features]
        words = edit_notes(estimator)
        if len(order) < len(names):
            words.insert(0, f"the {len(order)} of {len(names)} features that move it most")
        return cls(
            [names[d] for d in order],
            moves[order],
            estimator.classes_.tolist() if len(models) > 1 else [],
            ",\n".join(words),
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the bars on ``ax`` or on a new figure."""
        import matplotlib.pyplot as plt

        if ax is None:
            height = 1.1 + 0.24 * len(self.names)
            _, ax = plt.subplots(figsize=(6.0, height), layout="constrained")
        places = np.arange(len(self.names))
        before = np.zeros(len(self.names))
        colors = class_colors(len(self.classes)) if self.classes else [PLAIN]
        for k, part in enumerate(self.importances.T):
            label = verbatim(f"class {self.classes[k]!r}") if self.classes else None
            ax.barh(places, part, left=before, height=0.7, color=colors[k], label=label)
            before = before + part
        ax.set_yticks(places, [verbatim(shortened(name, 34)) for name in self.names])
        ax.set_ylim(len(places) - 0.4, -0.6)
        title = "standard deviation of what is added to the score"
        ax.set_xlabel(f"{title},\n{verbatim(self.caption)}" if self.caption else title)
        if self.classes:
            ax.legend(frameon=False, fontsize=9, loc="lower right")
        ax.tick_params(labelsize=9, colors=TEXT)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
