"""Conversion of objects to plain parts and back.

The parts of an object are the arguments of its class (the fields of a dataclass or named tuple, the
parameters of an estimator) and its other attributes (those of a fitted estimator).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import linear_kernel

from everystump._core.kernel_machines.kernels import CallableKernel, Kernel, NamedKernel
from everystump._core.shapes import ShapeModel
from everystump._sklearn_compat import param_names
from everystump._tables.overlap import TrainingRecord
from everystump.estimators._stump_bounds import StumpBounds
from everystump.modelfile.checks import check

Parts = tuple[dict[str, Any], dict[str, Any]]


def to_parts(value: Any) -> Parts:
    """Return the arguments and the other attributes of an object."""
    check(value)
    if isinstance(value, TrainingRecord):
        value = value.sketch()  # limits the size of files
    cls = type(value)
    arguments = {name: getattr(value, name) for name in _names(cls)}
    attributes = {} if _is_record(cls) else value.__getstate__() or {}
    found = _other_names(attributes, arguments)
    for name, results in found.items():  # without timings: identical fits give identical files
        if name.endswith("cv_results_"):
            found[name] = {k: v for k, v in results.items() if not k.endswith("_time")}
    parameters, fitted = _without_interactions(cls, found)
    return _other_than(arguments, parameters), _other_than(found, fitted)


def _other_than(parts: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return the parts that differ from known ones."""
    return {k: part for k, part in parts.items() if k not in known or not _same(part, known[k])}


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return a == b


def format_version(cls: type[Any], arguments: dict[str, Any], attributes: dict[str, Any]) -> int:
    """Return the version of the format that first had the parts of an object."""
    parameters, fitted = _without_interactions(cls, attributes)
    has_interactions = parameters.keys() & arguments.keys() or fitted.keys() & attributes.keys()
    return 2 if has_interactions else 1


def from_parts(cls: type[Any], arguments: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """Return the object with some parts; raise if they do not match the class."""
    arguments, attributes = _migrate(cls, arguments, attributes)
    if attributes and _is_record(cls):
        raise ValueError(f"{cls.__name__} has no attributes besides its fields.")
    unknown = [name for name in attributes if not is_attribute(cls, name)]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not an attribute of a fitted {cls.__name__}.")
    # Other objects consist of their attributes; the arguments of their classes may differ.
    has_arguments = _is_record(cls) or issubclass(cls, BaseEstimator)
    value = cls(**arguments) if has_arguments else object.__new__(cls)
    if attributes:
        vars(value).update(attributes)
    check(value)
    return value


def _is_record(cls: Any) -> bool:
    return not issubclass(cls, BaseEstimator) and (is_dataclass(cls) or issubclass(cls, tuple))


def _names(cls: Any) -> Iterable[str]:
    if issubclass(cls, BaseEstimator):
        return param_names(cls)
    if is_dataclass(cls):
        return [field.name for field in fields(cls) if field.init]
    return getattr(cls, "_fields", ())


def is_attribute(cls: type, name: str) -> bool:
    """Whether objects may have an attribute: it must not shadow anything in their class."""
    return name.isidentifier() and not name.startswith("__") and getattr(cls, name, None) is None


# By class name: old names of fields, parameters and attributes, and their current names.
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
# By class name: removed fields.
_REMOVED: dict[str, set[str]] = {"PrecomputedKernel": {"fixed", "own", "libsvm"}}
# Attributes of all estimators.
_RENAMED_OF_ESTIMATORS = {"features_": "feature_info_", "_lost": "_removed_attributes"}
# By class name: parameters that older files lack and whose default is a new behavior, and the
# attributes that go with the old behavior.
_ADDED: dict[str, Parts] = {
    "PerceptronSVC": ({"scale": False}, {"scale_": None}),
    "StumpLogisticRegression": ({"multi_class": "ovr"}, {"multi_class_": "ovr"}),
    "StumpLogisticRegressionCV": (
        {"multi_class": "ovr", "feature_weights": "equal"},
        {"multi_class_": "ovr"},
    ),
    "StumpSVCCV": ({"feature_weights": "equal"}, {}),
    "StumpRegressorCV": ({"feature_weights": "equal"}, {}),
}

_OPTIONS_OF_INTERACTIONS = ("interaction_bins", "interaction_strength", "max_interaction_order")


def _migrate(cls: type, arguments: dict[str, Any], attributes: dict[str, Any]) -> Parts:
    """Return the parts of an object in the form that the current class expects."""
    others = _RENAMED_OF_ESTIMATORS if issubclass(cls, BaseEstimator) else {}
    names = _RENAMED.get(cls.__name__, others)
    arguments, attributes = _rename(arguments, names), _rename(attributes, names)
    removed = _REMOVED.get(cls.__name__, set())
    arguments = _other_names(arguments, removed)
    parameters, fitted = _ADDED.get(cls.__name__, ({}, {}))
    if not parameters.keys() <= arguments.keys():
        arguments, attributes = {**parameters, **arguments}, {**fitted, **attributes}
    parameters, fitted = _without_interactions(cls, attributes)
    return {**parameters, **arguments}, {**attributes, **_other_names(fitted, attributes)}


def _other_names(parts: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if name not in known}


def _without_interactions(cls: type[Any], attributes: dict[str, Any]) -> Parts:
    """Return the parts of a model without interactions that files leave out.

    Files of such models are the same as before there were interactions.
    """
    if cls is ShapeModel:
        return {"surfaces": ()}, {}
    if not (issubclass(cls, BaseEstimator) and "interactions" in _names(cls)):
        return {}, {}
    parameters = {name: getattr(cls, name) for name in _OPTIONS_OF_INTERACTIONS}
    fitted: dict[str, Any] = {}
    if "shapes_" in attributes:
        fitted = {"interactions_": [], "interaction_strength_": 0.0, "surface_density_": ()}
    if "half_mass_" in attributes:
        half_mass = attributes["half_mass_"]
        fitted["_max_kernel"] = half_mass
        if issubclass(cls, StumpBounds):
            fitted["_kernel_diagonal"] = np.array([half_mass])
    removed = attributes.get("_removed_attributes", ())  # by an edit
    return {"interactions": 0, **parameters}, _other_names(fitted, removed)


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
