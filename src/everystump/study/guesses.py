"""What a table's columns are: guesses that are told, each of which the user can overrule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from everystump.study import RefusedError
from everystump.study.labels import labels_as_text, whole
from everystump.study.rowmarks import mark_rows

_MOST_CLASSES = 20
_FEW_ROWS = 20
_MANY_LEVELS, _FEW_WORDS = 20, 0.2
_YES = {"1", "1.0", "true", "yes", "y", "t", "positive", "pos", "+", ">50k", "bad", "sick", "good"}


@dataclass
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
        The label that probabilities are told of, if there are two.
    marks : ndarray
        A number for each row; see `everystump.study.rowmarks.mark_rows`.
    told : list of str
        What was guessed, one sentence each.
    dropped : dict
        Columns left out, and why.
    """

    X: Any
    y: np.ndarray
    target: str
    positive: Any
    marks: np.ndarray
    told: list[str] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wishes:
    """What the user says himself: columns to leave out, to use, to take for categories; a label."""

    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    categorical: Sequence[str] = ()
    positive: str | None = None


def make_task(frame: Any, target: str, wishes: Wishes) -> Task:
    """Decide what to learn from, and say so."""
    for name in (target, *wishes.drop, *wishes.use, *wishes.categorical):
        _check_column(frame, name)
    if target in {*wishes.drop, *wishes.categorical}:
        raise RefusedError(f"{target!r} is the target, and cannot be dropped or be a category.")
    known = frame[target].notna().to_numpy()
    told = []
    if not known.all():
        told.append(f"{(~known).sum():,} rows without a {target!r} are left out.")
    frame = frame[known]
    y, positive = _labels(frame[target], target, wishes.positive, int((~known).sum()))
    dropped = {name: "asked for" for name in wishes.drop}
    columns = [name for name in frame.columns if name != target and name not in dropped]
    for name in columns:
        why = None if name in wishes.use else _useless(frame[name])
        if why is not None:
            dropped[name] = why
    X = frame[[name for name in columns if name not in dropped]]
    if X.shape[1] == 0:
        raise RefusedError(f"No column is left to learn {target!r} from; see --use.")
    marks = mark_rows(X, labels_as_text(y))
    levels = {name: _levels(X[name]) for name in wishes.categorical if name in X.columns}
    X = X.astype(levels) if levels else X
    told += _told_of(X, dropped)
    if len(np.unique(y)) == 2:
        told.append(
            f"Probabilities are those of {target} = {positive}; a score above zero speaks for "
            f"{target} = {np.unique(y)[1]}."
        )
    return Task(X, y, target, positive, marks, told, dropped)


def _check_column(frame: Any, name: str) -> None:
    if name not in frame.columns:
        like = get_close_matches(name, [str(c) for c in frame.columns], 1, cutoff=0.4)
        hint = f"did you mean {like[0]!r}?" if like else f"there are {_listed(frame.columns)}."
        raise RefusedError(f"There is no column {name!r}; {hint}")


def _labels(column: Any, target: str, wanted: str | None, n_missing: int) -> tuple[np.ndarray, Any]:
    """Return the labels, and which one is positive."""
    y = column.to_numpy()
    if y.dtype == bool or y.dtype.kind not in "iuf":
        y = column.astype(str).to_numpy(dtype=object)
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise RefusedError(_nothing_to_learn(target, classes.tolist(), n_missing))
    if len(classes) > _MOST_CLASSES:
        raise RefusedError(
            f"{target!r} has {len(classes):,} different values, too many to be classes (up to "
            f"{_MOST_CLASSES}); cut it into a few, or name another --target."
        )
    if y.dtype.kind == "f":  # whole numbers, or names
        integers = whole(y).dtype.kind == "i"
        y = whole(y) if integers else y.astype(str).astype(object)
        classes, counts = np.unique(y, return_counts=True)
    shown = [str(label) for label in classes.tolist()]
    if wanted is not None:
        if len(classes) > 2:
            raise RefusedError(
                f"--positive {wanted}: {target!r} has {len(classes)} classes, and each of them "
                f"gets its scores; leave the option out."
            )
        if wanted not in shown:
            raise RefusedError(f"--positive {wanted}: {target!r} has the values {shown}.")
        return y, classes.tolist()[shown.index(wanted)]
    like_yes = [label.strip().lower() in _YES for label in shown]
    if sum(like_yes) == 1:
        return y, classes.tolist()[like_yes.index(True)]
    return y, classes.tolist()[int(np.argmin(counts))]


def _nothing_to_learn(target: str, classes: list, n_missing: int) -> str:
    if not classes:
        return f"{target!r} is missing in every row; there is nothing to learn."
    if not n_missing:
        return f"{target!r} is {classes[0]!r} in every row; there is nothing to learn."
    return (
        f"{target!r} is {classes[0]!r} or missing in every row; if NA, None or the like are labels "
        f"too, say what is missing by --missing."
    )


def _useless(column: Any) -> str | None:
    """Return why nothing can be learned from a column, None if something can."""
    there = column.dropna()
    n_distinct = there.nunique()
    if len(there) == 0:
        return "all of it is missing"
    if n_distinct == 1 and len(there) == len(column):
        return "it has one value"
    if n_distinct == len(column) > _FEW_ROWS and column.dtype.kind not in "fb":
        if column.dtype.kind not in "iu":
            return "every row has a text of its own, as names and keys do"
        if there.is_monotonic_increasing and there.diff().max() == 1:
            return "it numbers the rows"
    return None


def _levels(column: Any) -> Any:
    import pandas as pd

    return pd.CategoricalDtype(sorted(column.dropna().unique()))


def _told_of(X: Any, dropped: dict[str, str]) -> list[str]:
    """Return what a user should know of the columns."""
    text = [str(name) for name in X.columns if X[name].dtype.kind not in "iufb"]
    n = X.shape[1]
    told = [f"{len(X):,} rows, {n:,} feature{'s' if n != 1 else ''}."]
    if text:
        told.append(f"Categories: {_listed(text)}.")
    told += filter(None, (_mixed(X[name]) for name in text))
    holes = [str(name) for name in X.columns if X[name].isna().any()]
    if holes:
        told.append(f"With missing values: {_listed(holes)}.")
    told += [f"{name} is left out: {why}." for name, why in dropped.items()]
    return told


def _mixed(column: Any) -> str | None:
    """Return a warning if most different cells of a column of text are numbers."""
    import pandas as pd

    cells = pd.Series(column.dropna().unique()).astype(str)
    words = cells[pd.to_numeric(cells, errors="coerce").isna()]
    if len(cells) < _MANY_LEVELS or not 0 < len(words) < _FEW_WORDS * len(cells):
        return None
    return (
        f"{column.name} is numbers but for {_listed(words.tolist(), 3)}, and so is a category; if "
        f"that means missing, pass --missing {words.iloc[0]!r}."
    )


def _listed(names: Any, most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(str(name) for name in names[:most]) + more
