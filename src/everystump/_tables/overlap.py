"""The record that a model keeps of its training rows, and the overlap of other rows with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import betabinom

from everystump._tables.row_hashes import RowHashes
from everystump._text import format_percent

# A model file stores at most this many hashes: those of all rows, or a sample of them.
_MAX_STORED = 16_384
# Rows are suspected to be training rows if chance explains the matches with a lower probability.
_SIGNIFICANCE = 0.001
NO_RECORD = (
    "the model, or a model inside it, has no record of its training rows, as is the case for "
    "models of other packages, saved by earlier versions, or from pipelines that change columns; "
    "refit it with estimators of everystump, and without such steps if it is to be saved"
)


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """The record by which a model recognizes its training rows."""

    n_input_rows: int  # of the training table
    kept: np.ndarray | None  # indices of its rows with positive weights; None if all are
    table_checksum: int | None  # of these rows in order, with all digits; None if several tables
    rows_checksum: int  # of these rows in any order, with rounded values
    weights_checksum: int
    hashes: np.ndarray  # uint64: of each row, or the smallest distinct ones
    complete: bool = True  # whether there is a hash of each row
    n_duplicates: int | None = None  # rows that equal another one; None to count them in hashes

    @classmethod
    def from_hashes(
        cls, hashes: RowHashes, n_input_rows: int, kept: np.ndarray | None, weights: int
    ) -> TrainingRecord:
        """Return the record of rows with positive weights, given their hashes."""
        checksums = hashes.ordered_checksum(), hashes.unordered_checksum(), weights
        return cls(n_input_rows, kept, *checksums, hashes.rows)

    @property
    def n_rows(self) -> int:
        """Number of training rows with positive weights."""
        return self.n_input_rows if self.kept is None else len(self.kept)

    @cached_property
    def _sorted(self) -> np.ndarray:
        return np.sort(self.hashes)

    @property
    def max_hash(self) -> int:
        """The largest hash at which ``hashes`` is still complete."""
        return int(np.iinfo(np.uint64).max if self.complete else self.hashes.max())

    @property
    def duplicates(self) -> int:
        """Number of training rows that equal another one."""
        if self.n_duplicates is not None:
            return self.n_duplicates
        same = self._sorted[1:] == self._sorted[:-1]
        return int(np.sum(np.append(same, False) | np.append(False, same)))

    def merge(self, other: TrainingRecord) -> TrainingRecord:
        """Return the record of these training rows and those of a later fit."""
        if (self.table_checksum, self.weights_checksum) == (
            other.table_checksum,
            other.weights_checksum,
        ):
            return self
        hashes = np.concatenate([self.hashes, other.hashes])
        complete = self.complete and other.complete
        if not complete:
            hashes = hashes[hashes <= min(self.max_hash, other.max_hash)]
        n_rows, n_duplicates = self.n_rows + other.n_rows, self.duplicates + other.duplicates
        return TrainingRecord(n_rows, None, None, 0, 0, hashes, complete, n_duplicates)

    def sketch(self) -> TrainingRecord:
        """Return the record with a limited number of hashes, as model files store it."""
        if len(self.hashes) <= _MAX_STORED:
            return self
        smallest = np.unique(self.hashes)[:_MAX_STORED]
        return replace(self, hashes=smallest, complete=False, n_duplicates=self.duplicates)

    def is_same_table(self, hashes: RowHashes) -> bool:
        """Whether rows are those of the training table, all of them and in order."""
        return (
            len(hashes) == self.n_input_rows
            and hashes.take(self.kept).ordered_checksum() == self.table_checksum
        )

    def has_same_rows(self, hashes: RowHashes) -> bool:
        """Whether rows are the training rows, in any order."""
        return len(hashes) == self.n_rows and hashes.unordered_checksum() == self.rows_checksum

    def compare(self, hashes: RowHashes) -> Overlap:
        """Return how many rows are training rows, given their hashes."""
        same_table = self.is_same_table(hashes)
        compared = hashes.rows[hashes.rows <= np.uint64(self.max_hash)]
        nearest = np.minimum(np.searchsorted(self._sorted, compared), len(self._sorted) - 1)
        return Overlap(
            recorded=True,
            same_table=same_table,
            same_rows=same_table or self.has_same_rows(hashes),
            n_matched=int(np.sum(self._sorted[nearest] == compared)),
            n_compared=len(compared),
            duplicate_rate=self.duplicates / self.n_rows,
            n_training_rows=self.n_rows,
        )


@dataclass(frozen=True)
class Overlap:
    """How many labeled rows are training rows of a model.

    Rows match if they have the same label, and the same values rounded to about 5 digits.
    """

    recorded: bool  # whether the model has a record of its training rows
    same_table: bool = False  # whether the rows are the whole training table, in order
    same_rows: bool = False  # whether the rows are all training rows, in any order
    n_matched: int = 0  # compared rows that equal a training row
    n_compared: int = 0  # all rows, or a sample if the model stores a sample of hashes
    # The fraction of training rows that equal another one, which estimates that of new rows that
    # equal a training row by chance (Good & Turing).
    duplicate_rate: float = 0.0
    n_training_rows: int = 0

    @property
    def match_rate(self) -> float:
        """The estimated fraction of the rows that equal training rows."""
        return self.n_matched / self.n_compared if self.n_compared else 0.0

    @property
    def excess_rate(self) -> float:
        """The fraction of the rows that match beyond what duplicate training rows explain."""
        return max(0.0, self.match_rate - self.duplicate_rate)

    @property
    def leakage(self) -> str | None:
        """Why the rows may have been used in training; None if nothing suggests it."""
        if not self.recorded:
            return NO_RECORD
        if self.same_rows:
            return "these are the training rows of the model"
        if self.n_matched and self._probability_by_chance() < _SIGNIFICANCE:
            text = f"about {format_percent(self.match_rate)} of these rows equal training rows"
            expected = format_percent(self.duplicate_rate)
            return f"{text}, but only {expected} would by chance" if self.duplicate_rate else text
        return None

    @property
    def leakage_warning(self) -> str | None:
        """A warning about an error measured on these rows; None without leakage."""
        if self.leakage is None:
            return None
        return f"{self.leakage}; the error may be too low, and bounds do not hold."

    def _probability_by_chance(self) -> float:
        """Return the probability of at least as many matches, given the rate of duplicates."""
        # Duplicates come in pairs at least, so they count as half as many independent rows.
        n_independent = self.n_training_rows / 2 if self.duplicate_rate else self.n_training_rows
        a = self.duplicate_rate * n_independent + 0.5
        b = (1.0 - self.duplicate_rate) * n_independent + 0.5
        return float(betabinom.sf(self.n_matched - 1, self.n_compared, a, b))
