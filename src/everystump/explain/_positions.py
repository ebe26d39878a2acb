"""Positions of a feature's values on an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump._tables.frames import Feature
from everystump.explain._display import escape, truncate

_MAX_TICKS, _MAX_LENGTH = 12, 12
_GAP = 0.1  # between numbers and missing values, relative to the range of the numbers


def round_ticks(low: float, high: float) -> list[float]:
    """Return some round numbers from ``low`` to ``high``."""
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


@dataclass(frozen=True, eq=False)
class AxisPositions:
    """Positions of numbers, of levels side by side, and of missing values beyond them."""

    feature: Feature
    x: np.ndarray  # numbers, or indices of levels with -1 for unknown ones; NaN where missing

    def of_samples(self) -> np.ndarray:
        """Return the position of each sample."""
        return np.where(np.isnan(self.x), self.missing, self.x)

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest number; 0 if all are missing."""
        present = self.x[~np.isnan(self.x)]
        return (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)

    @property
    def missing(self) -> float:
        """The position of missing values."""
        if self.feature.levels is not None:
            return float(self.feature.n_levels)
        low, high = self.range
        return high + (_GAP * (high - low) or 1.0)

    def boundaries(self, threshold: float, level: int) -> list[float]:
        """Return the boundaries between the two sides of a stump; see `Stumps`."""
        if level >= 0:
            return [level - 0.5, level + 0.5]
        if np.isposinf(threshold):
            return [(self.range[1] + self.missing) / 2]
        return [float(threshold)]

    def ticks(self) -> tuple[list[float], list[str]] | None:
        """Return ticks and their labels; None for plain numbers, which need no labels."""
        has_missing = bool(np.isnan(self.x).any())
        if self.feature.levels is None and not has_missing:
            return None
        ticks = self._level_ticks() if self.feature.levels is not None else self._number_ticks()
        ticks += [(self.missing, "missing")] if has_missing else []
        return [position for position, _ in ticks], [label for _, label in ticks]

    def _level_ticks(self) -> list[tuple[float, str]]:
        levels: list[Any] = [] if self.feature.levels is None else self.feature.levels.tolist()
        step = -(-len(levels) // _MAX_TICKS) or 1
        ticks = [
            (float(k), escape(truncate(str(levels[k]), _MAX_LENGTH)))
            for k in range(0, len(levels), step)
        ]
        return [(-1.0, "unknown"), *ticks] if np.any(self.x < 0) else ticks

    def _number_ticks(self) -> list[tuple[float, str]]:
        if np.isnan(self.x).all():
            return []
        return [(tick, f"{tick:.6g}") for tick in round_ticks(*self.range)]
