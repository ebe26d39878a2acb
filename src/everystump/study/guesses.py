"""What a table's columns are: guesses that are told, each of which the user can overrule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump.estimators.reading import hint
from everystump.study import RefusedError
from everystump.study.kinds import NUMBERS, TEXT, kind_of
from everystump.study.labels import as_labels
from everystump.wording import counted, listed

_MOST_CLASSES = 20
_FEW_ROWS = 20
_MANY_LEVELS, _FEW_WORDS = 20, 0.2
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
        The label that probabilities are told of, if there are two.
    told : list of str
        What was guessed, one sentence each.
    dropped : dict
        Columns left out, and why.
    """

    X: Any
    y: np.ndarray
    target: str
    positive: Any
    told: list[str]
    dropped: dict[str, str]


@dataclass(frozen=True)
class Wishes:
    """What the user says himself: columns to leave out, to use, to take for categories; a label."""

    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    categorical: Sequence[str] = ()
    positive: str | None = None


def make_task(frame: Any, target: str, wishes: Wishes, told: Sequence[str] = ()) -> Task:
    """Decide what to learn from, and say so, after what is ``told`` already."""
    _check_wishes(frame, target, wishes)
    said = list(told)
    known = frame[target].notna().to_numpy()
    if not known.all():
        without = f"without a {target!r}"
        said.append(f"Left out: {counted(int((~known).sum()), 'row')} {without}.")
    frame = frame[known]
    y = _labels(frame[target], target, not known.all())
    positive = _positive(y, target, wishes.positive)
    dropped = _dropped(frame.drop(columns=target), wishes)
    X = frame[[name for name in frame.columns if name != target and name not in dropped]]
    if X.shape[1] == 0:
        raise RefusedError(
            f"No column is left to learn {target!r} from; see --drop and --use, or pass another "
            f"table."
        )
    levels = {name: _levels(X[name]) for name in wishes.categorical if name in X.columns}
    X = X.astype(levels) if levels else X
    said += _told_of(X, dropped)
    classes = np.unique(y).tolist()
    which = f" (positive class: {positive})" if len(classes) == 2 else ""
    said.append(f"Classes: {listed(classes, _MOST_CLASSES)}{which}.")
    return Task(X, y, target, positive, said, dropped)


def check_columns(frame: Any, names: Sequence[str]) -> None:
    """Raise if a table lacks a column, and say which one may be meant."""
    for name in names:
        if name not in frame.columns:
            raise RefusedError(f"There is no column {name!r}; {hint(name, list(frame.columns))}.")


def _check_wishes(frame: Any, target: str, wishes: Wishes) -> None:
    check_columns(frame, (target, *wishes.drop, *wishes.use, *wishes.categorical))
    if target in {*wishes.drop, *wishes.use, *wishes.categorical}:
        raise RefusedError(f"{target!r} is the target, and no feature; name another column.")
    both = set(wishes.drop) & {*wishes.use, *wishes.categorical}
    if both:
        raise RefusedError(f"--drop {min(both)}: the column is to be used as well; choose one.")


def _labels(column: Any, target: str, some_missing: bool) -> np.ndarray:
    """Return the labels, if they are classes."""
    if len(column) == 0:
        raise RefusedError(
            f"{target!r} is missing in every row; if NA, None or the like are labels, say what is "
            f"missing by --missing."
        )
    y = as_labels(column)
    classes = np.unique(y).tolist()
    if len(classes) == 1 and some_missing:
        raise RefusedError(
            f"{target!r} is {classes[0]!r} or missing in every row; if NA, None or the like are "
            f"labels too, say what is missing by --missing."
        )
    if len(classes) == 1:
        raise RefusedError(f"{target!r} is {classes[0]!r} in every row; there is nothing to learn.")
    if len(classes) > _MOST_CLASSES:
        raise RefusedError(
            f"{target!r} has {len(classes):,} different values, too many to be classes (up to "
            f"{_MOST_CLASSES}); cut it into a few, or name another --target."
        )
    return y


def _positive(y: np.ndarray, target: str, wanted: str | None) -> Any:
    """Return the positive label: as told, else the one that sounds like it, or the rarest."""
    classes, counts = np.unique(y, return_counts=True)
    labels = classes.tolist()
    shown = [str(label) for label in labels]
    if wanted is None:
        like_yes = [label.strip().lower() in _YES for label in shown]
        if "1" in shown and not _NO_BESIDE_1.intersection(shown):
            like_yes[shown.index("1")] = False  # of 1 and 2, neither is a no
        return labels[like_yes.index(True) if sum(like_yes) == 1 else int(np.argmin(counts))]
    if len(labels) > 2:
        raise RefusedError(
            f"--positive {wanted}: {target!r} has {len(labels)} classes, and each of them gets its "
            f"scores; leave the option out."
        )
    if wanted not in shown:
        raise RefusedError(
            f"--positive {wanted!r}: {target!r} has other values; {hint(wanted, shown)}."
        )
    return labels[shown.index(wanted)]


def _dropped(features: Any, wishes: Wishes) -> dict[str, str]:
    """Return which columns to leave out, and why."""
    dropped = {name: "asked for" for name in wishes.drop}
    wanted = {*wishes.use, *wishes.categorical}
    for name in features.columns:
        if name in dropped:
            continue
        why = _unusable(features[name])
        if why is not None and name in wanted:
            raise RefusedError(
                f"{name!r} cannot be used: the column holds {why}; turn it into numbers or text "
                f"first."
            )
        if why is None and name not in wanted:
            why = _useless(features[name])
        if why is not None:
            dropped[name] = why
    return dropped


def _unusable(column: Any) -> str | None:
    """Return why a model cannot look at a column, None if it can."""
    kind = kind_of(column)
    return None if kind in (NUMBERS, TEXT) else kind


def _useless(column: Any) -> str | None:
    """Return why nothing can be learned from a column, None if something can."""
    there = column.dropna()
    if len(there) == 0:
        return "without any value"
    n_distinct = there.nunique()
    if n_distinct == 1 and len(there) == len(column):
        return "with one value only"
    if n_distinct == len(column) > _FEW_ROWS and column.dtype.kind not in "fb":
        if kind_of(column) == TEXT and not _may_be_fractions(column):
            return "with a text of its own in every row, as names and keys have"
        if kind_of(column) == NUMBERS and there.is_monotonic_increasing and there.diff().max() == 1:
            return "numbering the rows"
    return None


def _levels(column: Any) -> Any:
    import pandas as pd

    return pd.CategoricalDtype(sorted(column.dropna().unique()))


def _told_of(X: Any, dropped: dict[str, str]) -> list[str]:
    """Return what a user should know of the columns."""
    categories = [name for name in X.columns if kind_of(X[name]) == TEXT or hasattr(X[name], "cat")]
    told = [f"{counted(len(X), 'row')}, {counted(X.shape[1], 'feature')}."]
    if categories:
        told.append(f"Categories: {listed(categories)}.")
    told += filter(None, (_mixed(X[name]) for name in categories if not hasattr(X[name], "cat")))
    holes = X.columns[X.isna().any().to_numpy()].tolist()
    if holes:
        told.append(f"With missing values: {listed(holes)}.")
    by_reason = defaultdict(list)
    for name, why in dropped.items():
        by_reason[why].append(name)
    return told + [f"Left out, {why}: {listed(names)}." for why, names in by_reason.items()]


def _mixed(column: Any) -> str | None:
    """Return a warning if most different cells of a column of text are numbers."""
    cells, words = _words_among(column, "")
    if len(cells) < _MANY_LEVELS:
        return None
    if 0 < len(words) < _FEW_WORDS * len(cells):
        return (
            f"{column.name} is numbers but for {listed(words, 3)}, and so is a category; if that "
            f"means missing, pass --missing {words[0]!r}."
        )
    if len(words) == 0 or len(_words_among(column, ",")[1]) == 0:
        return f"{column.name} is a category of text, though all of it are numbers; see --decimal."
    return None


def _may_be_fractions(column: Any) -> bool:
    """Tell whether a text may be numbers with points or commas, and no keys."""
    cells, words = _words_among(column, ",")
    return len(words) < _FEW_WORDS * len(cells) and any("." in c or "," in c for c in cells)


def _words_among(column: Any, ignored: str) -> tuple[list[str], list[str]]:
    """Return the different cells of a column, and those that are no numbers without a sign."""
    import pandas as pd

    cells = pd.Series(column.dropna().unique()).astype(str)
    plain = cells.str.replace(ignored, "", regex=False) if ignored else cells
    return cells.tolist(), cells[pd.to_numeric(plain, errors="coerce").isna()].tolist()
