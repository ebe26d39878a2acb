"""Conversion of objects to plain parts and back.

The parts of an object are the arguments of its class (the fields of a dataclass or named tuple, the
parameters of an estimator) and its other attributes (those of a fitted estimator).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import linear_kernel

from everystump._core.kernel_machines.kernels import CallableKernel, Kernel, NamedKernel
from everystump._sklearn_compat import param_names
from everystump._tables.overlap import TrainingRecord
from everystump.modelfile.checks import check

Parts = tuple[dict[str, Any], dict[str, Any]]


def to_parts(value: Any) -> Parts:
    """Return the arguments and the other attributes of an object."""
    check(value)
    if isinstance(value, TrainingRecord):
        value = value.sketch()  # limits the size of files
    names = _names(type(value))
    arguments = {name: getattr(value, name) for name in names}
    if _is_record(type(value)):
        return arguments, {}
    attributes = value.__getstate__() or {}
    found = {name: part for name, part in attributes.items() if name not in arguments}
    results = found.get("cv_results_")
    if results is not None:  # without timings, so that identical fits give identical files
        found["cv_results_"] = {k: v for k, v in results.items() if not k.endswith("_time")}
    return arguments, found


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
}


def _migrate(cls: type, arguments: dict[str, Any], attributes: dict[str, Any]) -> Parts:
    """Return the parts of an object in the form that the current class expects."""
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
