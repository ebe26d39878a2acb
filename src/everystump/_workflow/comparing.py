"""Two models compared on the rows of files: those that neither was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from everystump._text import InvalidInputError
from everystump._workflow.errors import input_errors
from everystump._workflow.matching import (
    EvaluationRows,
    match_labeled_rows,
    parse_table,
    read_labeled_rows,
    weight_notes,
)
from everystump._workflow.options import Dialect
from everystump._workflow.reading.files import read_decompressed
from everystump._workflow.reading.stream import find_large
from everystump.report._compared_model import ComparedModel
from everystump.report.comparison import (
    check_comparable,
    summarize_comparison,
    training_warning,
)


@dataclass(frozen=True, eq=False)
class ComparisonRows:
    """Rows that two models are compared on.

    Attributes
    ----------
    tables : tuple of frame
        The features of each model.
    y : ndarray
        Labels or numbers.
    kind : str
        "held-out", or "" for rows of another table.
    warnings : list of str
        Why rows may have been used for training.
    """

    tables: tuple[Any, Any]
    y: np.ndarray
    kind: str
    warnings: list[str]


def compare_models(
    path: Path, dialect: Dialect, models: Sequence[Any], names: Sequence[str]
) -> tuple[dict[str, Any], ComparisonRows, list[str]]:
    """Return the summary of a comparison of two models on the rows of files, the rows, and notes.

    The summary is that of `everystump.report.summarize_comparison`.
    """
    rows, notes = read_comparison_rows(path, dialect, models, names)
    with input_errors():
        summary = summarize_comparison(
            models[0],
            models[1],
            rows.tables[0],
            rows.y,
            names=names,
            X_second=rows.tables[1],
            about={"rows": rows.kind, "warnings": rows.warnings},
        )
    return summary, rows, notes


def read_comparison_rows(
    path: Path, dialect: Dialect, models: Sequence[Any], names: Sequence[str]
) -> tuple[ComparisonRows, list[str]]:
    """Return the rows of files on which to compare two models, and notes.

    If the files are the training table of a model, these are among its held-out rows; if they are
    that of both, the rows that both held out.
    """
    with input_errors():
        check_comparable(
            [ComparedModel(name, own, None) for name, own in zip(names, models, strict=True)]
        )
    found, notes = _read(path, dialect, models)
    for rows, model in zip(found, models, strict=True):
        if rows.target is None:
            target = getattr(model, "about_", {}).get("target")
            raise InvalidInputError(
                f"A comparison needs labels, but {path} has none in column {target!r}; add them."
            )
    return _common_rows(found, models, names), notes


def _read(
    path: Path, dialect: Dialect, models: Sequence[Any]
) -> tuple[list[EvaluationRows], list[str]]:
    """Return the rows of each model, and notes."""
    found, notes = [], dict[str, None]()
    content = None if find_large(path) is not None else read_decompressed(path)
    for model in models:
        if content is None:
            rows, own = read_labeled_rows(path, dialect, model)
        else:  # read once, as it may be a pipe
            frame, own = parse_table(path, content, dialect, model)
            rows = match_labeled_rows(model, frame)
            own = own + weight_notes(model, rows)
        found.append(rows)
        notes |= dict.fromkeys(own)
    return found, list(notes)


def _common_rows(
    found: Sequence[EvaluationRows], models: Sequence[Any], names: Sequence[str]
) -> ComparisonRows:
    """Return the rows that both models are evaluated on."""
    common = found[0].X.index.intersection(found[1].X.index)
    if len(common) == 0:
        raise InvalidInputError(
            f"No row was held out by both {names[0]} and {names[1]}; fit them with the same --seed "
            f"and --holdout, or pass rows that neither was trained on."
        )
    parts = [_take(rows, common, model) for rows, model in zip(found, models, strict=True)]
    warnings = [
        training_warning(name) if rows.is_training else f"{name}: {rows.leakage_warning}"
        for rows, name in zip(parts, names, strict=True)
        if not rows.is_unseen
    ]
    kind = "held-out" if any(rows.is_held_out for rows in parts) else ""
    first, second = parts
    assert first.y is not None
    return ComparisonRows((first.X, second.X), first.y, kind, warnings)


def _take(rows: EvaluationRows, index: Any, model: Any) -> EvaluationRows:
    """Return some of the rows; whether these were used for training is checked once more."""
    if len(index) == len(rows.X):
        return rows
    where = rows.X.index.get_indexer(index)
    assert rows.target is not None
    part = replace(rows, X=rows.X.iloc[where], target=rows.target.take(where))
    if part.leakage_warning is None:
        return part
    with input_errors():
        overlap = model.training_overlap(part.X, part.y)
    return replace(part, leakage_warning=overlap.leakage_warning)
