"""Conversion of values to JSON types, and of the numbers of a document to a compact form."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from everystump.report._cells import merge_levels
from everystump.report._compact import encode_indices, find_runs, is_rounded, round_numbers
from everystump.report._compact import to_base64 as _base64

_ARRAYS = ("knots", "values", "level_values")
_MAX_PLAIN = 64  # of shares that are written as text


def merge_cells(
    document: Mapping[str, Any], interactions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a document whose surfaces hold the levels that share a cell once.

    The ``cells`` of the levels along each axis are those of ``interactions``; an axis with some has
    them, and their number.
    """
    scores = [
        {**score, "surfaces": _merge_surfaces(score["surfaces"], score["surfaces"], interactions)}
        if "surfaces" in score
        else score
        for score in document["scores"]
    ]
    return {**document, "scores": scores}


def _merge_surfaces(
    values: Sequence[Mapping[str, Any]],
    surfaces: Sequence[Mapping[str, Any]],
    interactions: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return records of values on the grids of some surfaces, one entry for each cell."""
    cells_of = {tuple(term["features"]): term["cells"] for term in interactions}
    merged = []
    for record, surface in zip(values, surfaces, strict=True):
        cells = cells_of.get(tuple(surface["features"])) or [None] * len(surface["axes"])
        own = dict(record)
        if any(cell is not None for cell in cells):
            arrays = [None if cell is None else np.asarray(cell) for cell in cells]
            own["values"] = merge_levels(np.asarray(record["values"]), arrays)
        if "axes" in record:
            pairs = zip(record["axes"], cells, strict=True)
            own["axes"] = [
                axis if cell is None else {**axis, "cells": cell, "n_cells": max(cell) + 1}
                for axis, cell in pairs
            ]
        merged.append(own)
    return merged


def pack(
    document: Mapping[str, Any], interactions: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return a document of `everystump.export.to_json` with encoded arrays.

    Each distinct array is one string in ``arrays``, and curves and surfaces hold its index there,
    so that arrays shared by classes or surfaces, such as knots, are stored once.  Surfaces hold the
    levels that share a cell, given by ``interactions``, once.  ``unpack`` in ``scorer.js``
    reverses it; the values of curves and surfaces, if there are very many, to about 12 digits.
    """
    merged = merge_cells(document, interactions)
    indices: dict[str, int] = {}
    encode_values = round_numbers if is_rounded(merged) else encode_numbers
    encode = {key: encode_numbers if key == "knots" else encode_values for key in _ARRAYS}

    def add(text: str) -> int:
        return indices.setdefault(text, len(indices))

    def pack_arrays(record: Mapping[str, Any]) -> dict[str, Any]:
        packed = {**record, **{k: add(encode[k](record[k])) for k in _ARRAYS if k in record}}
        if "cells" in record:
            packed["cells"] = add(encode_indices(np.asarray(record["cells"]), record["n_cells"]))
        return packed

    def pack_surface(surface: Mapping[str, Any]) -> dict[str, Any]:
        return pack_arrays({**surface, "axes": [pack_arrays(axis) for axis in surface["axes"]]})

    def pack_score(score: Mapping[str, Any]) -> dict[str, Any]:
        packed = {**score, "curves": [pack_arrays(curve) for curve in score["curves"]]}
        if "surfaces" in score:
            packed["surfaces"] = [pack_surface(surface) for surface in score["surfaces"]]
        return packed

    scores = [pack_score(score) for score in merged["scores"]]
    return {**merged, "scores": scores, "arrays": list(indices)}


def pack_bands(
    bands: Mapping[str, Any],
    document: Mapping[str, Any],
    interactions: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the bands of a summary with encoded arrays; ``attachBands`` reads them.

    As in `pack`, surfaces hold the levels that share a cell once.
    """

    def pack_terms(terms: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**term, "values": encode_floats(term["values"])} for term in terms]

    scores = [
        {
            **own,
            "curves": pack_terms(own["curves"]),
            "surfaces": pack_terms(
                _merge_surfaces(own["surfaces"], score.get("surfaces", ()), interactions)
            ),
        }
        for own, score in zip(bands["scores"], document["scores"], strict=True)
    ]
    return {**bands, "scores": scores}


def pack_features(features: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return features with encoded distributions; ``unpackFeatures`` in ``scales.js`` reverses it.

    The shares of rows are only drawn, so single precision is enough.
    """
    packed = []
    for feature in features:
        record = dict(feature)
        distribution = record.get("distribution")
        if distribution:
            record["distribution"] = {key: encode_floats(x) for key, x in distribution.items()}
        if len(record.get("shares") or ()) > _MAX_PLAIN:
            record["shares"] = encode_floats(record["shares"])
        packed.append(record)
    return packed


def encode_numbers(numbers: Sequence[Any] | np.ndarray) -> str:
    """Return the base64 of numbers, 8 bytes each; if some repeat, a bar and the run lengths follow.

    Nested sequences are flattened.

    Examples
    --------
    >>> encode_numbers([1.0]), encode_numbers([1.0, 1.0, 1.0])
    ('AAAAAAAA8D8=', 'AAAAAAAA8D8=|Aw==')
    """
    bits = np.asarray(numbers, dtype="<f8").ravel().view("<u8")  # 0 and -0 differ
    starts, lengths = find_runs(bits)
    return _base64(bits[starts]) + lengths


def encode_floats(numbers: Sequence[Any] | np.ndarray) -> str:
    """Return the base64 of numbers of which 7 digits are enough, 4 bytes each.

    Nested sequences are flattened, and numbers beyond single precision cut off.

    Examples
    --------
    >>> encode_floats([1.0, 0.5])
    'AACAPwAAAD8='
    """
    limit = np.finfo("<f4").max
    return _base64(np.clip(np.asarray(numbers, dtype="<f8"), -limit, limit).astype("<f4"))


def encode_bytes(numbers: np.ndarray) -> str:
    """Return the base64 of whole numbers from 0 to 255; nested sequences are flattened."""
    return _base64(np.asarray(numbers, dtype=np.uint8))


def encode_flags(flags: np.ndarray) -> str:
    """Return the base64 of flags, one bit each.

    Examples
    --------
    >>> encode_flags(np.array([[False, True], [True, True]]))
    'cA=='
    """
    return _base64(np.packbits(flags))


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
