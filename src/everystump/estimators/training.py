"""A fitted estimator and the table that it was fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.labels import class_numbers


def training_signs(fitted: Any, y: Any, n_rows: int, n_trained: int) -> np.ndarray:
    """Return the labels of the training rows as 1 and -1, or say why there are none."""
    if len(fitted.classes_) > 2:
        raise ValueError(
            f"fitted has {len(fitted.classes_)} classes, and the bounds are for two; fit one class "
            f"against the rest."
        )
    refuse_other_table(fitted, n_rows != n_trained)
    return 2.0 * class_numbers(y, fitted.classes_, n_rows) - 1.0


def refuse_other_table(fitted: Any, other: bool) -> None:
    """Raise if a table is not the one that was fitted to."""
    if other:
        raise ValueError(
            f"X and y must be the very table that {type(fitted).__name__} was fitted to, all rows "
            f"in their order."
        )
