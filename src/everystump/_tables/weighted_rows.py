"""Rows with sample weights, to be drawn or split: a whole weight is so many copies of a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from everystump._tables.row_hashes import RowHashes

# Copies are made one by one up to this many in all, or so many for each row if that is more.
_MOST_COPIES, _COPIES_A_ROW = 1_000_000, 10


@dataclass(frozen=True)
class WeightedRows:
    """Rows in an order of their own, which is the same in whatever order they come.

    Attributes
    ----------
    order : ndarray of int
        The rows by their hashes, each once.
    weight : ndarray of shape (n_rows,) or None
        The weight of each row; None if all count once.
    whole : bool
        Whether weights are whole numbers, which count copies.
    """

    order: np.ndarray
    weight: np.ndarray | None
    whole: bool

    @classmethod
    def of(cls, hashes: RowHashes, weight: np.ndarray | None) -> WeightedRows:
        """Return rows with these hashes and weights."""
        whole = weight is None or bool(np.all(weight == np.floor(weight)))
        return cls(np.lexsort((hashes.fine, hashes.rows)), weight, whole)

    @property
    def counts(self) -> np.ndarray | None:
        """How many copies there are of each row in its order, None for one of each."""
        return self.weight[self.order] if self.weight is not None and self.whole else None

    @property
    def n_copies(self) -> int:
        """How many copies there are in all."""
        return len(self.order) if self.counts is None else int(self.counts.sum())

    def copies(self) -> np.ndarray:
        """Return each row in its order, as often as its weight says."""
        return self.order if self.counts is None else np.repeat(self.order, self.counts.astype(int))

    def draw(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        """Draw some copies without replacement."""
        most = max(_MOST_COPIES, _COPIES_A_ROW * len(self.order))
        if self.counts is None or self.n_copies <= most:
            return np.sort(self.copies()[rng.permutation(self.n_copies)[:n]])
        drawn = np.random.default_rng(rng.randint(2**31)).multivariate_hypergeometric(
            self.counts.astype(int), n, method="marginals"
        )
        return np.sort(np.repeat(self.order, drawn))

    def merged(self, copies: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the rows of some copies, each once, and their weights."""
        if self.weight is None:
            return copies, None
        rows, counts = np.unique(copies, return_counts=True)
        return rows, counts.astype(np.float64) if self.whole else self.weight[rows]

    def check_supports_weights(self, estimator: Any) -> None:
        """Raise if an estimator can make nothing of the weights."""
        if self.weight is not None and not (self.whole or supports_sample_weight(estimator)):
            fraction = self.weight[self.weight != np.floor(self.weight)][0]
            raise ValueError(
                f"sample_weight holds {fraction:g}, but {type(estimator).__name__} takes no sample "
                f"weights; pass whole numbers, which count copies of a row, or another estimator."
            )


def supports_sample_weight(estimator: Any) -> bool:
    """Tell whether an estimator can be fitted with sample weights."""
    return has_fit_parameter(estimator, "sample_weight")


def fit_weighted(estimator: Any, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Any:
    """Return the fitted estimator, with the weights if there are any."""
    return estimator.fit(X, y) if weight is None else estimator.fit(X, y, sample_weight=weight)
