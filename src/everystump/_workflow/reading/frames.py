"""Normalization of dataframes to a few dtypes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from everystump._text import InvalidInputError
from everystump._workflow.reading.number_text import LARGEST_EXACT, as_number

_BOOLEANS = "booleans"
DECIMALS = "decimals"
"""Key in the ``attrs`` of a frame: possible decimal separators, the most likely one first."""
DELIMITER = "delimiter"
"""Key in the ``attrs`` of a frame: the separator of cells."""
NOTES = "notes"
"""Key in the ``attrs`` of the first frame of a file: notes on how it was read."""


def normalize_dtypes(frame: Any, skip: Collection[str] = ()) -> Any:
    """Return a frame with NumPy numbers, booleans with missing values as floats, stripped text.

    Booleans in the columns of ``skip`` are not changed.
    """
    import pandas as pd

    changed, booleans = {}, list[str]()
    is_numpy = [isinstance(dtype, np.dtype) and dtype.kind in "iufb" for dtype in frame.dtypes]
    for name in frame.columns[np.logical_not(is_numpy)]:
        column = frame[name]
        kind = pd.api.types.infer_dtype(column, skipna=True) if column.dtype.kind == "O" else ""
        is_number = kind in ("boolean", "decimal") or column.dtype.kind in "iufb"
        if is_number and name not in skip and not hasattr(column, "cat"):
            changed[name] = column.astype(object).where(column.notna(), np.nan).astype(np.float64)
            booleans += [name] if kind == "boolean" or column.dtype.kind == "b" else []
        elif kind == "string" and not hasattr(column, "cat"):
            changed[name] = column.str.strip()
        elif kind == "integer":  # too large for any other dtype
            changed[name] = integers_as_text(column)
    frame = with_columns(frame, changed)
    frame.attrs[_BOOLEANS] = booleans
    return frame


def boolean_columns(frame: Any) -> set[str]:
    """Return the columns of booleans, including those that `normalize_dtypes` converted."""
    is_boolean = [dtype.kind == "b" for dtype in frame.dtypes]
    return {*frame.columns[is_boolean], *frame.attrs.get(_BOOLEANS, ())}


def integers_as_text(column: Any) -> Any:
    """Return integers as text, which keeps those distinct that are equal as floats."""
    return column.astype(object).where(column.isna(), column.astype(str))


def large_columns(frame: Any) -> list[str]:
    """Return the numeric columns with values beyond which not all integers are floats."""
    found = []
    for name in frame.columns[[dtype.kind in "iuf" for dtype in frame.dtypes]]:
        values = frame[name].dropna().to_numpy()
        if len(values) and (values.max() > LARGEST_EXACT or values.min() < -LARGEST_EXACT):
            found.append(name)
    return found


def with_columns(frame: Any, columns: Mapping[str, Any]) -> Any:
    """Return a shallow copy of a frame with some columns replaced."""
    frame = frame.copy(deep=False)
    for name, column in columns.items():
        frame[name] = column
    return frame


def with_text_names(path: Path, frame: Any) -> Any:
    """Return a frame whose column names are text, with a named index as a column.

    Names with several levels are joined, and columns without a name get one, as in a CSV.
    """
    levels = [level for level in frame.index.names if level is not None]
    frame = frame.reset_index(level=levels) if levels else frame
    frame = frame.reset_index(drop=True)
    names = [_joined_name(name) or f"Unnamed: {k}" for k, name in enumerate(frame.columns)]
    duplicate = next((name for name, count in Counter(names).items() if count > 1), None)
    if duplicate is not None:
        raise InvalidInputError(f"{path}: two columns are named {duplicate!r}; rename one of them.")
    return frame.set_axis(names, axis=1)


def _joined_name(name: Any) -> str:
    parts = name if isinstance(name, tuple) else (name,)
    return "_".join(str(part) for part in parts if part is not None and part != "").strip()


def mask_missing(frame: Any, missing: Sequence[str]) -> Any:
    """Return a frame in which some words, or numbers, are missing values."""
    changed: dict[str, Any] = {}
    for word in missing:
        number = as_number(word)
        for name in frame.columns:
            column = changed.get(name, frame[name])
            is_text = column.dtype.kind == "O"
            bad = column.astype(str).str.strip() == word if is_text else column == number
            if bad.any():
                changed[name] = column.mask(bad)
    return with_columns(frame, changed)


def unique_cells(column: Any) -> list[str]:
    """Return the distinct cells of a text column."""
    return [str(cell).strip() for cell in column.dropna().unique()]
