"""The argument ``interactions``: which features may interact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from everystump._tables.frames import Feature
from everystump._terms import Term
from everystump._text import pluralize, suggest_name

_EXPECTED = 'a number of interactions, "auto", or a list of pairs of feature names or numbers'


def check_interactions(interactions: Any, features: Sequence[Feature]) -> int | str | list[Term]:
    """Return the number of interactions, "auto", or the features of each listed interaction.

    Examples
    --------
    >>> check_interactions([("b", "a"), (0, 2)], [Feature(name) for name in "abc"])
    [(0, 1), (0, 2)]
    """
    if isinstance(interactions, str):
        if interactions == "auto":
            return "auto"
        raise ValueError(f"interactions={interactions!r} must be {_EXPECTED}.")
    if isinstance(interactions, Integral) and not isinstance(interactions, bool | np.bool_):
        if interactions < 0:
            raise ValueError(f"interactions={interactions!r} must not be negative; 0 means none.")
        return int(interactions)
    if not isinstance(interactions, Iterable) or isinstance(interactions, dict | set | bytes):
        raise ValueError(f"interactions={interactions!r} must be {_EXPECTED}.")
    numbers = {feature.name: d for d, feature in enumerate(features) if feature.name is not None}
    terms = [_as_term(entry, numbers, len(features)) for entry in interactions]
    for term, count in Counter(terms).items():
        if count > 1:
            raise ValueError(
                f"interactions: {_display(term, features)} is listed twice; remove one of them."
            )
    return sorted(terms, key=lambda term: (len(term), term))


def _as_term(entry: Any, numbers: dict[Any, int], n_features: int) -> Term:
    """Return the features of one interaction, in ascending order."""
    if isinstance(entry, str) or not isinstance(entry, Iterable):
        raise ValueError(
            f"interactions: {entry!r} must be a pair or a triple of feature names or numbers."
        )
    members = list(entry)
    if len(members) not in (2, 3):
        raise ValueError(
            f"interactions: {entry!r} has {pluralize(len(members), 'feature')}; list two or three."
        )
    term = [_number(member, numbers, n_features) for member in members]
    if len(set(term)) < len(term):
        raise ValueError(
            f"interactions: {entry!r} contains a feature twice; list different features."
        )
    return tuple(sorted(term))


def _number(member: Any, numbers: dict[Any, int], n_features: int) -> int:
    """Return the number of a feature given by its name or number."""
    if isinstance(member, str):
        if member in numbers:
            return numbers[member]
        raise ValueError(
            f"interactions: X has no feature {member!r}; {suggest_name(member, list(numbers))}."
            if numbers
            else f"interactions: X has no feature names, so {member!r} cannot be found; use the "
            f"numbers of its columns."
        )
    if not isinstance(member, Integral) or isinstance(member, bool | np.bool_):
        raise ValueError(
            f"interactions: {member!r} is neither the name nor the number of a feature; use the "
            f"names or numbers of the columns of X."
        )
    if not 0 <= int(member) < n_features:
        raise ValueError(
            f"interactions: feature {member!r} does not exist; X has {n_features} features, "
            f"numbered from 0."
        )
    return int(member)


def _display(term: Term, features: Sequence[Feature]) -> str:
    return " × ".join(features[d].display_name(d) for d in term)
