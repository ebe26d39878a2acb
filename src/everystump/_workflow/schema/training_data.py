"""Training data from a table: features, targets and a description of what was inferred."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from everystump._text import InvalidInputError, pluralize, suggest_name, truncate_list
from everystump._workflow.options import ColumnOptions
from everystump._workflow.reading.frames import DECIMALS, boolean_columns, unique_cells
from everystump._workflow.reading.number_text import exceed_float_precision
from everystump._workflow.schema.columns import dropped_columns, row_number_columns
from everystump._workflow.schema.inference import (
    describe_parsers,
    has_leading_zeros,
    infer_parsers,
    seems_numeric,
)
from everystump._workflow.schema.parsers import ColumnParser, apply_parsers, parsers_to_dict
from everystump._workflow.schema.row_reader import RowReader
from everystump._workflow.targets.target import Target


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Features and targets of a table.

    Attributes
    ----------
    X : pandas.DataFrame
        Features.
    target : Target
        The classes or the numbers to predict.
    messages : list of str
        The inferred schema, in sentences.
    dropped : dict
        Dropped columns, and why.
    parsing : dict
        How the columns of the file are parsed, as plain data: ``decimal`` and ``columns``, see
        `everystump._workflow.schema.parsers`, and ``target`` if it has numbers.
    """

    X: Any
    target: Target
    messages: list[str]
    dropped: dict[str, str]
    parsing: dict[str, Any] = field(default_factory=dict)

    @property
    def y(self) -> np.ndarray:
        """The labels, or the numbers to predict."""
        return self.target.y


@dataclass(frozen=True, eq=False)
class InferredFeatures:
    """The features of a table, and how they were inferred; see `TrainingData`."""

    X: Any
    messages: list[str]
    dropped: dict[str, str]
    parsers: dict[str, ColumnParser]
    decimal: str

    @property
    def parsing(self) -> dict[str, Any]:
        """How the columns of the file are parsed, as plain data."""
        return {"decimal": self.decimal, "columns": parsers_to_dict(self.parsers)}


def prepare_training_data(
    frame: Any, target: str, options: ColumnOptions, notes: Sequence[str] = ()
) -> TrainingData:
    """Infer the schema of a table; its messages start with ``notes`` on how it was read."""
    check_columns(frame.columns, options.row_columns(target))
    reader = RowReader.infer(frame, target, options, likely_decimals(frame))
    is_used = reader.add(frame)
    read = reader.finish()
    features = infer_features(frame, target, is_used, options)
    messages = [*notes, *reader.describe_dropped(), *features.messages, *reader.describe(read)]
    parsing = features.parsing | reader.parsing
    return TrainingData(features.X, read, messages, features.dropped, parsing)


def likely_decimals(frame: Any) -> Sequence[str]:
    """Return the possible decimal separators of a table, the most likely one first."""
    return frame.attrs.get(DECIMALS, (".", ","))


def infer_features(
    frame: Any, target: str, is_used: np.ndarray, options: ColumnOptions
) -> InferredFeatures:
    """Infer the features of the rows of a table that are used."""
    decimals, booleans = likely_decimals(frame), boolean_columns(frame)
    frame = frame.copy(deep=False)
    frame.attrs = {}  # otherwise every column would carry a copy
    row_numbers = row_number_columns(frame)
    raw = frame.loc[is_used].drop(columns=options.row_columns(target))
    unchanged = {*options.drop, *options.categorical}
    parsers = infer_parsers(raw, decimals, unchanged=unchanged, numeric=options.numeric)
    features = apply_parsers(raw, parsers)
    _check_options({*raw.columns, *features.columns}, target, options)
    keep = {*options.use, *options.categorical, *options.numeric}
    dropped = dropped_columns(features, options.drop, keep, row_numbers)
    X = _select_features(features, dropped, target, options.categorical)
    parsers = {k: v for k, v in parsers.items() if not dropped.keys() >= set(v.names(k))}
    messages = _describe(X, dropped, describe_parsers(raw, parsers), booleans)
    return InferredFeatures(X, messages, dropped, parsers, decimals[0])


def check_columns(existing: Collection[str], names: Sequence[str]) -> None:
    """Raise if a column does not exist, and suggest a similar name."""
    for name in names:
        if name not in existing:
            suggestion = suggest_name(name, list(existing))
            raise InvalidInputError(f"There is no column {name!r}; {suggestion}.")


def _check_options(existing: Collection[str], target: str, options: ColumnOptions) -> None:
    used = (*options.use, *options.categorical, *options.numeric)
    if target in {*options.drop, *used}:
        raise InvalidInputError(f"{target!r} is the target, not a feature; name another column.")
    check_columns(existing, (*options.drop, *used))
    both = set(options.drop) & set(used)
    if both:
        raise InvalidInputError(
            f"--drop {min(both)}: the column is also in --use, --categorical or --numeric; choose "
            f"one of them."
        )
    both = set(options.categorical) & set(options.numeric)
    if both:
        raise InvalidInputError(
            f"--numeric {min(both)}: the column is also in --categorical; choose one of them."
        )


def _select_features(
    features: Any, dropped: Collection[str], target: str, categorical: Collection[str]
) -> Any:
    """Return the columns that are not dropped, or raise if none is left."""
    import pandas as pd

    X = features[[name for name in features.columns if name not in dropped]]
    if X.shape[1] == 0:
        raise InvalidInputError(
            f"No column is left to predict {target!r} from; see --drop and --use, or pass another "
            f"table."
        )
    dtypes = {
        name: pd.CategoricalDtype(sorted(X[name].dropna().unique()))
        for name in categorical
        if name in X.columns
    }
    return X.astype(dtypes) if dtypes else X


def _describe(
    X: Any, dropped: dict[str, str], parsed: Sequence[str], booleans: Collection[str]
) -> list[str]:
    """Return sentences about the columns."""
    categorical = X.columns[[dtype.kind not in "iufb" for dtype in X.dtypes]].tolist()
    messages = [f"{pluralize(len(X), 'row')}, {pluralize(X.shape[1], 'feature')}."]
    large = [name for name in categorical if exceed_float_precision(unique_cells(X[name]))]
    padded = [name for name in categorical if name not in large and _is_padded(X[name])]
    others = [name for name in categorical if name not in {*large, *padded}]
    if others:
        messages.append(f"Categorical: {truncate_list(others)}.")
    if padded:
        messages.append(
            f"Categorical, because of leading zeros: {truncate_list(padded)}; pass --numeric to "
            f"treat a column as numbers."
        )
    messages += parsed
    numeric = [name for name in X.columns if name in booleans and name not in categorical]
    if numeric:
        messages.append(f"Booleans converted to 1 and 0: {truncate_list(numeric)}.")
    if large:
        messages.append(
            f"Categorical, because integers beyond 2^53 are not exact as floats: "
            f"{truncate_list(large)}."
        )
    mixed = [name for name in others if not hasattr(X[name], "cat") and seems_numeric(X[name])]
    if mixed:
        messages.append(
            f"Mostly numbers, but with many words: {truncate_list(mixed)}; pass --numeric to treat "
            f"the words as missing values."
        )
    incomplete = X.columns[X.isna().any().to_numpy()].tolist()
    if incomplete:
        messages.append(f"Missing values: {truncate_list(incomplete)}.")
    by_reason = defaultdict(list)
    for name, why in dropped.items():
        by_reason[why].append(name)
    return messages + [f"Dropped ({why}): {truncate_list(of)}." for why, of in by_reason.items()]


def _is_padded(column: Any) -> bool:
    return not hasattr(column, "cat") and has_leading_zeros(column)
