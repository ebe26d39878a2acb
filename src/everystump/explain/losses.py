"""The losses of boosting against the margin (Sugiyama, Figs 30.12 and 30.13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._core.boosting import BOOSTING_LOSSES

_NAMES = {
    "exponential": "exponential (AdaBoost)",
    "mada": "mada (MadaBoost)",
    "logistic": "logistic (LogitBoost)",
}
_COLORS = {"exponential": "#1f5fa8", "mada": "#c2571a", "logistic": "#2f8f5b"}
_TEXT = "#555555"


@dataclass
class LossesDisplay:
    """What a margin costs under each loss, with the 0/1 loss that they stand in for.

    Attributes
    ----------
    margin : ndarray of shape (n_points,)
        Margins ``m = y f(x)``.
    losses : dict of ndarray
        The loss at each, by the loss's name.
    figure_, ax_ : matplotlib Figure and Axes
        The picture, once drawn.

    Examples
    --------
    >>> display = LossesDisplay.from_losses(["exponential"])
    >>> display.ax_.get_xlabel()
    'margin m = y f(x)'
    """

    margin: np.ndarray
    losses: dict[str, np.ndarray]

    @classmethod
    def from_losses(
        cls,
        losses: Sequence[str] = ("exponential", "mada", "logistic"),
        *,
        limits: tuple[float, float] = (-3.0, 3.0),
        ax: Any = None,
    ) -> Self:
        """Draw losses of `StumpBoostingClassifier`.

        Parameters
        ----------
        losses : sequence of str
            Which ones, by name.
        limits : (low, high), default=(-3, 3)
            The margins to draw.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        LossesDisplay
            With ``figure_`` and ``ax_``.
        """
        unknown = [name for name in losses if name not in BOOSTING_LOSSES]
        if unknown:
            raise ValueError(
                f"losses: {unknown[0]!r} is not known; use some of {sorted(BOOSTING_LOSSES)}."
            )
        margin = np.linspace(*limits, 601)
        values = {name: BOOSTING_LOSSES[name].value(margin) for name in losses}
        return cls(margin, values).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the losses on ``ax`` or on a new figure."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(5.4, 3.8), layout="constrained")
        wrong = np.where(self.margin > 0, 0.0, 1.0)
        ax.step(self.margin, wrong, color=_TEXT, linewidth=1.2, linestyle=(0, (4, 3)), label="0/1")
        for name, loss in self.losses.items():
            ax.plot(self.margin, loss, color=_COLORS[name], linewidth=1.8, label=_NAMES[name])
        ax.set_ylim(0, 4)
        ax.set_xlim(self.margin[0], self.margin[-1])
        ax.set_xlabel("margin m = y f(x)")
        ax.set_ylabel("loss")
        ax.legend(frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
