"""What a model predicts: classes or numbers, and the parts of a fit that depend on which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from everystump._selection.folds import Fold
from everystump._text import InvalidInputError


@dataclass(frozen=True, eq=False)
class Target(ABC):
    """The targets of some rows.

    Attributes
    ----------
    name : str
        Name of the column.
    weight : ndarray of shape (n_rows,) or None
        The sample weight of each row, positive; None if all are 1.
    weight_name : str
        Name of the column with the weights.
    """

    name: str
    weight: np.ndarray | None = field(default=None, kw_only=True)
    weight_name: str = field(default="", kw_only=True)
    task: ClassVar[str]

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    @abstractmethod
    def y(self) -> np.ndarray:
        """The labels or numbers of the rows."""

    @property
    def labels(self) -> list[Any]:
        """The classes in their order; none if the targets are numbers."""
        return []

    @property
    @abstractmethod
    def chunk_values(self) -> np.ndarray:
        """What stands for the targets in chunks; see `fit_chunks`."""

    @abstractmethod
    def fit_chunks(self, model: Any, chunks: Iterable) -> Any:
        """Fit a model to chunks of rows with ``chunk_values``, and return it."""

    def take(self, rows: np.ndarray) -> Self:
        """Return the targets of some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, weight=weight, **self._taken(rows))

    @abstractmethod
    def _taken(self, rows: np.ndarray) -> dict[str, Any]:
        """Return the values of some rows in the fields of the subclass."""

    def with_weight(self, name: str, weight: np.ndarray) -> Self:
        """Return the targets with sample weights from a column."""
        return replace(self, weight=weight, weight_name=name)

    def describe_weighted(self, rows: str) -> str:
        """Return a description of rows with the name of their weights, if they have any."""
        return rows if self.weight is None else f"{rows} weighted by {self.weight_name}"

    def unweighted(self, bounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return bounds, which have no weights, with a remark if the metrics have."""
        if self.weight is None:
            return bounds
        return [bound | {"bounded": f"{bound['bounded']} (unweighted)"} for bound in bounds]

    @abstractmethod
    def split(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of training rows and of held-out rows."""

    @abstractmethod
    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        """Return the folds of a cross-validation."""

    @abstractmethod
    def notes(self, cv: int | None, *, selects: bool) -> list[str]:
        """Return notes on rows that are too few for a proper evaluation.

        ``cv`` is the number of folds of the evaluation; ``selects`` says whether there are folds
        that choose C, which have their own warnings.
        """

    @abstractmethod
    def check_selection(self, option: str) -> None:
        """Raise if the rows are too few to choose the value of an option by cross-validation."""

    @abstractmethod
    def check_subsamples(self, subsample: float, preset: str, cv: int | None) -> None:
        """Raise if models of subsamples of the training rows may lack a class."""

    @abstractmethod
    def fit(self, model: Any, X: Any) -> Any:
        """Fit a model to the rows, and return it."""

    @abstractmethod
    def describe_training(self, model: Any) -> dict[str, Any]:
        """Return what is stored with a model about these targets, its training rows."""

    @abstractmethod
    def predictions(self, model: Any, X: Any) -> Any:
        """Return the predictions of a model together with the targets."""

    @abstractmethod
    def held_out_results(self, model: Any, X: Any, training: Self) -> dict[str, Any]:
        """Return metrics and bounds of a model on these rows, which were held out."""

    @abstractmethod
    def fold_results(self, model: Any, parts: Sequence[Any], training: Self) -> dict[str, Any]:
        """Return metrics of the predictions of each fold."""

    @abstractmethod
    def metrics(self, model: Any, X: Any, *, unseen: bool) -> dict[str, Any]:
        """Return metrics of a stored model; without intervals unless the rows are ``unseen``."""

    @abstractmethod
    def summary(
        self, model: Any, X: Any, metrics: Mapping[str, Any], rows: str
    ) -> tuple[dict[str, Any], str]:
        """Return what is bounded on these ``rows``, as plain data and as a sentence."""

    @abstractmethod
    def bounds(self, model: Any, X: Any, *, unseen: bool, held_out: bool) -> list[dict[str, Any]]:
        """Return the bounds that rows give for a stored model.

        ``held_out`` rows are those that were held out from its training table.
        """


def too_few_rows(error: ValueError) -> InvalidInputError:
    """Return the error for too few rows to hold some out."""
    return InvalidInputError(f"{error}; pass --cv, another --holdout, or more rows.")
