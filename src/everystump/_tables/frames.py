"""Users' tables, in dataframes, arrays or lists, as matrices of floats and records of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from everystump._arguments import short_repr
from everystump._core.sparse import SparseTable
from everystump._tables.categorical import check_categorical_features, is_category
from everystump._tables.column import column_to_codes, column_to_floats, levels_kind
from everystump._tables.column_errors import warn_if_rounded
from everystump._values import NUMBER, TEXT, is_missing

_PLURAL = {NUMBER: "numbers", TEXT: "text"}


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of the training table.

    Attributes
    ----------
    name : str or None
        Its name, if the table had column names.
    levels : ndarray or None
        The levels of a categorical feature, in order; None for a numeric one.
    """

    name: str | None = None
    levels: np.ndarray | None = None

    @property
    def n_levels(self) -> int:
        """Number of levels; 0 for a numeric feature."""
        return 0 if self.levels is None else len(self.levels)

    def display_name(self, d: int) -> str:
        """Return how messages refer to the feature, whose index is ``d``."""
        return str(d) if self.name is None else repr(self.name)

    @cached_property
    def level_index(self) -> dict:
        """The index of each level."""
        return {} if self.levels is None else {v: k for k, v in enumerate(self.levels.tolist())}

    @property
    def kind(self) -> str:
        """The kind of its values: "number" or "text"."""
        return NUMBER if self.levels is None else levels_kind(self.levels)


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a pandas or polars dataframe; a lazy one raises an error."""
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise TypeError("X is a lazy frame without data; pass X.collect().")
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def as_supported_table(X: Any) -> Any:
    """Convert tables of less common types to supported ones.

    Masked values of arrays become NaN, or None among objects; pyarrow tables become pandas
    dataframes over the same memory; NumPy's variable-width strings become objects.
    """
    if isinstance(X, SparseTable):
        return X.csr
    if hasattr(X, "to_pandas") and hasattr(X, "schema") and hasattr(X, "num_rows"):
        import pandas as pd

        return X.to_pandas(types_mapper=pd.ArrowDtype)
    if getattr(getattr(X, "dtype", None), "kind", "") == "T":
        return X.astype(object)
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if X.dtype == object:
        return np.ma.filled(X, None)
    return np.ma.filled(X.astype(np.float64), np.nan)


def check_dense_2d(X: Any) -> None:
    """Check that ``X`` is dense and has rows and columns."""
    if sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required for categories and for "
            "decision boundaries: use X.toarray()."
        )
    check_2d(X)


def check_2d(X: Any) -> None:
    """Check that ``X`` is two-dimensional, unlike a single row of a table."""
    if isinstance(X, list) and X:
        n_dimensions = 1 + np.ndim(X[0])
    else:
        n_dimensions = (X if hasattr(X, "ndim") else np.asarray(X)).ndim
    if n_dimensions != 2:
        raise ValueError(
            f"Expected 2D array, got {n_dimensions}D array instead. Reshape your data: X must have "
            f"rows and columns; a single row of a dataframe is X.iloc[[0]]."
        )


def check_column_names(X: Any) -> None:
    """Check that the columns of a dataframe have distinct names."""
    seen: set = set()
    for d, name in enumerate(X.columns):
        if name == "" or is_missing(name):
            raise ValueError(
                f"X: the column at position {d} has no name ({name!r}); name it, or pass an array."
            )
        if name in seen:
            raise ValueError(
                f"X has two columns named {name!r}; rename one of them, or pass an array."
            )
        seen.add(name)


def reorder_columns(X: Any, names: Sequence) -> Any:
    """Return a dataframe with its columns in the order of ``names``, if it has exactly those.

    If it has others and ``names`` are strings, scikit-learn's own check raises the error.
    """
    columns, names = list(X.columns), list(names)
    if columns == names:
        return X
    if len(columns) == len(names) and set(columns) == set(names):
        return X[names]
    if not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"X has the columns {short_repr(columns, 100)}, but the training table had "
            f"{short_repr(names, 100)}; pass those."
        )
    return X


def read_table(X: Any, categorical_features: Any) -> tuple[np.ndarray, tuple[Feature, ...]]:
    """Read a training table: return numbers and level codes, NaN where missing, and its columns.

    Examples
    --------
    >>> values, features = read_table([["b", 1.5], ["a", None]], "from_dtype")
    >>> values
    array([[1. , 1.5],
           [0. , nan]])
    >>> features[0].levels
    array(['a', 'b'], dtype=object)
    """
    if _is_numeric_pandas(X):
        mask = check_categorical_features(categorical_features, list(X.columns), X.shape[1])
        if mask is None or not mask.any():
            return _read_numeric_pandas(X)
    names, columns = _split_columns(X)
    mask = check_categorical_features(categorical_features, names, len(columns))
    out = _empty_matrix(X, columns)
    features = []
    for d, column in enumerate(columns):
        feature = Feature(None if names is None else names[d])
        name = feature.display_name(d)
        if is_category(column, d, mask, name):
            codes, levels = column_to_codes(column, name)
            out[:, d] = np.where(codes < 0, np.nan, codes)
            feature = Feature(feature.name, levels)
        else:
            out[:, d] = column_to_floats(column, name)
            warn_if_rounded(column, out[:, d], name)
        features.append(feature)
    return out, tuple(features)


def read_rows(X: Any, features: Sequence[Feature]) -> np.ndarray:
    """Read rows of a table with the features of a training table."""
    if _is_numeric_pandas(X) and all(feature.levels is None for feature in features):
        return _pandas_to_matrix(X)
    _, columns = _split_columns(X)
    out = _empty_matrix(X, columns)
    for d, (column, feature) in enumerate(zip(columns, features, strict=True)):
        if feature.levels is None:
            out[:, d] = column_to_floats(column, feature.display_name(d))
        else:
            out[:, d] = _known_codes(column, feature, feature.display_name(d))
    return out


def drop_unused_levels(X: np.ndarray, features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Return the features without levels that occur in no row; recode ``X`` in place."""
    out = []
    for d, feature in enumerate(features):
        if feature.levels is not None:
            x = X[:, d]
            present = np.flatnonzero(~np.isnan(x))
            codes = x[present].astype(np.int64)
            used = np.bincount(codes, minlength=feature.n_levels) > 0
            if not used.all():
                x[present] = (np.cumsum(used) - 1)[codes]
                feature = Feature(feature.name, feature.levels[used])
        out.append(feature)
    return tuple(out)


def _split_columns(X: Any) -> tuple[list | None, list]:
    """Return the names of a table's columns (None if it has none) and the columns."""
    if is_frame(X):
        names = list(X.columns)
        if hasattr(X, "iloc"):
            return names, [X.iloc[:, d] for d in range(len(names))]
        return names, list(X.get_columns())
    check_dense_2d(X)
    cells = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    return None, list(cells.T)


def _is_numeric_pandas(X: Any) -> bool:
    """Whether ``X`` is a pandas dataframe whose columns all have NumPy's numeric types."""
    if not is_frame(X) or not hasattr(X, "iloc"):
        return False
    return all(isinstance(kind, np.dtype) and kind.kind in "iufb" for kind in X.dtypes)


def _read_numeric_pandas(X: Any) -> tuple[np.ndarray, tuple[Feature, ...]]:
    numbers, features = _pandas_to_matrix(X), tuple(Feature(name) for name in X.columns)
    for d, kind in enumerate(X.dtypes):
        if kind in (np.int64, np.uint64):
            warn_if_rounded(X.iloc[:, d], numbers[:, d], features[d].display_name(d))
    return numbers, features


def _pandas_to_matrix(X: Any) -> np.ndarray:
    """Return a numeric dataframe as a matrix, in single precision if all columns are."""
    is_single = all(kind == np.float32 for kind in X.dtypes)
    return X.to_numpy(dtype=np.float32 if is_single else np.float64)


def _empty_matrix(X: Any, columns: list) -> np.ndarray:
    n_rows = len(columns[0]) if columns else len(X)
    return np.empty((n_rows, len(columns)), order="F")


def _known_codes(column: Any, feature: Feature, name: str) -> np.ndarray:
    """Return codes of a feature's levels: -1 for unknown levels, NaN for missing values."""
    codes, levels = column_to_codes(column, name)
    if len(levels) and feature.n_levels and levels_kind(levels) != feature.kind:
        kind = _PLURAL[feature.kind]
        raise ValueError(
            f"X: the levels of column {name} were {kind} in training, and now it has "
            f"{levels.tolist()[0]!r}; pass {kind} as before."
        )
    index = feature.level_index
    return np.array([index.get(level, -1) for level in levels.tolist()] + [np.nan])[codes]
