"""Pictures of Wang et al. (2019): accuracy on the left, time on the right, both methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump._experiments import wang
from everystump._experiments.statistics import mean_of

COLORS = {"adaboost": "#1f5fa8", "adaboost_svm": "#c2571a"}
# Large and hollow round small and full: both are seen where the methods are equal.
MARKS = {
    "adaboost": {"marker": "o", "markersize": 8, "markerfacecolor": "white", "linewidth": 2.4},
    "adaboost_svm": {"marker": "s", "markersize": 4, "linewidth": 1.4},
}
LEAST_SPAN = 1.0
DASHED = (0, (4, 3))


def against_rounds(
    rounds: Sequence[int],
    accuracy: dict[str, np.ndarray],
    seconds: dict[str, np.ndarray],
    printed: list[dict[str, str]],
) -> Any:
    """Draw a table: ours as lines, the paper's numbers dashed.

    Parameters
    ----------
    rounds : sequence of int
        The T of each number.
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
    for name, title in wang.METHODS.items():
        _line(left, rounds, accuracy[name].mean(axis=1), name, f"{title}, ours")
        _times(right, rounds, seconds[name], name)
        for axes, key in ((left, f"{name}_acc"), (right, f"{name}_s")):
            values = [float(row[key]) for row in printed]
            axes.plot(
                rounds,
                values,
                linestyle=DASHED,
                color=COLORS[name],
                linewidth=1.3,
                label=f"{title}, paper",
            )
    _widen(left)
    right.set_yscale("log")
    _legend_below(figure, left, columns=4)
    return figure


def against_share(
    percents: Sequence[int], accuracy: dict[str, np.ndarray], seconds: dict[str, np.ndarray]
) -> Any:
    """Draw a figure; arrays by method, of shape (n_runs, n_percents)."""
    figure, left, right = _two_panels("labelled samples to learn from (%)")
    for name, title in wang.METHODS.items():
        _line(left, percents, accuracy[name], name, title)
        _times(right, percents, seconds[name], name)
    _widen(left)
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xticks(percents)
    _legend_below(figure, left, columns=2)
    return figure


def _two_panels(label: str) -> tuple[Any, Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, title in ((left, "accuracy (%)"), (right, "training time (s), median")):
        axes.set_xlabel(label)
        axes.set_ylabel(title)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    return figure, left, right


def _line(axes: Any, x: Sequence[int], values: np.ndarray, name: str, label: str) -> None:
    """Draw the mean over the runs, with its standard error where there are several."""
    means = [mean_of(runs) for runs in values.T]
    axes.errorbar(
        x,
        [mean.value for mean in means],
        yerr=[mean.error or 0.0 for mean in means],
        color=COLORS[name],
        capsize=2,
        label=label,
        **MARKS[name],
    )


def _times(axes: Any, x: Sequence[int], seconds: np.ndarray, name: str) -> None:
    """Draw the median over the runs: what else runs on the machine lengthens some of them."""
    axes.plot(x, np.median(seconds, axis=0), color=COLORS[name], **MARKS[name])


def _widen(axes: Any) -> None:
    """Let the axis of accuracy span a point at least, or equal numbers would look different."""
    low, high = axes.get_ylim()
    lack = max(0.0, LEAST_SPAN - (high - low))
    axes.set_ylim(low - lack / 2, high + lack / 2)
    axes.ticklabel_format(axis="y", useOffset=False)


def _legend_below(figure: Any, axes: Any, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i].split(",")[0])
    figure.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="outside lower center",
        ncols=columns,
        frameon=False,
    )
