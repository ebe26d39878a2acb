"""A table beside a model: the columns that it looks at, the labels, and which rows are fresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump._tables.validation import check_rows
from everystump._text import pluralize, truncate_list
from everystump._workflow import InvalidInputError, asking
from everystump._workflow.kinds import NUMBERS, kind_of
from everystump._workflow.labels import as_text, find_label
from everystump._workflow.plan import split_rows
from everystump._workflow.readings import NumberParser, Reading, parsers_from_dict
from everystump._workflow.schema import apply_parsers
from everystump._workflow.tidying import replaced

HELD_OUT, TRAINING, GIVEN = "held-out", "training", ""


@dataclass(frozen=True, eq=False)
class Trial:
    """Rows to judge a model by.

    Attributes
    ----------
    X : pandas.DataFrame
        The features; its index numbers the rows of the file.
    y : ndarray or None
        The labels as the model has them, None if the table has none.
    kind : str
        ``"held-out"``, ``"training"``, or ``""`` for rows of another table.
    doubt : str or None
        Why rows of another table may be training rows after all.
    """

    X: Any
    y: np.ndarray | None
    kind: str = GIVEN
    doubt: str | None = None

    @property
    def fresh(self) -> bool:
        """Whether the model did not learn from the rows, as far as it is known."""
        return self.kind != TRAINING


def stored_parsers(model: Any) -> dict[str, Reading]:
    """Return how the columns are read that a model knows, by their names in files."""
    return parsers_from_dict(_origin(model).get("columns", {}))


def _origin(model: Any) -> dict[str, Any]:
    return getattr(model, "about_", {}).get("origin") or {}


def text_columns(model: Any) -> list[str]:
    """Return the columns that stay text when a file is read for a model.

    These are its categories of text, those that it reads in its own way, and the labels.
    """
    features = zip(model.feature_names_in_, model.feature_info_, strict=True)
    text = [str(name) for name, own in features if own.levels is not None and own.kind == "text"]
    target = getattr(model, "about_", {}).get("target")
    return [*text, *stored_parsers(model), *([] if target is None else [target])]


def unknown_levels(model: Any, X: Any) -> list[str]:
    """Return a sentence for each category with levels that the model does not know."""
    with asking():
        rows = check_rows(model, X)
    notes = []
    for d, (name, feature) in enumerate(
        zip(model.feature_names_in_, model.feature_info_, strict=True)
    ):
        n_unknown = int(np.sum(rows[:, d] == -1)) if feature.levels is not None else 0
        if n_unknown:
            there = pluralize(n_unknown, "row")
            notes.append(f"{name}: {there} with a level that the model does not know; it adds 0.")
    return notes


def match_features(model: Any, frame: Any) -> Any:
    """Return the columns that a model looks at, read as in the table that it was made from."""
    names = [str(name) for name in model.feature_names_in_]
    readings = {k: v for k, v in stored_parsers(model).items() if k in frame.columns}
    looked_at = {*names, *readings}
    frame = frame[[name for name in frame.columns if name in looked_at]]
    _check_features(model, frame, names)
    X = apply_parsers(frame, readings)[names]
    plain = _plain(model)
    changed: dict[str, Any] = {}
    for name, feature in zip(names, model.feature_info_, strict=True):
        kind = kind_of(X[name])
        if feature.levels is None and kind != NUMBERS and X[name].notna().any():
            changed |= plain.features(X[name])
        if feature.levels is not None and feature.kind == "text" and kind == NUMBERS:
            changed[name] = as_text(X[name])  # another file may have numbers only
    X = replaced(X, changed)
    if not model.__sklearn_tags__().input_tags.allow_nan:
        _check_complete(X)
    return X


def _plain(model: Any) -> NumberParser:
    """Return how a column of numbers is read where a file has text in it."""
    return NumberParser(decimal=_origin(model).get("decimal", "."))


def reading_notes(model: Any, frame: Any) -> list[str]:
    """Return a sentence for each column whose cells are not written as the model knows them.

    There are none for a table that the model cannot look at, which is refused elsewhere.
    """
    features = zip(model.feature_names_in_, model.feature_info_, strict=True)
    numbers = [str(name) for name, feature in features if feature.levels is None]
    readings: dict[str, Reading] = dict.fromkeys(numbers, _plain(model)) | stored_parsers(model)
    notes = []
    for name, reading in readings.items():
        if name not in frame.columns or not frame[name].notna().any():
            continue
        try:
            words = reading.read(frame[name])[1]
        except InvalidInputError:
            continue
        if words:
            n_rows = pluralize(int(frame[name].astype(str).str.strip().isin(words).sum()), "row")
            shown = truncate_list([repr(word) for word in words], 3)
            notes.append(f"{name}: {shown} in {n_rows} taken as missing.")
        if isinstance(reading, NumberParser) and reading.lacks_percent(frame[name]):
            notes.append(
                f"{name}: numbers without a percent sign are taken for percents, as in training: "
                f"35.8 is 35.8%, and 0.358 is 0.358%."
            )
    return notes


def _check_features(model: Any, frame: Any, names: Sequence[str]) -> None:
    """Raise if a table lacks columns that a model needs, dates among them that it reads."""
    source = {own: name for name, one in stored_parsers(model).items() for own in one.names(name)}
    needed = (name if name in frame.columns else source.get(name, name) for name in names)
    absent = [name for name in dict.fromkeys(needed) if name not in frame.columns]
    if absent:
        raise InvalidInputError(
            f"The data lack {truncate_list([repr(name) for name in absent], 3)}, which the model "
            f"needs; add or rename columns."
        )


def _check_complete(X: Any) -> None:
    """Raise if a value is missing, for a model that needs all of them."""
    incomplete = X.columns[X.isna().any().to_numpy()]
    if len(incomplete):
        row = X.index[X[incomplete[0]].isna()][0]
        raise InvalidInputError(
            f"{incomplete[0]!r} is missing in row {row} (0 is the first), and this model takes no "
            f"missing values; fill it in, or leave out the row."
        )


def match_labeled_rows(model: Any, frame: Any) -> Trial:
    """Return the rows of a table to judge a model by.

    Of the table that it was made from, these are the ones that were held out: which they are
    follows from the labels, the share and the seed, and is checked by what the model remembers of
    the rows that it learned from.
    """
    about = getattr(model, "about_", {})
    target = about.get("target")
    if target not in frame.columns:
        return Trial(match_features(model, frame), None)
    known = frame[target].notna().to_numpy()
    if not known.any():
        return Trial(match_features(model, frame), None)
    frame = frame[known]
    X, y = match_features(model, frame), _labels(model, frame[target])
    origin = about.get("origin")
    return Trial(X, y) if origin is None else _placed(model, X, y, origin)


def _placed(model: Any, X: Any, y: np.ndarray, origin: dict[str, Any]) -> Trial:
    """Return the rows that were held out, or all with what is known of them."""
    with asking():
        overlap = model.training_overlap(X, y)
    if overlap.same_rows:
        return Trial(X, y, TRAINING)
    if origin["holdout"] is not None:
        try:
            train, test = split_rows(y.astype(str), origin["holdout"], origin["seed"])
        except InvalidInputError:  # too few rows to be the table
            train = test = np.arange(0)
        if len(train) and model.training_overlap(X.iloc[train], y[train]).same_rows:
            return Trial(X.iloc[test], y[test], HELD_OUT)
    return Trial(X, y, doubt=overlap.caution)


def _labels(model: Any, column: Any) -> np.ndarray:
    """Return labels as the model has them, however the table writes them."""
    known = model.classes_.tolist()
    of = {label: find_label(label, known) for label in column.astype(str).unique().tolist()}
    unknown = next((label for label, own in of.items() if own is None), None)
    if unknown is not None:
        raise InvalidInputError(
            f"{column.name!r} is {unknown!r} in some rows, which is none of the labels that the "
            f"model knows, {known}; correct or leave out the rows."
        )
    place = {label: known.index(own) for label, own in of.items()}
    return model.classes_[column.astype(str).map(place).to_numpy(dtype=np.intp)]
