"""The validated training tables that classifiers and regressors fit to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from everystump._core.targets import TargetScale
from everystump._tables.frames import Feature
from everystump._tables.labels import one_vs_rest
from everystump._tables.overlap import TrainingRecord
from everystump._tables.row_hashes import RowHashes, hash_numbers


@dataclass(frozen=True, kw_only=True)
class TrainingTable(ABC):
    """A validated training table, without rows of weight 0."""

    X: Any  # ndarray or SparseTable of finite numbers and level codes, NaN where missing
    features: tuple[Feature, ...]  # the columns of X
    sample_weight: np.ndarray | None  # (n_rows,): positive, None if all are 1
    input_index: np.ndarray  # (n_rows,): the index of each row in the user's table
    n_input_rows: int  # of the user's table
    hashes: RowHashes  # by which the rows can later be recognized

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.input_index)

    @property
    def n_levels(self) -> list[int]:
        """Number of levels of each feature, 0 for a numeric one."""
        return [feature.n_levels for feature in self.features]

    @property
    @abstractmethod
    def weight(self) -> np.ndarray:
        """The weight of each row in the objective."""

    @abstractmethod
    def problems(self) -> list[np.ndarray]:
        """Return the target of the rows in each problem: whether it is positive, or a number."""

    def title(self, k: int) -> str:
        """Return the title suffix for problem ``k``; it is empty if there is only one."""
        return ""

    def take(self, index: np.ndarray) -> Self:
        """Return some of the rows, which keep their indices in the user's table."""
        return replace(
            self,
            X=self.X[index],
            sample_weight=None if self.sample_weight is None else self.sample_weight[index],
            input_index=self.input_index[index],
            hashes=self.hashes.take(index),
            **self._taken(index),
        )

    @abstractmethod
    def _taken(self, index: np.ndarray) -> dict[str, Any]:
        """Return the values of some rows in the fields of the subclass."""

    def subset(self, index: np.ndarray, features: np.ndarray | None) -> Self:
        """Return some rows and features as a separate training table."""
        part = replace(self.take(index), input_index=np.arange(len(index)), n_input_rows=len(index))
        if features is None:
            return part
        selected = tuple(self.features[d] for d in features)
        return replace(part, X=part.X[:, features], features=selected)

    def to_input_rows(
        self, parts: Sequence[np.ndarray] | np.ndarray, fill: float = 0.0
    ) -> np.ndarray:
        """Return values per row of each problem as values per input row.

        Rows of weight 0 get ``fill``.  The shape is (n_input_rows,) for one problem, else
        (n_problems, n_input_rows).
        """
        if len(self.input_index) < self.n_input_rows:
            filled = np.full((len(parts), self.n_input_rows), fill)
            filled[:, self.input_index] = parts
            parts = list(filled)
        return parts[0] if len(parts) == 1 else np.array(parts)

    def training_record(self) -> TrainingRecord:
        """Return the record by which the training rows are recognized later."""
        kept = None if len(self.input_index) == self.n_input_rows else self.input_index
        is_plain = self.sample_weight is None and np.all(self.weight == 1.0)
        weights = 0 if is_plain else hash_numbers(self.weight)
        return TrainingRecord.from_hashes(self.hashes, self.n_input_rows, kept, weights)


@dataclass(frozen=True, kw_only=True)
class ClassTable(TrainingTable):
    """The training table of a classifier."""

    label: np.ndarray  # (n_rows,): index of each row's class in classes
    classes: np.ndarray  # the distinct labels, sorted
    class_factor: np.ndarray  # (n_rows,): the weight of each row's class

    @cached_property
    def weight(self) -> np.ndarray:
        """Sample weights times class weights."""
        if self.sample_weight is None:
            return self.class_factor
        return self.class_factor * self.sample_weight

    def _taken(self, index: np.ndarray) -> dict[str, Any]:
        return {"label": self.label[index], "class_factor": self.class_factor[index]}

    def with_class_weight(self, class_weight: Any) -> ClassTable:
        """Return the table with other class weights."""
        factor = class_factors(class_weight, self.classes, self.label, self.sample_weight)
        return replace(self, class_factor=factor)

    def title(self, k: int) -> str:
        """Return the title suffix for the problem of class ``k``; it is empty for two classes."""
        return "" if len(self.classes) == 2 else f", class {self.classes[k]}"

    def signs(self) -> np.ndarray:
        """Return 1 for the positive and -1 for the negative rows of each problem."""
        return np.where(self.problems(), 1.0, -1.0)

    def problems(self) -> list[np.ndarray]:
        """Return which rows are positive in each one-vs-rest problem; two classes make one."""
        return one_vs_rest(self.label, len(self.classes))


@dataclass(frozen=True, kw_only=True)
class NumberTable(TrainingTable):
    """The training table of a regressor."""

    y: np.ndarray  # (n_rows,): the numbers to predict
    scale: TargetScale  # by which they are scaled for the solver

    @cached_property
    def weight(self) -> np.ndarray:
        """Sample weights; equal ones take no memory."""
        if self.sample_weight is None:
            return np.broadcast_to(1.0, self.y.shape)
        return self.sample_weight

    @cached_property
    def target(self) -> np.ndarray:
        """The scaled targets."""
        return self.scale.scaled(self.y)

    def _taken(self, index: np.ndarray) -> dict[str, Any]:
        return {"y": self.y[index]}

    def problems(self) -> list[np.ndarray]:
        """Return the scaled targets."""
        return [self.target]


def class_factors(
    class_weight: Any, classes: np.ndarray, label: np.ndarray, weight: np.ndarray | None
) -> np.ndarray:
    """Return the weight of each row's class; equal weights take no memory."""
    if class_weight is None:
        return np.broadcast_to(1.0, label.shape)
    totals = np.bincount(label, weight, len(classes))
    by_class = weight_by_class(class_weight, classes, totals)
    if np.all(by_class == by_class[0]):
        return np.broadcast_to(by_class[0], label.shape)
    return by_class[label]


def weight_by_class(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the weight of each class, given the total weight of its rows."""
    if class_weight is None:
        return np.ones(len(classes))
    by_class = compute_class_weight(class_weight, classes=classes, y=classes, sample_weight=totals)
    if not np.all((by_class > 0) & (by_class < np.inf)):
        raise ValueError(
            f"class_weight={class_weight!r} must contain positive finite numbers; to train without "
            f"a class, remove its rows or give them sample_weight=0."
        )
    return by_class
