"""What a table's columns are, inferred and printed, for the user to overrule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from everystump._text import pluralize, truncate_list
from everystump._workflow import InvalidInputError
from everystump._workflow.dialect import DECIMALS
from everystump._workflow.dropping import dropped_columns, numbering_columns
from everystump._workflow.labels import as_labels, as_number
from everystump._workflow.numbertext import exceed_float_precision
from everystump._workflow.readings import as_plain, unique_cells
from everystump._workflow.schema import (
    apply_parsers,
    describe_parsers,
    infer_parsers,
    seems_numeric,
)
from everystump.estimators._reading import hint

# More classes than a few need some rows each, and must not be the values of a quantity.
_FEW_CLASSES, _MOST_CLASSES, _ROWS_PER_CLASS = 20, 1000, 5
_YES = {"1", "true", "yes", "y", "t", "positive", "pos", "+", ">50k", "bad", "sick", "good"}
_NO_BESIDE_1 = {"0", "-1"}


@dataclass(frozen=True, eq=False)
class Task:
    """A table ready to learn from.

    Attributes
    ----------
    X : pandas.DataFrame
        The features.
    y : ndarray
        The labels.
    target : str
        Their column.
    positive : object
        The label that probabilities are of, if there are two classes.
    messages : list of str
        What was guessed, one sentence each.
    dropped : dict
        Columns left out, and why.
    reading : dict
        How the columns of its file are read, as plain data: see `everystump._workflow.readings`.
    """

    X: Any
    y: np.ndarray
    target: str
    positive: Any
    messages: list[str]
    dropped: dict[str, str]
    reading: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ColumnOptions:
    """What the user says himself: columns to leave out, to use, to take for categories or numbers.

    And the positive label.
    """

    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    categorical: Sequence[str] = ()
    positive: str | None = None
    numeric: Sequence[str] = ()


def prepare_training_data(
    frame: Any, target: str, column_options: ColumnOptions, messages: Sequence[str] = ()
) -> Task:
    """Decide what to learn from, and say so in messages, after those given."""
    check_columns(frame.columns, [target])
    found = list(messages)
    known = frame[target].notna().to_numpy()
    if not known.all():
        without = f"without a {target!r}"
        found.append(f"Left out: {pluralize(int((~known).sum()), 'row')} {without}.")
    decimals = frame.attrs.get(DECIMALS, (".", ","))
    frame = frame.copy(deep=False)
    frame.attrs = {}  # which every column that is taken from it would copy
    numbering = numbering_columns(frame)
    labels, raw = frame.loc[known, target], frame.loc[known].drop(columns=target)
    as_it_is = {*column_options.drop, *column_options.categorical}
    readings = infer_parsers(raw, decimals, as_it_is=as_it_is, numeric=column_options.numeric)
    features = apply_parsers(raw, readings)
    _check_wishes({*raw.columns, *features.columns}, target, column_options)
    y = _labels(labels, target, not known.all())
    positive = _positive(y, target, column_options.positive)
    wanted = {*column_options.use, *column_options.categorical, *column_options.numeric}
    dropped = dropped_columns(features, column_options.drop, wanted, numbering)
    X = features[[name for name in features.columns if name not in dropped]]
    if X.shape[1] == 0:
        raise InvalidInputError(
            f"No column is left to learn {target!r} from; see --drop and --use, or pass another "
            f"table."
        )
    levels = {name: _levels(X[name]) for name in column_options.categorical if name in X.columns}
    X = X.astype(levels) if levels else X
    readings = {k: v for k, v in readings.items() if not dropped.keys() >= set(v.names(k))}
    found += _describe(X, dropped, describe_parsers(raw, readings))
    classes = np.unique(y).tolist()
    which = f" (positive class: {positive})" if len(classes) == 2 else ""
    found.append(f"Classes: {truncate_list(classes, _FEW_CLASSES)}{which}.")
    reading = {"decimal": decimals[0], "columns": as_plain(readings)}
    return Task(X, y, target, positive, found, dropped, reading)


def check_columns(known: Collection[str], names: Sequence[str]) -> None:
    """Raise if a column is not among those that there are, and say which one may be meant."""
    for name in names:
        if name not in known:
            raise InvalidInputError(f"There is no column {name!r}; {hint(name, list(known))}.")


def _check_wishes(known: Collection[str], target: str, column_options: ColumnOptions) -> None:
    used = (*column_options.use, *column_options.categorical, *column_options.numeric)
    if target in {*column_options.drop, *used}:
        raise InvalidInputError(f"{target!r} is the target, and no feature; name another column.")
    check_columns(known, (*column_options.drop, *used))
    both = set(column_options.drop) & set(used)
    if both:
        raise InvalidInputError(
            f"--drop {min(both)}: the column is to be used as well; choose one."
        )
    both = set(column_options.categorical) & set(column_options.numeric)
    if both:
        raise InvalidInputError(
            f"--numeric {min(both)}: the column is --categorical too; choose one."
        )


def _labels(column: Any, target: str, some_missing: bool) -> np.ndarray:
    """Return the labels, if they are classes."""
    if len(column) == 0:
        raise InvalidInputError(
            f"{target!r} is missing in every row; if NA, None or the like are labels, say what is "
            f"missing by --missing."
        )
    y = as_labels(column)
    classes = np.unique(y).tolist()
    if len(classes) == 1 and some_missing:
        raise InvalidInputError(
            f"{target!r} is {classes[0]!r} or missing in every row; if NA, None or the like are "
            f"labels too, say what is missing by --missing."
        )
    if len(classes) == 1:
        raise InvalidInputError(
            f"{target!r} is {classes[0]!r} in every row; there is nothing to learn."
        )
    _check_quantity(target, classes, len(y))
    return y


def _check_quantity(target: str, classes: list[Any], n_rows: int) -> None:
    """Raise if values are too many to be classes, or the numbers of a measurement."""
    if len(classes) <= _FEW_CLASSES:
        return
    numbers = [as_number(str(label)) for label in classes]
    if all(isinstance(number, float) for number in numbers) and not isinstance(classes[0], int):
        raise InvalidInputError(
            f"{target!r} holds {len(classes):,} different numbers with fractions, which are no "
            f"classes; cut it into a few, or name another --target."
        )
    if len(classes) > _MOST_CLASSES or n_rows < _ROWS_PER_CLASS * len(classes):
        raise InvalidInputError(
            f"{target!r} has {len(classes):,} different values in {pluralize(n_rows, 'row')}, too "
            f"many to be classes (up to {_MOST_CLASSES:,}, of {_ROWS_PER_CLASS} rows on average); "
            f"cut it into a few, or name another --target."
        )


def _positive(y: np.ndarray, target: str, wanted: str | None) -> Any:
    """Return the positive label: as given, else the one that sounds like it, or the rarest."""
    classes, counts = np.unique(y, return_counts=True)
    labels = classes.tolist()
    shown = [str(label) for label in labels]
    if wanted is None:
        like_yes = [label.strip().lower() in _YES for label in shown]
        if "1" in shown and not _NO_BESIDE_1.intersection(shown):
            like_yes[shown.index("1")] = False  # of 1 and 2, neither is a no
        return labels[like_yes.index(True) if sum(like_yes) == 1 else int(np.argmin(counts))]
    if len(labels) > 2:
        raise InvalidInputError(
            f"--positive {wanted}: {target!r} has {len(labels)} classes, and each of them gets its "
            f"scores; leave the option out."
        )
    if wanted not in shown:
        raise InvalidInputError(
            f"--positive {wanted!r}: {target!r} has other values; {hint(wanted, shown)}."
        )
    return labels[shown.index(wanted)]


def _levels(column: Any) -> Any:
    import pandas as pd

    return pd.CategoricalDtype(sorted(column.dropna().unique()))


def _describe(X: Any, dropped: dict[str, str], readings: Sequence[str]) -> list[str]:
    """Return what a user should know of the columns."""
    categories = X.columns[[dtype.kind not in "iufb" for dtype in X.dtypes]].tolist()
    messages = [f"{pluralize(len(X), 'row')}, {pluralize(X.shape[1], 'feature')}."]
    large = [name for name in categories if exceed_float_precision(unique_cells(X[name]))]
    plain = [name for name in categories if name not in large]
    if plain:
        messages.append(f"Categories: {truncate_list(plain)}.")
    messages += readings
    if large:
        messages.append(
            f"Categories, as whole numbers beyond 2^53 cannot be told apart as numbers: "
            f"{truncate_list(large)}."
        )
    mixed = [name for name in categories if not hasattr(X[name], "cat") and seems_numeric(X[name])]
    if mixed:
        messages.append(
            f"Mostly numbers, but with many words: {truncate_list(mixed)}; pass --numeric "
            f"to count these as missing."
        )
    incomplete = X.columns[X.isna().any().to_numpy()].tolist()
    if incomplete:
        messages.append(f"With missing values: {truncate_list(incomplete)}.")
    by_reason = defaultdict(list)
    for name, why in dropped.items():
        by_reason[why].append(name)
    return messages + [
        f"Left out, {why}: {truncate_list(names)}." for why, names in by_reason.items()
    ]
