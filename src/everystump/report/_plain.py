"""Converts values of any type to those of JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Any


def to_plain(value: Any) -> Any:
    """Return a value as dicts, lists, text, finite numbers, booleans and None.

    A number that is not finite becomes None; an object of another type becomes its ``str``.

    Examples
    --------
    >>> import numpy as np
    >>> to_plain({"C": np.array([0.5, np.inf]), 3: (True, np.int64(7))})
    {'C': [0.5, None], '3': [True, 7]}
    """
    if value is None or isinstance(value, str | bool):
        return str(value) if isinstance(value, str) else value
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        kept = value.tolist()
        return to_plain(kept) if type(kept) is not type(value) else str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_plain(own) for key, own in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [to_plain(own) for own in value]
    return str(value)
