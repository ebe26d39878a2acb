"""Class labels from the target column of a file, and the positive class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump._explanations.access import suggest_name
from everystump._text import InvalidInputError, pluralize
from everystump._workflow.reading.number_text import as_number

# More classes than these need some rows each, and must not be the values of a quantity.
_FEW_CLASSES, _MAX_CLASSES, _ROWS_PER_CLASS = 20, 1000, 5
_YES = {"1", "true", "yes", "y", "t", "positive", "pos", "+", ">50k", "bad", "sick", "good"}
_NO_BESIDE_1 = {"0", "-1"}
_INTEGER = re.compile(r"(0|-?[1-9]\d{0,14})(\.0*)?")


def as_labels(column: Any) -> np.ndarray:
    """Return a column without missing values as labels: integers if all are, otherwise text.

    Examples
    --------
    >>> import pandas as pd
    >>> as_labels(pd.Series(["1", "0.0"])), as_labels(pd.Series(["01", "0"]))
    (array([1, 0]), array(['01', '0'], dtype=object))
    """
    text = column.astype(str)
    if all(_INTEGER.fullmatch(label) for label in text.unique().tolist()):
        return text.astype(np.float64).to_numpy().astype(np.int64)
    return text.to_numpy(dtype=object)


def numbers_as_text(column: Any) -> Any:
    """Return numbers as text, integers without a decimal point; missing values stay missing."""
    out = column.astype(object)
    is_known = column.notna().to_numpy()
    out[is_known] = as_labels(column[is_known]).astype(str)
    return out.where(is_known, None)


def ordered_classes(y: np.ndarray, positive: Any) -> np.ndarray:
    """Return the sorted classes of labels; of two, the positive one is the second.

    Examples
    --------
    >>> ordered_classes(np.array(["bad", "good"]), "bad").tolist()
    ['good', 'bad']
    """
    classes = np.unique(y)
    is_first = len(classes) == 2 and classes.tolist()[0] == positive
    return classes[::-1].copy() if is_first else classes


def find_label(text: str, known: Sequence[Any]) -> Any:
    """Return the known label that a text denotes: equal, equal as a number, or in another case.

    Examples
    --------
    >>> find_label("1.0", [0, 1]), find_label("TRUE", ["true", "false"]), find_label("2", [0, 1])
    (1, 'true', None)
    """
    keys = (str.strip, as_number, str.casefold)
    found = (label for key in keys for label in known if key(text) == key(str(label)))
    return next(found, None)


def target_labels(column: Any, target: str, some_missing: bool) -> np.ndarray:
    """Return the labels of the target column, or raise if they are not classes."""
    remedy = "if NA, None or similar are labels, list the actual missing values with --missing"
    if len(column) == 0:
        raise InvalidInputError(f"{target!r} is missing in every row; {remedy}.")
    y = as_labels(column)
    classes = np.unique(y).tolist()
    if len(classes) == 1 and some_missing:
        raise InvalidInputError(f"{target!r} is {classes[0]!r} or missing in every row; {remedy}.")
    if len(classes) == 1:
        raise InvalidInputError(
            f"{target!r} is {classes[0]!r} in every row; name a --target with two or more classes."
        )
    _check_classes(target, classes, len(y))
    return y


def _check_classes(target: str, classes: list[Any], n_rows: int) -> None:
    """Raise if values are too many to be classes, or are measurements."""
    if len(classes) <= _FEW_CLASSES:
        return
    remedy = "group them into a few classes, or name another --target"
    numbers = [as_number(str(label)) for label in classes]
    if all(isinstance(number, float) for number in numbers) and not isinstance(classes[0], int):
        raise InvalidInputError(
            f"{target!r} has {len(classes):,} distinct values with fractions, which are not "
            f"classes; {remedy}."
        )
    if len(classes) > _MAX_CLASSES or n_rows < _ROWS_PER_CLASS * len(classes):
        raise InvalidInputError(
            f"{target!r} has {len(classes):,} distinct values in {pluralize(n_rows, 'row')}, too "
            f"many for classes (at most {_MAX_CLASSES:,}, with {_ROWS_PER_CLASS} rows each on "
            f"average); {remedy}."
        )


def positive_label(y: np.ndarray, target: str, given: str | None) -> Any:
    """Return the positive label: the given one, else one such as yes or true, else the rarest."""
    classes, counts = np.unique(y, return_counts=True)
    labels = classes.tolist()
    shown = [str(label) for label in labels]
    if given is None:
        like_yes = [label.strip().lower() in _YES for label in shown]
        if "1" in shown and not _NO_BESIDE_1.intersection(shown):
            like_yes[shown.index("1")] = False  # of 1 and 2, neither means no
        return labels[like_yes.index(True) if sum(like_yes) == 1 else int(np.argmin(counts))]
    if len(labels) > 2:
        raise InvalidInputError(
            f"--positive {given}: {target!r} has {len(labels)} classes, and only a target with two "
            f"has a positive one; omit the option."
        )
    if given not in shown:
        raise InvalidInputError(
            f"--positive {given!r} is not a value of {target!r}; {suggest_name(given, shown)}."
        )
    return labels[shown.index(given)]
