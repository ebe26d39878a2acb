"""Mergeable summaries of columns, from which bins are found without having all rows at once.

A sketch holds weighted values in ascending order.  An entry is an exact value, or the mean of a
group of neighboring rows.  The rank of any threshold among the entries differs from its rank among
the rows by at most the weight of the groups that it divides, one for each sketch that was
merged: `ColumnSketch.rank_error` is a proven bound on it.  Columns with few distinct values are
exact.

- A long column is divided into cells by a sample of its rows, and the rows of each cell are a
  group; see `everystump._core.binning`.
- Merging adds up the errors, relative to all rows it leaves them as they are.
- A sketch of more than ``MAX_ENTRIES`` entries is compressed: neighbors form groups of at most
  ``2 / MAX_ENTRIES`` of the total weight, which is added to the error.  Merged pairwise, ``m``
  sketches have an error of at most ``2 log2(m) / MAX_ENTRIES`` more than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from everystump._core import binloops
from everystump._core.binning import bin_starts, n_numeric_bins, summarize

# A sketch has at most this many entries, 16 bytes each.
MAX_ENTRIES = 16_384


@dataclass(frozen=True)
class ColumnSketch:
    """A summary of the values of a column; sketches of parts of a column can be merged."""

    values: np.ndarray  # (n_entries,), ascending
    counts: np.ndarray  # (n_entries,): total weight of the rows of each entry
    is_group: np.ndarray  # (n_entries,): whether an entry stands for different values
    low: float  # the smallest and the largest value, NaN if there is none
    high: float
    missing: float  # total weight of the rows without a value
    group_weight: float = 0.0  # a threshold divides groups of at most this weight

    @classmethod
    def from_values(cls, x: np.ndarray, weight: np.ndarray | None = None) -> ColumnSketch:
        """Return the sketch of a column; NaN is a missing value."""
        values, counts, is_group, missing = summarize(x, weight)
        with np.errstate(all="ignore"):
            low, high = (float(f.reduce(x, initial=np.nan)) for f in (np.fmin, np.fmax))
        heaviest = float(counts[is_group].max(initial=0.0))
        return cls(values, counts, is_group, low, high, missing, heaviest)._compressed()

    @property
    def rank_error(self) -> float:
        """A bound on the error of ranks, as a fraction of the weight of all values."""
        total = float(self.counts.sum())
        return self.group_weight / total if total else 0.0

    @property
    def is_exact(self) -> bool:
        """Whether the entries are all distinct values of the column."""
        return not self.is_group.any()

    def merge(self, other: ColumnSketch) -> ColumnSketch:
        """Return the sketch of the rows of both."""
        values = np.concatenate([self.values, other.values])
        order = np.argsort(values, kind="stable")
        values, counts, is_group = (
            np.concatenate(pair)[order]
            for pair in (
                (self.values, other.values),
                (self.counts, other.counts),
                (self.is_group, other.is_group),
            )
        )
        # Equal values become one entry.
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
        if len(starts) < len(values):
            values = values[starts]
            counts = np.add.reduceat(counts, starts)
            is_group = np.logical_or.reduceat(is_group, starts)
        merged = ColumnSketch(
            values,
            counts,
            is_group,
            float(np.fmin(self.low, other.low)),
            float(np.fmax(self.high, other.high)),
            self.missing + other.missing,
            self.group_weight + other.group_weight,
        )
        return merged._compressed()

    def _compressed(self) -> ColumnSketch:
        """Return the sketch with neighbors in groups, if it has too many entries."""
        if len(self.values) <= MAX_ENTRIES:
            return self
        limit = 2 * float(self.counts.sum()) / MAX_ENTRIES
        starts = np.empty(len(self.values), dtype=np.int64)
        starts = starts[: binloops.group_entries(self.counts, limit, starts)]
        ends = np.append(starts[1:], len(self.values))
        counts = np.add.reduceat(self.counts, starts)
        weights = self.counts / np.repeat(counts, ends - starts)
        means = np.add.reduceat(weights * self.values, starts)
        return replace(
            self,
            values=np.clip(means, self.values[starts], self.values[ends - 1]),
            counts=counts,
            is_group=np.logical_or.reduceat(self.is_group, starts) | (ends - starts > 1),
            group_weight=self.group_weight + limit,
        )

    def bins(self, max_bins: int) -> tuple[np.ndarray, bool]:
        """Return the first entry of each bin, and whether every bin is a single value.

        Bins have about equal weight; there is one for each entry if these are few.
        """
        n_bins = n_numeric_bins(max_bins, self.missing)
        if len(self.values) <= n_bins:
            return np.arange(len(self.values)), self.is_exact
        return bin_starts(self.counts, n_bins), False


def merge_all(sketches: Sequence[ColumnSketch]) -> ColumnSketch:
    """Return the sketch of the rows of all, merged pairwise."""
    while len(sketches) > 1:
        pairs = [sketches[k : k + 2] for k in range(0, len(sketches), 2)]
        sketches = [pair[0].merge(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return sketches[0]
