"""Numbers in fewer bytes: rounded ones with 5, classes and groups with one or less."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_VALUES = ("values", "level_values")
_MAX_REPEATS = 255
_MAX_EXACT = 150_000  # values of a document; more are rounded
_ROUNDED_BYTES = 5
_LARGEST = 2 ** (8 * _ROUNDED_BYTES - 1) - 1


def estimate_bytes(document: Mapping[str, Any]) -> float:
    """Return about how many bytes the values of curves and surfaces take in base64."""
    return _count_values(document) * (_ROUNDED_BYTES if is_rounded(document) else 8) * 4 / 3


def is_rounded(document: Mapping[str, Any]) -> bool:
    """Return whether the values of curves and surfaces are so many that the page rounds them."""
    return _count_values(document) > _MAX_EXACT


def _count_values(document: Mapping[str, Any]) -> int:
    return sum(
        np.size(record[key])
        for score in document["scores"]
        for record in (*score["curves"], *score.get("surfaces", ()))
        for key in _VALUES
        if key in record
    )


def round_numbers(numbers: Sequence[Any] | np.ndarray) -> str:
    """Return numbers as the base64 of multiples of a unit, 5 bytes each, after the largest one.

    They are rounded to at most 1e-12 of the largest absolute value.  Run lengths follow as in
    `encode_numbers`.

    Examples
    --------
    >>> round_numbers([2.0, -2.0, -2.0, 0.0])
    'AAAAAAAAAEA=~/////38BAAAAgAAAAAAA|AQIB'
    """
    values = np.asarray(numbers, dtype="<f8").ravel()
    largest = np.abs(values).max(initial=0.0)
    multiples = np.rint(values / (largest or 1.0) * _LARGEST).astype("<i8")
    starts, lengths = find_runs(multiples)
    used = multiples[starts].view(np.uint8).reshape(-1, 8)[:, :_ROUNDED_BYTES]
    return f"{to_base64(np.array([largest], dtype='<f8'))}~{to_base64(used)}{lengths}"


def find_runs(items: np.ndarray) -> tuple[np.ndarray, str]:
    """Return where runs of equal items start, and their encoded lengths; empty if none repeats."""
    starts = np.flatnonzero(np.append(len(items) > 0, items[1:] != items[:-1]))
    lengths = np.diff(np.append(starts, len(items)))
    if len(starts) == len(items) or lengths.max() > _MAX_REPEATS:
        return np.arange(len(items)), ""
    return starts, f"|{to_base64(lengths.astype(np.uint8))}"


def encode_indices(indices: np.ndarray, n: int) -> str:
    """Return the base64 of indices below ``n``: one byte each, or two if there are more than 256.

    Examples
    --------
    >>> encode_indices(np.array([1, 2]), 3), encode_indices(np.array([1]), 300)
    ('AQI=', 'AQA=')
    """
    return to_base64(indices.astype(np.uint8 if n <= 256 else "<u2"))


def encode_nibbles(codes: np.ndarray) -> str:
    """Return the base64 of numbers from 0 to 15, four bits each.

    Examples
    --------
    >>> encode_nibbles(np.array([1, 2, 3]))
    'EjA='
    """
    bits = np.unpackbits(codes.astype(np.uint8)[:, None], axis=1)[:, 4:]
    return to_base64(np.packbits(bits))


def to_base64(array: np.ndarray) -> str:
    """Return the bytes of an array in base64."""
    return base64.b64encode(array.tobytes()).decode()
