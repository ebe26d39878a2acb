"""What is to be fitted and how it is to be measured, refused if the rows do not suffice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from everystump._selection.folds import count_folds
from everystump._text import pluralize, truncate_list
from everystump._workflow import InvalidInputError
from everystump._workflow.guesses import Task
from everystump._workflow.kinds import NUMBERS, kind_of
from everystump._workflow.presets import PRESETS


@dataclass(frozen=True)
class Plan:
    """How to train a model, and how to measure its error.

    Attributes
    ----------
    family : str
        A name in `PRESETS`.
    C : float or None
        What a unit of loss costs; the family's own choice by default.
    holdout : float
        Share of the rows that the error is measured on.
    cv : int or None
        Number of folds to measure it by instead.
    seed : int
        Draws rows.
    refit : bool
        Whether the model that is kept learns from all rows, those held out among them.
    """

    family: str = "stump-logistic"
    C: float | None = None
    holdout: float = 0.25
    cv: int | None = None
    seed: int = 0
    refit: bool = False

    def split(self, task: Task) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the numbers of the rows to learn from, and of those held out, if any are."""
        labels, family = task.y.astype(str), PRESETS[self.family]
        if self.C is not None and not family.takes_C:
            raise InvalidInputError(
                f"--C {self.C:g}: {self.family} has no C; leave it out, or name another --model."
            )
        if family.numbers_only:
            _check_words(task.X, self.family)
        train, test = np.arange(len(labels)), None
        if self.cv is None:
            train, test = split_rows(labels, self.holdout, self.seed)
        if family.share is not None:
            self._check_few_rows(task.target, labels[train], family.share)
        if family.chooses_C and self.C is None:
            _check_no_folds(labels[train])
        return train, test

    def notes(self, task: Task) -> list[str]:
        """Return what a user should know of classes too rare to be measured well."""
        classes, counts = np.unique(task.y.astype(str), return_counts=True)
        single = classes[counts == 1].tolist()
        messages = []
        by_path = PRESETS[self.family].chooses_C and self.C is None  # whose folds tell it
        if single and not by_path:
            what = f"{task.target} = {truncate_list(single, 5)}"
            messages.append(f"{what} is in one row only: learned from, but never measured on.")
        if self.cv is not None:
            n_folds = count_folds(self.cv, counts)
            if n_folds < self.cv:
                rare = counts[counts > 1].argmin()
                messages.append(
                    f"Measured by {n_folds} folds instead of {self.cv}: {task.target} = "
                    f"{classes[counts > 1][rare]} is in "
                    f"{pluralize(int(counts[counts > 1][rare]), 'row')}."
                )
        return messages

    def _check_few_rows(self, target: str, labels: np.ndarray, share: float) -> None:
        """Raise if a class may be absent from every share of the rows that a machine gets."""
        classes, counts = np.unique(labels, return_counts=True)
        n_rows = int(counts.min())
        if self.cv is not None:
            n_rows -= -(-n_rows // max(2, count_folds(self.cv, counts)))
        if share * n_rows < 1:
            raise InvalidInputError(
                f"--model {self.family} gives each machine {100 * share:g} % of the rows, too few "
                f"for {target} = {classes[counts.argmin()]}, of which it learns from "
                f"{pluralize(n_rows, 'row')}; pass more rows, or name another --model."
            )


def split_rows(labels: np.ndarray, holdout: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the rows to learn from and of those held out.

    Each class keeps its share in both, as far as it has rows for it; the only row of a class is
    learned from.
    """
    _, number, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[number] > 1)
    try:
        _, test = train_test_split(
            rows, test_size=holdout, stratify=number[rows], random_state=seed
        )
    except ValueError:
        test = _split_loosely(number, rows, holdout, seed)
    return np.setdiff1d(np.arange(len(labels)), test), np.sort(test)


def _split_loosely(number: np.ndarray, rows: np.ndarray, holdout: float, seed: int) -> np.ndarray:
    """Return rows to hold out where there are too few for the share of each class.

    A row of each class stays to be learned from.
    """
    drawn = np.random.RandomState(seed).permutation(rows)
    _, first = np.unique(number[drawn], return_index=True)
    n_test = round(holdout * len(rows))
    if not 0 < n_test <= len(drawn) - len(first):
        raise InvalidInputError(
            f"{pluralize(len(number), 'row')} of {int(number.max()) + 1} classes are too few to "
            f"hold out {holdout:g} of them and to learn from each class; pass --cv, "
            f"another --holdout, or more rows."
        )
    return np.delete(drawn, first)[:n_test]


def _check_no_folds(labels: np.ndarray) -> None:
    """Raise if no row can be held out to choose C by."""
    _, counts = np.unique(labels, return_counts=True)
    if count_folds(2, counts) < 2:
        raise InvalidInputError(
            f"{pluralize(len(labels), 'row')} to learn from, one of each class, are too few to "
            f"choose C by folds; pass --C, or more rows."
        )


def _check_words(X: Any, family: str) -> None:
    """Raise if a column has text or missing values, and the family takes numbers only."""
    for name in X.columns:
        kind = "categories" if hasattr(X[name], "cat") else kind_of(X[name])
        what = f"holds {kind}" if kind != NUMBERS else "has missing values"
        if kind != NUMBERS or X[name].isna().any():
            raise InvalidInputError(
                f"{name!r} {what}, and --model {family} takes numbers only; --drop the column, or "
                f"name another --model."
            )
