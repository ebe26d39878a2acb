"""Columns of a frame in few kinds, whatever file they come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from everystump.study.labels import as_number

# What stands for a missing value, if the user does not say it.
MISSING = (
    *("", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NaN", "nan", "-NaN", "-nan"),
    *("None", "NULL", "null", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)


def as_plain_columns(frame: Any, leave: Collection[str] = ()) -> Any:
    """Return a frame with numbers of NumPy, truth values with holes as numbers, and bare text.

    Truth values in the columns of ``leave`` stay what they are.
    """
    import pandas as pd

    changed = {}
    for name in frame.columns:
        column = frame[name]
        is_numpy = isinstance(column.dtype, np.dtype)
        held = pd.api.types.infer_dtype(column, skipna=True) if column.dtype.kind == "O" else ""
        is_number = held in ("boolean", "decimal") or (column.dtype.kind in "iufb" and not is_numpy)
        if is_number and name not in leave and not hasattr(column, "cat"):
            changed[name] = column.astype(object).where(column.notna(), np.nan).astype(np.float64)
        elif held == "string" and not hasattr(column, "cat"):
            changed[name] = column.str.strip()
    return frame.assign(**changed) if changed else frame


def without_words(frame: Any, missing: Sequence[str]) -> Any:
    """Return a frame whose cells that are one of some words, or numbers, are missing."""
    for word in missing:
        number = as_number(word)
        for name in frame.columns:
            column = frame[name]
            bad = (
                column.astype(str).str.strip() == word
                if column.dtype.kind == "O"
                else column == number
            )
            if bad.any():
                frame = frame.assign(**{name: column.mask(bad)})
    return frame
