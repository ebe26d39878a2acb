"""Pictures in the manner of Sugiyama (2015, chapter 30): regions of the plane and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump._experiments.sugiyama import ROWS, SIDE

# The book's MATLAB: magenta where the vote is -1, cyan where it is 1.
REGIONS = ((1.0, 0.7, 1.0), (0.7, 1.0, 1.0))
_SIZE = 30.0
_LEAST_SIZE, _MOST_SIZE = 3.0, 400.0


def one_panel(shown: dict[str, Any], vote: Sequence[int]) -> Any:
    """Draw the rows on the regions of one vote."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 4.8), layout="constrained")
    _panel(figure.subplots(), shown, vote, "")
    return figure


def seven_panels(
    shown: dict[str, Any], method: str, titles: Sequence[str], *, weighted: bool
) -> Any:
    """Draw the first six stumps of an ensemble in two rows, and its vote in a large panel below.

    Parameters
    ----------
    shown : dict
        What `sugiyama.work` stores in run 0.
    method : str
        Which ensemble.
    titles : sequence of str
        Seven titles; ``(a)`` to ``(g)`` go before them.
    weighted : bool
        Whether the size of a row's mark in the small panels is its weight in that round.

    Returns
    -------
    matplotlib.figure.Figure
        Seven panels.
    """
    from matplotlib.figure import Figure

    ensemble = shown[method]
    figure = Figure(figsize=(8.4, 11.6), layout="constrained")
    grid = figure.add_gridspec(4, 6)
    places = [grid[i // 3, 2 * (i % 3) : 2 * (i % 3) + 2] for i in range(len(ensemble["stumps"]))]
    for i, (place, vote) in enumerate(zip(places, ensemble["stumps"], strict=True)):
        size = np.array(ensemble["weights"][i]) * ROWS * _SIZE if weighted else None
        _panel(figure.add_subplot(place), shown, vote, f"({'abcdef'[i]}) {titles[i]}", size)
    _panel(figure.add_subplot(grid[2:, 1:5]), shown, ensemble["vote"], f"(g) {titles[-1]}")
    return figure


def _panel(
    axes: Any,
    shown: dict[str, Any],
    vote: Sequence[int],
    title: str,
    size: np.ndarray | None = None,
) -> None:
    """Draw one panel; ``size`` is the area of each row's mark."""
    X, y = np.array(shown["rows"]), np.array(shown["labels"])
    area = np.full(len(y), _SIZE) if size is None else np.clip(size, _LEAST_SIZE, _MOST_SIZE)
    regions = np.reshape(vote, (len(SIDE), len(SIDE)))
    axes.contourf(SIDE, SIDE, regions, levels=[-1.5, 0, 1.5], colors=REGIONS)
    if regions.min() < regions.max():
        axes.contour(SIDE, SIDE, regions, levels=[0], colors="black", linewidths=0.8)
    up, down = y == 1, y == -1
    axes.scatter(*X[up].T, s=area[up], facecolors="none", edgecolors="blue", linewidths=1.0)
    axes.scatter(*X[down].T, s=area[down], marker="x", color="red", linewidths=1.0)
    axes.set(xlim=(-3, 3), ylim=(-3, 3), xticks=range(-3, 4), yticks=range(-3, 4))
    axes.set_aspect("equal")
    axes.set_title(title, fontsize=10)
    axes.tick_params(labelsize=8)
