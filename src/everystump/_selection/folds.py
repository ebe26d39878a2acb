"""Folds of a training table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from everystump._tables.training_table import TrainingTable
from everystump._text import pluralize, truncate_list
from everystump._warnings import warn_user

_DEFAULT = 5
# Two folds learn from half of the rows, for which another C may be best.
_FEWEST = 3


@dataclass(frozen=True)
class Fold:
    """Numbers of the rows to learn from, and of those to score."""

    train: np.ndarray
    test: np.ndarray


def make_folds(cv: Any, table: TrainingTable, random_state: Any) -> list[Fold]:
    """Return the folds of a checked table, and warn of classes that they cannot do justice to.

    A number of folds means shuffled and stratified ones; a splitter or an iterable is used as is.
    """
    if cv is None or isinstance(cv, Integral):
        return _stratified(cv, table, random_state)
    if hasattr(cv, "split"):
        y = table.classes[table.label]
        folds = [Fold(*parts) for parts in cv.split(np.zeros((len(y), 1)), y)]
    else:
        position = np.full(table.n_input_rows, -1)
        position[table.kept] = np.arange(len(table.kept))
        numbered = [(position[train], position[test]) for train, test in cv]
        folds = [Fold(train[train >= 0], test[test >= 0]) for train, test in numbered]
    if min((min(len(fold.train), len(fold.test)) for fold in folds), default=0) == 0:
        raise ValueError(
            f"cv={cv!r} makes a fold without rows of positive sample_weight; use fewer folds or "
            f"other splits."
        )
    _warn_of_absent_classes(cv, table, folds)
    return folds


def _stratified(cv: Any, table: TrainingTable, random_state: Any) -> list[Fold]:
    wanted = _DEFAULT if cv is None else int(cv)
    counts = np.bincount(table.label, minlength=len(table.classes))
    folds = stratified_folds(wanted, table.label, random_state)
    if not folds:
        raise ValueError(
            f"cv={cv!r}: every class has one row of positive weight, so that none can be held "
            f"out; add rows, or use an estimator with a given C."
        )
    for note in fold_warnings(wanted, table.classes, counts):
        warn_user(note)
    return folds


def stratified_folds(wanted: int, label: np.ndarray, random_state: Any) -> list[Fold]:
    """Return shuffled folds with the same share of each class, as many as `count_folds` says.

    The only row of a class is never held out.

    Examples
    --------
    >>> [fold.test.tolist() for fold in stratified_folds(2, np.array([0, 0, 1, 1, 2]), 0)]
    [[1, 2], [0, 3]]
    """
    counts = np.bincount(label)
    n_folds = count_folds(wanted, counts[counts > 0])
    if n_folds < 2:
        return []
    several = np.flatnonzero(counts[label] > 1)
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        parts = [several[test] for _, test in splitter.split(several, label[several])]
    return [Fold(np.flatnonzero(_all_but(part, len(label))), part) for part in parts]


def _all_but(part: np.ndarray, n_rows: int) -> np.ndarray:
    mask = np.ones(n_rows, dtype=bool)
    mask[part] = False
    return mask


def count_folds(wanted: int, counts: np.ndarray) -> int:
    """Return how many folds to make of classes with so many rows; 0 if none can be made.

    As many as the rarest class has rows, but 3 at least; classes of one row do not count.

    Examples
    --------
    >>> count_folds(5, np.array([100, 4])), count_folds(5, np.array([100, 2, 1]))
    (4, 3)
    """
    several = counts[counts > 1]
    if len(several) == 0:
        return 0
    return int(min(wanted, max(_FEWEST, several.min()), several.max()))


def fold_warnings(wanted: int, classes: Any, counts: np.ndarray) -> list[str]:
    """Return what a user should know of rare classes, one sentence each.

    Examples
    --------
    >>> fold_warnings(5, ["a", "b"], np.array([100, 4]))
    ['Class b has 4 rows only, so that C is chosen by 4 folds instead of 5.']
    >>> fold_warnings(5, ["a", "b"], np.array([100, 2]))
    ['Class b has 2 rows only, so that C is chosen by 3 folds instead of 5, one of which has no row
    of it to score.']
    """
    notes, n_folds = [], count_folds(wanted, counts)
    names = np.asarray(classes).tolist()
    rare = [k for k in np.argsort(counts, kind="stable").tolist() if 1 < counts[k] < wanted]
    if rare:
        which = f"Class {names[rare[0]]} has {pluralize(int(counts[rare[0]]), 'row')} only"
        if n_folds < wanted:
            text = f"{which}, so that C is chosen by {n_folds} folds instead of {wanted}"
            n_without = n_folds - int(counts[rare[0]])
            if n_without > 0:
                text += ", one of which has" if n_without == 1 else f", {n_without} of which have"
                text += " no row of it to score"
            notes.append(f"{text}.")
        else:
            notes.append(f"{which}, so that some of the {n_folds} folds hold none of it out.")
    single = [str(name) for name, count in zip(names, counts, strict=True) if count == 1]
    if single:
        which = "Class" if len(single) == 1 else "Classes"
        notes.append(
            f"{which} {truncate_list(single, 5)} in one row only: learned from, but never held out."
        )
    return notes


def _warn_of_absent_classes(cv: Any, table: TrainingTable, folds: list[Fold]) -> None:
    for k, fold in enumerate(folds):
        absent = np.setdiff1d(np.arange(len(table.classes)), table.label[fold.train])
        if len(absent):
            warn_user(
                f"cv={cv!r}: the training rows of fold {k} lack class {table.classes[absent[0]]}, "
                f"so that its score says little; shuffle the rows or use stratified folds."
            )
            return
