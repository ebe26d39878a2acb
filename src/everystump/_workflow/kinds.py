"""What a column of a user's table holds."""

from __future__ import annotations

from typing import Any

NUMBERS, TEXT, TIMES, OTHER = "numbers", "text", "dates or times", "neither numbers nor text"


def kind_of(column: Any) -> str:
    """Return what a column holds; booleans are numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> kind_of(pd.Series([1, 2])), kind_of(pd.Series(["a", None])), kind_of(pd.Series([[1], [2]]))
    ('numbers', 'text', 'neither numbers nor text')
    """
    if column.dtype.kind in "iufb":
        return NUMBERS
    if column.dtype.kind in "mM":
        return TIMES
    if hasattr(column, "cat"):
        return kind_of(column.cat.categories.to_series()) if len(column.cat.categories) else TEXT
    there = column.dropna()
    if len(there) == 0 or isinstance(there.iloc[0], str | bool):
        return TEXT
    return TIMES if hasattr(there.iloc[0], "isoformat") else OTHER
