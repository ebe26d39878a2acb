"""Labels as users have them, of pandas, polars, NumPy or lists, as one array of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._tables.column import is_missing


def read_labels(y: Any) -> Any:
    """Return labels as an array of NumPy's own types, or say which of them is missing.

    What scikit-learn reads and checks by itself, it still does.

    Examples
    --------
    >>> read_labels(np.array(["a", "b"], dtype=np.dtypes.StringDType()))
    array(['a', 'b'], dtype='<U1')
    """
    if hasattr(getattr(y, "dtype", None), "na_value") and hasattr(y, "isna"):
        return _of_extension(y)
    cells = np.asarray(y)
    if cells.ndim != 1:
        return y
    if cells.dtype.kind == "T":
        cells = cells.astype(object)
        _check_not_missing(cells)
        return cells.astype(str)
    if cells.dtype == object:
        _check_not_missing(cells)
    if cells.dtype.kind == "f" and np.isnan(cells).any():
        _refuse(float("nan"), int(np.flatnonzero(np.isnan(cells))[0]))
    return y


def _of_extension(y: Any) -> np.ndarray:
    """Return labels of a pandas dtype that NumPy does not have."""
    missing = np.flatnonzero(np.asarray(y.isna()))
    if len(missing):
        _refuse(None, int(missing[0]))
    numbers = getattr(y.dtype, "numpy_dtype", None)
    if numbers is not None and numbers.kind in "iufb":
        return y.to_numpy(dtype=numbers)
    cells = np.asarray(y)
    return np.asarray(cells.tolist()) if cells.dtype == object else cells


def _check_not_missing(cells: np.ndarray) -> None:
    for row, label in enumerate(cells.tolist()):
        if is_missing(label):
            _refuse(label, row)


def _refuse(label: Any, row: int) -> None:
    raise ValueError(
        f"y: the label of row {row} is missing ({label!r}; y contains NaN or None), and every row "
        f"needs one; drop these rows, or give them a class of their own."
    )
