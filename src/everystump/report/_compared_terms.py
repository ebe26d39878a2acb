"""The curves and surfaces of two models side by side: which both have, and how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump.report._compared_model import ComparedModel
from everystump.report._features import row_density, summarize_features


def summarize_terms(models: Sequence[ComparedModel]) -> dict[str, Any]:
    """Return what the page shows about the curves and surfaces of two models.

    Returns
    -------
    dict
        ``scales``: the factor of each model's contributions, 1 if their scores mean the same, and
        otherwise such that scores have a standard deviation of 1; ``features``: for each name the
        index in each model, or None, and its importance, scaled, in each model; ``interactions``:
        the same for those that both have; ``details``: for each model the records of its features,
        as on the report page; ``difference`` of a term is the standard deviation over the rows of
        the difference between its contributions, summed over scores.
    """
    same_scale = models[0].score_kind == models[1].score_kind
    scales = [1.0 if same_scale else 1.0 / model.score_deviation for model in models]
    rows = models[0].measured_rows
    parts = [
        [scale * part for part in model.contributions(rows)]
        for model, scale in zip(models, scales, strict=True)
    ]
    keys = dict.fromkeys([*models[0].terms, *models[1].terms])
    terms = [_term(key, models, parts) for key in keys]
    return {
        "scales": scales,
        "same_scale": same_scale,
        "features": [term for term in terms if len(term["names"]) == 1],
        "interactions": [
            term for term in terms if len(term["names"]) > 1 and None not in term["terms"]
        ],
        "details": [_details(model) for model in models],
    }


def _term(
    key: frozenset[str], models: Sequence[ComparedModel], parts: Sequence[list[np.ndarray]]
) -> dict[str, Any]:
    """Return a term: its position in each model, its importances, and the difference."""
    positions = [model.terms.get(key) for model in models]
    columns = [
        [np.zeros(len(part)) if t is None else part[:, t] for part in own]
        for t, own in zip(positions, parts, strict=True)
    ]
    importances = [
        None if t is None else sum(float(np.std(column)) for column in own)
        for t, own in zip(positions, columns, strict=True)
    ]
    pairs = zip(*columns, strict=True)
    difference = sum(float(np.std(second - first)) for first, second in pairs)
    return {
        "names": list(models[0].term_names.get(key) or models[1].term_names[key]),
        "terms": positions,
        "importance": importances,
        "difference": difference,
    }


def _details(compared: ComparedModel) -> dict[str, Any]:
    """Return the records of a model's features."""
    shapes, density = compared.shapes, row_density(compared.model, compared.numbers)
    zeros = {term: [0.0] * len(shapes) for term in shapes[0].terms}
    return {"features": summarize_features(compared.document["features"], shapes, density, zeros)}


def column_values(compared: ComparedModel, row: int) -> dict[str, Any]:
    """Return the values of a row by the names of features; None where they are missing."""
    values: dict[str, Any] = {}
    for d, (name, feature) in enumerate(
        zip(compared.feature_names, compared.document["features"], strict=True)
    ):
        x = float(compared.numbers[row : row + 1][0, d])
        if np.isnan(x):
            values[name] = None
        elif feature["kind"] == "number":
            values[name] = x
        else:
            values[name] = feature["levels"][int(x)] if x >= 0 else "unknown level"
    return values
