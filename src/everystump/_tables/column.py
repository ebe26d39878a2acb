"""One column of a user's table, of pandas, polars or NumPy: as numbers, or as codes of levels."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from everystump._tables.arrow import dictionary_encode, is_arrow_column

NUMBERS, TEXT, OTHER = "number", "text", "other"

_LEVELS = ("category", "categorical", "enum", "dictionary")
_TEXTS = ("string", "large_string", "<u", ">u", "|u")
_TIMES = ("date", "time", "duration", "timedelta", "<m8", ">m8")
_NEITHER = (
    *("complex", "list", "array", "struct", "binary", "interval", "period"),
    *("large_binary", "large_list", "fixed_size", "map<", "dense_union", "sparse_union", "month"),
)
# Up to so many cells plain Python is quicker than what frames do.
_FEW = 500


class LevelCodes(NamedTuple):
    """A column as the numbers of its own levels, -1 where a value is missing."""

    codes: np.ndarray
    levels: np.ndarray


def kind_of(cells: np.ndarray) -> str:
    """Return what the first of some levels or cells is."""
    return _kind(cells.tolist()[0]) if len(cells) else NUMBERS


def is_category(column: Any) -> bool:
    """Tell whether a column is a category by its dtype: one of levels, or text."""
    return _dtype(column).startswith(_LEVELS) or _is_text(column)


def holds_text(column: Any) -> bool:
    """Tell whether a column holds any text, as it is or as levels."""
    if _dtype(column).startswith(_LEVELS):
        return any(isinstance(level, str) for level in _codes(column).levels.tolist())
    if _dtype(column) == "object":
        return any(isinstance(value, str) for value in column)
    return _is_text(column)


def column_to_floats(column: Any, shown: str) -> np.ndarray:
    """Return a column of numbers, NaN where a value is missing.

    ``shown`` is how errors speak of the column.
    """
    _refuse_dtype(column, shown)
    if holds_text(column):
        raise _not_numbers(column, shown)
    try:
        if _is_polars(column):
            return column.cast(_polars().Float64).to_numpy()
        if hasattr(column, "to_numpy") and column.dtype != object:
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return _cells_as_numbers(np.asarray(column))
    except Exception as error:
        raise _not_numbers(column, shown) from error


def column_to_codes(column: Any, shown: str) -> LevelCodes:
    """Return a column as the numbers of its own levels; pandas' categories keep their order."""
    _refuse_dtype(column, shown)
    try:
        coded = _codes(column)
    except Exception as error:
        raise _not_numbers(column, shown) from error
    if coded.levels.dtype.kind in "mM":
        raise _holds_times(column, shown)
    _refuse_mixture(coded.levels, shown)
    if np.inf in coded.levels or -np.inf in coded.levels:
        raise ValueError(
            f"X contains infinity in column {shown}, a category; replace it by a number of its own "
            f"or by NaN."
        )
    return coded


def _codes(column: Any) -> LevelCodes:
    if _is_polars(column):
        return _polars_codes(column)
    if isinstance(column, np.ndarray):
        return _array_codes(column, _is_there(column))
    if is_arrow_column(column):
        return _arrow_codes(column)
    if len(column) <= _FEW and _is_text(column):
        return _codes(column.to_numpy(dtype=object))
    kept = (column if hasattr(column, "cat") else column.astype("category")).cat
    return LevelCodes(kept.codes.to_numpy(), np.asarray(kept.categories))


def _polars_codes(column: Any) -> LevelCodes:
    pl = _polars()
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        there = column.is_not_null() & (column.is_not_nan() if column.dtype.is_float() else True)
        return _array_codes(column.to_numpy(), there.to_numpy(), column.filter(there).to_numpy())
    if len(column) <= _FEW:
        return _codes(_as_objects(column.to_list()))
    text = column.cast(pl.String)
    levels = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(levels)).to_physical().cast(pl.Int64).fill_null(-1)
    return LevelCodes(codes.to_numpy(), np.asarray(levels.to_list(), dtype=object))


def _arrow_codes(column: Any) -> LevelCodes:
    positions, values, ordered = dictionary_encode(column)
    known = dict.fromkeys(value for value in values if not is_missing(value))
    if not ordered and len({_kind(value) for value in known}) == 1:
        known = dict.fromkeys(sorted(known))
    number = {level: k for k, level in enumerate(known)}
    codes = [-1 if is_missing(value) else number[value] for value in values]
    return LevelCodes(np.array([*codes, -1])[positions], _as_objects(number))


def _array_codes(
    values: np.ndarray, is_there: np.ndarray, known: np.ndarray | None = None
) -> LevelCodes:
    """Code an array; ``known`` are the values that are there, if their array says more of them."""
    codes = np.full(len(values), -1)
    cells = values[is_there] if known is None else known
    if cells.dtype.kind not in "OU":
        levels, codes[is_there] = np.unique(cells, return_inverse=True)
        return LevelCodes(codes, levels)
    cells = cells.tolist()
    distinct = dict.fromkeys(cells)  # in their order, which a set would not keep
    if len({_kind(cell) for cell in distinct}) > 1:
        return LevelCodes(codes, _as_objects(distinct))  # whose mixture is refused
    number = {level: k for k, level in enumerate(sorted(distinct))}
    codes[is_there] = np.fromiter((number[cell] for cell in cells), np.int64, len(cells))
    return LevelCodes(codes, _as_objects(number))


def _as_objects(cells: Iterable) -> np.ndarray:
    """Return cells as an array of one dimension, whatever they are."""
    cells = list(cells)
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


def _is_there(values: np.ndarray) -> np.ndarray:
    if values.dtype == object:
        return np.array([not is_missing(value) for value in values.tolist()], dtype=bool)
    return values == values


def _cells_as_numbers(values: np.ndarray) -> np.ndarray:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        cells = [np.nan if is_missing(value) else value for value in values.tolist()]
        return np.fromiter(cells, np.float64, len(cells))


def _dtype(column: Any) -> str:
    """Return the name of a column's dtype in small letters."""
    return str(column.dtype).lower()


def _is_polars(column: Any) -> bool:
    return hasattr(column, "to_physical")


def _polars() -> Any:
    import polars

    return polars


def _is_text(column: Any) -> bool:
    """Tell whether a column holds text; of objects the first one that is there decides."""
    name = _dtype(column)
    if name == "object":
        return isinstance(next((v for v in column if not is_missing(v)), None), str)
    return name == "str" or name.startswith(_TEXTS)


def is_missing(value: Any) -> bool:
    """Tell whether a cell is None, NaN, or what a frame has for them."""
    if value is None or isinstance(value, str):
        return value is None
    try:
        return bool(value != value)
    except ArithmeticError:  # a signaling NaN of decimal
        return True
    except (TypeError, ValueError):  # pandas.NA is neither true nor false, an array is both
        return not hasattr(value, "__len__")


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return TEXT
    return NUMBERS if isinstance(value, Real | Decimal) else OTHER


def _refuse_dtype(column: Any, shown: str) -> None:
    """Raise if a column is of a type that is neither numbers nor text."""
    name = _dtype(column)
    if name.startswith(_TIMES):
        raise _holds_times(column, shown)
    if name.startswith(_NEITHER):
        raise ValueError(
            f"X: column {shown} is of type {column.dtype}, neither numbers nor text; turn it into "
            f"one of them, or drop it."
        )


def _holds_times(column: Any, shown: str) -> ValueError:
    return ValueError(
        f"X: column {shown} holds dates or times ({column.dtype}); turn it into numbers (days "
        f"since some day, hour of the day) or into text."
    )


def _refuse_mixture(levels: np.ndarray, shown: str) -> None:
    """Raise if the levels of a category are not all text or all numbers."""
    cells = levels.tolist()
    kinds = {_kind(cell) for cell in cells}
    if len(kinds) > 1 or OTHER in kinds:
        odd = next(cell for cell in cells if _kind(cell) != TEXT)
        raise TypeError(
            f"X holds {odd!r} in column {shown}, and each argument must be a string or a real "
            f"number, all of one kind; turn the column into text or into numbers."
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


def _not_numbers(column: Any, shown: str) -> Exception:
    """Return what to raise for a column that cannot be read."""
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    words = [value for value in values if isinstance(value, str)]
    if words:
        text = next((word for word in words if not _is_number(word)), words[0])
        if any(not isinstance(value, str) and not is_missing(value) for value in values):
            return ValueError(
                f"X has {text!r} in column {shown}, which holds numbers too; pass numbers there, "
                f"or text throughout."
            )
        return ValueError(
            f"X has {text!r} in column {shown}, where the model takes numbers; pass numbers there, "
            f"or fit it with text there."
        )
    there = [value for value in values if not is_missing(value)]
    odd = next((value for value in there if _kind(value) == OTHER), None)
    if odd is None and any(map(_is_too_large, there)):
        return ValueError(
            f"X holds a number beyond the largest float (1.8e308) in column {shown}; scale the "
            f"column, or turn it into text."
        )
    return TypeError(
        f"X holds {odd!r} in column {shown}, and each argument must be a string or a real number; "
        f"turn the column into text or into numbers, or drop it."
    )
