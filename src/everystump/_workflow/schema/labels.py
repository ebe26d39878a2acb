"""Class labels from the cells of a column, and the positive class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from everystump._text import InvalidInputError, pluralize, suggest_name
from everystump._workflow.reading.date_text import read_dates
from everystump._workflow.reading.number_text import as_number, read_number

# More classes than these need some rows each.
FEW_CLASSES, _MAX_CLASSES, _ROWS_PER_CLASS = 20, 1000, 5
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


def find_label(text: str, labels: Sequence[Any]) -> Any:
    """Return the label that a text denotes: equal, equal as a number, or equal up to case.

    Examples
    --------
    >>> find_label("1.0", [0, 1]), find_label("TRUE", ["true", "false"]), find_label("2", [0, 1])
    (1, 'true', None)
    """
    keys = (str.strip, as_number, str.casefold)
    found = (label for key in keys for label in labels if key(text) == key(str(label)))
    return next(found, None)


def check_classes(target: str, classes: list[Any], n_rows: int) -> None:
    """Raise if there are too few or too many distinct values for classes."""
    if len(classes) == 1:
        raise InvalidInputError(
            f"{target!r} is {classes[0]!r} in every row; name a --target with two or more classes."
        )
    n_classes = len(classes)
    is_many = n_classes > _MAX_CLASSES or n_rows < _ROWS_PER_CLASS * n_classes
    if n_classes <= FEW_CLASSES or not is_many:
        return
    texts = [str(label) for label in classes]
    if are_dates(texts):
        raise dates_error(target, texts[0])
    are_numbers = any(all(read_number(text, decimal) for text in texts) for decimal in ".,")
    remedy = "predict numbers with --task regression" if are_numbers else "name another --target"
    raise InvalidInputError(
        f"{target!r} has {n_classes:,} distinct values in {pluralize(n_rows, 'row')}, too many for "
        f"classes: at most {_MAX_CLASSES:,} are supported, with at least {_ROWS_PER_CLASS} rows "
        f"each on average; group the values into fewer classes, or {remedy}."
    )


def are_dates(texts: Sequence[str]) -> bool:
    """Whether all texts are dates.

    Examples
    --------
    >>> are_dates(["2024-05-01", "2024-06-30"]), are_dates(["2024-05-01", "new"])
    (True, False)
    """
    orders = (read_dates(texts, day_first=day_first) for day_first in (False, True))
    return any(not np.isnat(dates).any() for dates in orders)


def dates_error(target: str, example: str) -> InvalidInputError:
    """Return the error for a target of dates."""
    return InvalidInputError(
        f"{target!r} contains dates, such as {example!r}, which no model predicts; convert them to "
        f"numbers, such as days since some date, or name another --target."
    )


def positive_label(
    classes: np.ndarray, counts: np.ndarray, target: str, requested: str | None
) -> Any:
    """Return the positive label: as requested, else one such as yes or true, else the rarer."""
    labels = classes.tolist()
    texts = [str(label) for label in labels]
    if requested is None:
        like_yes = [label.strip().lower() in _YES for label in texts]
        if "1" in texts and not _NO_BESIDE_1.intersection(texts):
            like_yes[texts.index("1")] = False  # of 1 and 2, neither means no
        return labels[like_yes.index(True) if sum(like_yes) == 1 else int(np.argmin(counts))]
    if len(labels) > 2:
        raise InvalidInputError(
            f"--positive {requested}: {target!r} has {len(labels)} classes, and only a target with "
            f"two classes has a positive one; omit the option."
        )
    if requested not in texts:
        raise InvalidInputError(
            f"--positive {requested!r} is not a value of {target!r}; "
            f"{suggest_name(requested, texts)}."
        )
    return labels[texts.index(requested)]
