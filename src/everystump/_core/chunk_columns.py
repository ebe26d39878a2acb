"""Binned columns of a table that is read in chunks, or in parts on several machines.

The bins are fixed before the rows are encoded: from sketches of the columns of chunks
(`everystump._core.sketches`), or from the counts of all parts in common cells
(`everystump._core.common_cells`).  The sums over all rows in each bin complete the columns; of
chunks, they are added up while these are encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everystump._core import binloops
from everystump._core.cell_counts import BinSums
from everystump._core.columns import Column, code_type, map_columns, midpoints
from everystump._core.common_cells import CommonCells
from everystump._core.lookup import encode
from everystump._core.sketches import ColumnSketch


def add_sums(first: Sequence[BinSums], second: Sequence[BinSums]) -> list[BinSums]:
    """Return the sums over the rows of two chunks, column by column."""
    return [own + other for own, other in zip(first, second, strict=True)]


@dataclass(frozen=True)
class ColumnPlan:
    """The bins of a column, before its rows are counted.

    ``origins`` are values inside the bins; of a category, the codes of its levels.
    """

    origins: np.ndarray
    cuts: np.ndarray
    low: float
    high: float
    exact: bool
    has_missing: bool
    is_category: bool = False
    is_cut: bool = False  # whether the user gave the cuts

    @classmethod
    def from_sketch(cls, sketch: ColumnSketch, max_bins: int) -> ColumnPlan:
        """Return bins of about equal weight, or one for each value if these are few."""
        if len(sketch.values) == 0:
            return cls(np.zeros(1), np.empty(0), 0.0, 0.0, True, sketch.missing > 0)
        starts, exact = sketch.bins(max_bins)
        ends = np.append(starts[1:], len(sketch.values)) - 1
        cuts = midpoints(sketch.values[ends[:-1]], sketch.values[starts[1:]])
        values, missing = sketch.values[starts], sketch.missing > 0
        return cls(values, cuts, sketch.low, sketch.high, exact, missing)

    @classmethod
    def from_cells(cls, cells: CommonCells, max_bins: int) -> ColumnPlan:
        """Return bins of about equal weight, each of whole cells, or one for each value."""
        values, missing = cells.entries.values, cells.missing > 0
        if len(values) == 0:
            return cls(np.zeros(1), np.empty(0), 0.0, 0.0, True, missing)
        starts, exact = cells.bins(max_bins)
        cuts = midpoints(*cells.between(starts[1:] - 1, starts[1:]))
        return cls(values[starts], cuts, cells.low, cells.high, exact, missing)

    @classmethod
    def from_cuts(cls, cuts: np.ndarray, column: ColumnSketch | CommonCells) -> ColumnPlan:
        """Return bins between given cuts, with values midway between them."""
        low, high = (0.0, 0.0) if np.isnan(column.low) else (column.low, column.high)
        edges = np.concatenate([[min([low, *cuts[:1]])], cuts, [max([high, *cuts[-1:]])]])
        middle = edges[:-1] / 2 + edges[1:] / 2
        return cls(middle, cuts, low, high, True, column.missing > 0, is_cut=True)

    @classmethod
    def from_levels(cls, n_levels: int, missing: float) -> ColumnPlan:
        """Return the bins of a category, given the weight of its missing values."""
        levels = np.arange(n_levels, dtype=np.float64)
        cuts, high = levels[1:] - 0.5, n_levels - 1.0
        return cls(levels, cuts, 0.0, high, True, missing > 0, is_category=True)

    @property
    def n_codes(self) -> int:
        """The number of codes: a category's root, the values, and missing values."""
        return self.is_category + len(self.origins) + 1

    def encode(self, x: np.ndarray, weight: np.ndarray | None, codes: np.ndarray) -> BinSums:
        """Write the code of each row; return the sums of the rows."""
        if self.is_category:
            np.copyto(codes, np.where(np.isnan(x), len(self.origins), x) + 1, casting="unsafe")
        else:
            encode(x, self.cuts, len(self.origins), codes)
        w = np.broadcast_to(1.0, x.shape) if weight is None else weight
        counts, differences = np.zeros((2, self.n_codes))
        with np.errstate(over="ignore", invalid="ignore"):
            binloops.sum_bins(x, w, codes, self._origins_by_code, counts, differences)
        return BinSums(counts, differences)

    @property
    def _origins_by_code(self) -> np.ndarray:
        return np.concatenate([np.zeros(int(self.is_category)), self.origins, [0.0]])

    def encode_cells(self, cells: CommonCells) -> tuple[np.ndarray, BinSums]:
        """Return the code of each cell, and the sums of all rows."""
        if self.is_category:  # its cells are the codes
            return np.arange(self.n_codes), cells.counts.sums
        codes = cells.bins_of_cells(self.cuts)
        return codes, cells.sum_bins(codes, self._origins_by_code)

    def finish(self, sums: BinSums) -> Column:
        """Return the column, given the sums over all rows."""
        first, size = int(self.is_category), self.is_category + len(self.origins)
        counts, values = sums.counts[first:size], self.origins
        if not (self.exact or self.is_cut):
            low, high = np.append(self.low, self.cuts), np.append(self.cuts, self.high)
            with np.errstate(all="ignore"):
                means = self.origins + sums.differences[first:size] / counts
            # Without rows, or if a sum overflows, the origin is used.
            values = np.where(np.isfinite(means), np.clip(means, low, high), self.origins)
        return Column(
            values,
            self.cuts,
            counts,
            self.low,
            self.high,
            self.exact,
            float(sums.counts[size]),
            self.is_category,
        )


def encode_columns(
    X: np.ndarray,
    weight: np.ndarray | None,
    plans: Sequence[ColumnPlan],
    out: np.ndarray,
    n_threads: int = 1,
) -> list[BinSums]:
    """Write the codes of a chunk of rows; return the sums of its rows for each column."""
    return map_columns(lambda d, x: plans[d].encode(x, weight, out[d]), X, n_threads)


def plan_code_type(plans: Sequence[ColumnPlan]) -> np.dtype:
    """Return the smallest type of codes; that of missing values does not occur without any."""
    return code_type(max(plan.n_codes - (not plan.has_missing) for plan in plans))
