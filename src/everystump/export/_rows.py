"""Convert rows to a matrix of numbers, for the scorer of JSON documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from everystump._values import is_missing

_TO_LIST = ("to_list", "tolist", "to_pylist")


def rows_to_matrix(features: Sequence[Mapping[str, Any]], rows: Any) -> np.ndarray:
    """Return rows as numbers, (n_rows, n_features).

    Levels are indices, -1 if unknown; missing values are NaN.  ``features`` are those of a
    document; ``rows`` is a frame, or has dicts by name or lists in the order of the features.
    """
    names = [feature["name"] for feature in features]
    if hasattr(rows, "collect_schema") and hasattr(rows, "collect"):
        raise TypeError("rows is a lazy frame without data; pass rows.collect().")
    if hasattr(rows, "columns") or hasattr(rows, "column_names"):
        columns = _frame_columns(names, rows)
    else:
        columns = _row_columns(names, rows)
    return np.column_stack(
        [_to_numbers(feature, cells) for feature, cells in zip(features, columns, strict=True)]
    )


def _frame_columns(names: Sequence[str], frame: Any) -> list[list]:
    """Return the cells of the columns with these names; other columns are ignored."""
    columns = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    by_name: dict[str, Any] = {}
    for column in columns:
        if str(column) in by_name and str(column) in names:
            raise ValueError(f"rows has two columns named {str(column)!r}; rename one of them.")
        by_name[str(column)] = column
    absent = [name for name in names if name not in by_name]
    if absent:
        raise ValueError(
            f"rows has no column {absent[0]!r}, which is a feature of the document; add it, with "
            f"None where it is missing."
        )
    return [_cells(frame[by_name[name]]) for name in names]


def _cells(column: Any) -> list:
    method = next((name for name in _TO_LIST if hasattr(column, name)), None)
    if method is None:
        raise TypeError(
            f"rows has columns of type {type(column).__name__}; pass a pandas or polars frame, or "
            f"a list of rows."
        )
    return getattr(column, method)()


def _row_columns(names: Sequence[str], rows: Any) -> list[list]:
    """Return the columns of rows that are dicts by name, or lists in the order of the features."""
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        raise TypeError(
            f"rows is of type {type(rows).__name__}; pass a list of rows, each a dict or a list, "
            f"or a frame."
        )
    if hasattr(rows, "toarray"):
        raise TypeError("rows is sparse, which is not supported; pass rows.toarray().")
    each = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
    features = dict.fromkeys(names)
    ordered = [_in_order(features, k, row) for k, row in enumerate(each)]
    return [[row[d] for row in ordered] for d in range(len(names))]


def _in_order(names: Mapping[str, None], k: int, row: Any) -> list:
    """Return the cells of a row in the order of the features."""
    if isinstance(row, Mapping):
        unknown = [key for key in row if key not in names]
        if unknown:
            raise ValueError(
                f"rows[{k}] has the key {unknown[0]!r}, which is not a feature of the document; "
                f"remove it."
            )
        absent = [name for name in names if name not in row]
        if absent:
            raise ValueError(f"rows[{k}] lacks {absent[0]!r}; add it, as None if it is missing.")
        return [row[name] for name in names]
    is_sized = hasattr(row, "__len__") and getattr(row, "ndim", 1) == 1
    if not is_sized or isinstance(row, str | bytes | Set):
        raise TypeError(
            f"rows[{k}]={row!r} is not a row; pass a list of rows, each a dict or a list, or a "
            f"frame."
        )
    if len(row) != len(names):
        raise ValueError(
            f"rows[{k}] has {len(row)} values, but the document has {len(names)} features; pass "
            f"one value per feature."
        )
    return list(row)


def _to_numbers(feature: Mapping[str, Any], cells: Sequence) -> np.ndarray:
    """Return a column as numbers, or as indices of its levels; NaN if missing."""
    levels = feature.get("levels")
    is_text = levels is not None and len(levels) > 0 and isinstance(levels[0], str)
    accepted = (str,) if is_text else (str, Real) if levels == [] else (Real,)
    values = [_value(cell, k, feature["name"], accepted) for k, cell in enumerate(cells)]
    if levels is None:
        return np.array(values, dtype=np.float64)
    index = {level if is_text else float(level): float(n) for n, level in enumerate(levels)}
    return np.array([v if v != v else index.get(v, -1.0) for v in values], dtype=np.float64)


def _value(cell: Any, k: int, name: str, accepted: tuple[type, ...]) -> Any:
    """Return a cell as text or as a number, NaN if it is missing or not finite."""
    if is_missing(cell):
        return np.nan
    if isinstance(cell, str) and str in accepted:
        return str(cell)
    is_number = isinstance(cell, Real | Decimal | np.bool_) and not isinstance(cell, np.timedelta64)
    if is_number and Real in accepted:
        value = _to_float(cell)
        return value if np.isfinite(value) else np.nan
    kind = "text" if accepted == (str,) else "a number"
    raise ValueError(
        f"rows[{k}] has {cell!r} for {name!r}, which must be {kind}; convert it, or pass None if "
        f"it is missing."
    )


def _to_float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return np.inf
