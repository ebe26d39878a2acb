"""How the contents of model files from earlier versions map to today's classes."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

Parts = tuple[dict[str, Any], dict[str, Any]]

# By the class's name: its old fields, parameters and attributes, and what they are called now.
_RENAMED: dict[str, dict[str, str]] = {
    "TrainingRecord": {
        "n_given": "n_input_rows",
        "table": "table_checksum",
        "unordered": "rows_checksum",
        "weights": "weights_checksum",
        "n_twins": "n_duplicates",
    },
}
_RENAMED_OF_ESTIMATORS = {"features_": "feature_info_", "_lost": "_removed_attributes"}
# By the class's name: parameters that older files lack and whose default is a new behavior, and
# the attributes that go with their old behavior.
_ADDED: dict[str, Parts] = {
    "PerceptronSVC": ({"scale": False}, {"scale_": None}),
}


def migrate(cls: type, arguments: dict[str, Any], attributes: dict[str, Any]) -> Parts:
    """Return the arguments and attributes of an object under today's names, none of them absent."""
    others = _RENAMED_OF_ESTIMATORS if issubclass(cls, BaseEstimator) else {}
    names = _RENAMED.get(cls.__name__, others)
    arguments, attributes = _rename(arguments, names), _rename(attributes, names)
    parameters, fitted = _ADDED.get(cls.__name__, ({}, {}))
    if not parameters.keys() <= arguments.keys():
        arguments, attributes = {**parameters, **arguments}, {**fitted, **attributes}
    return arguments, attributes


def _rename(parts: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): part for name, part in parts.items()}
