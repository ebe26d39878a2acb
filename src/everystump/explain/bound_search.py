"""Bounds of candidates beside their errors on other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump.explain.colors import LINE_COLORS, TEXT
from everystump.explain.names import verbatim


@dataclass
class BoundSearchDisplay:
    """The bound and the test error of each candidate of a `LooBoundSearch`.

    Attributes
    ----------
    values : ndarray
        The values of the parameter, ascending, or the candidates' places by bound.
    bounds, errors : ndarray
        The leave-one-out bound and the error on the test rows of each.
    chosen : float
        The value of the chosen candidate.
    label : str
        What the values are.
    figure_, ax_ : matplotlib Figure and Axes
        The picture, once drawn.
    """

    values: np.ndarray
    bounds: np.ndarray
    errors: np.ndarray
    chosen: float
    label: str

    @classmethod
    def from_search(
        cls, search: Any, X: Any, y: Any, *, param: str | None = None, ax: Any = None
    ) -> Self:
        """Draw the candidates of a fitted search.

        Parameters
        ----------
        search : LooBoundSearch
            Fitted.
        X, y : array-like
            Rows that had no part in training.
        param : str, optional
            The parameter to go along, which has numbers, showing the best candidate of each; the
            only one by default, and all candidates in the order of their bounds if there are more.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        BoundSearchDisplay
            With ``figure_`` and ``ax_``.
        """
        if not hasattr(search, "candidates_"):
            raise ValueError(f"search={search!r} has no bounds; pass a fitted LooBoundSearch.")
        results = search.cv_results_
        names = [name for name in results if name.startswith("param_")]
        if param is None and len(names) == 1:
            param = names[0].removeprefix("param_")
        if param is None:
            values, label = np.argsort(np.argsort(results["bound"])) + 1.0, "place by bound"
        else:
            values, label = _numbers(results, param), param
        shown = _least_bound_of_each(values, results["bound"])
        errors = [1.0 - search.candidates_[k].score(X, y) for k in shown]
        chosen = float(values[search.best_index_])
        bounds = results["bound"][shown]
        return cls(values[shown], bounds, np.array(errors), chosen, label).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw both curves on ``ax`` or on a new figure."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
        ax.plot(self.values, self.bounds, "o--", color=LINE_COLORS[0], markersize=4, label="bound")
        ax.plot(
            self.values, self.errors, "o-", color=LINE_COLORS[1], markersize=4, label="test error"
        )
        ax.axvline(
            self.chosen,
            color=TEXT,
            linestyle=(0, (4, 4)),
            linewidth=1.0,
            label=f"chosen: {self.chosen:.3g}",
        )
        if self.values[0] > 0 and self.values[-1] > 20 * self.values[0]:
            ax.set_xscale("log")
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel(verbatim(self.label))
        ax.set_ylabel("error")
        ax.legend(frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _least_bound_of_each(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return the best candidate of each value, by ascending value."""
    order = np.lexsort((bounds, values))
    order = order[np.isfinite(values[order])]
    first = np.append(True, np.diff(values[order]) > 0)
    return order[first]


def _numbers(results: dict[str, Any], param: str) -> np.ndarray:
    """Return the values of a parameter, NaN for candidates that have none, or say why it has no."""
    column = results.get(f"param_{param}", [None])
    mask = np.ma.getmaskarray(np.ma.asarray(column))
    try:
        return np.array([np.nan if m else float(v) for v, m in zip(column, mask, strict=True)])
    except (TypeError, ValueError):
        raise ValueError(
            f"param={param!r} has no numbers to go along; pass the name of a parameter that has, "
            f"or search over one."
        ) from None
