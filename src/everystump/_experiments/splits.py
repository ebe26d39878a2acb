"""Rows to learn from and rows to test on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState


class Split(NamedTuple):
    """Rows to learn from and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, model: Any) -> float:
        """Return the share of the test rows that a fitted model gets wrong."""
        return float(np.mean(model.predict(self.X_test) != self.y_test))


def split_rows(
    X: np.ndarray, y: np.ndarray, n_learn: int, rng: RandomState, *, n_test: int | None = None
) -> Split:
    """Draw ``n_learn`` rows to learn from, and ``n_test`` of the others, or all, to test on."""
    order = rng.permutation(len(y))
    learn, rest = np.split(order, [n_learn])
    test = rest[:n_test]
    return Split(X[learn], y[learn], X[test], y[test])
