"""Encode a fitted model as JSON and a list of arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator

from everystump._arguments import short_repr
from everystump._core.surfaces import Axis
from everystump.modelfile.container import ModelFileError, is_storable
from everystump.modelfile.records import format_version, is_attribute, to_parts
from everystump.modelfile.registry import is_registered, is_registered_function

MAX_DEPTH = 60
_REMEDIES = {
    "cv": "use a number of folds, with set_params before saving if the model is fitted",
    "kernel": "use a kernel's name, or kernel='precomputed'",
    "measure": "use a measure's name, or save this model with joblib",
    "random_state": "use an int, with set_params before saving if the model is fitted",
    "scoring": "use a scorer's name, as in scoring='roc_auc', with set_params before saving if the "
    "model is fitted",
}
_DEFAULT_REMEDY = "use plain numbers, strings, lists or arrays, or save this model with joblib"


class Encoder:
    """Turns values into JSON; arrays are collected under the names of their files."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.version = 1  # of the format that the values need
        self._axes: dict[tuple, Axis] = {}
        self._files: dict[int, str] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # ids of objects are unique only during their lifetimes

    def encode(self, value: Any, path: str, depth: int = 0) -> Any:
        """Return the JSON of a value; ``path`` is its position in the model."""
        if depth > MAX_DEPTH:
            raise ModelFileError(
                f"{path}: lists and objects are nested more than {MAX_DEPTH} levels deep, which a "
                f"model file does not allow."
            )
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"type": "float", "value": str(value)}
        if type(value) is list:
            return self._items(value, path, depth)
        if type(value) is tuple:
            return {"type": "tuple", "items": self._items(value, path, depth)}
        if type(value) is dict:
            return {"type": "dict", "items": self._pairs(value, path, depth)}
        if isinstance(value, np.generic):
            return self._scalar(value, path)
        if isinstance(value, np.ndarray):
            return self._array(value, path, depth)
        return self._object(value, path, depth)

    def _pairs(self, values: dict, path: str, depth: int) -> list:
        return [
            [self.encode(key, path, depth + 1), self.encode(part, f"{path}[{key!r}]", depth + 1)]
            for key, part in values.items()
        ]

    def _items(self, values: Iterable, path: str, depth: int) -> list:
        return [self.encode(v, f"{path}[{k}]", depth + 1) for k, v in enumerate(values)]

    def _named(self, values: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        inside = f"{path}." if path else ""
        return {name: self.encode(v, f"{inside}{name}", depth + 1) for name, v in values.items()}

    def _scalar(self, value: np.generic, path: str) -> dict:
        if not is_storable(value.dtype):
            _reject(value, path)
        return {
            "type": "scalar",
            "dtype": value.dtype.str,
            "value": self.encode(value.item(), path),
        }

    def _array(self, value: np.ndarray, path: str, depth: int) -> dict:
        if isinstance(value, np.ma.MaskedArray):
            data = self._array(np.asarray(value.data), path, depth)
            return {
                "type": "masked",
                "data": data,
                "mask": self._array(np.ma.getmaskarray(value), path, depth),
            }
        if value.dtype == object:
            items = self._items(value.ravel().tolist(), path, depth)
            return {"type": "objects", "shape": list(value.shape), "items": items}
        if not is_storable(value.dtype):
            _reject(value, path)
        if id(value) not in self._files:
            file = f"arrays/{len(self.arrays)}.npy"
            self._files[id(value)], self.arrays[file] = file, value
            self._alive.append(value)
        return {"type": "array", "file": self._files[id(value)]}

    def _object(self, value: Any, path: str, depth: int) -> dict:
        if is_registered_function(value):
            return {"type": "function", "name": value.__name__}
        if isinstance(value, partial) and is_registered_function(value.func) and not value.args:
            keywords = self._named(value.keywords, path, depth)
            return {"type": "partial", "name": value.func.__name__, "keywords": keywords}
        if not is_registered(value):
            _reject(value, path)
        if isinstance(value, Axis):  # surfaces share few axes
            key = (value.knots.tobytes(), value.is_category, value.has_missing)
            value = self._axes.setdefault(key, value)
        if id(value) in self._numbers:
            return {"type": "again", "number": self._numbers[id(value)]}
        arguments, attributes = to_parts(value)
        self.version = max(self.version, format_version(type(value), arguments, attributes))
        node = {"type": type(value).__name__, "with": self._named(arguments, path, depth)}
        for name, part in attributes.items():
            if not is_attribute(type(value), name):
                _reject(part, f"{path}.{name}".lstrip("."))
        if attributes:
            node["holds"] = self._named(attributes, path, depth)
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return node


def _reject(value: Any, path: str) -> NoReturn:
    """Raise an error that names the value that cannot be stored and suggests a remedy."""
    text = " ".join(short_repr(value).split())
    if isinstance(value, BaseEstimator):
        raise ModelFileError(
            f"{path}={text} is not an estimator of everystump, and a model file cannot contain "
            f"others; save this model with skops."
        )
    what = "a function" if callable(value) else f"of type {type(value).__name__}"
    remedy = _REMEDIES.get(path.rpartition(".")[2].partition("[")[0], _DEFAULT_REMEDY)
    raise ModelFileError(f"{path}={text} is {what}, which a model file cannot contain; {remedy}.")
