"""One column of a user's table, from pandas, polars, pyarrow or NumPy: as floats or level codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from everystump._tables.column_errors import check_dtype, check_levels, not_numeric_error
from everystump._values import NUMBER, is_missing, value_kind

_CATEGORICAL = ("category", "categorical", "enum", "dictionary")
_TEXT = ("string", "large_string", "<u", ">u", "|u")
# Up to this many values, plain Python is faster than the dataframe library.
_FEW = 500


class LevelCodes(NamedTuple):
    """A column as indices into its own levels, -1 where a value is missing."""

    codes: np.ndarray
    levels: np.ndarray


def levels_kind(levels: np.ndarray) -> str:
    """Return the kind of levels, that of the first one; numbers if there are none."""
    return value_kind(levels.tolist()[0]) if len(levels) else NUMBER


def is_categorical(column: Any) -> bool:
    """Whether the dtype of a column is categorical or text."""
    return _dtype(column).startswith(_CATEGORICAL) or _is_text(column)


def contains_text(column: Any) -> bool:
    """Whether any value or level of a column is text."""
    if _dtype(column).startswith(_CATEGORICAL):
        return any(isinstance(level, str) for level in _codes(column).levels.tolist())
    if _dtype(column) == "object":
        return any(isinstance(value, str) for value in column)
    return _is_text(column)


def column_to_floats(column: Any, name: str) -> np.ndarray:
    """Return a column of numbers as floats, NaN where a value is missing.

    ``name`` is how error messages refer to the column.
    """
    check_dtype(column, name)
    if contains_text(column):
        raise not_numeric_error(column, name)
    try:
        if _is_polars(column):
            return column.cast(_polars().Float64).to_numpy()
        if hasattr(column, "to_numpy") and column.dtype != object:
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return _objects_to_floats(np.asarray(column))
    except Exception as error:
        raise not_numeric_error(column, name) from error


def column_to_codes(column: Any, name: str) -> LevelCodes:
    """Return a column as codes of its own levels; pandas categories keep their order."""
    check_dtype(column, name)
    try:
        coded = _codes(column)
    except Exception as error:
        raise not_numeric_error(column, name) from error
    check_levels(coded.levels, column, name)
    return coded


def _codes(column: Any) -> LevelCodes:
    if _is_polars(column):
        return _polars_codes(column)
    if isinstance(column, np.ndarray):
        return _array_codes(column, _is_present(column))
    if hasattr(column.dtype, "pyarrow_dtype"):
        return _arrow_codes(column)
    if len(column) <= _FEW and _is_text(column):
        return _codes(column.to_numpy(dtype=object))
    category = (column if hasattr(column, "cat") else column.astype("category")).cat
    return LevelCodes(category.codes.to_numpy(), np.asarray(category.categories))


def _polars_codes(column: Any) -> LevelCodes:
    pl = _polars()
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        present = column.is_not_null() & (column.is_not_nan() if column.dtype.is_float() else True)
        # The values that are present keep their type; with nulls, integers become floats.
        present_values = column.filter(present).to_numpy()
        return _array_codes(column.to_numpy(), present.to_numpy(), present_values)
    if len(column) <= _FEW:
        return _codes(_as_objects(column.to_list()))
    text = column.cast(pl.String)
    levels = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(levels)).to_physical().cast(pl.Int64).fill_null(-1)
    return LevelCodes(codes.to_numpy(), np.asarray(levels.to_list(), dtype=object))


def _arrow_codes(column: Any) -> LevelCodes:
    """Encode a pandas column backed by pyarrow; its dictionary may hold duplicates or nulls."""
    import pyarrow as pa

    cells = pa.array(column.array)
    if not pa.types.is_dictionary(cells.type):
        if pa.types.is_float16(cells.type):
            cells = cells.cast(pa.float32())  # pyarrow cannot encode half floats
        elif pa.types.is_string_view(cells.type):
            cells = cells.cast(pa.large_string())
        cells = cells.dictionary_encode()
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.unify_dictionaries().combine_chunks()
    if isinstance(cells, pa.ChunkedArray):  # without rows there is nothing to combine
        return LevelCodes(np.empty(0, dtype=np.int64), np.empty(0, dtype=object))
    positions = cells.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    values = cells.dictionary.to_pylist()
    distinct = dict.fromkeys(value for value in values if not is_missing(value))
    if not cells.type.ordered and len({value_kind(value) for value in distinct}) == 1:
        distinct = dict.fromkeys(sorted(distinct))
    index = {level: k for k, level in enumerate(distinct)}
    codes = [-1 if is_missing(value) else index[value] for value in values]
    return LevelCodes(np.array([*codes, -1])[positions], _as_objects(index))


def _array_codes(
    values: np.ndarray, is_present: np.ndarray, present_values: np.ndarray | None = None
) -> LevelCodes:
    """Encode an array; ``present_values`` are its present values if ``values`` is inexact."""
    codes = np.full(len(values), -1)
    cells = values[is_present] if present_values is None else present_values
    if cells.dtype.kind not in "OU":
        levels, codes[is_present] = np.unique(cells, return_inverse=True)
        return LevelCodes(codes, levels)
    cells = cells.tolist()
    distinct = dict.fromkeys(cells)  # keeps their order, unlike a set
    if len({value_kind(cell) for cell in distinct}) > 1:
        return LevelCodes(codes, _as_objects(distinct))  # rejected by check_levels
    index = {level: k for k, level in enumerate(sorted(distinct))}
    codes[is_present] = np.fromiter((index[cell] for cell in cells), np.int64, len(cells))
    return LevelCodes(codes, _as_objects(index))


def _as_objects(cells: Iterable) -> np.ndarray:
    """Return cells of any type as a one-dimensional array of objects."""
    cells = list(cells)
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


def _is_present(values: np.ndarray) -> np.ndarray:
    if values.dtype == object:
        return np.array([not is_missing(value) for value in values.tolist()], dtype=bool)
    return values == values


def _objects_to_floats(values: np.ndarray) -> np.ndarray:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        cells = [np.nan if is_missing(value) else value for value in values.tolist()]
        return np.fromiter(cells, np.float64, len(cells))


def _dtype(column: Any) -> str:
    return str(column.dtype).lower()


def _is_polars(column: Any) -> bool:
    return hasattr(column, "to_physical")


def _polars() -> Any:
    import polars

    return polars


def _is_text(column: Any) -> bool:
    """Whether a column contains text; for objects, whether the first present one is text."""
    dtype = _dtype(column)
    if dtype == "object":
        return isinstance(next((v for v in column if not is_missing(v)), None), str)
    return dtype == "str" or dtype.startswith(_TEXT)
