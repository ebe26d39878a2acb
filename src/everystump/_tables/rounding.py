"""A warning about integers too large for floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._core.sparse import SparseTable
from everystump._warnings import warn_user

_MAX_EXACT = 2**53


def warn_if_matrix_rounded(given: Any, floats: Any) -> None:
    """Warn of each column of an array or sparse matrix whose integers were rounded.

    Parameters
    ----------
    given : ndarray or sparse matrix of shape (n_rows, n_features)
        The user's table.
    floats : ndarray or SparseTable of shape (n_rows, n_features)
        The converted table.
    """
    if given.dtype not in (np.int64, np.uint64):
        return
    columns: Any = range(given.shape[1])
    if isinstance(floats, SparseTable):
        given = SparseTable(given.tocsc())
        columns = np.unique(floats.csr.indices[np.abs(floats.csr.data) >= _MAX_EXACT])
    elif np.abs([floats.min(), floats.max()]).max() < _MAX_EXACT:
        return
    for d in columns:
        warn_if_rounded(given[:, d], floats[:, d], str(d))


def warn_if_rounded(column: Any, floats: np.ndarray, name: str) -> None:
    """Warn if integers were rounded when their column was converted to floats.

    Parameters
    ----------
    column : column or ndarray of shape (n_rows,)
        The column in the user's table.
    floats : ndarray of shape (n_rows,)
        The converted column, NaN where a value is missing.
    name : str
        How the warning refers to the column.
    """
    with np.errstate(invalid="ignore"):  # signaling NaN
        largest = np.fmax.reduce(np.abs(floats), initial=0.0)
    if not largest >= _MAX_EXACT:
        return
    example = _rounded_integer(np.asarray(_drop_missing(column)))
    if example is not None:
        warn_user(
            f"X: column {name} has integers beyond 2**53, such as {example}, which are rounded to "
            f"floats, so that neighboring ones become equal; subtract a constant from the column, "
            f"convert it to text if it is an identifier, or drop it."
        )


def _drop_missing(column: Any) -> Any:
    if hasattr(column, "drop_nulls"):
        return column.drop_nulls()
    return column.dropna() if hasattr(column, "dropna") else column


def _rounded_integer(cells: np.ndarray) -> int | None:
    """Return an integer that differs from its float, None if there is none."""
    if cells.dtype == object:
        integers = (int(cell) for cell in cells.tolist() if isinstance(cell, int | np.integer))
        return next((cell for cell in integers if int(float(cell)) != cell), None)
    if cells.dtype.kind not in "iu":
        return None
    floats = cells.astype(np.float64)
    too_large = floats >= 2.0 ** np.iinfo(cells.dtype).max.bit_length()
    back = np.where(too_large, 0.0, floats).astype(cells.dtype)
    odd = np.flatnonzero(too_large | (back != cells))
    return int(cells[odd[0]]) if len(odd) else None
