"""Single values of a user's table: whether they are missing, and their kind."""

from __future__ import annotations

from numbers import Complex, Number, Real
from typing import Any

NUMBER, TEXT, OTHER = "number", "text", "other"


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or their equivalent in a dataframe library.

    Examples
    --------
    >>> import pandas as pd
    >>> [is_missing(value) for value in (None, float("nan"), pd.NA, pd.NaT, 0.0, "")]
    [True, True, True, True, False, False]
    """
    if value is None or isinstance(value, str):
        return value is None
    try:
        return bool(value != value)
    except ArithmeticError:  # a signaling NaN of decimal
        return True
    except (TypeError, ValueError):  # pandas.NA is neither true nor false, an array is both
        return not hasattr(value, "__len__")


def value_kind(value: Any) -> str:
    """Return whether a value is a number, text, or something else."""
    if isinstance(value, str):
        return TEXT
    if isinstance(value, Real) or (isinstance(value, Number) and not isinstance(value, Complex)):
        return NUMBER  # decimal.Decimal is a Number, but neither Real nor Complex
    return OTHER
