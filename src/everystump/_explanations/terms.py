"""The terms of a model by name: its features, and its interactions, such as ``"age × income"``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from everystump._explanations.access import feature_index, feature_names
from everystump._tables.frames import Feature
from everystump._terms import Term
from everystump._text import pluralize, suggest_name

TIMES = " × "


def name_terms(names: Sequence[Any], terms: Sequence[Term]) -> list:
    """Return the name of each term, given the names of the features.

    Examples
    --------
    >>> name_terms(["age", "income"], [(0,), (1,), (0, 1)])
    ['age', 'income', 'age × income']
    """
    return [
        names[term[0]] if len(term) == 1 else TIMES.join(str(names[d]) for d in term)
        for term in terms
    ]


def term_names(features: Sequence[Feature], terms: Sequence[Term]) -> list:
    """Return the name of each term of a model."""
    return name_terms(feature_names(features), terms)


def term_features(features: Sequence[Feature], terms: Sequence[Term], term: Any) -> Term:
    """Return the features of a term of a model.

    Parameters
    ----------
    features : sequence of Feature
        The features of the model.
    terms : sequence of tuple of int
        The terms of the model.
    term : str, int, or tuple of str or int
        A feature by name or index, or an interaction: its name, such as ``"age × income"``, or a
        tuple of features; their order does not matter.

    Examples
    --------
    >>> features, terms = [Feature("age"), Feature("income")], [(0,), (1,), (0, 1)]
    >>> [term_features(features, terms, term) for term in ("income", ("income", 0), "age × income")]
    [(1,), (0, 1), (0, 1)]
    """
    interactions = [other for other in terms if len(other) > 1]
    if isinstance(term, tuple | list):
        chosen = tuple(sorted(feature_index(features, feature) for feature in term))
        if chosen in terms:
            return chosen
        raise ValueError(
            f"feature={term!r} is not an interaction of the model; "
            f"{_suggest_interaction(features, interactions)}."
        )
    names = feature_names(features)
    if isinstance(term, str) and term not in names:
        for other in interactions:
            if term in (TIMES.join(str(names[d]) for d in order) for order in permutations(other)):
                return other
        if TIMES in term:
            raise ValueError(
                f"feature={term!r} is not an interaction of the model; "
                f"{_suggest_interaction(features, interactions, term)}."
            )
        if interactions:
            known = names + name_terms(names, interactions)
            raise ValueError(
                f"feature={term!r} is not among the {pluralize(len(names), 'feature')} and "
                f"{pluralize(len(interactions), 'interaction')}; {suggest_name(term, known)}."
            )
    return (feature_index(features, term),)


def single_feature(features: Sequence[Feature], feature: Any) -> int:
    """Return the index of a feature; raise an error for an interaction, which has no curve."""
    is_named = isinstance(feature, str) and TIMES in feature
    if isinstance(feature, tuple | list) or (is_named and feature not in feature_names(features)):
        raise ValueError(
            f"feature={feature!r} is not a single feature, so it has no curve; use surface() or "
            f"SurfacesDisplay for interactions."
        )
    return feature_index(features, feature)


def interaction_features(features: Sequence[Feature], terms: Sequence[Term], term: Any) -> Term:
    """Return the features of an interaction of a model; raise an error for a single feature."""
    chosen = term_features(features, terms, term)
    if len(chosen) > 1:
        return chosen
    interactions = [other for other in terms if len(other) > 1]
    raise ValueError(
        f"feature={term!r} is a single feature, not an interaction; "
        f"{_suggest_interaction(features, interactions)}."
    )


def _suggest_interaction(
    features: Sequence[Feature], interactions: Sequence[Term], name: str = ""
) -> str:
    if not interactions:
        return "the model has none, so fit it with interactions"
    return suggest_name(name, term_names(features, interactions))
