"""The importance of each feature and interaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._explanations.access import class_labels, shape_models, sum_name
from everystump._explanations.importance import importances as term_importances
from everystump._explanations.importance import term_densities
from everystump._explanations.terms import name_terms
from everystump.explain._display import (
    NEUTRAL,
    AxesDisplay,
    check_max_features,
    class_colors,
    display_names,
    edit_notes,
    escape,
    truncate,
    wrap,
)

_LEGEND_LENGTH = 60  # characters of a line of the legend


@dataclass
class ImportanceDisplay(AxesDisplay):
    """The standard deviation of each contribution to the score, largest first.

    Contributions are those of features and of interactions.

    Attributes
    ----------
    names : list of str
        The features and interactions drawn.
    importances : ndarray of shape (n_names, n_models)
        The importance of each: one column for two classes or a regressor, else one per class.
    classes : list
        The classes of the columns; empty for two classes and for a regressor.
    caption : str
        How many of them are drawn, and whether the model was edited.
    total : str
        What the contributions add up to: the "score", or the "prediction" of a regressor.
    figure_, ax_ : matplotlib Figure and Axes
        The plot, set by `plot`.

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
    total: str = "score"

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
        X : array-like of shape (n_samples, n_features), optional
            Samples on which importance is measured; the training samples by default.
        max_features : int, default=20
            Maximum number of features and interactions to draw.
        feature_names : list of str, optional
            Names of the features; those of the training data by default.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        ImportanceDisplay
            With ``figure_`` and ``ax_``.
        """
        check_max_features(max_features)
        models = shape_models(estimator)
        names = display_names(estimator, len(models[0]), feature_names)
        names = name_terms(names, models[0].terms)
        densities = term_densities(estimator, models, X)
        importances = np.transpose(term_importances(models, *densities))
        order = np.argsort(-importances.sum(axis=1), kind="stable")[:max_features]
        notes = edit_notes(estimator)
        if len(order) < len(names):
            kind = "features and interactions" if models[0].surfaces else "features"
            notes.insert(0, f"the {len(order)} most important of {len(names)} {kind}")
        return cls(
            [names[d] for d in order],
            importances[order],
            class_labels(estimator).tolist() if len(models) > 1 else [],
            "; ".join(notes),
            sum_name(estimator),
        ).plot(ax=ax)

    def _figure_size(self) -> tuple[float, float]:
        n_lines = self._xlabel().count("\n") + len(self.classes) // self._n_legend_columns()
        return 6.0, 1.1 + 0.24 * len(self.names) + 0.15 * n_lines

    def _xlabel(self) -> str:
        label = wrap(f"importance (standard deviation of the contribution to the {self.total})")
        return f"{label}\n{wrap(self.caption)}" if self.caption else label

    def _n_legend_columns(self) -> int:
        longest = max((len(repr(name)) for name in self.classes), default=0)
        return max(1, _LEGEND_LENGTH // (longest + 10))

    def _draw(self, ax: Any) -> None:
        positions = np.arange(len(self.names))
        left = np.zeros(len(self.names))
        colors = class_colors(len(self.classes)) if self.classes else [NEUTRAL]
        for k, part in enumerate(self.importances.T):
            label = escape(f"class {self.classes[k]!r}") if self.classes else None
            ax.barh(positions, part, left=left, height=0.7, color=colors[k], label=label)
            left = left + part
        ax.set_yticks(positions, [escape(truncate(name, 34)) for name in self.names])
        ax.set_ylim(len(positions) - 0.4, -0.6)
        ax.set_xlabel(escape(self._xlabel()), fontsize=9)
        if self.classes:
            ax.legend(
                frameon=False,
                fontsize=9,
                ncols=self._n_legend_columns(),
                loc="lower left",
                bbox_to_anchor=(0.0, 1.0),
            )
        ax.tick_params(labelsize=9)
        ax.tick_params(axis="y", length=0)
