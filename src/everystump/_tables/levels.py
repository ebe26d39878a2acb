"""The levels of a category in several tables."""

from __future__ import annotations

import numpy as np


def merge_levels(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return all levels of a category: sorted if both are, else new ones after the others.

    Examples
    --------
    >>> merge_levels(np.array(["a", "c"]), np.array(["b", "c"]))
    array(['a', 'b', 'c'], dtype='<U1')
    >>> merge_levels(np.array(["low", "high"]), np.array(["low", "mid"]))
    array(['low', 'high', 'mid'], dtype='<U4')
    """
    own, others = first.tolist(), second.tolist()
    joined = list(dict.fromkeys([*own, *others]))
    if own == sorted(own) and others == sorted(others):
        joined.sort()
    out = np.empty(len(joined), dtype=np.result_type(first, second))
    out[:] = joined
    return out
