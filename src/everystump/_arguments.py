"""Arguments that several rooms take, checked in one place and in one voice."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_float_array(value: Any, name: str, wanted: str) -> np.ndarray:
    """Return ``value`` as an array of numbers, or say that the argument ``name`` is not one."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}={shown(value)} must be {wanted}.") from None


def shown(value: Any, most: int = 80) -> str:
    """Return an argument as an error message shows it: no more than its first characters.

    Examples
    --------
    >>> shown([1, "a"]), shown([1.5] * 100, 12)
    ("[1, 'a']", '[1.5, 1.5, 1...')
    """
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."


def check_feature_range(feature_range: Any, n_features: int) -> np.ndarray:
    """Return the range [low, high] of each feature, as (n_features, 2)."""
    wanted = (
        f"(low, high), or one such pair of finite numbers for each of the {n_features} features"
    )
    limits = as_float_array(feature_range, "feature_range", wanted)
    if limits.shape not in {(2,), (n_features, 2)} or not np.all(np.isfinite(limits)):
        raise ValueError(f"feature_range={feature_range!r} must be {wanted}.")
    if np.any(limits[..., 0] > limits[..., 1]):
        raise ValueError(f"feature_range={feature_range!r} has a low above its high; swap them.")
    return np.broadcast_to(limits, (n_features, 2))


def check_positive(**arguments: float) -> None:
    """Raise if an argument is not positive."""
    for name, value in arguments.items():
        if not value > 0:
            raise ValueError(f"{name}={value} must be positive.")
