"""Decode a fitted model from JSON and arrays, neither of them trusted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from everystump.modelfile.checks import check
from everystump.modelfile.container import parse_dtype
from everystump.modelfile.encode import MAX_DEPTH
from everystump.modelfile.records import OLD_CLASSES, OLD_FUNCTIONS, from_parts
from everystump.modelfile.registry import CLASSES, FUNCTIONS

# Integers from 2^61 on can be chosen to have equal hashes, and a dict of such keys takes quadratic
# time.
_LARGE, _MAX_EQUAL_HASHES = 2**61 - 1, 64
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class Decoder:
    """Builds values; raises some ``Exception`` if the JSON is not what `Encoder` makes."""

    def __init__(self, read: Callable[[str], np.ndarray]) -> None:
        self._read = read
        self._arrays: dict[str, np.ndarray] = {}
        self._built: list[Any] = []
        self._kinds: dict[str, Callable[..., Any]] = {
            "again": self._again,
            "array": self._array,
            "dict": self._dict,
            "float": self._float,
            "function": self._function,
            "masked": self._masked,
            "objects": self._objects,
            "partial": self._partial,
            "scalar": self._scalar,
            "tuple": self._tuple,
        }

    def decode(self, node: Any, depth: int = 0) -> Any:
        """Return the value that a JSON node stands for."""
        if depth > MAX_DEPTH:
            raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        entries = dict(node)
        kind = entries.pop("type", None)
        if kind in self._kinds:
            return self._kinds[kind](depth, **entries)
        if kind in CLASSES:
            return self._object(partial(from_parts, CLASSES[kind]), depth, entries)
        if kind in OLD_CLASSES:
            return self._object(partial(_read_old, OLD_CLASSES[kind]), depth, entries)
        raise ValueError(f"it has the unknown type {str(kind)[:40]!r}")

    def _object(self, build: Callable[..., Any], depth: int, entries: dict[str, Any]) -> Any:
        arguments = self._named(entries.pop("with"), depth)
        attributes = self._named(entries.pop("holds", {}), depth)
        if entries:
            raise ValueError(f"it has the unknown entry {next(iter(entries))[:40]!r}")
        self._built.append(build(arguments, attributes))
        return self._built[-1]

    def _named(self, nodes: dict[str, Any], depth: int) -> dict[str, Any]:
        return {name: self.decode(node, depth + 1) for name, node in nodes.items()}

    def _items(self, items: list, depth: int) -> list:
        if not isinstance(items, list):
            raise TypeError("its items are not a list")
        return [self.decode(item, depth + 1) for item in items]

    def _again(self, depth: int, number: int) -> Any:
        if not 0 <= number < len(self._built):
            raise ValueError(f"it refers to object {number}, which does not exist")
        return self._built[number]

    def _array(self, depth: int, file: str) -> np.ndarray:
        if file not in self._arrays:
            self._arrays[file] = self._read(file)
        return self._arrays[file]

    def _dict(self, depth: int, items: list) -> dict:
        pairs = self._items(items, depth)
        _check_hashes(hash(pair[0]) for pair in pairs if not isinstance(pair[0], str))
        return dict(pairs)

    def _float(self, depth: int, value: str) -> float:
        return _FLOATS[value]

    def _function(self, depth: int, name: str) -> Callable:
        return FUNCTIONS[name]

    def _masked(self, depth: int, data: Any, mask: Any) -> np.ma.MaskedArray:
        return np.ma.MaskedArray(self.decode(data, depth + 1), mask=self.decode(mask, depth + 1))

    def _objects(self, depth: int, shape: list[int], items: list) -> np.ndarray:
        values = self._items(items, depth)
        if math.prod(shape) != len(values):
            raise ValueError(f"an array of shape {shape} has {len(values)} items")
        _check_hashes(hash(v) for v in values if isinstance(v, int) and abs(v) >= _LARGE)
        array = np.empty(len(values), dtype=object)
        for k, value in enumerate(values):
            array[k] = value
        return array.reshape(shape)

    def _partial(self, depth: int, name: str, keywords: dict) -> Callable:
        function = FUNCTIONS.get(name) or OLD_FUNCTIONS[name]
        return partial(function, **self._named(keywords, depth))

    def _scalar(self, depth: int, dtype: str, value: Any) -> np.generic:
        return parse_dtype(dtype).type(self.decode(value, depth + 1))

    def _tuple(self, depth: int, items: list) -> tuple:
        return tuple(self._items(items, depth))


def _read_old(
    read: Callable[..., Any], arguments: dict[str, Any], attributes: dict[str, Any]
) -> Any:
    """Return the object of a class that is no longer written."""
    value = read(**arguments, **attributes)
    check(value)
    return value


def _check_hashes(hashes: Iterable[int]) -> None:
    """Check that few keys, or integers that may become keys, have the same hash."""
    if max(Counter(hashes).values(), default=0) > _MAX_EQUAL_HASHES:
        raise ValueError(f"it has more than {_MAX_EQUAL_HASHES} keys with the same hash")
