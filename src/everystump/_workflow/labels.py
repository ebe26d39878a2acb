"""Labels as files have them: numbers, or text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

_WHOLE = re.compile(r"(0|-?[1-9]\d{0,14})(\.0*)?")


def as_labels(column: Any) -> np.ndarray:
    """Return a column without missing values as labels: whole numbers, or text.

    Text that is a whole number, and is written as one, becomes one.

    Examples
    --------
    >>> import pandas as pd
    >>> as_labels(pd.Series(["1", "0.0"])), as_labels(pd.Series(["01", "0"]))
    (array([1, 0]), array(['01', '0'], dtype=object))
    """
    text = column.astype(str)
    if all(_WHOLE.fullmatch(label) for label in text.unique().tolist()):
        return text.astype(np.float64).to_numpy().astype(np.int64)
    return text.to_numpy(dtype=object)


def as_text(column: Any) -> Any:
    """Return a column of numbers as text, whole ones without a point; what is missing stays so."""
    out = column.astype(object)
    there = column.notna().to_numpy()
    out[there] = as_labels(column[there]).astype(str)
    return out.where(there, None)


def ordered_classes(y: np.ndarray, positive: Any) -> np.ndarray:
    """Return the classes of labels, sorted; of two, the positive one is the second.

    Examples
    --------
    >>> ordered_classes(np.array(["bad", "good"]), "bad").tolist()
    ['good', 'bad']
    """
    classes = np.unique(y)
    is_first = len(classes) == 2 and classes.tolist()[0] == positive
    return classes[::-1].copy() if is_first else classes


def find_label(text: str, known: Sequence[Any]) -> Any:
    """Return the known label that a text means: as written, as a number, or in another case.

    Examples
    --------
    >>> find_label("1.0", [0, 1]), find_label("TRUE", ["true", "false"]), find_label("2", [0, 1])
    (1, 'true', None)
    """
    readings = (str.strip, as_number, str.casefold)
    found = (label for read in readings for label in known if read(text) == read(str(label)))
    return next(found, None)


def as_number(text: str) -> float | str:
    """Return a text as a number, or as it is if it is none."""
    try:
        return float(text)
    except ValueError:
        return text
