"""Rows that are known again by numbers, without keeping them."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

_MOST = 16_384
_LARGEST = np.iinfo(np.uint32).max


def mark_rows(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return a number for each row, the same for the same values and label.

    ``X`` holds the rows as a model sees them, and 7 digits count, so that it does not matter how a
    file writes them.
    """
    import pandas as pd
    from pandas.util import hash_array, hash_pandas_object

    with np.errstate(over="ignore"):
        short = X.astype(np.float32)
    plain = np.where(np.isnan(short), np.nan, short) + 0.0  # one kind of NaN, and one of zero
    rows = hash_pandas_object(pd.DataFrame(plain), index=False).to_numpy()
    return ((rows ^ hash_array(y.astype(str).astype(object))) >> np.uint64(32)).astype(np.uint32)


def sketch(marks: np.ndarray) -> str:
    """Return the smallest marks: all rows of a small table, a sample of the distinct ones else."""
    return base64.b64encode(np.unique(marks)[:_MOST].astype("<u4").tobytes()).decode()


def share_known(marks: np.ndarray, sketched: str) -> float:
    """Return about which share of rows is among those of a sketch.

    Every row whose mark is up to the sketch's largest one would be in the sketch, were it known.

    Examples
    --------
    >>> rows = np.arange(40, dtype=np.uint32) ** 2
    >>> share_known(rows[10:50], sketch(rows)), share_known(rows + 2, sketch(rows))
    (1.0, 0.0)
    """
    known = np.frombuffer(base64.b64decode(sketched), dtype="<u4")
    reach = known.max() if len(known) == _MOST else _LARGEST
    tried = marks[marks <= reach]
    return float(np.isin(tried, known).mean()) if len(tried) else 0.0


def in_order(marks: np.ndarray) -> int:
    """Return a number by which rows in their order are known."""
    return zlib.crc32(marks.astype("<u4").tobytes())


def marks_of(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Return the marks of a table's rows for a fitted model."""
    from everystump.estimators.table import check_rows

    return mark_rows(np.asarray(check_rows(model, X), dtype=np.float64), y)
