"""Where the values of a feature stand on an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump._tables import Feature
from everystump.explain.names import shortened, verbatim

_MOST_TICKS, _LONGEST = 12, 12
_GAP = 0.1  # between numbers and what is missing, as a share of the numbers' range


def round_ticks(low: float, high: float) -> list[float]:
    """Return some round numbers from ``low`` to ``high``."""
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


@dataclass(frozen=True, eq=False)
class Places:
    """Numbers stand at themselves, levels side by side, and what is missing beyond them.

    Attributes
    ----------
    feature : Feature
        What the values are.
    x : ndarray of shape (n_rows,)
        Numbers, or the numbers of levels with -1 for unknown ones; NaN where missing.

    Examples
    --------
    >>> places = Places(Feature("size", np.array(["m", "xl"], dtype=object)), np.array([1, np.nan]))
    >>> places.of_rows(), places.ticks()
    (array([1., 2.]), ([0.0, 1.0, 2.0], ['m', 'xl', 'missing']))
    """

    feature: Feature
    x: np.ndarray

    def of_rows(self) -> np.ndarray:
        """Return where each row stands."""
        return np.where(np.isnan(self.x), self.missing, self.x)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number; 0 if there is none."""
        there = self.x[~np.isnan(self.x)]
        return (float(there.min()), float(there.max())) if len(there) else (0.0, 0.0)

    @property
    def missing(self) -> float:
        """Where a missing value stands."""
        if self.feature.levels is not None:
            return float(self.feature.n_levels)
        low, high = self.ends
        return high + (_GAP * (high - low) or 1.0)

    def cuts(self, threshold: float, level: int) -> list[float]:
        """Return what parts the two sides of a stump; see `everystump._core.boosting.Stumps`."""
        if level >= 0:
            return [level - 0.5, level + 0.5]
        if np.isposinf(threshold):
            return [(self.ends[1] + self.missing) / 2]
        return [float(threshold)]

    def ticks(self) -> tuple[list[float], list[str]] | None:
        """Return ticks with their labels; None if numbers speak for themselves."""
        is_missing = bool(np.isnan(self.x).any())
        if self.feature.levels is None and not is_missing:
            return None
        marks = self._level_marks() if self.feature.levels is not None else self._number_marks()
        marks += [(self.missing, "missing")] if is_missing else []
        return [place for place, _ in marks], [label for _, label in marks]

    def _level_marks(self) -> list[tuple[float, str]]:
        levels: list[Any] = [] if self.feature.levels is None else self.feature.levels.tolist()
        step = -(-len(levels) // _MOST_TICKS) or 1
        marks = [
            (float(k), verbatim(shortened(str(levels[k]), _LONGEST)))
            for k in range(0, len(levels), step)
        ]
        return [(-1.0, "unknown"), *marks] if np.any(self.x < 0) else marks

    def _number_marks(self) -> list[tuple[float, str]]:
        if np.isnan(self.x).all():
            return []
        return [(tick, f"{tick:.6g}") for tick in round_ticks(*self.ends)]
