"""Whole numbers that floats cannot tell apart."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

_EXACT = 2**53


def warn_if_rounded(column: Any, numbers: np.ndarray, shown: str) -> None:
    """Warn if a column of whole numbers was rounded when it became floats.

    Parameters
    ----------
    column : column or ndarray of shape (n_rows,)
        The column as the user has it.
    numbers : ndarray of shape (n_rows,)
        The same as floats, NaN where a value is missing.
    shown : str
        How the warning speaks of the column.
    """
    with np.errstate(invalid="ignore"):  # signaling NaN
        largest = np.fmax.reduce(np.abs(numbers), initial=0.0)
    if not largest >= _EXACT:
        return
    example = _rounded(np.asarray(_without_missing(column)))
    if example is not None:
        warnings.warn(
            f"X: column {shown} holds integers beyond 2**53, such as {example}, which are rounded "
            f"to floats, so that neighboring ones become the same; subtract a constant from the "
            f"column, turn it into text if it names things, or drop it.",
            UserWarning,
            stacklevel=2,
        )


def _without_missing(column: Any) -> Any:
    if hasattr(column, "drop_nulls"):
        return column.drop_nulls()
    return column.dropna() if hasattr(column, "dropna") else column


def _rounded(cells: np.ndarray) -> int | None:
    """Return a whole number that its float is not."""
    if cells.dtype == object:
        whole = (int(cell) for cell in cells.tolist() if isinstance(cell, int | np.integer))
        return next((cell for cell in whole if int(float(cell)) != cell), None)
    if cells.dtype.kind not in "iu":
        return None
    floats = cells.astype(np.float64)
    too_large = floats >= 2.0 ** np.iinfo(cells.dtype).max.bit_length()
    back = np.where(too_large, 0.0, floats).astype(cells.dtype)
    odd = np.flatnonzero(too_large | (back != cells))
    return int(cells[odd[0]]) if len(odd) else None
