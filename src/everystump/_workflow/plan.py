"""Which model to train and how to evaluate it, and checks that the rows suffice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from everystump._explanations.access import suggest_name
from everystump._selection.folds import count_folds, split_holdout
from everystump._text import InvalidInputError, pluralize, truncate_list
from everystump._workflow.options import InteractionOptions
from everystump._workflow.presets import DEFAULT_INTERACTIONS, PRESETS
from everystump._workflow.schema.columns import NUMBERS, column_kind
from everystump._workflow.schema.training_data import TrainingData


@dataclass(frozen=True)
class Plan:
    """How to train a model and how to evaluate it.

    Attributes
    ----------
    preset : str
        A name in `PRESETS`.
    C : float or None
        Inverse regularization strength; the preset's default if None.
    holdout : float
        Fraction of the rows held out for evaluation.
    cv : int or None
        Number of folds for evaluation by cross-validation instead.
    seed : int
        Random seed.
    refit : bool
        Whether the final model is trained on all rows, held-out ones included.
    interactions : InteractionOptions or None
        Interactions of features; the default of the preset if None.
    """

    preset: str = "stump-logistic"
    C: float | None = None
    holdout: float = 0.25
    cv: int | None = None
    seed: int = 0
    refit: bool = False
    interactions: InteractionOptions | None = None

    def split(self, data: TrainingData) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the indices of training rows and of held-out rows, None without a holdout."""
        self.check_features(data.X, data.dropped)
        return self.split_labels(data.target, data.y.astype(str))

    def check_features(self, X: Any, dropped: Mapping[str, str]) -> None:
        """Raise if the preset does not support an option or a feature."""
        preset = PRESETS[self.preset]
        if self.C is not None and not preset.has_C:
            raise InvalidInputError(
                f"--C {self.C:g}: {self.preset} has no C; omit it, or choose another --model."
            )
        self._check_interactions(X.columns.tolist(), dropped)
        if preset.numeric_only:
            _check_numeric(X, self.preset)

    def split_labels(self, target: str, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the same as `split`, given labels as text or in the order of their text."""
        preset = PRESETS[self.preset]
        train, test = np.arange(len(labels)), None
        if self.cv is None:
            train, test = split_rows(labels, self.holdout, self.seed)
        if preset.subsample is not None:
            self._check_subsamples(target, labels[train], preset.subsample)
        if self.cross_validates:
            _check_selection(labels[train], "C" if self.C is None else "interaction-strength")
        return train, test

    @property
    def chosen_interactions(self) -> InteractionOptions:
        """The interactions that the user asks for, or those of the preset."""
        if self.interactions is not None:
            return self.interactions
        has_interactions = PRESETS[self.preset].make_with_interactions is not None
        return InteractionOptions(DEFAULT_INTERACTIONS if has_interactions else 0)

    @property
    def cross_validates(self) -> bool:
        """Whether C or the strength of interactions is chosen by cross-validation."""
        if not PRESETS[self.preset].selects_C:
            return False
        interactions = self.chosen_interactions
        return self.C is None or not (interactions.is_none or interactions.strength is not None)

    def _check_interactions(self, columns: list[str], dropped: Mapping[str, str]) -> None:
        """Raise if the model does not support interactions, or if a column is not a feature."""
        interactions = self.chosen_interactions
        if not interactions.is_none and PRESETS[self.preset].make_with_interactions is None:
            able = [name for name, p in PRESETS.items() if p.make_with_interactions is not None]
            raise InvalidInputError(
                f"--interactions: {self.preset} has no interactions; omit the option, or use "
                f"--model {' or '.join(able)}."
            )
        for name in interactions.names:
            if name in dropped:
                raise InvalidInputError(
                    f"--interactions: column {name!r} was dropped ({dropped[name]}); pass "
                    f"--use {name}, or remove it from the option."
                )
            if name not in columns:
                raise InvalidInputError(
                    f"--interactions: {name!r} is not a feature; {suggest_name(name, columns)}."
                )

    def notes(self, target: str, classes: np.ndarray, counts: np.ndarray) -> list[str]:
        """Return notes on classes with too few rows for a proper evaluation."""
        single = classes[counts == 1].tolist()
        notes = []
        if single and not self.cross_validates:  # whose folds warn of them
            what = f"{target} = {truncate_list(single, 5)}"
            notes.append(f"{what} has only one row: used for training, not for evaluation.")
        if self.cv is not None:
            n_folds = count_folds(self.cv, counts)
            if n_folds < self.cv:
                rare = counts[counts > 1].argmin()
                notes.append(
                    f"Evaluated by {n_folds} folds instead of {self.cv}: {target} = "
                    f"{classes[counts > 1][rare]} has only "
                    f"{pluralize(int(counts[counts > 1][rare]), 'row')}."
                )
        return notes

    def _check_subsamples(self, target: str, labels: np.ndarray, subsample: float) -> None:
        """Raise if a class may be absent from every subsample."""
        classes, counts = np.unique(labels, return_counts=True)
        n_rows = int(counts.min())
        if self.cv is not None:
            n_rows -= -(-n_rows // max(2, count_folds(self.cv, counts)))
        if subsample * n_rows < 1:
            raise InvalidInputError(
                f"--model {self.preset} trains each member on {100 * subsample:g}% of the rows, "
                f"too few for {target} = {classes[counts.argmin()]} with "
                f"{pluralize(n_rows, 'training row')}; pass more rows, or choose another --model."
            )


def split_rows(labels: np.ndarray, holdout: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of training rows and of held-out rows.

    The split is stratified where possible; the only row of a class is a training row.
    """
    try:
        return split_holdout(labels, holdout, seed)
    except ValueError as error:
        raise InvalidInputError(f"{error}; pass --cv, another --holdout, or more rows.") from None


def _check_selection(labels: np.ndarray, option: str) -> None:
    """Raise if there are too few rows to choose the value of an option by cross-validation."""
    _, counts = np.unique(labels, return_counts=True)
    if count_folds(2, counts) < 2:
        raise InvalidInputError(
            f"{pluralize(len(labels), 'training row')}, one per class, are too few to choose "
            f"{option.replace('-', ' ')} by cross-validation; pass --{option}, or more rows."
        )


def _check_numeric(X: Any, preset: str) -> None:
    """Raise if a column has text or missing values."""
    for name in X.columns:
        kind = "categories" if hasattr(X[name], "cat") else column_kind(X[name])
        what = f"holds {kind}" if kind != NUMBERS else "has missing values"
        if kind != NUMBERS or X[name].isna().any():
            raise InvalidInputError(
                f"{name!r} {what}, but --model {preset} accepts numbers only; --drop the column, "
                f"or choose another --model."
            )
