"""Plots for Wang et al. (2019): accuracy on the left, time on the right, both methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump._experiments.engine.statistics import mean_over_runs
from everystump._experiments.wang.methods import METHODS

COLORS = {"adaboost": "#1f5fa8", "adaboost_svm": "#c2571a"}
# A large hollow marker around a small solid one: both are visible where the methods are equal.
MARKERS = {
    "adaboost": {"marker": "o", "markersize": 8, "markerfacecolor": "white", "linewidth": 2.4},
    "adaboost_svm": {"marker": "s", "markersize": 4, "linewidth": 1.4},
}
MIN_ACCURACY_RANGE = 1.0
DASHED = (0, (4, 3))


def against_rounds(
    rounds: Sequence[int],
    accuracy: dict[str, np.ndarray],
    seconds: dict[str, np.ndarray],
    printed: list[dict[str, str]],
) -> Any:
    """Plot a table: our numbers as solid lines, the paper's as dashed lines.

    Parameters
    ----------
    rounds : sequence of int
        The values of T.
    accuracy, seconds : dict of ndarray
        By method, of shapes (n_runs, n_folds, n_rounds) and (n_runs, n_rounds).
    printed : list of dict
        The rows of the printed table.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels.
    """
    figure, left, right = _two_panels("number of weak learners T")
    for name, title in METHODS.items():
        _plot_means(left, rounds, accuracy[name].mean(axis=1), name, f"{title}, ours")
        _plot_times(right, rounds, seconds[name], name)
        for ax, key in ((left, f"{name}_acc"), (right, f"{name}_s")):
            ax.plot(
                rounds,
                [float(row[key]) for row in printed],
                linestyle=DASHED,
                color=COLORS[name],
                linewidth=1.3,
                label=f"{title}, paper",
            )
    _widen(left)
    right.set_yscale("log")
    _legend_below(figure, left, columns=4)
    return figure


def against_fraction(
    percentages: Sequence[int], accuracy: dict[str, np.ndarray], seconds: dict[str, np.ndarray]
) -> Any:
    """Plot a figure; arrays by method, of shape (n_runs, n_percentages)."""
    figure, left, right = _two_panels("training samples (%)")
    for name, title in METHODS.items():
        _plot_means(left, percentages, accuracy[name], name, title)
        _plot_times(right, percentages, seconds[name], name)
    _widen(left)
    right.set_ylim(bottom=0)
    for ax in (left, right):
        ax.set_xticks(percentages)
    _legend_below(figure, left, columns=2)
    return figure


def _two_panels(label: str) -> tuple[Any, Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for ax, title in ((left, "accuracy (%)"), (right, "median training time (s)")):
        ax.set_xlabel(label)
        ax.set_ylabel(title)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    return figure, left, right


def _plot_means(ax: Any, x: Sequence[int], values: np.ndarray, name: str, label: str) -> None:
    """Plot means over the runs, with their standard errors if there are enough runs."""
    means = [mean_over_runs(runs) for runs in values.T]
    ax.errorbar(
        x,
        [mean.value for mean in means],
        yerr=[mean.error or 0.0 for mean in means],
        color=COLORS[name],
        capsize=2,
        label=label,
        **MARKERS[name],
    )


def _plot_times(ax: Any, x: Sequence[int], seconds: np.ndarray, name: str) -> None:
    """Plot medians over the runs, since other processes lengthen some of them."""
    ax.plot(x, np.median(seconds, axis=0), color=COLORS[name], **MARKERS[name])


def _widen(ax: Any) -> None:
    """Let the accuracy axis span at least one point, or equal numbers would look different."""
    low, high = ax.get_ylim()
    extra = max(0.0, MIN_ACCURACY_RANGE - (high - low))
    ax.set_ylim(low - extra / 2, high + extra / 2)
    ax.ticklabel_format(axis="y", useOffset=False)


def _legend_below(figure: Any, ax: Any, columns: int) -> None:
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i].split(",")[0])
    figure.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="outside lower center",
        ncols=columns,
        frameon=False,
    )
