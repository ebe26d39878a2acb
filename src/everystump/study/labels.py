"""Labels as files have them: numbers that may be whole, or text."""

from __future__ import annotations

import numpy as np


def labels_as_text(labels: np.ndarray) -> np.ndarray:
    """Return labels as text, whole numbers without a point."""
    return (whole(labels) if labels.dtype.kind == "f" else labels).astype(str)


def whole(numbers: np.ndarray) -> np.ndarray:
    """Return numbers as integers if they all are some that floats can tell apart."""
    integers = np.all(numbers == np.floor(numbers)) and np.all(np.abs(numbers) < 2**53)
    return numbers.astype(np.int64) if integers else numbers
