"""Conditions on the parts of the objects in a model file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from everystump.modelfile.container import ModelFileError


def require(condition: Any, message: str) -> None:
    """Raise an error with a message unless a condition holds."""
    if not condition:
        raise ModelFileError(message)


def is_array(value: Any, ndim: int, kinds: str = "biufUO") -> bool:
    """Whether a value is an array with a number of dimensions and a kind of values."""
    return isinstance(value, np.ndarray) and value.ndim == ndim and value.dtype.kind in kinds


def is_number(value: Any) -> bool:
    """Whether a value is a finite float."""
    return isinstance(value, float) and math.isfinite(value)


def is_int(value: Any, low: int, high: float = math.inf) -> bool:
    """Whether a value is an integer in a range."""
    return type(value) is int and low <= value <= high


def are_all(values: Any, container: Any, cls: type) -> bool:
    """Whether values are a container of objects of a class."""
    return isinstance(values, container) and all(isinstance(value, cls) for value in values)
