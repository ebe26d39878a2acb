"""The cells of a feature in interactions, and the centered stumps over them.

In an interaction a feature has fewer bins than in its own curve: neighboring bins are merged into
at most ``max_cells`` cells, and the rare levels of a category share one cell.
Missing values keep a cell of their own.  The cells form a tree, as bins do (see
`everystump._core.columns`).

A stump of an interaction is 1 beyond its edge and 0 elsewhere, minus the fraction of the training
rows beyond its edge.  So a product of stumps has mean 0 along each of its features (under the
distribution of that feature), and interactions do not compete with the curves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from everystump._core.binning import bin_starts
from everystump._core.columns import Column
from everystump._core.measures import Measure

# Directions whose votes at the cells of rows are smaller than this, relative to the largest, are
# constant; what they add to a kernel is below its rounding.
_MIN_VOTE = 1e-9


@dataclass(frozen=True, eq=False)
class CellColumn:
    """The cells of one feature.

    Attributes
    ----------
    column : Column
        The cells, as a column of few bins.
    cell_of_bin : ndarray of shape (n_bins,)
        The cell of each bin of the feature.
    votes : ndarray of shape (n_cells, n_directions)
        The centered stumps at each cell, rotated to the principal directions of the training
        rows: ``votes' diag(p) votes`` is diagonal, with ``p`` the fraction of rows in each cell.  A
        rotation changes neither the kernel nor the norm.
    variances : ndarray of shape (n_directions,)
        That diagonal, in descending order.
    level_counts : ndarray of shape (n_levels,)
        Total sample weight of the rows of each level of a category, or each value of a number.
    """

    column: Column
    cell_of_bin: np.ndarray
    votes: np.ndarray
    variances: np.ndarray
    level_counts: np.ndarray

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return self.column.n_bins

    @property
    def kernel(self) -> np.ndarray:
        """The kernel of the centered stumps between all cells."""
        return self.votes @ self.votes.T


def make_cells(column: Column, d: int, measure: Measure, max_cells: int) -> CellColumn:
    """Return the cells of feature ``d`` with at most ``max_cells`` cells for its values."""
    measure = measure.for_interactions()
    if column.is_category:
        coarse, cell_of_value = _merge_levels(column, max_cells)
    else:
        masses = measure.masses(column, d).inside
        coarse, cell_of_value = _merge_values(column, masses, max_cells)
    parts = [np.zeros(column.first, dtype=int), coarse.first + cell_of_value]
    if column.missing > 0:
        parts.append(np.array([coarse.missing_bin]))
    masses = _masses(column, coarse, cell_of_value, d, measure)
    votes, variances = _principal_directions(coarse, masses)
    return CellColumn(coarse, np.concatenate(parts), votes, variances, column.counts)


def _merge_values(column: Column, masses: np.ndarray, max_cells: int) -> tuple[Column, np.ndarray]:
    """Return a column of few values, and the new index of each value.

    Each cell has about the same share of the rows and of the mass of the stumps, in total.  Cells
    of equal numbers of rows alone would be too wide in long tails.
    """
    values, counts = column.values, column.counts
    if len(values) <= max_cells:
        return column, np.arange(len(values))
    mass = (np.append(masses, 0.0) + np.append(0.0, masses)) / 2
    starts = bin_starts(counts / (counts.sum() or 1.0) + mass / (mass.sum() or 1.0), max_cells)
    index = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
    totals = np.add.reduceat(counts, starts)
    shares = counts / np.where(totals > 0, totals, 1.0)[index]
    means = np.add.reduceat(shares * values, starts)
    ends = np.append(starts[1:], len(values)) - 1
    means = np.clip(means, values[starts], values[ends])
    cuts = column.cuts[starts[1:] - 1]
    return replace(column, values=means, cuts=cuts, counts=totals, exact=False), index


def _merge_levels(column: Column, max_cells: int) -> tuple[Column, np.ndarray]:
    """Return a category in which the rarest levels share the last cell, and the cell of a level."""
    n_levels = len(column.values)
    if n_levels <= max_cells:
        return column, np.arange(n_levels)
    frequent = np.sort(np.argsort(-column.counts, kind="stable")[: max_cells - 1])
    index = np.full(n_levels, max_cells - 1)
    index[frequent] = np.arange(max_cells - 1)
    levels = np.arange(max_cells, dtype=np.float64)
    counts = np.bincount(index, weights=column.counts, minlength=max_cells)
    coarse = replace(
        column,
        values=levels,
        cuts=levels[1:] - 0.5,
        counts=counts,
        high=max_cells - 1.0,
        exact=False,
    )
    return coarse, index


def _masses(
    column: Column, coarse: Column, cell_of_value: np.ndarray, d: int, measure: Measure
) -> np.ndarray:
    """Return the masses of the stumps between the cells.

    If the thresholds are given, the mass between two cells is that of the thresholds between the
    middle values of both, and levels that share a cell have the largest of their masses.
    """
    if measure.thresholds(d) is None or coarse is column:
        return measure.stump_masses(coarse, d).inside
    masses = measure.stump_masses(column, d).inside
    if column.is_category:
        shared = np.zeros(len(coarse.values))
        np.maximum.at(shared, cell_of_value, masses[: len(column.values)])
        return np.append(shared, masses[len(column.values) :])
    indicators = masses[len(column.values) - 1 :]
    positions = np.concatenate([[0.0], np.cumsum(masses[: len(column.values) - 1])])
    edges = np.searchsorted(cell_of_value, np.arange(len(coarse.values) + 1))
    middles = (edges[:-1] + edges[1:]) // 2
    return np.append(np.diff(positions[middles]), indicators)


def _principal_directions(column: Column, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the votes and variances of a `CellColumn`."""
    fractions = column.weights / (column.weights.sum() or 1.0)
    beyond = np.array([column.beyond(k) for k in range(1, column.n_bins)], dtype=np.float64)
    beyond = beyond.reshape(column.n_bins - 1, column.n_bins)
    stumps = (np.sqrt(2.0 * masses)[:, None] * (beyond - (beyond @ fractions)[:, None])).T
    variances, directions = np.linalg.eigh((stumps.T * fractions) @ stumps)
    votes = stumps @ directions
    # Not their variances: a cell of tiny weight has votes, too.
    sizes = np.abs(votes[fractions > 0.0]).max(axis=0, initial=0.0)
    order = np.flatnonzero(sizes > _MIN_VOTE * sizes.max(initial=0.0))[::-1]
    if len(order) == 0:  # a constant feature: one direction, whose values are 0
        return np.zeros((column.n_bins, 1)), np.zeros(1)
    return votes[:, order], np.maximum(variances[order], 0.0)
