"""Conversion of objects to plain parts and back.

The parts of an object are the arguments of its class (the fields of a dataclass or named tuple, the
parameters of an estimator) and its other attributes (those of a fitted estimator).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from sklearn.base import BaseEstimator

from everystump._sklearn_compat import param_names
from everystump._tables.overlap import TrainingRecord
from everystump.modelfile.checks import check
from everystump.modelfile.older import migrate

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
    return arguments, {
        name: _without_timings(part) if name == "cv_results_" else part
        for name, part in attributes.items()
        if name not in arguments
    }


def _without_timings(results: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a search without timings, so that equal fits make equal files."""
    return {name: column for name, column in results.items() if not name.endswith("_time")}


def from_parts(cls: type[Any], arguments: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """Return the object with some parts; raise if they do not match the class."""
    arguments, attributes = migrate(cls, arguments, attributes)
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
