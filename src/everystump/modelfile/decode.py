"""A fitted model out of JSON and arrays, neither of them trusted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from everystump.modelfile.encode import MOST_LEVELS, parse_dtype
from everystump.modelfile.records import from_parts
from everystump.modelfile.registry import CLASSES, FUNCTIONS

# Keys may be made to have one hash, integers from 2^61 on, and a dict of such takes quadratic time.
_LARGE, _MOST_OF_ONE_HASH = 2**61 - 1, 64
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class Decoder:
    """Builds values; raises an ``Exception`` of any kind if the JSON is not what `Encoder` made.

    Parameters
    ----------
    read : callable
        Maps the name of a file to its array.
    """

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

    @property
    def used(self) -> set[str]:
        """The files whose arrays were asked for."""
        return set(self._arrays)

    def decode(self, node: Any, level: int = 0) -> Any:
        """Return the value of a piece of JSON."""
        if level > MOST_LEVELS:
            raise ValueError(f"it is nested more than {MOST_LEVELS} deep")
        if isinstance(node, list):
            return [self.decode(item, level + 1) for item in node]
        if not isinstance(node, dict):
            return node
        words = dict(node)
        kind = words.pop("type", None)
        if kind in self._kinds:
            return self._kinds[kind](level, **words)
        if kind in CLASSES:
            return self._object(CLASSES[kind], level, words)
        raise ValueError(f"it has the unknown type {str(kind)[:40]!r}")

    def _object(self, cls: type, level: int, words: dict[str, Any]) -> Any:
        arguments = self._named(words.pop("with"), level)
        held = self._named(words.pop("holds", {}), level)
        if words:
            _refuse_words(words)
        self._built.append(from_parts(cls, arguments, held))
        return self._built[-1]

    def _named(self, nodes: dict[str, Any], level: int) -> dict[str, Any]:
        return {name: self.decode(node, level + 1) for name, node in nodes.items()}

    def _items(self, items: list, level: int) -> list:
        if not isinstance(items, list):
            raise TypeError("items that are no list")
        return [self.decode(item, level + 1) for item in items]

    def _again(self, level: int, number: int) -> Any:
        if not 0 <= number < len(self._built):
            raise ValueError(f"it refers to object {number}, which is not there")
        return self._built[number]

    def _array(self, level: int, file: str) -> np.ndarray:
        if file not in self._arrays:
            self._arrays[file] = self._read(file)
        return self._arrays[file]

    def _dict(self, level: int, items: list) -> dict:
        pairs = self._items(items, level)
        _check_hashes(hash(pair[0]) for pair in pairs if not isinstance(pair[0], str))
        return dict(pairs)

    def _float(self, level: int, value: str) -> float:
        return _FLOATS[value]

    def _function(self, level: int, name: str) -> Callable:
        return FUNCTIONS[name]

    def _masked(self, level: int, data: Any, mask: Any) -> np.ma.MaskedArray:
        return np.ma.MaskedArray(self.decode(data, level + 1), mask=self.decode(mask, level + 1))

    def _objects(self, level: int, shape: list[int], items: list) -> np.ndarray:
        values = self._items(items, level)
        if math.prod(shape) != len(values):
            raise ValueError(f"an array of shape {shape} has {len(values)} items")
        _check_hashes(hash(v) for v in values if isinstance(v, int) and abs(v) >= _LARGE)
        array = np.empty(len(values), dtype=object)
        for k, value in enumerate(values):
            array[k] = value
        return array.reshape(shape)

    def _partial(self, level: int, name: str, keywords: dict) -> Callable:
        return partial(FUNCTIONS[name], **self._named(keywords, level))

    def _scalar(self, level: int, dtype: str, value: Any) -> np.generic:
        return parse_dtype(dtype).type(self.decode(value, level + 1))

    def _tuple(self, level: int, items: list) -> tuple:
        return tuple(self._items(items, level))


def _check_hashes(hashes: Iterable[int]) -> None:
    """Raise if many keys, or integers that may become keys, have the same hash."""
    if max(Counter(hashes).values(), default=0) > _MOST_OF_ONE_HASH:
        raise ValueError(f"it has more than {_MOST_OF_ONE_HASH} keys of one hash")


def _refuse_words(words: dict[str, Any]) -> NoReturn:
    raise ValueError(f"it has the unknown entry {next(iter(words))[:40]!r}")
