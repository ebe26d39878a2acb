"""The argument ``categorical_features``: which columns are categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._tables.column import contains_text, is_categorical


def check_categorical_features(
    categorical_features: Any, names: list | None, n_features: int
) -> np.ndarray | None:
    """Return a mask of the columns listed as categories; None to infer them from the dtypes.

    Examples
    --------
    >>> check_categorical_features(["b"], ["a", "b", "c"], 3)
    array([False,  True, False])
    """
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return None
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str | dict) or np.ndim(categorical_features) != 1:
        raise ValueError(
            f'categorical_features={categorical_features!r} must be "from_dtype", a list of '
            f"columns, a mask of True and False, or None."
        )
    entries = np.asarray(categorical_features).tolist()
    if entries and all(isinstance(entry, bool) for entry in entries):
        if len(entries) != n_features:
            raise ValueError(
                f"categorical_features is a mask of length {len(entries)}, but X has {n_features} "
                f"columns; pass one entry per column."
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
    columns = f"the columns are {names}" if names is not None else f"X has {n_features} columns"
    raise ValueError(
        f"categorical_features contains {entry!r}, which is not a column of X; {columns[:200]}."
    )


def is_category(column: Any, d: int, mask: np.ndarray | None, name: str) -> bool:
    """Whether column ``d`` is a category, according to the mask or, without one, its dtype."""
    if mask is None:
        return is_categorical(column)
    if not mask[d] and contains_text(column):
        raise ValueError(
            f"categorical_features does not include column {name}, which contains text; include "
            f"it, or convert it to numbers."
        )
    return bool(mask[d])
