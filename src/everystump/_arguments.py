"""Checks of arguments shared by several packages."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_float_array(value: Any, name: str, expected: str) -> np.ndarray:
    """Return the argument ``name`` as an array of floats; ``expected`` is what it must be."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}={short_repr(value)} must be {expected}.") from None


def short_repr(value: Any, max_length: int = 80) -> str:
    """Return the representation of an argument for an error message, truncated if it is long.

    Examples
    --------
    >>> short_repr([1, "a"]), short_repr([1.5] * 100, 12)
    ("[1, 'a']", '[1.5, 1.5, 1...')
    """
    text = repr(value)
    return text if len(text) <= max_length else f"{text[:max_length]}..."


def check_feature_range(feature_range: Any, n_features: int) -> np.ndarray:
    """Return the range of each feature as an array of shape (n_features, 2)."""
    expected = (
        f"(low, high), or one such pair of finite numbers for each of the {n_features} features"
    )
    limits = as_float_array(feature_range, "feature_range", expected)
    if limits.shape not in {(2,), (n_features, 2)} or not np.all(np.isfinite(limits)):
        raise ValueError(f"feature_range={feature_range!r} must be {expected}.")
    if np.any(limits[..., 0] > limits[..., 1]):
        raise ValueError(f"feature_range={feature_range!r} has a low above its high; swap them.")
    return np.broadcast_to(limits, (n_features, 2))


def check_positive(**arguments: float) -> None:
    """Check that arguments are positive."""
    for name, value in arguments.items():
        if not value > 0:
            raise ValueError(f"{name}={value} must be positive.")
