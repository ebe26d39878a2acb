"""Columns of a frame in few kinds, whatever file they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from everystump._workflow import InvalidInputError
from everystump._workflow.labels import as_number
from everystump._workflow.numbertext import LARGEST_EXACT

# What stands for a missing value, if the user does not say it.
MISSING = (
    *(
        "",
        "?",
        "NA",
        "N/A",
        "n/a",
        "n.a.",
        "N.A.",
        "<NA>",
        "#N/A",
        "#NA",
        "NaN",
        "nan",
        "-NaN",
        "-nan",
    ),
    *("None", "NULL", "null", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)


def normalize_dtypes(frame: Any, leave: Collection[str] = ()) -> Any:
    """Return a frame with numbers of NumPy, booleans with missing values as numbers, and bare text.

    Booleans in the columns of ``leave`` stay what they are.
    """
    import pandas as pd

    changed = {}
    plain = [isinstance(one, np.dtype) and one.kind in "iufb" for one in frame.dtypes]
    for name in frame.columns[np.logical_not(plain)]:
        column = frame[name]
        held = pd.api.types.infer_dtype(column, skipna=True) if column.dtype.kind == "O" else ""
        is_number = held in ("boolean", "decimal") or column.dtype.kind in "iufb"
        if is_number and name not in leave and not hasattr(column, "cat"):
            changed[name] = column.astype(object).where(column.notna(), np.nan).astype(np.float64)
        elif held == "string" and not hasattr(column, "cat"):
            changed[name] = column.str.strip()
        elif held == "integer":  # which no other type can hold
            changed[name] = integers_as_text(column)
    return replaced(frame, changed)


def integers_as_text(column: Any) -> Any:
    """Return whole numbers as text, which keeps apart what would be equal as numbers."""
    return column.astype(object).where(column.isna(), column.astype(str))


def large_columns(frame: Any) -> list[str]:
    """Return the columns of numbers beyond which not all whole ones are doubles."""
    found = []
    for name in frame.columns[[dtype.kind in "iuf" for dtype in frame.dtypes]]:
        values = frame[name].dropna().to_numpy()
        if len(values) and (values.max() > LARGEST_EXACT or values.min() < -LARGEST_EXACT):
            found.append(name)
    return found


def replaced(frame: Any, columns: Mapping[str, Any]) -> Any:
    """Return a frame in which some columns are others, whatever their names are."""
    frame = frame.copy(deep=False)
    for name, column in columns.items():
        frame[name] = column
    return frame


def with_text_names(path: Path, frame: Any) -> Any:
    """Return a frame whose names are text, and whose index, if it has a name, is a column.

    Names of several levels are joined, and columns without a name get one, as in a CSV.
    """
    levels = [level for level in frame.index.names if level is not None]
    frame = frame.reset_index(level=levels).reset_index(drop=True) if levels else frame
    frame = frame.reset_index(drop=True)
    names = [_as_text(name) or f"Unnamed: {k}" for k, name in enumerate(frame.columns)]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InvalidInputError(f"{path}: two columns are named {twice!r}; rename one.")
    return frame.set_axis(names, axis=1)


def _as_text(name: Any) -> str:
    """Return the name of a column as text; of several levels those that are not empty."""
    parts = name if isinstance(name, tuple) else (name,)
    return "_".join(str(part) for part in parts if part is not None and part != "").strip()


def mask_missing(frame: Any, missing: Sequence[str]) -> Any:
    """Return a frame whose cells that are one of some words, or numbers, are missing."""
    changed: dict[str, Any] = {}
    for word in missing:
        number = as_number(word)
        for name in frame.columns:
            column = changed.get(name, frame[name])
            bad = (
                column.astype(str).str.strip() == word
                if column.dtype.kind == "O"
                else column == number
            )
            if bad.any():
                changed[name] = column.mask(bad)
    return replaced(frame, changed)
