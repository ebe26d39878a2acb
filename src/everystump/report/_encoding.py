"""Conversion of values to JSON types, and of the numbers of a document to a compact form."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

_ARRAYS = ("knots", "values", "level_values")
_MAX_REPEATS = 255


def pack(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of `everystump.export.to_json` with encoded arrays.

    Each distinct array is one string in ``arrays``, and curves and surfaces hold its index there,
    so that arrays shared by classes or surfaces, such as knots, are stored once.  ``unpack`` in
    ``scorer.js`` reverses it.
    """
    indices: dict[str, int] = {}

    def pack_arrays(record: Mapping[str, Any]) -> dict[str, Any]:
        encoded = {key: encode_numbers(record[key]) for key in _ARRAYS if key in record}
        return {
            **record,
            **{k: indices.setdefault(text, len(indices)) for k, text in encoded.items()},
        }

    def pack_surface(surface: Mapping[str, Any]) -> dict[str, Any]:
        axes = [pack_arrays(axis) for axis in surface["axes"]]
        return pack_arrays({**surface, "axes": axes})

    def pack_score(score: Mapping[str, Any]) -> dict[str, Any]:
        packed = {**score, "curves": [pack_arrays(curve) for curve in score["curves"]]}
        if "surfaces" in score:
            packed["surfaces"] = [pack_surface(surface) for surface in score["surfaces"]]
        return packed

    scores = [pack_score(score) for score in document["scores"]]
    return {**document, "scores": scores, "arrays": list(indices)}


def encode_numbers(numbers: Sequence[Any]) -> str:
    """Return the base64 of numbers, 8 bytes each; if some repeat, a bar and the run lengths follow.

    Nested sequences are flattened.

    Examples
    --------
    >>> encode_numbers([1.0]), encode_numbers([1.0, 1.0, 1.0])
    ('AAAAAAAA8D8=', 'AAAAAAAA8D8=|Aw==')
    """
    bits = np.asarray(numbers, dtype="<f8").ravel().view("<u8")  # 0 and -0 differ
    starts = np.flatnonzero(np.append(len(bits) > 0, bits[1:] != bits[:-1]))
    lengths = np.diff(np.append(starts, len(bits)))
    if len(starts) == len(bits) or lengths.max() > _MAX_REPEATS:
        return _base64(bits)
    return f"{_base64(bits[starts])}|{_base64(lengths.astype(np.uint8))}"


def encode_flags(flags: np.ndarray) -> str:
    """Return the base64 of flags, one bit each.

    Examples
    --------
    >>> encode_flags(np.array([[False, True], [True, True]]))
    'cA=='
    """
    return _base64(np.packbits(flags))


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def to_plain(value: Any) -> Any:
    """Return a value as dicts, lists, text, finite numbers, booleans and None.

    A number that is not finite becomes None; an object of another type becomes its ``str``.

    Examples
    --------
    >>> import numpy as np
    >>> to_plain({"C": np.array([0.5, np.inf]), 3: (True, np.int64(7))})
    {'C': [0.5, None], '3': [True, 7]}
    """
    if value is None or isinstance(value, str | bool):
        return str(value) if isinstance(value, str) else value
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        plain = value.tolist()
        return to_plain(plain) if type(plain) is not type(value) else str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [to_plain(item) for item in value]
    return str(value)
