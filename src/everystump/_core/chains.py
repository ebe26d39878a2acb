"""The chain of each feature: from the weights of smooth stumps to the table that they sum to.

The bins of a feature form a tree (see `everystump._core.columns`).  Let ``m[k]`` be the mass of the
stumps between bin ``k`` and its parent.  By Theorem 5 of Lin & Li they act as one smooth stump of
weight ``g[k]``, and the norm of the kernel is ``|g|^2`` if the table is ::

    U[k] = U[parent[k]] + s[k] g[k],        s[k] = sqrt(2 m[k]).

With a free intercept, ``U[0] = 0`` without loss of generality.  Without one, every stump votes +1
beyond its edge and -1 on the side of the root, and stumps outside the data are constant, so that ::

    U[0] = s[0] g[0] / 2 - sum over j > 0 of s[j] g[j] / 2,  s[0] = sqrt(2 (mass outside)).

The weights of all features are concatenated in a flat array with one entry per bin, and so are the
tables.  ``U = S g``, where ``S`` is the linear operator of `Chains.matvec`.  With an intercept,
``s[0] = 0`` and the first weight of each feature has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from scipy import sparse

from everystump._core import chainloops
from everystump._core.columns import Column
from everystump._core.measures import Masses
from everystump._core.threads import thread_map

# The number of features that are added to a kernel matrix at a time.
_FEATURES_AT_ONCE = 256


@dataclass(frozen=True)
class Chains:
    """The chains of all features; ``n_bins`` is their total number of bins."""

    starts: np.ndarray  # (n_features + 1,): where each feature begins in a flat array
    parents: np.ndarray  # (n_bins,): each precedes its bin, except at a feature's root
    jumps: np.ndarray  # (n_bins,): s above
    leaves: np.ndarray  # (n_bins,): which bins are levels or missing values, not on a path
    centered: bool  # whether stumps vote -1 and +1 (no intercept) or 0 and 1 (intercept)

    @classmethod
    def from_columns(
        cls, columns: Sequence[Column], masses: Sequence[Masses], *, centered: bool
    ) -> Chains:
        """Return the chains of features with these bins and masses."""
        jumps = [np.append(mass.outside if centered else 0.0, mass.inside) for mass in masses]
        starts = np.concatenate([[0], np.cumsum([len(jump) for jump in jumps])])
        bins = np.arange(starts[-1])
        parents, leaves = np.maximum(bins - 1, 0), np.zeros(len(bins), dtype=bool)
        parents[starts[:-1]] = starts[:-1]
        for column, start in zip(columns, starts, strict=False):
            if column.is_category or column.missing > 0:
                part = slice(start, start + column.n_bins)
                parents[part] = start + column.parents
                leaves[part] = column.is_leaf
        return cls(starts, parents, np.sqrt(2 * np.concatenate(jumps)), leaves, centered)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.starts) - 1

    @property
    def longest(self) -> int:
        """The largest number of bins of a feature."""
        return int(np.diff(self.starts).max())

    def scaled(self, factors: np.ndarray) -> Chains:
        """Return the chains whose jumps are multiplied by ``factors``."""
        return replace(self, jumps=self.jumps * factors)

    def matvec(self, weights: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the table ``S weights``, in ``out`` if given."""
        table = np.empty_like(weights) if out is None else out
        chainloops.matvec(self.starts, self.parents, self.jumps, self.centered, weights, table)
        return table

    def rmatvec(self, sums: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return ``S' sums``, in ``out`` if given."""
        weights = np.empty_like(sums) if out is None else out
        chainloops.rmatvec(self.starts, self.parents, self.jumps, self.centered, sums, weights)
        return weights

    def edge_signs(self, directions: np.ndarray | None) -> np.ndarray | None:
        """Return the required sign of the weight of each bin, 0 if free; None if all are free.

        ``directions`` holds 1 for features whose curve must increase, -1 for decreasing ones.  The
        first bin of a feature has no edge, and missing values have no order.
        """
        if directions is None:
            return None
        signs = np.repeat(directions, np.diff(self.starts))
        signs[self.starts[:-1]] = 0
        signs[self.leaves] = 0
        return signs

    def kernel_matrix(self, bins: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return the kernel matrix of rows, given their bins as indices in a flat table.

        The kernel is that of `matvec`: with an intercept, the mass that two rows share on their
        paths to the roots; without one, half the total mass minus the mass between the rows.
        """
        shared = self._shared_mass(bins, n_threads)
        if np.where(self.leaves, self.jumps, 0.0)[bins].any():
            shared += self._shared_leaves(bins)
        if not self.centered:
            return shared
        half_diagonal = np.diag(shared) / 2
        shared += np.sum(self.jumps**2) / 4
        shared -= half_diagonal[:, None]
        shared -= half_diagonal[None, :]
        return shared

    def _shared_mass(self, bins: np.ndarray, n_threads: int) -> np.ndarray:
        """Return twice the mass that rows share on the paths of numbers."""
        n_rows, n_features = bins.shape
        positions = self._positions()
        out = np.zeros((n_rows, n_rows))
        edges = (n_rows * np.sqrt(np.linspace(0.0, 1.0, n_threads + 1))).astype(int)
        parts = [(lo, hi) for lo, hi in pairwise(edges.tolist()) if lo < hi]
        for first in range(0, n_features, _FEATURES_AT_ONCE):
            batch = bins[:, first : first + _FEATURES_AT_ONCE]
            # The number of features is padded to a multiple of 4 by features at position 0.
            row_positions = np.zeros((-(-batch.shape[1] // 4) * 4, n_rows))
            np.take(positions, batch.T, out=row_positions[: batch.shape[1]])
            thread_map(partial(_add_minima, row_positions, out), parts, n_threads)
        chainloops.mirror(out)
        return out

    def _positions(self) -> np.ndarray:
        """Return twice the mass from each bin to the start of its path; a leaf is at its parent."""
        on_path = np.where(self.leaves, 0.0, self.jumps)
        positions = np.empty_like(self.jumps)
        chainloops.matvec(self.starts, self.parents, on_path, False, on_path, positions)
        return positions

    def _shared_leaves(self, bins: np.ndarray) -> np.ndarray:
        """Return twice the mass of the leaves that rows have in common."""
        rows, features = np.nonzero(self.leaves[bins])
        leaf_bins = bins[rows, features]
        shape = len(bins), len(self.jumps)
        indicators = sparse.csr_array((self.jumps[leaf_bins], (rows, leaf_bins)), shape=shape)
        return (indicators @ indicators.T).toarray()

    def votes(self, features: Sequence[int], bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the weights of some features, and their votes in some bins.

        ``bins`` has one column per feature, of indices in a flat table.  Votes are defined up to a
        constant per weight.
        """
        entries = [np.arange(self.starts[d], self.starts[d + 1]) for d in features]
        votes = [
            self.jumps[entry] * self._is_beyond(d)[k - self.starts[d]]
            for d, entry, k in zip(features, entries, bins.T, strict=True)
        ]
        return np.concatenate(entries), np.concatenate(votes, axis=1)

    def _is_beyond(self, d: int) -> np.ndarray:
        """Return whether each bin of a feature lies beyond the edge to each bin."""
        first, last = self.starts[d], self.starts[d + 1]
        beyond = np.eye(last - first, dtype=bool)
        for k, parent in enumerate(self.parents[first + 1 : last] - first, start=1):
            beyond[k] |= beyond[parent]
        return beyond


def _add_minima(positions: np.ndarray, out: np.ndarray, part: tuple[int, int]) -> None:
    chainloops.add_minima(positions, *part, out)
