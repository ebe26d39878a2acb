"""Users' tables: frames, arrays and lists become one matrix of numbers and a record of features.

Each column is read on its own, so that a frame of mixed columns is never copied to objects.  In
the matrix a category is the number of its level in ``Feature.levels``, -1 for an unknown one, and
a missing value is NaN: what every room above this one works on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

_NUMBERS = "number"
_TEXT = "text"


@dataclass(frozen=True, eq=False)
class Feature:
    """What a column of the training table is.

    Attributes
    ----------
    name : str or None
        Its name, if the table had any.
    levels : ndarray or None
        The levels of a category in their order; None for numbers.
    """

    name: str | None = None
    levels: np.ndarray | None = None

    @property
    def n_levels(self) -> int:
        """How many levels there are; 0 for numbers."""
        return 0 if self.levels is None else len(self.levels)

    @property
    def kind(self) -> str:
        """What the values are: numbers or text."""
        return _NUMBERS if self.levels is None else _kind_of(self.levels)


class _Coded(NamedTuple):
    """A column as the numbers of its own levels, -1 where a value is missing."""

    codes: np.ndarray
    levels: np.ndarray


def is_frame(X: Any) -> bool:
    """Tell whether ``X`` is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def refuse_bad_names(X: Any) -> None:
    """Raise if a frame's columns cannot be told apart by their names."""
    names = list(X.columns)
    seen: set = set()
    for name in names:
        if name is None or name != name or name == "":
            raise ValueError(
                f"X: the column at position {names.index(name)} has no name ({name!r}); name it, "
                f"or pass an array."
            )
        if name in seen:
            raise ValueError(
                f"X has two columns named {name!r}; rename one of them, or pass an array."
            )
        seen.add(name)


def reordered(X: Any, names: Sequence[str]) -> Any:
    """Return the frame with its columns in a known order, if it has exactly those."""
    given = list(X.columns)
    if given != list(names) and sorted(map(str, given)) == sorted(names):
        return X[list(names)]
    return X


def read_table(X: Any, categorical_features: Any) -> tuple[np.ndarray, tuple[Feature, ...]]:
    """Read a training table; find which of its columns are categories, and their levels.

    Parameters
    ----------
    X : frame, or array-like of shape (n_rows, n_features)
        Anything of two dimensions.
    categorical_features : "from_dtype", list of names or numbers, mask or None
        Which columns are categories: those of text or of a categorical dtype, or those named.

    Returns
    -------
    ndarray of shape (n_rows, n_features), tuple of Feature
        The numbers, and what they stand for.

    Examples
    --------
    >>> numbers, features = read_table([["b", 1.5], ["a", None]], "from_dtype")
    >>> numbers
    array([[1. , 1.5],
           [0. , nan]])
    >>> features[0].levels
    array(['a', 'b'], dtype=object)
    """
    names, columns = _columns_of(X)
    chosen = _chosen(categorical_features, names, len(columns))
    out = _matrix(X, columns)
    features = []
    for d, column in enumerate(columns):
        name = None if names is None else names[d]
        shown = _shown(name, d)
        if _is_category(column, None if chosen is None else bool(chosen[d]), shown):
            codes, levels = _codes_of(column, shown)
            out[:, d] = np.where(codes < 0, np.nan, codes)
            features.append(Feature(name, levels))
        else:
            out[:, d] = _numbers_of(column, shown)
            features.append(Feature(name))
    return out, tuple(features)


def read_rows(X: Any, features: Sequence[Feature]) -> np.ndarray:
    """Read rows of a table whose features are known."""
    _, columns = _columns_of(X)
    out = _matrix(X, columns)
    for d, (column, feature) in enumerate(zip(columns, features, strict=True)):
        shown = _shown(feature.name, d)
        if feature.levels is None:
            out[:, d] = _numbers_of(column, shown)
        else:
            out[:, d] = _known_codes(column, feature.levels, shown)
    return out


def drop_unused(X: np.ndarray, features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Return the features without the levels that no row has; renumber those of ``X`` in place."""
    kept = []
    for d, feature in enumerate(features):
        if feature.levels is not None:
            x = X[:, d]
            there = np.flatnonzero(~np.isnan(x))
            used = np.bincount(x[there].astype(np.int64), minlength=feature.n_levels) > 0
            if not used.all():
                x[there] = (np.cumsum(used) - 1)[x[there].astype(np.int64)]
                feature = Feature(feature.name, feature.levels[used])
        kept.append(feature)
    return tuple(kept)


def _columns_of(X: Any) -> tuple[list | None, list]:
    """Return the names of a table's columns, and the columns."""
    if is_frame(X):
        names = list(X.columns)
        if hasattr(X, "iloc"):
            return names, [X.iloc[:, d] for d in range(len(names))]
        return names, list(X.get_columns())
    cells = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    if cells.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {cells.ndim}D array instead: reshape X into rows and columns."
        )
    return None, list(cells.T)


def _matrix(X: Any, columns: list) -> np.ndarray:
    n_rows = len(columns[0]) if columns else len(X)
    return np.empty((n_rows, len(columns)), order="F")


def _chosen(given: Any, names: list | None, n_features: int) -> np.ndarray | None:
    """Return which columns are named as categories; None to go by their dtypes."""
    if isinstance(given, str) and given == "from_dtype":
        return None
    mask = np.zeros(n_features, dtype=bool)
    if given is None:
        return mask
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise ValueError(
            f'categorical_features={given!r} must be "from_dtype", a list of columns, a mask of '
            f"True and False, or None."
        )
    entries = np.asarray(given).tolist()
    if entries and all(isinstance(entry, bool) for entry in entries):
        if len(entries) != n_features:
            raise ValueError(
                f"categorical_features is a mask of {len(entries)}, but X has {n_features} "
                f"columns; pass one entry for each."
            )
        return np.array(entries)
    for entry in entries:
        mask[_position(entry, names, n_features)] = True
    return mask


def _position(entry: Any, names: list | None, n_features: int) -> int:
    if names is not None and entry in names:
        return names.index(entry)
    if isinstance(entry, int) and -n_features <= entry < n_features:
        return entry
    there = f"the columns are {names}" if names is not None else f"X has {n_features} columns"
    raise ValueError(f"categorical_features names {entry!r}, which X does not have; {there[:200]}.")


def _shown(name: Any, d: int) -> str:
    """Return how to speak of a column."""
    return str(d) if name is None else repr(name)


def _kind_of(levels: np.ndarray) -> str:
    return _TEXT if len(levels) and isinstance(levels.tolist()[0], str) else _NUMBERS


def _dtype(column: Any) -> str:
    """Return the name of a column's dtype in small letters."""
    return str(column.dtype).lower()


def _is_category(column: Any, chosen: bool | None, shown: str) -> bool:
    """Tell whether a column is a category, by choice or by its dtype."""
    if chosen is None:
        return _has_levels(column) or _is_text(column)
    if not chosen and _is_text(column):
        raise ValueError(
            f"categorical_features does not name column {shown}, which holds text; name it there, "
            f"or turn it into numbers."
        )
    return chosen


def _has_levels(column: Any) -> bool:
    return _dtype(column).startswith(("category", "categorical", "enum"))


def _is_polars(column: Any) -> bool:
    return hasattr(column, "to_physical")


def _is_text(column: Any) -> bool:
    """Tell whether a column holds text; of objects the first one that is there decides."""
    if _dtype(column) == "object":
        return isinstance(next((v for v in column if not _is_missing(v)), None), str)
    return _dtype(column).startswith(("str", "large_string", "utf8", "<u", ">u", "|u"))


def _codes_of(column: Any, shown: str) -> _Coded:
    """Return a column as the numbers of its own levels, ascending or in their given order."""
    if _is_polars(column):
        return _polars_codes(column)
    if hasattr(column, "cat"):
        coded = _Coded(column.cat.codes.to_numpy(), np.asarray(column.cat.categories))
    elif hasattr(column, "astype") and not isinstance(column, np.ndarray):
        kept = column.astype("category").cat
        coded = _Coded(kept.codes.to_numpy(), np.asarray(kept.categories))
    else:
        coded = _array_codes(column)
    _refuse_mixture(coded.levels, shown)
    return coded


def _polars_codes(column: Any) -> _Coded:
    import polars as pl

    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return _array_codes(_numbers_of(column, ""))
    text = column.cast(pl.String)
    levels = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(levels)).to_physical().cast(pl.Int64).fill_null(-1)
    return _Coded(codes.to_numpy(), np.asarray(levels.to_list(), dtype=object))


def _array_codes(values: np.ndarray) -> _Coded:
    codes = np.full(len(values), -1)
    if values.dtype.kind in "OUST":
        there = np.flatnonzero([not _is_missing(value) for value in values.tolist()])
        cells = values[there]
        _refuse_mixture(cells, "")
        levels, codes[there] = np.unique(
            cells.astype(str) if _kind_of(cells) == _TEXT else cells.astype(np.float64),
            return_inverse=True,
        )
        return _Coded(codes, levels.astype(object) if levels.dtype.kind == "U" else levels)
    there = np.flatnonzero(values == values)
    levels, codes[there] = np.unique(values[there], return_inverse=True)
    return _Coded(codes, levels)


def _refuse_mixture(levels: np.ndarray, shown: str) -> None:
    """Raise if the levels of a category are not all text or all numbers."""
    kinds = {_cell_kind(level) for level in np.asarray(levels).tolist()}
    if len(kinds) > 1 or "other" in kinds:
        odd = [level for level in np.asarray(levels).tolist() if _cell_kind(level) != _TEXT]
        of = f" in column {shown}" if shown else ""
        raise TypeError(
            f"X holds {odd[0]!r}{of} among other kinds of values, and each argument must be a "
            f"string or a real number; turn the column into text or into numbers."
        )


def _cell_kind(value: Any) -> str:
    if isinstance(value, str):
        return _TEXT
    return _NUMBERS if isinstance(value, Real) else "other"


def _is_missing(value: Any) -> bool:
    """Tell whether a cell is None, NaN, or what a frame has for them."""
    if value is None or isinstance(value, str):
        return value is None
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA is neither true nor false
        return True


def _numbers_of(column: Any, shown: str) -> np.ndarray:
    """Return a column of numbers, NaN where a value is missing."""
    if _dtype(column).startswith(("date", "time", "duration")):
        raise ValueError(
            f"X: column {shown} holds dates or times ({column.dtype}); turn it into numbers (days "
            f"since some day, hour of the day) or into text."
        )
    try:
        if _is_polars(column):
            import polars as pl

            return column.cast(pl.Float64).to_numpy()
        if hasattr(column, "to_numpy"):
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return _cells_as_numbers(column)
    except Exception as error:
        raise _not_numbers(column, shown) from error


def _cells_as_numbers(values: np.ndarray) -> np.ndarray:
    try:
        return values.astype(np.float64)
    except TypeError:
        cells = [np.nan if _is_missing(value) else value for value in values.tolist()]
        return np.array(cells, dtype=np.float64)


def _not_numbers(column: Any, shown: str) -> Exception:
    """Return what to raise for a column that cannot be read as numbers."""
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    text = next((value for value in values if isinstance(value, str)), None)
    if text is not None:
        return ValueError(
            f"X has {text!r} in column {shown}, which held numbers in training or holds others "
            f"now; pass numbers there, or text throughout."
        )
    odd = next((v for v in values if not (_is_missing(v) or isinstance(v, Real))), None)
    return TypeError(
        f"X holds {odd!r} in column {shown}, and each argument must be a string or a real number."
    )


def _known_codes(column: Any, levels: np.ndarray, shown: str) -> np.ndarray:
    """Return the numbers of known levels: -1 for unknown ones, NaN for what is missing."""
    coded = _codes_of(column, shown)
    kind = _kind_of(levels)
    if len(coded.levels) and _kind_of(coded.levels) != kind:
        other = coded.levels.tolist()[0]
        raise ValueError(
            f"X: column {shown} was a category of {kind} in training and holds {other!r} now; pass "
            f"its levels as {kind}, as they were."
        )
    number = {level: k for k, level in enumerate(levels.tolist())}
    own = np.array([number.get(level, -1) for level in coded.levels.tolist()] + [np.nan])
    return own[coded.codes]
