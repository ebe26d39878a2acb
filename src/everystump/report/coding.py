"""A model's document in few characters, every number exact to the bit."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_CODED = ("knots", "values", "level_values")
_LONGEST_RUN = 255


def pack(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of `everystump.export.to_json` whose curves name their numbers.

    Each list of numbers is a text in ``arrays``; curves hold its place there, so that what classes
    share, such as knots, is stored once.  ``unpack`` of the page's scorer turns it back.

    Parameters
    ----------
    document : dict
        With ``scores``, each with ``curves``.

    Returns
    -------
    dict
        The same but for the curves' numbers, and with ``arrays``.

    Examples
    --------
    >>> curve = {"feature": 0, "knots": [1.0, 2.0], "values": [1.0, 2.0], "missing": None}
    >>> packed = pack({"scores": [{"intercept": 0.0, "curves": [curve]}]})
    >>> packed["scores"][0]["curves"], packed["arrays"]
    ([{'feature': 0, 'knots': 0, 'values': 0, 'missing': None}], ['AAAAAAAA8D8AAAAAAAAAQA=='])
    """
    places: dict[str, int] = {}

    def packed(curve: Mapping[str, Any]) -> dict[str, Any]:
        coded = {key: encode_numbers(curve[key]) for key in _CODED if key in curve}
        return {**curve, **{key: places.setdefault(t, len(places)) for key, t in coded.items()}}

    scores = [
        {**score, "curves": [packed(curve) for curve in score["curves"]]}
        for score in document["scores"]
    ]
    return {**document, "scores": scores, "arrays": list(places)}


def encode_numbers(numbers: Sequence[float]) -> str:
    """Return numbers as base64 of their 8 bytes; where some repeat, a bar and how often each comes.

    Examples
    --------
    >>> encode_numbers([1.0]), encode_numbers([1.0, 1.0, 1.0])
    ('AAAAAAAA8D8=', 'AAAAAAAA8D8=|Aw==')
    """
    bits = np.asarray(numbers, dtype="<f8").view("<u8")  # so that 0 and -0 differ
    starts = np.flatnonzero(np.append(len(bits) > 0, bits[1:] != bits[:-1]))
    lengths = np.diff(np.append(starts, len(bits)))
    if len(starts) == len(bits) or lengths.max() > _LONGEST_RUN:
        return _base64(bits)
    return f"{_base64(bits[starts])}|{_base64(lengths.astype(np.uint8))}"


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()
