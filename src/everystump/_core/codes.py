"""The codes of rows: what the loops over rows read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from everystump._core import rowloops


class Codes(NamedTuple):
    """The codes of rows in all columns, and where each column's table begins in a flat table.

    First come the tables of single columns, then those of interactions.  An interaction block ``p``
    of group ``g`` has its entry for row ``i`` at ::

        offsets[p] + strides[g, 0] cells[heads[g, 0], i] + strides[g, 1] cells[heads[g, 1], i]
                   + cells[lasts[p], i]

    so that the codes of interactions are never stored.  Blocks ``group_starts[g]`` up to
    ``group_starts[g + 1]`` belong to group ``g``; see `everystump._core.interactions`.
    """

    bins: np.ndarray  # (n_columns, n_rows): bins
    starts: np.ndarray  # (n_columns + 1,)
    cells: np.ndarray  # uint8, (n_cell_columns, n_rows): cells of interactions
    heads: np.ndarray  # (n_groups, 2): cell columns
    strides: np.ndarray  # uint32, (n_groups, 2): 0 if the group has fewer columns in its head
    group_starts: np.ndarray  # (n_groups + 1,)
    lasts: np.ndarray  # (n_blocks,): cell columns
    offsets: np.ndarray  # (n_blocks,)
    ends: np.ndarray  # (1,): the length of a flat table

    @classmethod
    def from_bins(cls, bins: np.ndarray, starts: np.ndarray) -> Codes:
        """Return the codes of rows without interactions."""
        none = np.empty(0, dtype=np.int64)
        return cls(
            bins,
            starts,
            np.empty((0, bins.shape[1]), dtype=np.uint8),
            none.reshape(0, 2),
            np.empty((0, 2), dtype=np.uint32),
            np.zeros(1, dtype=np.int64),
            none,
            none,
            starts[-1:],
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.bins.shape[1]

    @property
    def n_lookups(self) -> int:
        """The number of table entries that are added up for a row."""
        return len(self.bins) + len(self.lasts)

    @property
    def n_entries(self) -> int:
        """The length of a flat table."""
        return int(self.ends[0])

    def columns(self, first: int, last: int | None) -> Codes:
        """Return the codes of some columns, without interactions."""
        bins = self.bins[first:last]
        starts = self.starts[first : first + len(bins) + 1]
        return Codes.from_bins(bins, starts - starts[0])

    def take(self, index: np.ndarray, offset: int = 0) -> Codes:
        """Return the codes of rows ``offset + index``, faster than NumPy."""
        bins, cells = (
            np.empty((len(codes), len(index)), dtype=codes.dtype)
            for codes in (self.bins, self.cells)
        )
        rowloops.take_rows(self.bins, index, bins, offset)
        rowloops.take_rows(self.cells, index, cells, offset)
        return self._replace(bins=bins, cells=cells)


def concatenate_rows(parts: Sequence[Codes]) -> Codes:
    """Return the codes of the rows of all parts, which have the same columns."""
    return parts[0]._replace(
        bins=np.concatenate([part.bins for part in parts], axis=1),
        cells=np.concatenate([part.cells for part in parts], axis=1),
    )
