"""Plots in the style of Sugiyama (2015, chapter 30): decision regions and samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump._experiments.sugiyama.simulation import AXIS, N_TRAIN

# As in the book's MATLAB code: magenta where the vote is -1, cyan where it is 1.
REGION_COLORS = ((1.0, 0.7, 1.0), (0.7, 1.0, 1.0))
_AREA = 30.0
_MIN_AREA, _MAX_AREA = 3.0, 400.0


def one_panel(plotted: dict[str, Any], vote: Sequence[int]) -> Any:
    """Plot the samples over the regions of one vote."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 4.8), layout="constrained")
    _panel(figure.subplots(), plotted, vote, "")
    return figure


def seven_panels(
    plotted: dict[str, Any], method: str, titles: Sequence[str], *, weighted: bool
) -> Any:
    """Plot the first six stumps of an ensemble in two rows, and its vote in a large panel below.

    Parameters
    ----------
    plotted : dict
        The contents of the plot, as stored by `simulation.run_task` in run 0.
    method : str
        Name of the ensemble.
    titles : sequence of str
        Seven titles, prefixed with ``(a)`` to ``(g)``.
    weighted : bool
        Whether the marker size of a sample in the small panels is its weight in that round.

    Returns
    -------
    matplotlib.figure.Figure
        Seven panels.
    """
    from matplotlib.figure import Figure

    ensemble = plotted[method]
    figure = Figure(figsize=(8.4, 11.6), layout="constrained")
    grid = figure.add_gridspec(4, 6)
    for i, vote in enumerate(ensemble["stumps"]):
        row, column = divmod(i, 3)
        ax = figure.add_subplot(grid[row, 2 * column : 2 * column + 2])
        area = np.array(ensemble["weights"][i]) * N_TRAIN * _AREA if weighted else None
        _panel(ax, plotted, vote, f"({'abcdef'[i]}) {titles[i]}", area)
    _panel(figure.add_subplot(grid[2:, 1:5]), plotted, ensemble["vote"], f"(g) {titles[-1]}")
    return figure


def _panel(
    ax: Any,
    plotted: dict[str, Any],
    vote: Sequence[int],
    title: str,
    area: np.ndarray | None = None,
) -> None:
    """Plot one panel; ``area`` is the marker area of each sample."""
    X, y = np.array(plotted["rows"]), np.array(plotted["labels"])
    area = np.full(len(y), _AREA) if area is None else np.clip(area, _MIN_AREA, _MAX_AREA)
    regions = np.reshape(vote, (len(AXIS), len(AXIS)))
    ax.contourf(AXIS, AXIS, regions, levels=[-1.5, 0, 1.5], colors=REGION_COLORS)
    if regions.min() < regions.max():
        ax.contour(AXIS, AXIS, regions, levels=[0], colors="black", linewidths=0.8)
    positive, negative = y == 1, y == -1
    ax.scatter(
        *X[positive].T, s=area[positive], facecolors="none", edgecolors="blue", linewidths=1.0
    )
    ax.scatter(*X[negative].T, s=area[negative], marker="x", color="red", linewidths=1.0)
    ax.set(xlim=(-3, 3), ylim=(-3, 3), xticks=range(-3, 4), yticks=range(-3, 4))
    ax.set_aspect("equal")
    ax.set_title(title, fontsize=10)
    ax.tick_params(labelsize=8)
