"""Training and test samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState


class Split(NamedTuple):
    """Training and test samples."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, model: Any) -> float:
        """Return the test error rate of a fitted model."""
        return float(np.mean(model.predict(self.X_test) != self.y_test))


def random_split(
    X: np.ndarray, y: np.ndarray, n_train: int, rng: RandomState, *, n_test: int | None = None
) -> Split:
    """Split at random into ``n_train`` training samples and ``n_test`` test samples.

    By default, all remaining samples are test samples.
    """
    train, rest = np.split(rng.permutation(len(y)), [n_train])
    test = rest[:n_test]
    return Split(X[train], y[train], X[test], y[test])
