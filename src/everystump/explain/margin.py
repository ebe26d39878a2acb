"""The margin of AdaBoost+SVM against the number of stumps (Wang et al., Theorem 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump.estimators._reading import class_model_indices, curves_of
from everystump.explain.colors import PLAIN, TEXT
from everystump.explain.edits import training_attribute


@dataclass
class MarginDisplay:
    """How the margin of the machine grows with the stumps that AdaBoost gives it.

    Attributes
    ----------
    n_estimators : ndarray of shape (n_stages,)
        Numbers of stumps.
    margin : ndarray of shape (n_stages,)
        The margin ``1 / |beta|`` at each.
    hard : bool
        Whether it is the hard margin, which Theorem 4 says cannot shrink.
    figure_, ax_ : matplotlib Figure and Axes
        The picture, once drawn.
    """

    n_estimators: np.ndarray
    margin: np.ndarray
    hard: bool

    @classmethod
    def from_estimator(cls, estimator: Any, *, class_label: Any = None, ax: Any = None) -> Self:
        """Draw the margins of a fitted `BoostedStumpSVC`.

        Parameters
        ----------
        estimator : BoostedStumpSVC
            Fitted, with several `stages`.
        class_label : label, optional
            Whose machine, for several classes; the first class's by default.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginDisplay
            With ``figure_`` and ``ax_``.
        """
        stages = training_attribute(
            estimator, "stages_", "has no stages; pass a fitted BoostedStumpSVC"
        )
        k = class_model_indices(estimator, curves_of(estimator), class_label)[0]
        margins = [np.atleast_1d(stage.margin)[k] for stage in stages]
        counts = np.array([stage.n_estimators for stage in stages])
        return cls(counts, np.array(margins), bool(np.isinf(estimator.C))).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the margins on ``ax`` or on a new figure."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
        kind = "hard" if self.hard else "soft"
        ax.plot(
            self.n_estimators, self.margin, color=PLAIN, linewidth=1.8, marker="o", markersize=4
        )
        ax.set_ylim(0, 1.1 * self.margin.max())
        ax.set_xlim(0, None)
        ax.set_xlabel("stumps of AdaBoost")
        ax.set_ylabel(f"{kind} margin 1 / |β|")
        ax.tick_params(colors=TEXT)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
