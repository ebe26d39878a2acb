"""Loss functions of boosting against the margin (Sugiyama, Figs 30.12 and 30.13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from everystump._core.boosting.losses import BOOSTING_LOSSES
from everystump.explain._display import DASHED, TEXT, AxesDisplay, class_colors

_NAMES = {
    "exponential": "exponential (AdaBoost)",
    "mada": "mada (MadaBoost)",
    "logistic": "logistic (LogitBoost)",
}
_COLORS = dict(zip(_NAMES, class_colors(3), strict=True))


@dataclass
class LossesDisplay(AxesDisplay):
    """Loss functions against the margin, with the 0/1 loss that they approximate.

    Attributes
    ----------
    margin : ndarray of shape (n_points,)
        Margins ``m = y f(x)``.
    losses : dict of ndarray
        The values of each loss at these margins, by its name.
    figure_, ax_ : matplotlib Figure and Axes
        The plot, set by `plot`.

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
            The names of the losses.
        limits : (low, high), default=(-3, 3)
            The range of margins.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure by default.

        Returns
        -------
        LossesDisplay
            With ``figure_`` and ``ax_``.
        """
        unknown = [name for name in losses if name not in BOOSTING_LOSSES]
        if unknown:
            raise ValueError(
                f"losses: {unknown[0]!r} is unknown; use some of {sorted(BOOSTING_LOSSES)}."
            )
        margin = np.linspace(*limits, 601)
        values = {name: BOOSTING_LOSSES[name].value(margin) for name in losses}
        return cls(margin, values).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        zero_one = np.where(self.margin > 0, 0.0, 1.0)
        ax.step(self.margin, zero_one, color=TEXT, linewidth=1.2, linestyle=DASHED, label="0/1")
        for name, loss in self.losses.items():
            ax.plot(self.margin, loss, color=_COLORS[name], linewidth=1.8, label=_NAMES[name])
        ax.set_ylim(0, 4)
        ax.set_xlim(self.margin[0], self.margin[-1])
        ax.set_xlabel("margin m = y f(x)")
        ax.set_ylabel("loss")
        ax.legend(frameon=False, fontsize=9)
