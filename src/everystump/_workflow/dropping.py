"""Columns that are left out, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from everystump._workflow import InvalidInputError
from everystump._workflow.kinds import NUMBERS, TEXT, kind_of

_FEW_ROWS = 20
_MOST_LEVELS = 0.5  # of the rows that have a value
_UNNAMED = re.compile(r"Unnamed: \d+")
_IDENTIFIER = re.compile(r"(.*[a-z0-9](ID|Id)|(.*[\W_])?(?i:id|key|uuid|guid))")


def numbering_columns(frame: Any) -> set[str]:
    """Return the columns of a whole table that number its rows.

    They count by one; a column without a name may skip rows that somebody left out.
    """
    return {name for name in frame.columns if _numbers_rows(frame[name])}


def dropped_columns(
    features: Any, drop: Collection[str], wanted: Collection[str], numbering: Collection[str] = ()
) -> dict[str, str]:
    """Return which columns to leave out, and why; those that are wanted stay, if they can.

    Left out are columns that no model can look at, those with one value or none, text with a value
    of its own in more than half of the rows, and whole numbers that number the rows or are
    identifiers by their name.  Columns of ``numbering`` number the rows of the whole table, of
    which these may be some.
    """
    dropped = {name: "asked for" for name in drop}
    for name in features.columns:
        if name in dropped:
            continue
        column = features[name]
        kind = kind_of(column)
        unusable = kind if kind not in (NUMBERS, TEXT) else None
        if name in wanted and not column.notna().any():
            raise InvalidInputError(
                f"{name!r} cannot be used: no row has a value in it; leave it out."
            )
        if unusable is not None and name in wanted:
            raise InvalidInputError(
                f"{name!r} cannot be used: the column holds {unusable}; turn it into numbers or "
                f"text first."
            )
        why = unusable if unusable or name in wanted else _useless(column, name in numbering)
        if why is not None:
            dropped[name] = why
    return dropped


def _useless(column: Any, numbers_rows: bool) -> str | None:
    """Return why nothing can be learned from a column, None if something can."""
    there = column.dropna()
    if len(there) == 0:
        return "without any value"
    n_distinct = there.nunique()
    if n_distinct == 1 and len(there) == len(column):
        return "with one value only"
    if len(there) <= _FEW_ROWS or n_distinct <= _MOST_LEVELS * len(there):
        return None
    if kind_of(column) == TEXT:
        return "text that differs in most rows (identifiers, names, notes)"
    whole = column.dtype.kind in "iu" or bool(np.all(there % 1 == 0))
    if numbers_rows or _numbers_rows(column):
        return "numbering the rows"
    if whole and column.dtype.kind != "b" and _IDENTIFIER.fullmatch(str(column.name).strip()):
        return "identifiers by their name"
    return None


def _numbers_rows(column: Any) -> bool:
    """Tell whether a column has whole numbers that count the rows."""
    if column.dtype.kind not in "iuf" or len(column) < 2 or column.isna().any():
        return False
    values = column.to_numpy(dtype=np.float64)
    if np.any(values % 1 != 0):
        return False
    steps = np.diff(values)
    if _UNNAMED.fullmatch(str(column.name)):
        return bool(np.all(steps >= 1))
    return bool(np.all(steps == 1))
