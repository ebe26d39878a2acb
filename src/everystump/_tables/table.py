"""A table of columns, and what it says of each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from everystump._core.sparse import SparseTable
from everystump._tables.arrow import as_pandas, is_arrow_table
from everystump._tables.column import (
    NUMBERS,
    TEXT,
    column_to_codes,
    column_to_floats,
    holds_text,
    is_category,
    kind_of,
)
from everystump._tables.rounding import warn_if_rounded

_LEVELS = {NUMBERS: "numbers", TEXT: "text"}


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

    def shown(self, d: int) -> str:
        """Return how to speak of the feature, whose number is ``d``."""
        return str(d) if self.name is None else repr(self.name)

    @cached_property
    def level_index(self) -> dict:
        """The number of each level."""
        return {} if self.levels is None else {v: k for k, v in enumerate(self.levels.tolist())}

    @property
    def kind(self) -> str:
        """What the values are: "number" or "text"."""
        return NUMBERS if self.levels is None else kind_of(self.levels)


def is_frame(X: Any) -> bool:
    """Tell whether ``X`` is a pandas or polars frame; a lazy one is to be collected first."""
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise TypeError("X is a lazy frame, whose rows are not there yet; pass X.collect().")
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def as_supported_table(X: Any) -> Any:
    """Return ``X`` as a table that the rest of this package reads, if it is of a rarer type.

    Masked arrays get NaN, or None among objects, where they are masked; tables of pyarrow become
    frames of pandas; NumPy's own strings become objects.
    """
    if isinstance(X, SparseTable):
        return X.csr
    if is_arrow_table(X):
        return as_pandas(X)
    if getattr(getattr(X, "dtype", None), "kind", "") == "T":
        return X.astype(object)
    if not isinstance(X, np.ma.MaskedArray):
        return X
    objects = X.dtype == object
    return np.ma.filled(X if objects else X.astype(np.float64), None if objects else np.nan)


def check_dense_2d(X: Any) -> None:
    """Raise if ``X`` has no rows and columns that can be read one by one."""
    if sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required for categories and for "
            "drawing boundaries: use X.toarray()."
        )
    check_2d(X)


def check_2d(X: Any) -> None:
    """Raise if ``X`` has no rows and columns, as one row of a table has not."""
    if isinstance(X, list) and X:
        n_dimensions = 1 + np.ndim(X[0])
    else:
        n_dimensions = (X if hasattr(X, "ndim") else np.asarray(X)).ndim
    if n_dimensions != 2:
        raise ValueError(
            f"Expected 2D array, got {n_dimensions}D array instead. Reshape your data: X must have "
            f"rows and columns; a single row of a frame is X.iloc[[0]]."
        )


def check_column_names(X: Any) -> None:
    """Raise if a frame's columns cannot be told apart by their names."""
    names = list(X.columns)
    seen: set = set()
    for name in names:
        if name is None or name == "" or _is_nan(name):
            raise ValueError(
                f"X: the column at position {names.index(name)} has no name ({name!r}); name it, "
                f"or pass an array."
            )
        if name in seen:
            raise ValueError(
                f"X has two columns named {name!r}; rename one of them, or pass an array."
            )
        seen.add(name)


def _is_nan(name: Any) -> bool:
    return isinstance(name, float) and name != name


def reorder_columns(X: Any, names: Sequence) -> Any:
    """Return the frame with its columns in a known order, if it has exactly those.

    Names that are text are compared by scikit-learn as well, which says what is wrong with them.
    """
    given, names = list(X.columns), list(names)
    if given == names:
        return X
    if len(given) == len(names) and set(given) == set(names):
        return X[names]
    if not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"X has the columns {str(given)[:100]}, but the training table had "
            f"{str(names)[:100]}; pass these."
        )
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
    if _is_plain(X):
        chosen = _chosen(categorical_features, list(X.columns), X.shape[1])
        if chosen is None or not chosen.any():
            return _read_plain(X)
    names, columns = _columns_of(X)
    chosen = _chosen(categorical_features, names, len(columns))
    out = _matrix(X, columns)
    features = []
    for d, column in enumerate(columns):
        name = None if names is None else names[d]
        shown = Feature(name).shown(d)
        if _is_chosen(column, None if chosen is None else bool(chosen[d]), shown):
            codes, levels = column_to_codes(column, shown)
            out[:, d] = np.where(codes < 0, np.nan, codes)
            features.append(Feature(name, levels))
        else:
            out[:, d] = column_to_floats(column, shown)
            warn_if_rounded(column, out[:, d], shown)
            features.append(Feature(name))
    return out, tuple(features)


def read_rows(X: Any, features: Sequence[Feature]) -> np.ndarray:
    """Read rows of a table whose features are known."""
    if _is_plain(X) and all(feature.levels is None for feature in features):
        return _plain_matrix(X)
    _, columns = _columns_of(X)
    out = _matrix(X, columns)
    for d, (column, feature) in enumerate(zip(columns, features, strict=True)):
        shown = feature.shown(d)
        if feature.levels is None:
            out[:, d] = column_to_floats(column, shown)
        else:
            out[:, d] = _known_codes(column, feature, shown)
    return out


def drop_unused_levels(X: np.ndarray, features: Sequence[Feature]) -> tuple[Feature, ...]:
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
    check_dense_2d(X)
    cells = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    return None, list(cells.T)


def _is_plain(X: Any) -> bool:
    """Tell whether a frame's columns are all of NumPy's own numbers, as pandas keeps them."""
    if not is_frame(X) or not hasattr(X, "iloc"):
        return False
    return all(isinstance(kind, np.dtype) and kind.kind in "iufb" for kind in X.dtypes)


def _read_plain(X: Any) -> tuple[np.ndarray, tuple[Feature, ...]]:
    """Read a training table of such columns."""
    numbers, features = _plain_matrix(X), tuple(Feature(name) for name in X.columns)
    for d, kind in enumerate(X.dtypes):
        if kind in (np.int64, np.uint64):
            warn_if_rounded(X.iloc[:, d], numbers[:, d], features[d].shown(d))
    return numbers, features


def _plain_matrix(X: Any) -> np.ndarray:
    """Return all columns of such a frame at once; floats of one kind stay what they are."""
    is_narrow = all(kind == np.float32 for kind in X.dtypes)
    return X.to_numpy(dtype=np.float32 if is_narrow else np.float64)


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
    if isinstance(given, str | dict) or np.ndim(given) != 1:
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


def _is_chosen(column: Any, chosen: bool | None, shown: str) -> bool:
    """Tell whether a column is a category, by choice or by its dtype."""
    if chosen is None:
        return is_category(column)
    if not chosen and holds_text(column):
        raise ValueError(
            f"categorical_features does not name column {shown}, which holds text; name it there, "
            f"or turn it into numbers."
        )
    return chosen


def _known_codes(column: Any, feature: Feature, shown: str) -> np.ndarray:
    """Return the numbers of known levels: -1 for unknown ones, NaN for what is missing."""
    codes, own = column_to_codes(column, shown)
    if len(own) and feature.n_levels and kind_of(own) != feature.kind:
        kind = feature.kind
        raise ValueError(
            f"X: the levels of column {shown} were {_LEVELS[kind]} in training, and now it holds "
            f"{own.tolist()[0]!r}; pass {_LEVELS[kind]} as before."
        )
    number = feature.level_index
    return np.array([number.get(level, -1) for level in own.tolist()] + [np.nan])[codes]
