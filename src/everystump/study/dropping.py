"""Columns that are left out, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from everystump.study import RefusedError
from everystump.study.kinds import NUMBERS, TEXT, kind_of

_FEW_ROWS = 20
_MOST_LEVELS = 0.5  # of the rows that have a value
_IDENTIFIER = re.compile(r"(.*[a-z0-9](ID|Id)|(.*[\W_])?(?i:id|key|uuid|guid))")


def dropped_columns(
    features: Any, drop: Collection[str], wanted: Collection[str]
) -> dict[str, str]:
    """Return which columns to leave out, and why; those that are wanted stay, if they can.

    Left out are columns that no model can look at, those with one value or none, text with a value
    of its own in more than half of the rows, and whole numbers that number the rows or are
    identifiers by their name.
    """
    dropped = {name: "asked for" for name in drop}
    for name in features.columns:
        if name in dropped:
            continue
        column = features[name]
        kind = kind_of(column)
        unusable = kind if kind not in (NUMBERS, TEXT) else None
        if name in wanted and not column.notna().any():
            raise RefusedError(f"{name!r} cannot be used: no row has a value in it; leave it out.")
        if unusable is not None and name in wanted:
            raise RefusedError(
                f"{name!r} cannot be used: the column holds {unusable}; turn it into numbers or "
                f"text first."
            )
        why = unusable if unusable or name in wanted else _useless(column)
        if why is not None:
            dropped[name] = why
    return dropped


def _useless(column: Any) -> str | None:
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
    in_order = n_distinct == len(column) and there.is_monotonic_increasing
    if whole and in_order and there.diff().max() == 1:
        return "numbering the rows"
    if whole and column.dtype.kind != "b" and _IDENTIFIER.fullmatch(str(column.name).strip()):
        return "identifiers by their name"
    return None
