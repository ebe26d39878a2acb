"""Prediction intervals of a regression from the residuals of held-out rows (split conformal).

The half width is an absolute residual of held-out rows, the k-th smallest of n with
``k = ceil((n + 1) level)``.  A new row that is exchangeable with them is inside its interval with
probability ``level`` or more, for any distribution and any model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, Self

import numpy as np

LEVEL = 0.9
# Ranks that exceed an integer by less are that integer.
ROUNDING = 1e-9


@dataclass(frozen=True)
class PredictionInterval:
    """Prediction intervals of equal width around predictions.

    Attributes
    ----------
    level : float
        The probability that a new row is inside, at least.
    half_width : float
        Half of the width, in the units of the target.
    n_rows : int
        Number of held-out rows from which it was computed.
    """

    level: float
    half_width: float
    n_rows: int

    @classmethod
    def from_residuals(cls, residuals: np.ndarray, level: float = LEVEL) -> Self | None:
        """Return the interval of held-out residuals, None if there are too few for the level.

        Examples
        --------
        >>> PredictionInterval.from_residuals(np.array([-3.0, 1.0, 2.0, -4.0]), 0.6)
        PredictionInterval(level=0.6, half_width=3.0, n_rows=4)
        >>> PredictionInterval.from_residuals(np.ones(8)) is None
        True
        """
        rank = conformal_rank(len(residuals), level)
        if rank > len(residuals):
            return None
        width = np.partition(np.abs(residuals), rank - 1)[rank - 1]
        return cls(level, float(width), len(residuals))

    def as_dict(self) -> dict[str, Any]:
        """Return the interval as plain data."""
        return asdict(self)

    @property
    def n_beyond(self) -> int:
        """The number of held-out rows that it may leave outside: n - k."""
        return self.n_rows - conformal_rank(self.n_rows, self.level)

    def limits(self, predicted: np.ndarray, *, positive: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and upper limits; those of a ``positive`` target are not below 0."""
        low = predicted - self.half_width
        return np.maximum(low, 0.0) if positive else low, predicted + self.half_width

    def is_outside(self, actual: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Return which targets are outside the interval around their prediction."""
        return np.abs(actual - predicted) > self.half_width


def conformal_rank(n: int, level: float) -> int:
    """Return the rank of the score that bounds new ones with probability ``level``.

    Examples
    --------
    >>> conformal_rank(99, 0.9), conformal_rank(8, 0.9)
    (90, 9)
    """
    return ceil((n + 1) * level - ROUNDING)
