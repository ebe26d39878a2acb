"""A fitted model as JSON and a list of arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from everystump.modelfile.errors import ModelFileError
from everystump.modelfile.records import is_attribute, to_parts
from everystump.modelfile.registry import is_registered, is_registered_function

ARRAY_KINDS = "biufU"
MOST_LEVELS = 60
_LONGEST_REPR = 80
_DTYPE = re.compile(r"[<>|][biufU](?:0|[1-9][0-9]{0,8})")
_REMEDIES = {
    "cv": "use a number of folds, by set_params before saving if the model is fitted",
    "kernel": "name a kernel, or use kernel='precomputed'",
    "measure": "name a measure, or keep this model with joblib",
    "random_state": "use an int, by set_params before saving if the model is fitted",
    "scoring": "name the scorer, as in scoring='roc_auc', by set_params before saving if the model "
    "is fitted",
}
_OTHERWISE = "use plain numbers, words, lists or arrays, or keep this model with joblib"


class Encoder:
    """Turns values into JSON; arrays are put aside under the names of their files."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._files: dict[int, str] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # ids are those of living objects only

    def encode(self, value: Any, where: str, level: int = 0) -> Any:
        """Return the JSON of a value that stands at ``where`` in the model."""
        if level > MOST_LEVELS:
            raise ModelFileError(
                f"{where}: lists and objects are nested more than {MOST_LEVELS} deep; a model file "
                f"holds no such model."
            )
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"type": "float", "value": str(value)}
        if type(value) is list:
            return self._items(value, where, level)
        if type(value) is tuple:
            return {"type": "tuple", "items": self._items(value, where, level)}
        if type(value) is dict:
            pairs = [
                [
                    self.encode(key, where, level + 1),
                    self.encode(part, f"{where}[{key!r}]", level + 1),
                ]
                for key, part in value.items()
            ]
            return {"type": "dict", "items": pairs}
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if isinstance(value, np.ndarray):
            return self._array(value, where, level)
        return self._object(value, where, level)

    def _items(self, values: Iterable, where: str, level: int) -> list:
        return [self.encode(v, f"{where}[{k}]", level + 1) for k, v in enumerate(values)]

    def _named(self, values: dict[str, Any], where: str, level: int) -> dict[str, Any]:
        inside = f"{where}." if where else ""
        return {name: self.encode(v, f"{inside}{name}", level + 1) for name, v in values.items()}

    def _scalar(self, value: np.generic, where: str) -> dict:
        if not _is_plain(value.dtype):
            _refuse(value, where)
        return {
            "type": "scalar",
            "dtype": value.dtype.str,
            "value": self.encode(value.item(), where),
        }

    def _array(self, value: np.ndarray, where: str, level: int) -> dict:
        if isinstance(value, np.ma.MaskedArray):
            data = self._array(np.asarray(value.data), where, level)
            return {
                "type": "masked",
                "data": data,
                "mask": self._array(np.ma.getmaskarray(value), where, level),
            }
        if value.dtype == object:
            items = self._items(value.ravel().tolist(), where, level)
            return {"type": "objects", "shape": list(value.shape), "items": items}
        if not _is_plain(value.dtype):
            _refuse(value, where)
        if id(value) not in self._files:
            file = f"arrays/{len(self.arrays)}.npy"
            self._files[id(value)], self.arrays[file] = file, value
            self._alive.append(value)
        return {"type": "array", "file": self._files[id(value)]}

    def _object(self, value: Any, where: str, level: int) -> dict:
        if is_registered_function(value):
            return {"type": "function", "name": value.__name__}
        if isinstance(value, partial) and is_registered_function(value.func) and not value.args:
            keywords = self._named(value.keywords, where, level)
            return {"type": "partial", "name": value.func.__name__, "keywords": keywords}
        if not is_registered(value):
            _refuse(value, where)
        if id(value) in self._numbers:
            return {"type": "again", "number": self._numbers[id(value)]}
        arguments, held = to_parts(value)
        node = {"type": type(value).__name__, "with": self._named(arguments, where, level)}
        hidden = [name for name in held if not is_attribute(type(value), name)]
        if hidden:
            _refuse(held[hidden[0]], f"{where}.{hidden[0]}".lstrip("."))
        if held:
            node["holds"] = self._named(held, where, level)
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return node


def parse_dtype(text: str) -> np.dtype:
    """Return the type that a file names as NumPy would; raises if it is none that files hold."""
    if not _DTYPE.fullmatch(text):
        raise ValueError(f"it has numbers of type {text[:40]}")
    dtype = np.dtype(text)
    if not _is_plain(dtype):
        raise ValueError(f"it has numbers of type {text[:40]}")
    return dtype


def _is_plain(dtype: np.dtype) -> bool:
    return dtype.kind == "U" or (dtype.kind in ARRAY_KINDS and dtype.itemsize <= 8)


def _refuse(value: Any, where: str) -> None:
    """Say which value cannot be stored, and what to do."""
    text = " ".join(repr(value).split())
    shown = text if len(text) <= _LONGEST_REPR else f"{text[: _LONGEST_REPR - 3]}..."
    name = where.rpartition(".")[2].partition("[")[0]
    if isinstance(value, BaseEstimator):
        raise ModelFileError(
            f"{where}={shown} is not an estimator of everystump, and a model file holds no others; "
            f"keep this model with skops."
        )
    what = "a function" if callable(value) else f"of the type {type(value).__name__}"
    remedy = _REMEDIES.get(name, _OTHERWISE)
    raise ModelFileError(f"{where}={shown} is {what}, which a model file cannot hold; {remedy}.")
