"""From values to bins: the number of cuts that are at most each value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core import binloops

# The size of the lookup grid.
_CELLS_PER_CUT, _MIN_CELLS, _MAX_CELLS = 16, 256, 65536
# Up to this number of rows per cut, building a lookup grid takes longer than it saves.
_MIN_ROWS_PER_CUT = 4
# A grid that leaves more bisections than this is too coarse: bisecting all cuts is faster.
_MAX_BISECTIONS = 2.0


@dataclass(frozen=True)
class Lookup:
    """A uniform grid over sorted cuts, for finding the bin of a value in a few steps."""

    cuts: np.ndarray
    low: float
    scale: float
    first: np.ndarray

    @classmethod
    def build(cls, cuts: np.ndarray) -> Lookup:
        """Build the grid for ``cuts``, to which an infinite cut is appended."""
        cells = 1
        if len(cuts) > 1:
            cells = min(max(_CELLS_PER_CUT * len(cuts), _MIN_CELLS), _MAX_CELLS)
        low, high = (float(cuts[0]), float(cuts[-1])) if len(cuts) else (0.0, 0.0)
        # Without a usable width all cuts are in one cell, which is bisected.
        scale = cells / (high - low) if 0.0 < high - low < np.inf else 0.0
        scale = scale if scale < np.inf else 0.0
        first = np.empty(cells + 1, dtype=np.int32)
        binloops.fill_lookup(cuts, low, scale, first)
        return cls(np.append(cuts, np.inf), low, scale, first)

    @property
    def mean_bisections(self) -> float:
        """The mean number of bisections within a cell, if values are distributed like the cuts."""
        inside = np.diff(self.first)
        several = inside[inside > 1]
        return float(several @ np.log2(several)) / len(self.cuts)


@dataclass(frozen=True)
class Encoder:
    """Finds the bins of values, prepared once for all rows of a column."""

    cuts: np.ndarray  # followed by an infinite one
    lookup: Lookup | None  # None if all cuts are bisected

    @classmethod
    def build(cls, cuts: np.ndarray, n_rows: int) -> Encoder:
        """Return the encoder that is fastest for so many rows."""
        if n_rows > _MIN_ROWS_PER_CUT * len(cuts):
            lookup = Lookup.build(cuts)
            if lookup.mean_bisections <= _MAX_BISECTIONS:
                return cls(lookup.cuts, lookup)
        return cls(np.append(cuts, np.inf), None)

    def encode(self, x: np.ndarray, missing: int, out: np.ndarray) -> None:
        """Write the number of cuts that are at most each ``x``, and ``missing`` for NaN."""
        if self.lookup is None:
            binloops.encode_by_bisection(x, self.cuts, missing, out)
        else:
            grid = self.lookup
            binloops.encode(x, grid.cuts, grid.first, grid.low, grid.scale, missing, out)


def encode(x: np.ndarray, cuts: np.ndarray, missing: int, out: np.ndarray) -> None:
    """Write the number of cuts that are at most each ``x``, and ``missing`` for NaN."""
    Encoder.build(cuts, len(x)).encode(x, missing, out)
