"""The C path: the score of every fold at every C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump.explain.colors import PLAIN, TEXT
from everystump.explain.edits import training_attribute
from everystump.explain.names import verbatim

_FOLD = "#b9c7d9"


@dataclass
class PathDisplay:
    """Mean score against C, with each fold's scores, a standard error and the chosen C.

    Attributes
    ----------
    results : dict
        ``cv_results_`` of the estimator.
    chosen : float
        The chosen C.
    scorer : str
        What the scores are.
    figure_, ax_ : matplotlib Figure and Axes
        The picture, once drawn.
    """

    results: dict[str, Any]
    chosen: float
    scorer: str = "score"

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the path of a fitted `StumpSVCCV` or `StumpLogisticRegressionCV`.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``cv_results_`` and ``C_``.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PathDisplay
            With ``figure_`` and ``ax_``.
        """
        results = training_attribute(
            estimator,
            "cv_results_",
            "has no path; pass a fitted StumpSVCCV or StumpLogisticRegressionCV",
        )
        scorer = getattr(estimator, "scoring_", "accuracy")  # which files of old did not name
        if estimator.selection != "loo-bound":
            scorer = f"{scorer} on held-out folds"
        return cls(results, estimator.C_, scorer).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the path on ``ax`` or on a new figure."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
        Cs, mean = self.results["param_C"], self.results["mean_test_score"]
        n_splits = self.results["n_splits"]
        error = self.results["std_test_score"] / np.sqrt(max(n_splits - 1, 1))
        for k in range(n_splits):
            ax.plot(Cs, self.results[f"split{k}_test_score"], color=_FOLD, linewidth=0.8)
        ax.errorbar(
            Cs,
            mean,
            yerr=error,
            color=PLAIN,
            linewidth=1.8,
            capsize=2.5,
            marker="o",
            markersize=4,
            label="mean over folds, with standard error" if n_splits > 1 else None,
        )
        ax.axvline(
            self.chosen,
            color=TEXT,
            linestyle=(0, (4, 4)),
            linewidth=1.0,
            label=f"chosen C = {self.chosen:.3g}",
        )
        ax.set_xscale("log", base=2)
        ax.set_xlabel("C")
        ax.set_ylabel(verbatim(self.scorer))
        ax.legend(frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
