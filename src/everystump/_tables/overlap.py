"""What a model remembers of its training rows, and which of other rows are among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import betabinom

from everystump._tables.row_hashes import RowHashes
from everystump._text import format_percent

# So few hashes are kept in a model file: those of all rows of a small table, else a sample.
_MOST_STORED = 16_384
# More known rows than equal rows of the training table explain: by chance so rarely.
_RARELY = 0.001
NO_RECORD = (
    "the model, or one that it was built from, has no record of the rows that it learned from, as "
    "those saved by earlier versions, those saved from pipelines that change columns, and those of "
    "other packages have none; fit it again with estimators of everystump, without such steps if "
    "it is to be saved, to have rows compared"
)


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """What is remembered of the rows that a model learned from.

    Attributes
    ----------
    n_input_rows : int
        How many rows the training table had.
    kept : ndarray of int or None
        Which of them had positive weights; None if all.
    table_checksum : int or None
        A number by which they are known in their order, bit by bit; None if they were the rows of
        more than one table.
    rows_checksum : int
        One by which they are known in any order, their values rounded.
    weights_checksum : int
        One for their weights.
    hashes : ndarray of uint64
        The hash of each row, or the smallest of all distinct ones.
    complete : bool
        Whether it is that of each row.
    n_duplicates : int or None
        How many rows have an equal one in the training table; None if the hashes tell.
    """

    n_input_rows: int
    kept: np.ndarray | None
    table_checksum: int | None
    rows_checksum: int
    weights_checksum: int
    hashes: np.ndarray
    complete: bool = True
    n_duplicates: int | None = None

    @classmethod
    def of(
        cls, hashes: RowHashes, n_input_rows: int, kept: np.ndarray | None, weights: int
    ) -> TrainingRecord:
        """Return the record of rows with positive weights."""
        return cls(
            n_input_rows, kept, hashes.in_order(), hashes.unordered_checksum(), weights, hashes.rows
        )

    @property
    def n_rows(self) -> int:
        """How many rows were learned from."""
        return self.n_input_rows if self.kept is None else len(self.kept)

    @cached_property
    def _sorted(self) -> np.ndarray:
        return np.sort(self.hashes)

    @property
    def reach(self) -> int:
        """The largest hash that would be among those kept, had a row had it."""
        return int(np.iinfo(np.uint64).max if self.complete else self.hashes.max())

    @property
    def twins(self) -> int:
        """How many rows have an equal one in the training table."""
        if self.n_duplicates is not None:
            return self.n_duplicates
        same = self._sorted[1:] == self._sorted[:-1]
        return int(np.sum(np.append(same, False) | np.append(False, same)))

    def merge(self, other: TrainingRecord) -> TrainingRecord:
        """Return the record of rows that were learned from after these."""
        if (self.table_checksum, self.weights_checksum) == (
            other.table_checksum,
            other.weights_checksum,
        ):
            return self
        hashes = np.concatenate([self.hashes, other.hashes])
        complete = self.complete and other.complete
        if not complete:
            hashes = hashes[hashes <= min(one.reach for one in (self, other))]
        n_rows, n_duplicates = self.n_rows + other.n_rows, self.twins + other.twins
        return TrainingRecord(n_rows, None, None, 0, 0, hashes, complete, n_duplicates)

    def sketch(self) -> TrainingRecord:
        """Return the record with few hashes, as a model file holds it."""
        if len(self.hashes) <= _MOST_STORED:
            return self
        smallest = np.unique(self.hashes)[:_MOST_STORED]
        return replace(self, hashes=smallest, complete=False, n_duplicates=self.twins)

    def is_same_table(self, given: RowHashes) -> bool:
        """Tell whether rows are those of the training table, all of them in their order."""
        return (
            len(given) == self.n_input_rows
            and given.take(self.kept).in_order() == self.table_checksum
        )

    def has_same_rows(self, given: RowHashes) -> bool:
        """Tell whether rows are those that were learned from, in any order."""
        return len(given) == self.n_rows and given.unordered_checksum() == self.rows_checksum

    def compare(self, given: RowHashes) -> Overlap:
        """Return how many of some rows are among those that were learned from."""
        same_table = self.is_same_table(given)
        tried = given.rows[given.rows <= np.uint64(self.reach)]
        place = np.minimum(np.searchsorted(self._sorted, tried), len(self._sorted) - 1)
        return Overlap(
            recorded=True,
            same_table=same_table,
            same_rows=same_table or self.has_same_rows(given),
            n_matched=int(np.sum(self._sorted[place] == tried)),
            n_compared=len(tried),
            chance=self.twins / self.n_rows,
            n_training_rows=self.n_rows,
        )


@dataclass(frozen=True)
class Overlap:
    """How labelled rows compare with those that a model learned from.

    Attributes
    ----------
    recorded : bool
        Whether anything is known of these.
    same_table : bool
        Whether they are the whole training table, in its order.
    same_rows : bool
        Whether they are all rows that were learned from, in any order.
    n_matched : int
        How many of the rows that were compared equal one that was learned from: the same label, and
        the same values as rounded to about 5 digits.
    n_compared : int
        How many were compared: all, or a sample if the model remembers a sample.
    chance : float
        The share of training rows that equal another one, which is about the share of fresh rows
        that equal one by chance (Good & Turing).
    n_training_rows : int
        How many rows were learned from, which is what ``chance`` was estimated from.
    """

    recorded: bool
    same_table: bool = False
    same_rows: bool = False
    n_matched: int = 0
    n_compared: int = 0
    chance: float = 0.0
    n_training_rows: int = 0

    @property
    def share(self) -> float:
        """About which share of the rows equals rows that were learned from."""
        return self.n_matched / self.n_compared if self.n_compared else 0.0

    @property
    def doubt(self) -> str | None:
        """Why the rows may have had a part in training, None if nothing says so."""
        if not self.recorded:
            return NO_RECORD
        if self.same_rows:
            return "these are the rows that the model learned from"
        if self.n_matched and self._probability_by_chance() < _RARELY:
            by_chance = (
                f", where {format_percent(self.chance)} would by chance" if self.chance else ""
            )
            return (
                f"about {format_percent(self.share)} of these rows equal rows that the model "
                f"learned from{by_chance}"
            )
        return None

    @property
    def caution(self) -> str | None:
        """What the doubt means for an error on these rows; None if there is no doubt."""
        if self.doubt is None:
            return None
        return f"{self.doubt}; the error may be too low, and bounds do not hold."

    def _probability_by_chance(self) -> float:
        """Return how probable so many known rows are, given how many training rows had an equal."""
        # Equal rows come in twos at least, so that they tell as much as half of them alone would.
        n_told = self.n_training_rows / 2 if self.chance else self.n_training_rows
        twins, others = self.chance * n_told, (1.0 - self.chance) * n_told
        return float(betabinom.sf(self.n_matched - 1, self.n_compared, twins + 0.5, others + 0.5))

    @property
    def excess(self) -> float:
        """The share of the rows that are known beyond what equal training rows explain."""
        return max(0.0, self.share - self.chance)
