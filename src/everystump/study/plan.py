"""What is to be fitted and how it is to be measured, refused if the rows do not suffice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from everystump.study import RefusedError
from everystump.study.families import FAMILIES, Family
from everystump.study.guesses import Task
from everystump.study.kinds import NUMBERS, kind_of
from everystump.wording import counted

_FOLDS = 5  # by which the paths choose C


@dataclass(frozen=True)
class Plan:
    """How to train a model, and how to measure its error.

    Attributes
    ----------
    family : str
        A name in `FAMILIES`.
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
        labels, family = task.y.astype(str), FAMILIES[self.family]
        if self.C is not None and not family.takes_C:
            raise RefusedError(
                f"--C {self.C:g}: {self.family} has no C; leave it out, or name another --model."
            )
        if family.numbers_only:
            _refuse_words(task.X, self.family)
        train, test = np.arange(len(labels)), None
        if self.cv is None:
            train, test = split_rows(labels, self.holdout, self.seed)
        self._refuse_few_rows(task.target, labels[train], family)
        return train, test

    def _refuse_few_rows(self, target: str, labels: np.ndarray, family: Family) -> None:
        """Raise if a class has too few rows for the folds that are asked for."""
        _refuse_single(labels)
        label, n_rows = _rarest(labels)
        if self.cv is not None and n_rows < self.cv:
            raise RefusedError(
                f"--cv {self.cv}: {target} = {label} is in {counted(n_rows, 'row')}; use fewer "
                f"folds, or more rows."
            )
        held_out = 0 if self.cv is None else -(-n_rows // self.cv)
        if family.chooses_C and self.C is None and n_rows - held_out < _FOLDS:
            raise RefusedError(
                f"{target} = {label} is in {counted(n_rows - held_out, 'row')} to learn from, too "
                f"few to choose C by {_FOLDS} folds; pass --C, or more rows."
            )


def split_rows(labels: np.ndarray, holdout: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the rows to learn from and of those held out."""
    rows = np.arange(len(labels))
    try:
        train, test = train_test_split(rows, test_size=holdout, stratify=labels, random_state=seed)
    except ValueError:
        _refuse_single(labels)
        raise RefusedError(
            f"{counted(len(rows), 'row')}, {_rarest(labels)[1]} of them of the rarest class, are "
            f"too few to hold out {holdout:g} of each class; pass --cv, or more rows."
        ) from None
    return np.sort(train), np.sort(test)


def _refuse_single(labels: np.ndarray) -> None:
    """Raise if a class has one row, which cannot be learned from and measured on."""
    label, n_rows = _rarest(labels)
    if n_rows == 1:
        raise RefusedError(
            f"The label {label} is in one row only; leave that row out, or add some."
        )


def _rarest(labels: np.ndarray) -> tuple[str, int]:
    """Return the label with the fewest rows, and their number."""
    classes, counts = np.unique(labels, return_counts=True)
    return str(classes[counts.argmin()]), int(counts.min())


def _refuse_words(X: Any, family: str) -> None:
    """Raise if a column is not of numbers, or has holes, and the family takes numbers only."""
    for name in X.columns:
        kind = "categories" if hasattr(X[name], "cat") else kind_of(X[name])
        what = f"holds {kind}" if kind != NUMBERS else "has missing values"
        if kind != NUMBERS or X[name].isna().any():
            raise RefusedError(
                f"{name!r} {what}, and --model {family} takes numbers only; --drop the column, or "
                f"name another --model."
            )
