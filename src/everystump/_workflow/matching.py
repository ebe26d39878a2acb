"""Match a table to a fitted model: its features, its labels, and whether it was trained on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from everystump._tables.validation import check_rows
from everystump._text import InvalidInputError, pluralize, truncate_list
from everystump._workflow.errors import input_errors
from everystump._workflow.options import Dialect
from everystump._workflow.plan import split_rows
from everystump._workflow.reading.files import parse_file, read_decompressed
from everystump._workflow.reading.frames import with_columns
from everystump._workflow.schema.columns import NUMBERS, column_kind
from everystump._workflow.schema.labels import find_label, numbers_as_text
from everystump._workflow.schema.parsers import (
    ColumnParser,
    NumberParser,
    apply_parsers,
    parsers_from_dict,
)

HELD_OUT, TRAINING, GIVEN = "held-out", "training", ""


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """Rows on which a model is evaluated.

    Attributes
    ----------
    X : pandas.DataFrame
        Features; the index numbers the rows of the file.
    y : ndarray or None
        Labels as in ``classes_``, None if the table has none.
    kind : str
        ``"held-out"``, ``"training"``, or ``""`` for rows of another table.
    leakage_warning : str or None
        Why rows of another table may be training rows.
    """

    X: Any
    y: np.ndarray | None
    kind: str = GIVEN
    leakage_warning: str | None = None

    @property
    def is_training(self) -> bool:
        """Whether the rows are the training rows."""
        return self.kind == TRAINING

    @property
    def is_unseen(self) -> bool:
        """Whether nothing suggests that rows were used for training."""
        return not self.is_training and self.leakage_warning is None


def stored_parsers(model: Any) -> dict[str, ColumnParser]:
    """Return the column parsers that are stored with a model, by names of columns in files."""
    return parsers_from_dict(_origin(model).get("columns", {}))


def _origin(model: Any) -> dict[str, Any]:
    return getattr(model, "about_", {}).get("origin") or {}


def _features(model: Any) -> list[tuple[str, Any]]:
    """Return the names and the records of a model's features."""
    return [
        (str(name), info)
        for name, info in zip(model.feature_names_in_, model.feature_info_, strict=True)
    ]


def text_columns(model: Any) -> list[str]:
    """Return the columns that are read as text from a file for a model.

    These are its categorical columns of text, those with a parser, and the labels.
    """
    text = [
        name for name, info in _features(model) if info.levels is not None and info.kind == "text"
    ]
    target = getattr(model, "about_", {}).get("target")
    return [*text, *stored_parsers(model), *([] if target is None else [target])]


def read_table(path: Path, dialect: Dialect, model: Any) -> tuple[Any, list[str]]:
    """Return the table in a file for a model, and notes on how it was read.

    Options that are not set default to those of the training table.
    """
    return parse_table(path, read_decompressed(path), dialect, model)


def parse_table(
    path: Path, content: bytes, dialect: Dialect, model: Any, text: Collection[str] | None = None
) -> tuple[Any, list[str]]:
    """Return the same as `read_table` for content that has already been read.

    ``text`` names the columns that are read as text, by default `text_columns`; other columns may
    have leading zeros.
    """
    origin = _origin(model)
    dialect = dialect.with_defaults(origin.get("dialect", {}))
    dialect = replace(dialect, usual_decimal=origin.get("decimal"))
    text = text_columns(model) if text is None else text
    frame, notes = parse_file(path, content, dialect, text=text, keep_zeros=False)
    return frame, notes + _parsing_notes(model, frame)


def unknown_levels(model: Any, X: Any) -> list[str]:
    """Return a note for each categorical feature with unknown levels."""
    with input_errors():
        rows = check_rows(model, X)
    notes = []
    for d, (name, info) in enumerate(_features(model)):
        n_unknown = int(np.sum(rows[:, d] == -1)) if info.levels is not None else 0
        if n_unknown:
            notes.append(
                f"{name}: {pluralize(n_unknown, 'row')} with an unknown category, which "
                f"contributes 0 to the score."
            )
    return notes


def match_features(model: Any, frame: Any) -> Any:
    """Return the features of a model from a table, parsed as in its training table."""
    features = _features(model)
    names = [name for name, _ in features]
    parsers = {k: v for k, v in stored_parsers(model).items() if k in frame.columns}
    needed = {*names, *parsers}
    frame = frame[[name for name in frame.columns if name in needed]]
    _check_features(model, frame, names)
    X = apply_parsers(frame, parsers)[names]
    number_parser = _number_parser(model)
    changed: dict[str, Any] = {}
    for name, info in features:
        kind = column_kind(X[name])
        if info.levels is None and kind != NUMBERS and X[name].notna().any():
            changed |= number_parser.features(X[name])
        if info.levels is not None and info.kind == "text" and kind == NUMBERS:
            changed[name] = numbers_as_text(X[name])  # another file may have only numbers
    X = with_columns(X, changed)
    if not model.__sklearn_tags__().input_tags.allow_nan:
        _check_complete(X)
    return X


def _number_parser(model: Any) -> NumberParser:
    """Return the parser of numeric columns in which a file has text."""
    return NumberParser(decimal=_origin(model).get("decimal", "."))


def _parsing_notes(model: Any, frame: Any) -> list[str]:
    """Return a note for each column whose cells differ in form from the training table.

    Columns that cannot be parsed are skipped; `match_features` raises for them.
    """
    numeric = [name for name, info in _features(model) if info.levels is None]
    parsers: dict[str, ColumnParser] = dict.fromkeys(numeric, _number_parser(model))
    notes = []
    for name, parser in (parsers | stored_parsers(model)).items():
        if name not in frame.columns or not frame[name].notna().any():
            continue
        try:
            words = parser.parse(frame[name])[1]
        except InvalidInputError:
            continue
        if words:
            n_rows = pluralize(int(frame[name].astype(str).str.strip().isin(words).sum()), "row")
            examples = truncate_list([repr(word) for word in words], 3)
            notes.append(f"{name}: {examples} in {n_rows} treated as missing.")
        if isinstance(parser, NumberParser) and parser.lacks_percent(frame[name]):
            notes.append(
                f"{name}: numbers without a percent sign are read as percentages, as in training: "
                f"35.8 is 35.8%, and 0.358 is 0.358%."
            )
    return notes


def _check_features(model: Any, frame: Any, names: Sequence[str]) -> None:
    """Raise if a table lacks columns that a model needs, including dates that it parses."""
    source = {
        feature: name
        for name, parser in stored_parsers(model).items()
        for feature in parser.names(name)
    }
    needed = (name if name in frame.columns else source.get(name, name) for name in names)
    absent = [name for name in dict.fromkeys(needed) if name not in frame.columns]
    if absent:
        columns = truncate_list([repr(name) for name in absent], 3)
        what = f"column {columns}, which the model needs"
        if len(absent) > 1:
            what = f"{len(absent):,} columns that the model needs: {columns}"
        raise InvalidInputError(f"The data lack {what}; add or rename columns.")


def _check_complete(X: Any) -> None:
    """Raise if a value is missing."""
    incomplete = X.columns[X.isna().any().to_numpy()]
    if len(incomplete):
        row = X.index[X[incomplete[0]].isna()][0]
        raise InvalidInputError(
            f"{incomplete[0]!r} is missing in row {row} (counting from 0), but this model does not "
            f"accept missing values; fill it in, or drop the row."
        )


def match_labeled_rows(model: Any, frame: Any) -> EvaluationRows:
    """Return the rows of a table on which to evaluate a model.

    For the table that it was fitted to, these are the held-out rows: they follow from the labels,
    the fraction and the seed, and are verified by the model's record of its training rows.
    """
    about = getattr(model, "about_", {})
    target = about.get("target")
    if target not in frame.columns:
        return EvaluationRows(match_features(model, frame), None)
    is_labeled = frame[target].notna().to_numpy()
    if not is_labeled.any():
        return EvaluationRows(match_features(model, frame), None)
    frame = frame[is_labeled]
    X, y = match_features(model, frame), _match_labels(model, frame[target])
    origin = about.get("origin")
    return EvaluationRows(X, y) if origin is None else _compare_rows(model, X, y, origin)


def _compare_rows(model: Any, X: Any, y: np.ndarray, origin: dict[str, Any]) -> EvaluationRows:
    """Return the held-out rows of the training table, or all rows, possibly with a warning."""
    with input_errors():
        overlap = model.training_overlap(X, y)
    if overlap.same_rows:
        return EvaluationRows(X, y, TRAINING)
    if origin["holdout"] is not None:
        try:
            train, test = split_rows(y.astype(str), origin["holdout"], origin["seed"])
        except InvalidInputError:  # too few rows to be the training table
            train = test = np.arange(0)
        if len(train) and model.training_overlap(X.iloc[train], y[train]).same_rows:
            return EvaluationRows(X.iloc[test], y[test], HELD_OUT)
    return EvaluationRows(X, y, leakage_warning=overlap.leakage_warning)


def _match_labels(model: Any, column: Any) -> np.ndarray:
    """Return the labels of ``classes_`` that the cells of a column denote."""
    classes = model.classes_.tolist()
    matches = {label: find_label(label, classes) for label in column.astype(str).unique().tolist()}
    unknown = next((label for label, match in matches.items() if match is None), None)
    if unknown is not None:
        raise InvalidInputError(
            f"{column.name!r} is {unknown!r} in some rows, which is not one of the model's "
            f"classes ({truncate_list([repr(label) for label in classes])}); fix or drop these "
            f"rows."
        )
    number = {label: classes.index(match) for label, match in matches.items()}
    return model.classes_[column.astype(str).map(number).to_numpy(dtype=np.intp)]
