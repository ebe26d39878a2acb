"""Cross-validation folds of a training table, and rows to hold out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils import check_random_state

from everystump._tables.training_table import ClassTable, NumberTable, TrainingTable
from everystump._text import pluralize, truncate_list
from everystump._warnings import warn_user

_DEFAULT_FOLDS = 5
# With two folds, models are trained on half of the rows, for which another C may be best.
_MIN_FOLDS = 3
# Beyond this number of rows, scikit-learn's splits take much time and memory.
_MANY_ROWS = 1_000_000


@dataclass(frozen=True)
class Fold:
    """Indices of training rows and of test rows."""

    train: np.ndarray
    test: np.ndarray


def make_class_folds(cv: Any, table: ClassTable, random_state: Any) -> list[Fold]:
    """Return the folds of a training table, and warn about classes that are too rare for them.

    If ``cv`` is a number, folds are shuffled and stratified; a splitter or an iterable is used
    unchanged.
    """
    if _is_number(cv):
        return _stratified(cv, table, random_state)
    folds = _given_folds(cv, table, table.classes[table.label])
    _warn_about_missing_classes(cv, table, folds)
    return folds


def make_number_folds(cv: Any, table: NumberTable, random_state: Any) -> list[Fold]:
    """Return the folds of the training table of a regression, shuffled if ``cv`` is a number."""
    if not _is_number(cv):
        return _given_folds(cv, table, table.y)
    n_splits = _DEFAULT_FOLDS if cv is None else int(cv)
    if table.n_rows < 2:
        raise ValueError(
            f"cv={cv!r}: there is only 1 sample of positive weight, and none can be held out; add "
            f"samples, or use an estimator with a fixed C."
        )
    # Most scores of a single row are undefined.
    n_folds = min(n_splits, max(2, table.n_rows // 2))
    splitter = KFold(n_folds, shuffle=True, random_state=random_state)
    return [Fold(*parts) for parts in splitter.split(table.y)]


def _is_number(cv: Any) -> bool:
    return cv is None or isinstance(cv, Integral)


def _given_folds(cv: Any, table: TrainingTable, y: np.ndarray) -> list[Fold]:
    """Return the folds of a splitter, or of an iterable over the user's rows."""
    if hasattr(cv, "split"):
        folds = [Fold(*parts) for parts in cv.split(np.zeros((len(y), 1)), y)]
    else:
        position = np.full(table.n_input_rows, -1)
        position[table.input_index] = np.arange(len(table.input_index))
        pairs = [(position[train], position[test]) for train, test in cv]
        folds = [Fold(train[train >= 0], test[test >= 0]) for train, test in pairs]
    if min((min(len(fold.train), len(fold.test)) for fold in folds), default=0) == 0:
        raise ValueError(
            f"cv={cv!r} has a fold without rows of positive sample_weight; use fewer folds or "
            f"other splits."
        )
    return folds


def _stratified(cv: Any, table: ClassTable, random_state: Any) -> list[Fold]:
    n_splits = _DEFAULT_FOLDS if cv is None else int(cv)
    counts = np.bincount(table.label, minlength=len(table.classes))
    folds = stratified_folds(n_splits, table.label, random_state)
    if not folds:
        raise ValueError(
            f"cv={cv!r}: every class has one row of positive weight, so no row can be held out; "
            f"add rows, or use an estimator with a fixed C."
        )
    for message in fold_warnings(n_splits, table.classes, counts):
        warn_user(message)
    return folds


def stratified_folds(n_splits: int, label: np.ndarray, random_state: Any) -> list[Fold]:
    """Return shuffled and stratified folds, as many as `count_folds` returns.

    The only row of a class is never held out.

    Examples
    --------
    >>> [fold.test.tolist() for fold in stratified_folds(2, np.array([0, 0, 1, 1, 2]), 0)]
    [[1, 2], [0, 3]]
    """
    counts = np.bincount(label)
    n_folds = count_folds(n_splits, counts[counts > 0])
    if n_folds < 2:
        return []
    eligible = np.flatnonzero(counts[label] > 1)
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        parts = [eligible[test] for _, test in splitter.split(eligible, label[eligible])]
    return [Fold(np.flatnonzero(_complement_mask(part, len(label))), part) for part in parts]


def _complement_mask(part: np.ndarray, n_rows: int) -> np.ndarray:
    mask = np.ones(n_rows, dtype=bool)
    mask[part] = False
    return mask


def count_folds(n_splits: int, counts: np.ndarray) -> int:
    """Return the number of folds, given the number of rows of each class; 0 if impossible.

    It is at most the number of rows of the rarest class, but at least 3 if a class has as many;
    classes with a single row are ignored.

    Examples
    --------
    >>> count_folds(5, np.array([100, 4])), count_folds(5, np.array([100, 2, 1]))
    (4, 3)
    """
    eligible = counts[counts > 1]
    if len(eligible) == 0:
        return 0
    return int(min(n_splits, max(_MIN_FOLDS, eligible.min()), eligible.max()))


def fold_warnings(n_splits: int, classes: Any, counts: np.ndarray) -> list[str]:
    """Return the warnings about rare classes.

    Examples
    --------
    >>> fold_warnings(5, ["a", "b"], np.array([100, 4]))
    ['Class b has only 4 rows: C is chosen by 4 folds instead of 5.']
    >>> fold_warnings(5, ["a", "b"], np.array([100, 2]))
    ['Class b has only 2 rows: C is chosen by 3 folds instead of 5, and it is missing from 1 test
    fold.']
    """
    messages, n_folds = [], count_folds(n_splits, counts)
    names = np.asarray(classes).tolist()
    rare = [k for k in np.argsort(counts, kind="stable").tolist() if 1 < counts[k] < n_splits]
    if rare:
        n_rows = int(counts[rare[0]])
        text = f"Class {names[rare[0]]} has only {pluralize(n_rows, 'row')}"
        if n_folds < n_splits:
            text += f": C is chosen by {n_folds} folds instead of {n_splits}"
            if n_folds > n_rows:
                text += f", and it is missing from {pluralize(n_folds - n_rows, 'test fold')}"
        else:
            text += f": it is missing from some of the {n_folds} test folds"
        messages.append(f"{text}.")
    single = [str(name) for name, count in zip(names, counts, strict=True) if count == 1]
    if single:
        verb = "Class {} has" if len(single) == 1 else "Classes {} have"
        text = verb.format(truncate_list(single, 5))
        messages.append(f"{text} a single row: used for training, but never held out.")
    return messages


def _warn_about_missing_classes(cv: Any, table: ClassTable, folds: list[Fold]) -> None:
    for k, fold in enumerate(folds):
        absent = np.setdiff1d(np.arange(len(table.classes)), table.label[fold.train])
        if len(absent):
            warn_user(
                f"cv={cv!r}: fold {k} has no training rows of class "
                f"{table.classes[absent[0]]}, so its score is unreliable; shuffle the rows or use "
                f"stratified folds."
            )
            return


def split_holdout(
    labels: np.ndarray, fraction: float, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted indices of training rows and of held-out rows.

    The split is stratified if there are enough rows; the only row of a class is a training row.

    Examples
    --------
    >>> train, test = split_holdout(np.array(["a", "a", "a", "b", "b", "b", "c"]), 0.5, 0)
    >>> train.tolist(), test.tolist()
    ([2, 3, 5, 6], [0, 1, 4])
    """
    _, label, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(labels) > _MANY_ROWS:
        test = _split_many(label, counts, fraction, random_state)
    else:
        rows = np.flatnonzero(counts[label] > 1)
        try:
            _, test = train_test_split(
                rows, test_size=fraction, stratify=label[rows], random_state=random_state
            )
        except ValueError:
            test = _split_few(label, rows, fraction, random_state)
    is_test = np.zeros(len(labels), dtype=bool)
    is_test[test] = True
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def split_numbers(n_rows: int, fraction: float, random_state: Any) -> Fold:
    """Return a split of the rows of a regression, with a fraction of them for testing.

    Examples
    --------
    >>> len(split_numbers(10, 0.2, 0).test)
    2
    """
    shuffled = check_random_state(random_state).permutation(n_rows)
    n_test = min(max(1, round(fraction * n_rows)), n_rows - 1)
    return Fold(np.sort(shuffled[n_test:]), np.sort(shuffled[:n_test]))


def _split_many(
    label: np.ndarray, counts: np.ndarray, fraction: float, random_state: Any
) -> np.ndarray:
    """Return rows to hold out: the fraction of each class, rounded; memory stays small."""
    rng = check_random_state(random_state)
    by_class = np.split(np.argsort(label, kind="stable"), np.cumsum(counts)[:-1])
    sizes = [min(round(fraction * len(rows)), len(rows) - 1) for rows in by_class]
    parts = [rng.permutation(rows)[:n] for rows, n in zip(by_class, sizes, strict=True)]
    return np.concatenate(parts)


def _split_few(
    label: np.ndarray, rows: np.ndarray, fraction: float, random_state: Any
) -> np.ndarray:
    """Return rows to hold out where stratification fails; one row per class is not held out."""
    shuffled = check_random_state(random_state).permutation(rows)
    _, first = np.unique(label[shuffled], return_index=True)
    n_test = round(fraction * len(rows))
    if not 0 < n_test <= len(shuffled) - len(first):
        raise ValueError(
            f"{pluralize(len(label), 'row')} of {int(label.max()) + 1} classes are too few to "
            f"hold out a fraction of {fraction:g} and to train on every class"
        )
    return np.delete(shuffled, first)[:n_test]
