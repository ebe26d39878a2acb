"""How the contents of model files from earlier versions map to today's classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import linear_kernel

from everystump._core.kernel_machines.kernels import CallableKernel, Kernel, NamedKernel

Parts = tuple[dict[str, Any], dict[str, Any]]

# By the class's name: its old fields, parameters and attributes, and what they are called now.
_RENAMED: dict[str, dict[str, str]] = {
    "Expansion": {"kept": "support_vectors"},
    "TrainingRecord": {
        "n_given": "n_input_rows",
        "table": "table_checksum",
        "unordered": "rows_checksum",
        "weights": "weights_checksum",
        "n_twins": "n_duplicates",
    },
}
# By the class's name: fields that it no longer has.
_REMOVED: dict[str, set[str]] = {"PrecomputedKernel": {"fixed", "own", "libsvm"}}
# Attributes of all estimators.
_RENAMED_OF_ESTIMATORS = {"features_": "feature_info_", "_lost": "_removed_attributes"}
# By the class's name: parameters that older files lack and whose default is a new behavior, and
# the attributes that go with their old behavior.
_ADDED: dict[str, Parts] = {
    "PerceptronSVC": ({"scale": False}, {"scale_": None}),
}


def migrate(cls: type, arguments: dict[str, Any], attributes: dict[str, Any]) -> Parts:
    """Return the parts of an object as today's class expects them."""
    others = _RENAMED_OF_ESTIMATORS if issubclass(cls, BaseEstimator) else {}
    names = _RENAMED.get(cls.__name__, others)
    arguments, attributes = _rename(arguments, names), _rename(attributes, names)
    removed = _REMOVED.get(cls.__name__, set())
    arguments = {name: part for name, part in arguments.items() if name not in removed}
    parameters, fitted = _ADDED.get(cls.__name__, ({}, {}))
    if not parameters.keys() <= arguments.keys():
        arguments, attributes = {**parameters, **arguments}, {**fitted, **attributes}
    return arguments, attributes


def _rename(parts: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): part for name, part in parts.items()}


def _read_pair_kernel(function: Any, fixed: bool = True, **properties: Any) -> Kernel:
    """Return the kernel of a record of a function, its parameters and its properties."""
    if isinstance(function, partial) and function.func is NamedKernel:
        (name,) = function.args
        return NamedKernel(name, function.keywords, fixed)
    return NamedKernel("linear", {}) if function is linear_kernel else CallableKernel(function)


# Classes and functions that are no longer written, and what reads them.
OLD_CLASSES: dict[str, Callable[..., Any]] = {"PairKernel": _read_pair_kernel}
OLD_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gaussian": partial(NamedKernel, "gaussian"),
    "laplacian": partial(NamedKernel, "laplacian"),
    "middle_stump": partial(NamedKernel, "middle"),
    "perceptron": partial(NamedKernel, "perceptron"),
    "stump": partial(NamedKernel, "stump"),
}
