"""Groups of rows: by quantiles of a number, by levels of a category, and those with no value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everystump.report._compact import encode_nibbles

_MAX_GROUPS = 14  # of present values; one more for other levels, and one for missing values
_MAX_BINS = 8
_MIN_BIN_ROWS = 30
_MIN_LEVEL_ROWS = 10  # rarer levels form one group
_MAX_COLUMNS = 40
_MIN_COLUMNS = 10


def group_columns(
    X: np.ndarray, features: Sequence[Mapping[str, Any]], order: Sequence[int], n_cells: int
) -> tuple[list[dict[str, Any]], int]:
    """Return the groups of rows by some columns, and the number of rows that have them.

    Columns and rows are limited to a number of cells: at most 40 columns, the first ones of
    ``order``, and at least 10 if there are as many; then as many rows as possible.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Numbers and indices of levels; NaN is missing, and a negative index an unknown level.
    features : sequence of dict
        ``kind``, and ``levels`` of a category.
    order : sequence of int
        Features, the most important one first.
    n_cells : int
        The largest number of stored memberships.

    Returns
    -------
    groups : list of dict
        For each column its ``feature``; its groups in natural order: ``ranges`` of a number,
        closed intervals, or ``levels`` of a category, indices, followed by one of ``n_others``
        other levels and one of missing values, if they occur (``has_missing``); and the ``codes``
        of the rows, indices of groups.
    n_rows : int
        How many rows they are, the first ones of ``X``.
    """
    fitting = n_cells // max(1, len(X))
    n_columns = min(len(order), _MAX_COLUMNS, max(_MIN_COLUMNS, fitting))
    rows = X[: n_cells // max(1, n_columns)]
    groups = []
    for d in order[:n_columns]:
        is_number = features[d]["kind"] == "number"
        described, codes = (_group_numbers if is_number else _group_levels)(rows[:, d])
        groups.append({"feature": int(d), **described, "codes": encode_nibbles(codes)})
    return groups, len(rows)


def _group_numbers(x: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Return groups of numbers: distinct values if there are few, otherwise quantiles."""
    is_missing = np.isnan(x)
    values, counts = np.unique(x[~is_missing], return_counts=True)
    n_bins = int(np.clip(counts.sum() // _MIN_BIN_ROWS, 2, _MAX_BINS))
    if len(values) <= n_bins:
        starts = np.arange(len(values))
    else:
        shares = np.cumsum(counts) - counts / 2
        bins = np.floor(n_bins * shares / counts.sum())
        starts = np.flatnonzero(np.append(True, np.diff(bins) > 0))
    ends = np.append(starts[1:], len(values)) - 1 if len(values) else starts
    codes = np.searchsorted(values[starts], x, side="right") - 1
    codes[is_missing] = len(starts)
    ranges = np.column_stack([values[starts], values[ends]]).tolist()
    return {"ranges": ranges, "has_missing": bool(is_missing.any())}, codes


def _group_levels(x: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Return groups of levels; rare ones and those unknown to the model form one group."""
    is_missing = np.isnan(x)
    levels, counts = np.unique(x[~is_missing], return_counts=True)
    is_single = levels >= 0
    if len(levels) > 2:
        largest = np.argsort(-counts, kind="stable")[:_MAX_GROUPS]
        is_single &= (counts >= _MIN_LEVEL_ROWS) & np.isin(np.arange(len(levels)), largest)
    if np.sum(~is_single & (levels >= 0)) == 1 and np.sum(is_single) < _MAX_GROUPS:
        is_single |= levels >= 0  # a group of others with a single known level
    own = levels[is_single]
    n_others = int(np.sum(~is_single))
    codes = np.searchsorted(own, x)
    found = np.isin(x, own)
    codes[~found] = len(own)
    codes[is_missing] = len(own) + (n_others > 0)
    groups = {"levels": own.astype(int).tolist(), "n_others": n_others}
    return groups | {"has_missing": bool(is_missing.any())}, codes
