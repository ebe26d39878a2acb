"""Rows of users as a matrix of numbers, for the scorer of JSON documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

_LISTS = ("to_list", "tolist", "to_pylist")


def read_rows(features: Sequence[Mapping[str, Any]], rows: Any) -> np.ndarray:
    """Return rows as numbers, (n_rows, n_features): those of levels, -1 if unknown, NaN if missing.

    ``features`` are those of a document; ``rows`` a frame, or rows by name or in order.
    """
    names = [feature["name"] for feature in features]
    if hasattr(rows, "collect_schema") and hasattr(rows, "collect"):
        raise TypeError("rows is a lazy frame, whose rows are not there yet; pass rows.collect().")
    if hasattr(rows, "columns") or hasattr(rows, "column_names"):
        columns = _of_frame(names, rows)
    else:
        columns = _of_rows(names, rows)
    return np.column_stack(
        [_numbers(feature, cells) for feature, cells in zip(features, columns, strict=True)]
    )


def _of_frame(names: Sequence[str], frame: Any) -> list[list]:
    """Return the cells of the columns with these names, whatever the frame holds beside."""
    given = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    found: dict[str, list] = {}
    for column in given:
        if str(column) in found and str(column) in names:
            raise ValueError(f"rows has two columns called {str(column)!r}; rename one of them.")
        found[str(column)] = [column]
    absent = [name for name in names if name not in found]
    if absent:
        raise ValueError(
            f"rows has no column {absent[0]!r}, which is a feature of the document; add it, with "
            f"None where it is missing."
        )
    return [_cells(frame[found[name][0]]) for name in names]


def _cells(column: Any) -> list:
    as_list = next((name for name in _LISTS if hasattr(column, name)), None)
    if as_list is None:
        raise TypeError(
            f"rows has columns of the type {type(column).__name__}; pass a frame of pandas or "
            f"polars, or a list of rows."
        )
    return getattr(column, as_list)()


def _of_rows(names: Sequence[str], rows: Any) -> list[list]:
    """Return the columns of rows that are dicts by name, or lists in the order of the features."""
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        raise TypeError(
            f"rows is of the type {type(rows).__name__}; pass a list of rows, each a dict or a "
            f"list, or a frame."
        )
    if hasattr(rows, "toarray"):
        raise TypeError("rows is sparse, which this scorer does not read; pass rows.toarray().")
    each = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
    known = dict.fromkeys(names)
    found = [_in_order(known, k, row) for k, row in enumerate(each)]
    return [[row[d] for row in found] for d in range(len(names))]


def _in_order(names: Mapping[str, None], k: int, row: Any) -> list:
    """Return the cells of a row in the order of the features."""
    if isinstance(row, Mapping):
        odd = [key for key in row if key not in names]
        if odd:
            raise ValueError(
                f"rows[{k}] has the key {odd[0]!r}, which is no feature of the document; leave it "
                f"out."
            )
        absent = [name for name in names if name not in row]
        if absent:
            raise ValueError(f"rows[{k}] lacks {absent[0]!r}; give it, as None if it is missing.")
        return [row[name] for name in names]
    sized = hasattr(row, "__len__") and getattr(row, "ndim", 1) == 1
    if not sized or isinstance(row, str | bytes | Set):
        raise TypeError(
            f"rows[{k}]={row!r} is no row; pass a list of rows, each a dict or a list, or a frame."
        )
    if len(row) != len(names):
        raise ValueError(
            f"rows[{k}] has {len(row)} values, and the document has {len(names)} features; give "
            f"one value for each."
        )
    return list(row)


def _numbers(feature: Mapping[str, Any], cells: Sequence) -> np.ndarray:
    """Return a column as numbers: those of its levels if it has any, NaN if missing."""
    levels = feature.get("levels")
    of_text = levels is not None and len(levels) > 0 and isinstance(levels[0], str)
    wanted = (str,) if of_text else (str, Real) if levels == [] else (Real,)
    values = [_value(cell, k, feature["name"], wanted) for k, cell in enumerate(cells)]
    if levels is None:
        return np.array(values, dtype=np.float64)
    number = {level if of_text else float(level): float(n) for n, level in enumerate(levels)}
    return np.array([v if v != v else number.get(v, -1.0) for v in values], dtype=np.float64)


def _value(cell: Any, k: int, name: str, wanted: tuple[type, ...]) -> Any:
    """Return a cell as text or as a number, NaN if it is missing or not finite."""
    if _is_missing(cell):
        return np.nan
    if isinstance(cell, str) and str in wanted:
        return str(cell)
    is_number = isinstance(cell, Real | Decimal | np.bool_) and not isinstance(cell, np.timedelta64)
    if is_number and Real in wanted:
        value = _as_float(cell)
        return value if np.isfinite(value) else np.nan
    kind = "text" if wanted == (str,) else "a number"
    raise ValueError(
        f"rows[{k}] has {cell!r} for {name!r}, which must be {kind}; turn it into that, or give "
        f"None if it is missing."
    )


def _as_float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return np.inf


def _is_missing(cell: Any) -> bool:
    """Tell whether a cell is None, NaN, or what frames have for them."""
    if cell is None or isinstance(cell, str):
        return cell is None
    try:
        return bool(cell != cell)
    except (ArithmeticError, TypeError, ValueError):  # pandas.NA is neither true nor false
        return not hasattr(cell, "__len__")
