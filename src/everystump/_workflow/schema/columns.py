"""Kinds of columns, and the columns that are dropped automatically."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from everystump._text import InvalidInputError
from everystump._workflow.reading.frames import with_columns
from everystump._workflow.schema.labels import numbers_as_text

NUMBERS, TEXT, TIMES, OTHER = "numbers", "text", "dates or times", "neither numbers nor text"
_MIN_ROWS = 20
_MAX_UNIQUE = 0.5  # fraction of the rows that have a value
_UNNAMED = re.compile(r"Unnamed: \d+")
_IDENTIFIER = re.compile(
    r".*[a-z0-9](ID|Id)|(.*[\W_])?(?i:id|key|uuid|guid)|(?i:index|row[ ._-]?names?)"
)


def column_kind(column: Any) -> str:
    """Return what a column holds; booleans are numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = pd.Series([1, 2]), pd.Series(["a", None]), pd.Series([[1], [2]])
    >>> [column_kind(column) for column in columns]
    ['numbers', 'text', 'neither numbers nor text']
    """
    if column.dtype.kind in "iufb":
        return NUMBERS
    if column.dtype.kind in "mM":
        return TIMES
    if hasattr(column, "cat"):
        levels = column.cat.categories
        return column_kind(levels.to_series()) if len(levels) else TEXT
    present = column.dropna()
    if len(present) == 0 or isinstance(present.iloc[0], str | bool):
        return TEXT
    return TIMES if hasattr(present.iloc[0], "isoformat") else OTHER


def join_frames(frames: Sequence[Any]) -> Any:
    """Return the rows of several frames; a column that is text in one of them is text in all.

    Examples
    --------
    >>> import pandas as pd
    >>> frames = [pd.DataFrame({"a": values}) for values in ([1, 2.5], ["x"], [None])]
    >>> join_frames(frames)["a"].tolist(), join_frames(frames[::2])["a"].tolist()
    (['1.0', '2.5', 'x', None], [1.0, 2.5, nan])
    """
    import pandas as pd

    if len(frames) == 1:
        return frames[0]
    joined = pd.concat(frames, ignore_index=True)
    changed: dict[str, Any] = {}
    for name in joined.columns[[dtype.kind == "O" for dtype in joined.dtypes]]:
        parts = [frame[name] for frame in frames if name in frame.columns]
        kinds = [column_kind(part) if part.notna().any() else "" for part in parts]
        if {*kinds, ""} == {NUMBERS, ""}:
            changed[name] = joined[name].astype(np.float64)
        elif NUMBERS in kinds and TEXT in kinds:
            text = [
                numbers_as_text(part) if kind == NUMBERS else part
                for part, kind in zip(parts, kinds, strict=True)
            ]
            changed[name] = pd.concat(text, ignore_index=True)
    joined = with_columns(joined, changed)
    joined.attrs = frames[0].attrs
    return joined


def row_number_columns(frame: Any) -> set[str]:
    """Return the columns of a whole table that number its rows.

    They increase by one; a column without a name may skip numbers, as of deleted rows.
    """
    return {name for name in frame.columns if _numbers_rows(frame[name])}


def dropped_columns(
    features: Any, drop: Collection[str], keep: Collection[str], row_numbers: Collection[str] = ()
) -> dict[str, str]:
    """Return the columns to drop, and why; those to keep are not dropped.

    Dropped are columns that no model accepts, constant and empty ones, text with distinct values in
    more than half of the rows, and integers that number the rows or are identifiers by their name.
    The columns of ``row_numbers`` number the rows of the whole table, from which ``features`` may
    be a selection.
    """
    dropped = {name: "requested" for name in drop}
    for name in features.columns:
        if name in dropped:
            continue
        column = features[name]
        kind = column_kind(column)
        unusable = kind if kind not in (NUMBERS, TEXT) else None
        if name in keep and not column.notna().any():
            raise InvalidInputError(f"{name!r} cannot be used: it has no values; omit it.")
        if unusable is not None and name in keep:
            raise InvalidInputError(
                f"{name!r} cannot be used: it holds {unusable}; convert it to numbers or text."
            )
        why = unusable if unusable or name in keep else _useless(column, name in row_numbers)
        if why is not None:
            dropped[name] = why
    return dropped


def _useless(column: Any, numbers_rows: bool) -> str | None:
    """Return why a column is not informative, None if it may be."""
    present = column.dropna()
    if len(present) == 0:
        return "no values"
    n_distinct = present.nunique()
    if n_distinct == 1 and len(present) == len(column):
        return "constant"
    if len(present) <= _MIN_ROWS or n_distinct <= _MAX_UNIQUE * len(present):
        return None
    if column_kind(column) == TEXT:
        return "mostly unique text, such as identifiers, names or notes"
    if numbers_rows or _numbers_rows(column):
        return "row numbers"
    is_integer = column.dtype.kind in "iu" or bool(np.all(present % 1 == 0))
    if is_integer and column.dtype.kind != "b" and _IDENTIFIER.fullmatch(str(column.name).strip()):
        return "identifiers, judging by the name"
    return None


def _numbers_rows(column: Any) -> bool:
    """Whether a column holds consecutive integers, or increasing ones if it has no name."""
    if column.dtype.kind not in "iuf" or len(column) < 2 or column.isna().any():
        return False
    values = column.to_numpy(dtype=np.float64)
    if np.any(values % 1 != 0):
        return False
    steps = np.diff(values)
    if _UNNAMED.fullmatch(str(column.name)):
        return bool(np.all(steps >= 1))
    return bool(np.all(steps == 1))
