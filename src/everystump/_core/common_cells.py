"""The cells of a column whose rows are in several parts, and the bins that follow from them.

All parts use the same cells (`everystump._core.cell_counts`) and count their rows in them; the
counts are added up, so that the result does not depend on how the rows are divided.  The first
edges come from a sample of all rows.  Cells that are too coarse are divided by the edges of a
sample of their rows, and counted again.  They are fine enough if

- the column has at most as many distinct values as bins, and each of them has its own cell, or
- a cell of several values weighs at most half a bin, where no value counts as more than one bin.

Bins begin and end between cells, so that the bin of a row follows from its cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from everystump._core.binning import CappedWeights, bin_starts, n_numeric_bins
from everystump._core.cell_counts import BinSums, Entries, cell_edges, cell_origins, count_cells
from everystump._core.lookup import Encoder

MAX_SAMPLE = 16_384
"""About the largest number of rows in a sample."""
# With fewer samples per cell there would be more cells, but the heaviest one would weigh the same.
_SAMPLES_PER_CELL = 4
# A bin is at least so many times as heavy as a cell of several values.
_CELLS_PER_BIN = 2
# Cells, including that of the missing values, are numbered by 16 bits.
_MAX_EDGES = 2**16 - 2


@dataclass
class CellCounts:
    """Sums over the rows in each cell, their number, and the range of their values."""

    sums: BinSums
    n_rows: np.ndarray | None  # (n_cells + 1,): None if all weights are 1
    low: float  # NaN if there is no value
    high: float

    def __add__(self, other: CellCounts) -> CellCounts:
        n_rows = None
        if self.n_rows is not None or other.n_rows is not None:
            n_rows = self.rows_by_cell + other.rows_by_cell
        low, high = float(np.fmin(self.low, other.low)), float(np.fmax(self.high, other.high))
        return CellCounts(self.sums + other.sums, n_rows, low, high)

    @property
    def rows_by_cell(self) -> np.ndarray:
        """The number of rows in each cell."""
        return self.sums.counts if self.n_rows is None else self.n_rows


@dataclass(frozen=True)
class CellEncoder:
    """Finds the cells of rows, prepared once for all rows of a column."""

    edges: np.ndarray
    encoder: Encoder

    @classmethod
    def build(cls, edges: np.ndarray, n_rows: int) -> CellEncoder:
        """Return the encoder that is fastest for so many rows."""
        return cls(edges, Encoder.build(edges, n_rows))

    @property
    def n_cells(self) -> int:
        """The number of cells, including that of missing values."""
        return len(self.edges) + 2

    def count(self, x: np.ndarray, weight: np.ndarray | None, cells: np.ndarray) -> CellCounts:
        """Write the cell of each row; return the counts."""
        self.encoder.encode(x, len(self.edges) + 1, cells)
        with np.errstate(all="ignore"):
            low, high = (float(f.reduce(x, initial=np.nan)) for f in (np.fmin, np.fmax))
        sums = count_cells(x, weight, cells, self.edges)
        n_rows = None if weight is None else _bincount(cells, None, self.n_cells)
        return CellCounts(sums, n_rows, low, high)


@dataclass(frozen=True)
class LevelEncoder:
    """Finds the codes of a category, which are its cells: its root, the levels, missing values."""

    n_levels: int

    @property
    def n_cells(self) -> int:
        """The number of codes."""
        return self.n_levels + 2

    def count(self, x: np.ndarray, weight: np.ndarray | None, cells: np.ndarray) -> CellCounts:
        """Write the code of each row, given its level; return the counts."""
        np.copyto(cells, np.where(np.isnan(x), self.n_levels, x) + 1, casting="unsafe")
        counts = _bincount(cells, weight, self.n_cells)
        return CellCounts(BinSums(counts, np.zeros_like(counts)), None, np.nan, np.nan)


@dataclass(frozen=True)
class CommonCells:
    """The cells of a column, and the counts of all rows in them."""

    edges: np.ndarray  # (n_cells - 1,)
    counts: CellCounts

    @property
    def missing(self) -> float:
        """The total weight of the rows without a value."""
        return float(self.counts.sums.counts[-1])

    @property
    def low(self) -> float:
        """The smallest value, NaN if there is none."""
        return self.counts.low

    @property
    def high(self) -> float:
        """The largest value, NaN if there is none."""
        return self.counts.high

    @cached_property
    def entries(self) -> Entries:
        """The mean and the weight of each cell that has rows."""
        return Entries.from_cells(self.edges, self.counts.sums)

    @property
    def rank_error(self) -> float:
        """A bound on the error of ranks, as a fraction of the weight of all values."""
        entries = self.entries
        heaviest = entries.counts[entries.is_group].max(initial=0.0)
        return float(heaviest / entries.counts.sum()) if heaviest else 0.0

    def coarse(self, max_bins: int) -> np.ndarray | None:
        """Return which cells must be divided, as flags of all cells; None if there are none."""
        entries, n_bins = self.entries, n_numeric_bins(max_bins, self.missing)
        is_coarse = entries.is_group
        if len(entries.values) > n_bins:
            weights = CappedWeights.from_counts(entries.counts, n_bins)
            limit = weights.cumulative[-1] / (_CELLS_PER_BIN * n_bins)
            is_coarse = is_coarse & (weights.capped > limit)
        if not is_coarse.any():
            return None
        flags = np.zeros(len(self.edges) + 2, dtype=bool)
        flags[entries.cells[is_coarse]] = True
        return flags

    def divide(self, sample: np.ndarray, is_complete: bool, max_bins: int) -> np.ndarray | None:
        """Return the edges after some cells are divided, given a sample of their rows.

        None if that is not possible.
        """
        edges = np.union1d(self.edges, sample_edges(sample, is_complete, max_bins))
        return edges if len(self.edges) < len(edges) <= _MAX_EDGES else None

    def bins(self, max_bins: int) -> tuple[np.ndarray, bool]:
        """Return the first entry of each bin, and whether every bin is a single value."""
        entries, n_bins = self.entries, n_numeric_bins(max_bins, self.missing)
        if len(entries.values) <= n_bins:
            return np.arange(len(entries.values)), not entries.is_group.any()
        return bin_starts(entries.counts, n_bins), False

    def between(self, ends: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where the rows of some entries end, and where those of other ones begin."""
        cells, values = self.entries.cells, self.entries.values
        lower, upper = np.append(-np.inf, self.edges), np.append(self.edges, np.inf)
        last = np.where(cells[ends] < 0, values[ends], upper[cells[ends]])
        first = np.where(cells[starts] < 0, values[starts], lower[cells[starts]])
        return last, first

    def bins_of_cells(self, cuts: np.ndarray) -> np.ndarray:
        """Return the bin of each cell between cuts; that of missing values comes last."""
        found = np.searchsorted(cuts, self.edges, side="right")
        return np.concatenate([[0], found, [len(cuts) + 1]])

    def sum_bins(self, bins: np.ndarray, origins: np.ndarray) -> BinSums:
        """Return the sums over the rows by bin, given the bin of each cell and their origins."""
        sums, size = self.counts.sums, len(origins)
        shift = cell_origins(self.edges) - origins[bins]
        with np.errstate(all="ignore"):
            moved = np.where(sums.counts > 0, sums.differences + sums.counts * shift, 0.0)
        moved[-1] = 0.0
        return BinSums(*(_bincount(bins, values, size) for values in (sums.counts, moved)))


def _bincount(cells: np.ndarray, weight: np.ndarray | None, size: int) -> np.ndarray:
    return np.bincount(cells, weight, size).astype(np.float64, copy=False)


def sampling_step(n_rows: float) -> int:
    """Return the ``k`` of a sample of one out of every ``k`` rows."""
    return max(1, -int(-n_rows // MAX_SAMPLE))


def sample_edges(sample: np.ndarray, is_complete: bool, max_bins: int) -> np.ndarray:
    """Return edges of cells; in a sample of all rows, each value has its own cell."""
    return cell_edges(sample, _SAMPLES_PER_CELL, len(sample) if is_complete else max_bins)
