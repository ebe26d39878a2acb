"""Match a table to a fitted model: its features, its labels, and whether it was trained on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from everystump._memory import available_memory
from everystump._sklearn_compat import is_regressor
from everystump._tables.validation import check_rows
from everystump._text import InvalidInputError, format_bytes, pluralize
from everystump._values import NUMBER, TEXT
from everystump._workflow.errors import input_errors
from everystump._workflow.options import Dialect
from everystump._workflow.reading.files import parse_file, read_decompressed
from everystump._workflow.reading.frames import NOTES
from everystump._workflow.reading.standard_input import InputStream
from everystump._workflow.reading.stream import (
    MEMORY_FRACTION,
    FileStream,
    ReadOptions,
    find_large,
    name_file,
)
from everystump._workflow.schema.expected_columns import (
    LEVELS,
    ColumnWords,
    ExpectedColumns,
    describe_words,
    merge_words,
)
from everystump._workflow.schema.parsers import NumberParser, parsers_from_dict
from everystump._workflow.schema.row_reader import RowReader, WeightReader
from everystump._workflow.schema.target_readers import (
    KnownClassReader,
    NumberReader,
    TargetReader,
)
from everystump._workflow.targets.target import Target

HELD_OUT, TRAINING, GIVEN = "held-out", "training", ""


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """Rows on which a model is evaluated.

    Attributes
    ----------
    X : pandas.DataFrame
        Features; the index numbers the rows of the file.
    target : Target or None
        Labels as in ``classes_`` or numbers, None if the table has none.
    kind : str
        ``"held-out"``, ``"training"``, or ``""`` for rows of another table.
    leakage_warning : str or None
        Why rows of another table may be training rows.
    """

    X: Any
    target: Target | None
    kind: str = GIVEN
    leakage_warning: str | None = None

    @property
    def y(self) -> np.ndarray | None:
        """The labels or numbers, None if the table has none."""
        return None if self.target is None else self.target.y

    @property
    def is_training(self) -> bool:
        """Whether the rows are the training rows."""
        return self.kind == TRAINING

    @property
    def is_held_out(self) -> bool:
        """Whether the rows were held out from the training table."""
        return self.kind == HELD_OUT

    @property
    def is_unseen(self) -> bool:
        """Whether nothing suggests that rows were used for training."""
        return not self.is_training and self.leakage_warning is None


def _origin(model: Any) -> dict[str, Any]:
    return getattr(model, "about_", {}).get("origin") or {}


def _features(model: Any) -> list[tuple[str, Any]]:
    """Return the names and the records of a model's features."""
    return [
        (str(name), info)
        for name, info in zip(model.feature_names_in_, model.feature_info_, strict=True)
    ]


def expected_columns(model: Any) -> ExpectedColumns:
    """Return the features of a model, and how columns become these."""
    kinds = {
        name: NUMBER if info.levels is None else TEXT if info.kind == TEXT else LEVELS
        for name, info in _features(model)
    }
    origin = _origin(model)
    parsers = parsers_from_dict(origin.get("columns", {}))
    return ExpectedColumns(kinds, parsers, origin.get("decimal", "."))


def text_columns(model: Any) -> list[str]:
    """Return the columns that are read as text from a file for a model, including the labels."""
    target = getattr(model, "about_", {}).get("target")
    return [*expected_columns(model).text, *([] if target is None else [target])]


def file_dialect(model: Any, dialect: Dialect) -> Dialect:
    """Return options for a file, by default those of the training table."""
    origin = _origin(model)
    dialect = dialect.with_defaults(origin.get("dialect", {}))
    return replace(dialect, usual_decimal=origin.get("decimal"))


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
    text = text_columns(model) if text is None else text
    dialect = file_dialect(model, dialect)
    frame, notes = parse_file(path, content, dialect, text=text, keep_zeros=False)
    return frame, notes + describe_words(expected_columns(model).find_words(frame))


def read_options(model: Any, dialect: Dialect) -> ReadOptions:
    """Return how files are read for a model in chunks."""
    return ReadOptions(file_dialect(model, dialect), text_columns(model), keep_zeros=False)


def match_stream(
    model: Any,
    stream: FileStream | InputStream,
    dialect: Dialect,
    notes: list[str],
    select: Callable[[Any], Any] = lambda frame: frame,
) -> Iterator[tuple[Path, Any, Any]]:
    """Yield chunks of rows: their file, the rows that are selected, and the model's features.

    Notes are added at the end.
    """
    expected, words = expected_columns(model), dict[str, ColumnWords]()
    for path, table in stream.read_ahead(read_options(model, dialect)):
        notes += [note for note in table.attrs.get(NOTES, ()) if note not in notes]
        with name_file(path):
            frame = select(table)
        if len(frame) == 0:
            continue
        words = merge_words(words, expected.find_words(frame))
        with name_file(path):
            X = match_features(model, frame)
        yield path, frame, X
    notes += describe_words(words)


def match_files(model: Any, path: Path, dialect: Dialect, notes: list[str]) -> Iterator[Any]:
    """Yield the features of a model from a file, or in chunks from large files and several ones."""
    stream = find_large(path)
    if stream is None:
        frame, found = read_table(path, dialect, model)
        notes += found
        yield match_features(model, frame)
    else:
        yield from (X for _, _, X in match_stream(model, stream, dialect, notes))


def count_unknown_levels(model: Any, X: Any) -> dict[str, int]:
    """Return the number of rows with an unknown level, for each categorical feature with any."""
    with input_errors():
        rows = check_rows(model, X)
    is_categorical = [info.levels is not None for _, info in _features(model)]
    counts = {
        name: int(np.sum(rows[:, d] == -1))
        for d, (name, _) in enumerate(_features(model))
        if is_categorical[d]
    }
    return {name: count for name, count in counts.items() if count}


def describe_unknown_levels(counts: Mapping[str, int]) -> list[str]:
    """Return a note for each categorical feature with unknown levels."""
    return [
        f"{name}: {pluralize(count, 'row')} with an unknown category, which contributes 0 to the "
        f"score."
        for name, count in counts.items()
    ]


def match_features(model: Any, frame: Any) -> Any:
    """Return the features of a model from a table, parsed as in its training table."""
    X = expected_columns(model).match(frame)
    if not model.__sklearn_tags__().input_tags.allow_nan:
        _check_complete(X)
    return X


def _check_complete(X: Any) -> None:
    """Raise if a value is missing."""
    incomplete = X.columns[X.isna().any().to_numpy()]
    if len(incomplete):
        row = X.index[X[incomplete[0]].isna()][0]
        raise InvalidInputError(
            f"{incomplete[0]!r} is missing in row {row} (counting from 0), but this model does not "
            f"accept missing values; fill it in, or drop the row."
        )


def read_labeled_rows(path: Path, dialect: Dialect, model: Any) -> tuple[EvaluationRows, list[str]]:
    """Return the rows of files on which to evaluate a model, and notes; see `match_labeled_rows`.

    Of large files and of several ones, only the features and the labels are kept in memory.
    """
    stream = find_large(path)
    if stream is None:
        frame, notes = read_table(path, dialect, model)
        rows = match_labeled_rows(model, frame)
    else:
        rows, notes = _read_labeled_stream(stream, dialect, model)
    return rows, notes + weight_notes(model, rows)


def weight_notes(model: Any, rows: EvaluationRows) -> list[str]:
    """Return a note if a model that was trained with sample weights is evaluated without them."""
    name = _origin(model).get("sample_weight")
    if name is None or rows.target is None:
        return []
    return [f"The model was trained with sample weights ({name}); here, every row counts once."]


def _read_labeled_stream(
    stream: FileStream, dialect: Dialect, model: Any
) -> tuple[EvaluationRows, list[str]]:
    import pandas as pd

    about, notes = getattr(model, "about_", {}), list[str]()
    name, limit, n_bytes = about.get("target"), MEMORY_FRACTION * available_memory(), 0
    parts, reader, n_labeled = [], row_reader(model, str(name)), 0

    def select_labeled(frame: Any) -> Any:
        nonlocal n_labeled
        if name not in frame.columns:
            return frame
        is_labeled = reader.add(frame)
        n_labeled += int(is_labeled.sum())
        return frame[is_labeled]

    for path, _, X in match_stream(model, stream, dialect, notes, select_labeled):
        n_bytes += int(X.memory_usage(deep=True).sum())
        if n_bytes > limit:
            raise InvalidInputError(
                f"The rows up to row {X.index[-1]:,} of {path} take more than "
                f"{format_bytes(limit)}, an eighth of the available memory, which is too much to "
                f"evaluate a model; pass fewer rows, or use the metrics of the fit (everystump "
                f"report without DATA)."
            )
        parts.append(X)
    if not parts:
        raise InvalidInputError(f"{name!r} is missing in every row; add labels.")
    X = pd.concat(parts, ignore_index=len(stream.files) > 1)
    if n_labeled < len(X):
        return EvaluationRows(X, None), notes
    return _evaluation_rows(model, X, reader.target.finish()), notes


def match_labeled_rows(model: Any, frame: Any) -> EvaluationRows:
    """Return the rows of a table on which to evaluate a model.

    For the table that it was fitted to, these are the held-out rows: they follow from the labels,
    the fraction and the seed, and are verified by the model's record of its training rows.
    """
    about = getattr(model, "about_", {})
    name = about.get("target")
    if name is None or name not in frame.columns:
        return EvaluationRows(match_features(model, frame), None)
    reader = row_reader(model, name)
    is_labeled = reader.add(frame)
    if not is_labeled.any():
        return EvaluationRows(match_features(model, frame), None)
    X = match_features(model, frame[is_labeled])
    return _evaluation_rows(model, X, reader.target.finish())


def _evaluation_rows(model: Any, X: Any, target: Target) -> EvaluationRows:
    """Return labeled rows, compared with the training rows of the model if it has a record."""
    origin = getattr(model, "about_", {}).get("origin")
    return EvaluationRows(X, target) if origin is None else _compare_rows(model, X, target, origin)


def row_reader(model: Any, name: str) -> RowReader:
    """Return the reader of rows with the targets of a model.

    Rows without a positive weight are not used, as in training; others count the same.
    """
    origin = _origin(model)
    weight = origin.get("sample_weight")
    weights = None if weight is None else WeightReader(weight, origin.get("decimal", "."))
    return RowReader(_target_reader(model, name), weights)


def _target_reader(model: Any, name: str) -> TargetReader:
    """Return the reader of a column with the targets of a model."""
    if not is_regressor(model):
        return KnownClassReader(name, classes=model.classes_)
    stored = _origin(model).get("target")
    parsers = {} if stored is None else parsers_from_dict({name: stored})
    return NumberReader(name, parser=cast(NumberParser, parsers.get(name, NumberParser())))


def _compare_rows(model: Any, X: Any, target: Target, origin: dict[str, Any]) -> EvaluationRows:
    """Return the held-out rows of the training table, or all rows, possibly with a warning."""
    with input_errors():
        overlap = model.training_overlap(X, target.y)
    if overlap.same_rows:
        return EvaluationRows(X, target, TRAINING)
    if origin["holdout"] is not None:
        try:
            train, test = target.split(origin["holdout"], origin["seed"])
        except InvalidInputError:  # too few rows to be the training table
            train = test = np.arange(0)
        if len(train) and model.training_overlap(X.iloc[train], target.y[train]).same_rows:
            return EvaluationRows(X.iloc[test], target.take(test), HELD_OUT)
    return EvaluationRows(X, target, leakage_warning=overlap.leakage_warning)
