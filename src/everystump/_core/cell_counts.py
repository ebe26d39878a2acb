"""Cells of a column: several thousand intervals, in which its rows are counted.

Cell ``k`` holds the rows with ``edges[k - 1] <= x < edges[k]``; the cell after the last one holds
the missing values.  The edges come from a sample of the rows, so that cells have similar weights,
and a frequent value has its own cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core import binloops

# Each value of a sample has its own cell if there are so few that they occur several times.
_SAMPLES_PER_OWN_CELL = 8


def cell_edges(sample: np.ndarray, per_cell: int, max_own: int = 0) -> np.ndarray:
    """Return edges of cells that have ``per_cell`` values of a sample each.

    A frequent value has its own cell.  So has every value if there are at most ``max_own`` distinct
    ones, or few in relation to the size of the sample.

    Examples
    --------
    >>> sample = np.array([3.0, np.nan, 1.0, 1.0])
    >>> cell_edges(sample, 2), len(cell_edges(sample, 2, max_own=2))
    (array([1., 3.]), 4)
    """
    max_own = max(max_own, len(sample) // _SAMPLES_PER_OWN_CELL)
    sample = np.sort(sample)
    sample = sample[: np.searchsorted(sample, np.nan)]
    first = np.flatnonzero(np.append(True, sample[1:] != sample[:-1])[: len(sample)])
    if len(first) <= max_own:
        frequent, edges = sample[first], sample[:0]
    else:
        multiplicity = np.diff(first, append=len(sample))
        frequent = sample[first[multiplicity >= 2 * per_cell]]
        edges = sample[::per_cell]
        edges = edges[np.append(True, edges[1:] != edges[:-1])]
    if len(frequent) == 0:
        return edges
    with np.errstate(over="ignore"):  # the largest float is followed by infinity
        after = np.nextafter(frequent, np.inf)
    return np.unique(np.concatenate([edges, frequent, after]))


@dataclass
class BinSums:
    """Sums over rows by bin: of the weights, and of the differences from the origin of the bin."""

    counts: np.ndarray
    differences: np.ndarray

    def __add__(self, other: BinSums) -> BinSums:
        return BinSums(self.counts + other.counts, self.differences + other.differences)


def cell_origins(edges: np.ndarray) -> np.ndarray:
    """Return the start of each cell.

    Differences from it keep the digits in which the values of the cell differ.
    """
    if len(edges) == 0:
        return np.zeros(2)
    return np.concatenate([edges[:1], edges, [0.0]])


def count_cells(
    x: np.ndarray, weight: np.ndarray | None, cells: np.ndarray, edges: np.ndarray
) -> BinSums:
    """Return the sums over rows by cell, given the cell of each row."""
    w = np.broadcast_to(1.0, x.shape) if weight is None else weight
    counts, differences = np.zeros((2, len(edges) + 2))
    binloops.count_cells(x, w, cell_origins(edges), cells, counts, differences)
    differences[-1] = 0.0  # of missing values
    return BinSums(counts, differences)


@dataclass(frozen=True)
class Entries:
    """Values and their weights; an entry may stand for all values of a cell that is not sorted.

    ``cells`` holds the number of such a cell, and -1 where the value is exact.
    """

    values: np.ndarray
    counts: np.ndarray
    cells: np.ndarray

    @classmethod
    def from_cells(cls, edges: np.ndarray, sums: BinSums) -> Entries:
        """Return the mean of each cell that has rows; it is exact if only one value fits."""
        where = np.flatnonzero(sums.counts[:-1])
        lower, upper = np.append(-np.inf, edges)[where], np.append(edges, np.inf)[where]
        counts, origins = sums.counts[where], cell_origins(edges)[where]
        with np.errstate(all="ignore"):
            means = np.clip(origins + sums.differences[where] / counts, lower, upper)
            # If a sum overflows, the origin is used.
            means = np.where(np.isfinite(means), means, origins)
            single = np.nextafter(lower, np.inf) == upper
        return cls(np.where(single, lower, means), counts, np.where(single, -1, where))

    @property
    def is_group(self) -> np.ndarray:
        """Whether each entry may stand for different values."""
        return self.cells >= 0
