"""What the features of a picture are called."""

from __future__ import annotations

from typing import Any


def feature_names(estimator: Any, n_features: int, given: Any) -> list[str]:
    """Return the names that were given, or those of the training table, or numbers."""
    names = given if given is not None else getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{d}" for d in range(n_features)]
    if len(names) != n_features:
        raise ValueError(
            f"feature_names holds {len(names)} names; pass one for each of {n_features} features."
        )
    return [str(name) for name in names]
