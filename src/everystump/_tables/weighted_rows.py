"""Rows with sample weights, to be sampled or split: an integer weight counts copies of a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from everystump._tables.row_hashes import RowHashes

# Up to this many copies, or this many per row if that is more, are listed one by one.
_MAX_COPIES, _MAX_COPIES_PER_ROW = 1_000_000, 10


@dataclass(frozen=True)
class WeightedRows:
    """Rows in a canonical order, which does not depend on the order of the table."""

    order: np.ndarray  # the row indices, sorted by hash
    weight: np.ndarray | None  # of each row; None if all are 1
    is_integer: bool  # whether weights are integers, which count copies

    @classmethod
    def from_hashes(cls, hashes: RowHashes, weight: np.ndarray | None) -> WeightedRows:
        """Return rows, given their hashes and weights."""
        is_integer = weight is None or bool(np.all(weight == np.floor(weight)))
        return cls(np.lexsort((hashes.fine, hashes.rows)), weight, is_integer)

    @property
    def counts(self) -> np.ndarray | None:
        """Number of copies of each row, in canonical order; None for one of each."""
        return self.weight[self.order] if self.weight is not None and self.is_integer else None

    @property
    def n_copies(self) -> int:
        """Total number of copies."""
        return len(self.order) if self.counts is None else int(self.counts.sum())

    def copies(self) -> np.ndarray:
        """Return the row index of each copy, in canonical order."""
        return self.order if self.counts is None else np.repeat(self.order, self.counts.astype(int))

    def sample(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        """Sample ``n`` copies without replacement; return their sorted row indices."""
        max_copies = max(_MAX_COPIES, _MAX_COPIES_PER_ROW * len(self.order))
        if self.counts is None or self.n_copies <= max_copies:
            return np.sort(self.copies()[rng.permutation(self.n_copies)[:n]])
        drawn = np.random.default_rng(rng.randint(2**31)).multivariate_hypergeometric(
            self.counts.astype(int), n, method="marginals"
        )
        return np.sort(np.repeat(self.order, drawn))

    def merge_copies(self, copies: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the distinct rows of some copies, and their weights."""
        if self.weight is None:
            return copies, None
        rows, counts = np.unique(copies, return_counts=True)
        return rows, counts.astype(np.float64) if self.is_integer else self.weight[rows]

    def check_supports_weights(self, estimator: Any) -> None:
        """Check that an estimator can be fitted with these weights."""
        if self.weight is not None and not (self.is_integer or supports_sample_weight(estimator)):
            fraction = self.weight[self.weight != np.floor(self.weight)][0]
            raise ValueError(
                f"sample_weight contains {fraction:g}, but {type(estimator).__name__} does not "
                f"support sample weights; pass integers, which count copies of a row, or another "
                f"estimator."
            )


def supports_sample_weight(estimator: Any) -> bool:
    """Whether an estimator can be fitted with sample weights."""
    return has_fit_parameter(estimator, "sample_weight")


def fit_weighted(estimator: Any, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Any:
    """Fit an estimator, with weights if there are any, and return it."""
    return estimator.fit(X, y) if weight is None else estimator.fit(X, y, sample_weight=weight)
