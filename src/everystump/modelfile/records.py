"""Objects taken apart into plain parts, and put together again.

The parts of an object are what its class is called with (the fields of a dataclass or of a named
tuple, the parameters of an estimator) and what it holds beside (the fitted attributes).
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
    """Return what the class of an object is called with, and what the object holds beside."""
    check(value)
    if isinstance(value, TrainingRecord):
        value = value.sketch()  # files of models stay small, however many rows there were
    names = _names(type(value))
    arguments = {name: getattr(value, name) for name in names}
    if is_dataclass(value) or isinstance(value, tuple):
        return arguments, {}
    held = value.__getstate__() or {}
    return arguments, {
        name: _without_times(part) if name == "cv_results_" else part
        for name, part in held.items()
        if name not in arguments
    }


def _without_times(results: dict[str, Any]) -> dict[str, Any]:
    """Return a search's table without its clock readings: equal fits are to make equal files."""
    return {name: column for name, column in results.items() if not name.endswith("_time")}


def from_parts(cls: type[Any], arguments: dict[str, Any], held: dict[str, Any]) -> Any:
    """Return the object of two parts; raises whatever the class does if they do not fit it."""
    arguments, held = migrate(cls, arguments, held)
    plain = not (is_dataclass(cls) or issubclass(cls, tuple | BaseEstimator))
    if held and (is_dataclass(cls) or issubclass(cls, tuple)):
        raise ValueError(f"{cls.__name__} holds nothing beside its fields.")
    unknown = [name for name in held if not is_attribute(cls, name)]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no attribute of a fitted {cls.__name__}.")
    # Plain objects are all in what they hold: their classes may want to be called with other words.
    value = object.__new__(cls) if plain else cls(**arguments)
    if held:
        vars(value).update(held)
    check(value)
    return value


def _names(cls: Any) -> Iterable[str]:
    if is_dataclass(cls):
        return [field.name for field in fields(cls) if field.init]
    if issubclass(cls, tuple):
        return cls._fields
    if issubclass(cls, BaseEstimator):
        return param_names(cls)
    return ()


def is_attribute(cls: type, name: str) -> bool:
    """Tell whether objects may hold an attribute: one that hides nothing of their class."""
    return name.isidentifier() and not name.startswith("__") and getattr(cls, name, None) is None
