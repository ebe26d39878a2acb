"""What the features, classes and shares of a picture are called."""

from __future__ import annotations

from typing import Any

from everystump._core.shapes import ShapeModel
from everystump.estimators._reading import names_of


def display_names(estimator: Any, n_features: int, given: Any) -> list[str]:
    """Return the names that were given, or those of the training table, or numbers."""
    if given is not None and len(given) != n_features:
        raise ValueError(
            f"feature_names holds {len(given)} names; pass one for each of {n_features} features."
        )
    if given is not None:
        names = given
    elif hasattr(estimator, "feature_info_"):
        names = names_of(estimator)
    else:  # a classifier of another library
        names = getattr(estimator, "feature_names_in_", [f"x{d}" for d in range(n_features)])
    return [str(name) for name in names]


def verbatim(text: Any) -> str:
    r"""Return a text of the data for a picture, where ``$`` is to begin no formula.

    Examples
    --------
    >>> print(verbatim("$0-$10k"))
    \$0-\$10k
    """
    return str(text).replace("$", r"\$")


def favored_class(estimator: Any, models: list[ShapeModel], k: int) -> str:
    """Return which class a positive score of the model ``k`` speaks for."""
    classes = estimator.classes_.tolist()
    if len(models) == 1:
        return f"positive for class {classes[1]!r}"
    return f"positive for class {classes[k]!r} against the rest"


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters.

    Examples
    --------
    >>> shortened("adoption of the budget", 12)
    'adoption of…'
    """
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
