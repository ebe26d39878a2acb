"""Errors and warnings about columns that cannot be read as numbers or categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._core.sparse import SparseTable
from everystump._values import OTHER, TEXT, is_missing, value_kind
from everystump._warnings import warn_user

_TIMES = ("date", "time", "duration", "timedelta", "period", "<m8", ">m8")
_UNSUPPORTED = (
    *("complex", "list", "array", "struct", "binary", "interval"),
    *("large_binary", "large_list", "fixed_size", "map<", "dense_union", "sparse_union", "month"),
)
_MAX_EXACT = 2**53


def check_dtype(column: Any, name: str) -> None:
    """Check that a column has a dtype for numbers, text or objects."""
    if has_times(column):
        raise datetime_error(column, name)
    if str(column.dtype).lower().startswith(_UNSUPPORTED):
        raise ValueError(
            f"X: column {name} is of type {column.dtype}, neither numbers nor text; convert it to "
            f"one of them, or drop it."
        )


def has_times(column: Any) -> bool:
    """Whether a column has a dtype for dates, times or durations."""
    return str(column.dtype).lower().startswith(_TIMES)


def check_levels(levels: np.ndarray, column: Any, name: str) -> None:
    """Check that the levels of a category are all text or all finite numbers."""
    if levels.dtype.kind in "mM":
        raise datetime_error(column, name)
    values = levels.tolist()
    kinds = {value_kind(value) for value in values}
    if len(kinds) > 1 or OTHER in kinds:
        example = next(value for value in values if value_kind(value) != TEXT)
        raise TypeError(
            f"X has {example!r} in column {name}, and each argument must be a string or a real "
            f"number, all of one kind; convert the column to text or to numbers."
        )
    if np.inf in levels or -np.inf in levels:
        raise ValueError(
            f"X contains infinity in column {name}, a category; replace it with a finite number or "
            f"NaN."
        )


def datetime_error(column: Any, name: str) -> ValueError:
    """Return the error for a column of dates or times."""
    return ValueError(
        f"X: column {name} contains dates or times ({column.dtype}); convert it to numbers (days "
        f"since some date, hour of the day) or to text."
    )


def not_numeric_error(column: Any, name: str) -> Exception:
    """Return the error for a column that cannot be converted to numbers."""
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    present = [value for value in values if not is_missing(value)]
    texts = [value for value in present if isinstance(value, str)]
    if texts:
        text = next((text for text in texts if not _is_number(text)), texts[0])
        start = f"X has {text!r} in column {name}"
        if len(texts) < len(present):
            return ValueError(
                f"{start}, which also contains numbers; pass only numbers or only text there."
            )
        return ValueError(
            f"{start}, where the model expects numbers; pass numbers there, or fit it with text."
        )
    example = next((value for value in present if value_kind(value) == OTHER), None)
    if example is None and any(map(_is_too_large, present)):
        return ValueError(
            f"X has a number beyond the largest float (1.8e308) in column {name}; scale the "
            f"column, or convert it to text."
        )
    return TypeError(
        f"X has {example!r} in column {name}, and each argument must be a string or a real number; "
        f"convert the column to text or to numbers, or drop it."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_too_large(value: Any) -> bool:
    try:
        float(value)
    except OverflowError:
        return True
    return False


def warn_if_matrix_rounded(matrix: Any, floats: Any) -> None:
    """Warn about each column of an array or sparse matrix whose integers were rounded."""
    if matrix.dtype not in (np.int64, np.uint64):
        return
    columns: Any = range(matrix.shape[1])
    if isinstance(floats, SparseTable):
        matrix = SparseTable(matrix.tocsc())
        columns = np.unique(floats.csr.indices[np.abs(floats.csr.data) >= _MAX_EXACT])
    elif np.abs([floats.min(), floats.max()]).max() < _MAX_EXACT:
        return
    for d in columns:
        warn_if_rounded(matrix[:, d], floats[:, d], str(d))


def warn_if_rounded(column: Any, floats: np.ndarray, name: str) -> None:
    """Warn if the integers of a user's column were rounded to ``floats``, NaN where missing."""
    with np.errstate(invalid="ignore"):  # signaling NaN
        largest = np.fmax.reduce(np.abs(floats), initial=0.0)
    if not largest >= _MAX_EXACT:
        return
    example = _rounded_integer(np.asarray(_drop_missing(column)))
    if example is not None:
        warn_user(
            f"X: column {name} has integers beyond 2**53, such as {example}, which are rounded to "
            f"floats, so that adjacent ones become equal; subtract a constant from the column, "
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
    restored = np.where(too_large, 0.0, floats).astype(cells.dtype)
    changed = np.flatnonzero(too_large | (restored != cells))
    return int(cells[changed[0]]) if len(changed) else None
