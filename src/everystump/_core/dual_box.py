"""The quadratic dual terms of kernel machines, with the limits of the dual variables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Box(NamedTuple):
    """The quadratic dual terms of all rows: ``a - ridge a^2 / 2`` for ``low <= a <= high``."""

    ridge: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def is_linear(self) -> bool:
        """Whether there is no ridge: then the optimal ``a`` is discontinuous in the intercept."""
        return not self.ridge.any()

    @property
    def is_unbounded(self) -> bool:
        """Whether there are no limits, so that in general no dual variable is 0."""
        return bool(np.isneginf(self.low).all())
