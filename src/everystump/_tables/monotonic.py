"""The argument ``monotonic_cst``: which curves are constrained to increase or to decrease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from everystump._tables.frames import Feature

_WORDS = {"increasing": 1, "decreasing": -1}
_EXPECTED = '-1, 0 or 1, or "decreasing" or "increasing"'


def check_monotonic_cst(monotonic_cst: Any, features: Sequence[Feature]) -> np.ndarray | None:
    """Return -1, 0 or 1 for each feature, or None if no feature is constrained.

    Examples
    --------
    >>> check_monotonic_cst(["increasing", 0, -1], [Feature()] * 3)
    array([ 1,  0, -1])
    """
    if monotonic_cst is None:
        return None
    n_features = len(features)
    if hasattr(monotonic_cst, "to_dict") and not isinstance(monotonic_cst, Mapping):
        by_name = monotonic_cst.to_dict()  # a pandas Series
        if list(by_name) != list(range(n_features)):
            monotonic_cst = by_name
    if isinstance(monotonic_cst, Mapping):
        entries = _by_name(monotonic_cst, [feature.name for feature in features])
    else:
        entries = _in_order(monotonic_cst)
    if len(entries) != n_features:
        raise ValueError(
            f"monotonic_cst={monotonic_cst!r} has {len(entries)} entries, but X has {n_features} "
            f"features; pass one entry per feature, 0 for no constraint."
        )
    directions = np.array([_direction(value) for value in entries])
    for d in np.flatnonzero(directions).tolist():
        if features[d].levels is not None:
            raise ValueError(
                f"monotonic_cst={monotonic_cst!r}: feature {features[d].display_name(d)} is a "
                f"category, whose levels have no order; use 0 for it, or pass it as numbers."
            )
    return directions if directions.any() else None


def has_constraints(monotonic_cst: Any) -> bool:
    """Whether a valid ``monotonic_cst`` constrains any feature.

    Examples
    --------
    >>> has_constraints(None), has_constraints([0, 0]), has_constraints({"age": "increasing"})
    (False, False, True)
    """
    if monotonic_cst is None:
        return False
    is_named = isinstance(monotonic_cst, Mapping)
    return any(value != 0 for value in (monotonic_cst.values() if is_named else monotonic_cst))


def _in_order(monotonic_cst: Any) -> list:
    if isinstance(monotonic_cst, str | set | frozenset) or np.ndim(monotonic_cst) != 1:
        raise ValueError(
            f"monotonic_cst={monotonic_cst!r} must be a list with one entry per feature, or a dict "
            f"with feature names as keys."
        )
    return list(monotonic_cst)


def _by_name(monotonic_cst: Mapping, names: list[str | None]) -> list:
    if None in names:
        raise ValueError(
            f"monotonic_cst={dict(monotonic_cst)!r} has feature names, but the columns of X have "
            f"none; pass a list of {len(names)} entries, or a dataframe with column names."
        )
    unknown = [name for name in monotonic_cst if name not in set(names)]
    if unknown:
        raise ValueError(
            f"monotonic_cst contains the name {unknown[0]!r}, which is not a column of X; use "
            f"names from {names!r}."
        )
    return [monotonic_cst.get(name, 0) for name in names]


def _direction(value: Any) -> int:
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    try:
        direction = int(value)
        is_valid = direction == value and abs(direction) <= 1
    except (TypeError, ValueError, OverflowError):
        is_valid = False
    if not is_valid:
        raise ValueError(f"monotonic_cst contains {value!r}; use {_EXPECTED} for each feature.")
    return direction
