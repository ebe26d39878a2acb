"""Predictions and explanations of a fitted model, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from everystump._explanations.terms import name_terms
from everystump._files import write_atomic
from everystump._text import InvalidInputError, pluralize
from everystump._workflow.errors import input_errors
from everystump._workflow.matching import (
    count_unknown_levels,
    describe_unknown_levels,
    expected_columns,
    file_dialect,
    match_features,
    match_stream,
    parse_table,
    read_options,
)
from everystump._workflow.options import Dialect
from everystump._workflow.outputs import INTERCEPT, outputs_of
from everystump._workflow.reading.files import read_decompressed
from everystump._workflow.reading.standard_input import (
    InputStream,
    is_standard_input,
    open_input,
)
from everystump._workflow.reading.stream import BLOCK, FileStream, is_single, name_file
from everystump._workflow.schema.training_data import check_columns
from everystump.estimators._base import as_class_list


def predict_files(
    model: Any, path: Path, dialect: Dialect, keep: Sequence[str], notes: list[str]
) -> Iterator[Any]:
    """Yield the predictions for a file, or for several ones; notes are added at the end.

    Standard input, large files, folders and patterns are read in chunks.
    """
    found = _find_source(path, file_dialect(model, dialect))
    if not isinstance(found, bytes):
        yield from predict_stream(model, found, dialect, keep, notes)
        return
    table, more = predict_content(model, path, found, dialect, keep)
    notes += more
    yield table


def _find_source(path: Path, dialect: Dialect) -> FileStream | InputStream | bytes:
    """Return what is read in chunks, or the content of a file that is read as a whole."""
    if is_standard_input(path):
        return open_input(dialect.encoding)
    if path.is_file() and path.stat().st_size > BLOCK:
        with suppress(InvalidInputError):  # such as a zip archive
            return FileStream.find(path)
    return read_decompressed(path) if is_single(path) else FileStream.find(path)


def write_tables(tables: Iterator[Any], out: Path) -> int:
    """Write tables as one CSV file, atomically; return the number of rows."""
    n_rows = 0

    def write(path: Path) -> None:
        nonlocal n_rows
        with path.open("w", encoding="utf-8", newline="") as file:
            for table in tables:
                table.to_csv(file, index=False, header=n_rows == 0, lineterminator="\n")
                n_rows += len(table)

    write_atomic(out, write)
    return n_rows


def csv_texts(tables: Iterator[Any]) -> Iterator[str]:
    """Yield tables as parts of one CSV, without the last line break of each part."""
    for k, table in enumerate(tables):
        text = table.to_csv(index=False, header=k == 0, lineterminator="\n")
        yield text.removesuffix("\n")


def join_tables(tables: Iterator[Any]) -> Any:
    """Return tables as a single one."""
    import pandas as pd

    parts = list(tables)
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def predict_content(
    model: Any, path: Path, content: bytes, dialect: Dialect, keep: Sequence[str]
) -> tuple[Any, list[str]]:
    """Return the predictions for the rows of a file whose content has been read, and notes.

    The columns of ``keep`` come first, copied from the file.
    """
    frame, notes = parse_table(path, content, dialect, model)
    check_columns(frame.columns, keep)
    copied = frame[[]]
    if keep:  # exactly as in the file
        raw = replace(dialect, missing=("",))
        copied = parse_table(path, content, raw, model, text=keep)[0][list(dict.fromkeys(keep))]
    X = match_features(model, frame)
    notes += describe_unknown_levels(count_unknown_levels(model, X))
    return predictions(model, X, copied), notes


def predict_stream(
    model: Any,
    stream: FileStream | InputStream,
    dialect: Dialect,
    keep: Sequence[str],
    notes: list[str],
) -> Iterator[Any]:
    """Yield the same as `predict_content` for chunks of rows; the notes are added at the end."""
    unknown: Counter[str] = Counter()
    names = list(dict.fromkeys(keep))
    as_in_file = file_dialect(model, replace(dialect, missing=("",)))
    raw = replace(read_options(model, dialect), dialect=as_in_file, text=names)
    copies = (frame for _, frame in stream.read(raw)) if keep else repeat(None)
    matched = match_stream(model, stream, dialect, notes)
    for (path, frame, X), copy in zip(matched, copies, strict=False):
        with name_file(path):
            check_columns(frame.columns, keep)
        unknown.update(count_unknown_levels(model, X))
        yield predictions(model, X, frame[[]] if copy is None else copy[names])
    order = expected_columns(model).kinds
    notes += describe_unknown_levels({name: unknown[name] for name in order if unknown[name]})


def predictions(model: Any, X: Any, copied: Any) -> Any:
    """Return the outputs of a model, after columns copied from the file."""
    import pandas as pd

    columns = outputs_of(model).columns(X)
    taken = next((name for name in copied.columns if name in columns), None)
    if taken is not None:
        raise InvalidInputError(
            f"--keep {taken}: the output already has a column with that name; rename it."
        )
    return pd.DataFrame({name: copied[name].to_numpy() for name in copied.columns} | columns)


def contributions(model: Any, X: Any) -> Any:
    """Return the contribution of each term to the scores, in separate columns per class."""
    with input_errors():
        parts = model.explain_local(X)
    if parts.columns.nlevels > 1:
        return parts.set_axis([f"{name} {label}" for label, name in parts.columns], axis=1)
    return parts


def find_row(chunks: Iterator[Any], row: int) -> Any:
    """Return a row of chunks of rows, as a frame."""
    n_rows = 0
    for X in chunks:
        if row < n_rows + len(X):
            return X.iloc[[row - n_rows]]
        n_rows += len(X)
    raise InvalidInputError(
        f"--row {row}: the data have {pluralize(n_rows, 'row')}; choose one from 0 to {n_rows - 1}."
    )


def row_contributions(model: Any, sample: Any) -> Any:
    """Return the contributions of the terms to the score of one row, the largest first.

    With several classes there is one column per class, and terms are sorted by their largest
    contribution to any.
    """
    import pandas as pd

    parts = contributions(model, sample).to_numpy()
    outputs = outputs_of(model)
    titles = outputs.titles
    values = parts.reshape(len(titles), -1).T  # the intercept, the features, others, the score
    terms = as_class_list(model.shapes_)[0].terms
    names = name_terms(sample.columns, terms)
    order = np.argsort(-np.abs(values[1:-1]).max(axis=1), kind="stable").tolist()
    rows = [(names[t], _value(sample, terms[t]), values[1 + t]) for t in order]
    rows += [(INTERCEPT, None, values[0]), (outputs.total, None, values[-1])]
    return pd.DataFrame(
        [
            {"feature": name, "value": value} | dict(zip(titles, parts.tolist(), strict=True))
            for name, value, parts in rows
        ]
    )


def _value(sample: Any, term: tuple[int, ...]) -> Any:
    """Return the value of a feature in a frame with one row; for an interaction, a list of them."""
    values = [sample.iat[0, d] for d in term]
    return values[0] if len(values) == 1 else values


def row_prediction(model: Any, sample: Any) -> dict[str, Any]:
    """Return the prediction for a row as plain data."""
    return outputs_of(model).row(sample)


def importances(model: Any) -> tuple[Any, str]:
    """Return the terms by importance, and the rows on which it was measured.

    These are the held-out rows, if there were any and the model has not been edited since.
    """
    frame, stored = model.explain_global(), getattr(model, "about_", {}).get("importances")
    if stored is None or model.edits_:
        return frame, "training rows"
    names = name_terms(model.feature_names_in_, as_class_list(model.shapes_)[0].terms)
    classes = model.classes_.tolist() if len(stored["values"]) > 1 else [None]
    measured = {
        (label, str(name)): value
        for label, values in zip(classes, stored["values"], strict=True)
        for name, value in zip(names, values, strict=True)
    }
    labels = frame["class"] if "class" in frame else [None] * len(frame)
    values = [measured[k, str(name)] for k, name in zip(labels, frame["feature"], strict=True)]
    frame = frame.assign(importance=values)
    rows = pluralize(stored["n_rows"], "held-out row")
    return frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True), rows
