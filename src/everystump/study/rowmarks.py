"""Tables and rows that are known again by numbers, without keeping them."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

_SKETCH = 512
_LARGEST = np.iinfo(np.uint64).max


def mark_rows(X: Any, labels: np.ndarray) -> np.ndarray:
    """Return a number for each row, the same for the same values and label."""
    from pandas.util import hash_array, hash_pandas_object

    rows = hash_pandas_object(X, index=False).to_numpy()
    return rows ^ hash_array(labels.astype(object))


def mark_table(marks: np.ndarray) -> list[int]:
    """Return two numbers by which a table is known: in any order of its rows, and in this one."""
    return [int(marks.sum(dtype=np.uint64)), zlib.crc32(marks.tobytes())]


def sketch(marks: np.ndarray) -> list[int]:
    """Return the smallest marks: a sample of the distinct rows that another table's can be met in.

    Examples
    --------
    >>> rows = np.arange(40, dtype=np.uint64) ** 2
    >>> share_known(rows[10:50], sketch(rows)), share_known(rows + 2, sketch(rows))
    (1.0, 0.0)
    """
    return np.unique(marks)[:_SKETCH].tolist()


def share_known(marks: np.ndarray, sketched: list[int]) -> float:
    """Return about which share of rows is among those of a sketch.

    Every row whose mark is up to the sketch's largest one would be in the sketch, were it known.
    """
    known = np.array(sketched, dtype=np.uint64)
    reach = known.max() if len(known) == _SKETCH else _LARGEST
    tried = marks[marks <= reach]
    return float(np.isin(tried, known).mean()) if len(tried) else 0.0
