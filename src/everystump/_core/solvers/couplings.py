"""How features overlap: Newton's matrix in the leading directions of each feature.

Newton's matrix is ``H = B + X``: the block ``B = I + G`` of each feature, where ``G`` is that of
the losses, and the couplings ``X`` of different features.  A direction is an eigenvector of ``G``.
If its eigenvalue ``l`` is small, the data say little about it, and it is nearly independent of all
other directions whatever these are: its variance is between ``1 / (1 + l)`` and 1.  So let ``Q``
have the leading directions of all features as columns, scaled so that ``Q'BQ = I``, and let

    M^-1 = B^-1 + Q (A^-1 - I) Q',      A = Q'HQ = I + YQ,      Y = Q'X.

This is ``H^-1`` if all directions lead, ``B^-1`` if none does.  In between, ``M`` is a good
preconditioner, and simulation only has to correct it: if ``r`` has covariance ``H``,

    H^-1 = M^-1 + M^-1 (M - H) M^-1 + Cov(H^-1 r - M^-1 r).

Within a feature the second term is ``Q (I - A^-1) Y (B^-1 - QQ')`` plus its transpose, as ``X`` has
no entries there.  Couplings are found from the curvature of the rows in each pair of bins of two
columns: one pass over the rows for each pair of columns, however many directions there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from everystump._core import rowloops
from everystump._core.chains import Chains
from everystump._core.packing import Packing
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.row_blocks import ActiveRows
from everystump._core.threads import thread_map

_MAX_DIRECTIONS = 1024
# At most this many numbers are stored for the couplings.
_MAX_SIZE = 2e7
# Features of more bins have no leading directions.
_MAX_BLOCK = 1024
# Couplings of directions with smaller eigenvalues are negligible.
_NEGLIGIBLE = 1e-5


class NewtonBlocks(NamedTuple):
    """The curvature of the rows, by bin and by joint bin, and its sums in Newton's matrix."""

    diagonal: np.ndarray
    joint: np.ndarray
    pull: np.ndarray  # h = V'W1
    total: float  # k


@dataclass(frozen=True, eq=False)
class Directions:
    """The eigenvectors of a feature's part of ``G``, those of large eigenvalues first."""

    entries: slice  # the weights of the feature
    eigenvalues: np.ndarray
    vectors: np.ndarray  # as columns
    leading: slice  # the columns of Q of the first of them

    @property
    def n_leading(self) -> int:
        """The number of leading directions."""
        return self.leading.stop - self.leading.start

    @cached_property
    def basis(self) -> np.ndarray:
        """The feature's part of ``Q``, without the zeros."""
        k = self.n_leading
        return self.vectors[:, :k] / np.sqrt(1.0 + self.eigenvalues[:k])


class Couplings:
    """The matrix ``M`` of a problem at the curvature of its active rows."""

    def __init__(
        self, problem: Problem, active: ActiveRows, blocks: NewtonBlocks, n_threads: int
    ) -> None:
        self._chains = problem.terms.chains
        self._directions = _leading_directions(self._chains, problem.packing, blocks)
        self._overlaps = self._make_overlaps(problem.packing, active, blocks, n_threads)
        matrix = np.eye(len(self._overlaps))
        for own in self._directions:
            matrix[:, own.leading] += self._overlaps[:, own.entries] @ own.basis
        factor = cho_factor((matrix + matrix.T) / 2, lower=True, overwrite_a=True)
        self._excess = cho_solve(factor, np.eye(len(matrix)), overwrite_b=True)  # A^-1 - I
        self._excess[np.diag_indices_from(matrix)] -= 1.0

    @property
    def is_complete(self) -> bool:
        """Whether ``M`` is Newton's matrix, up to negligible couplings."""
        covered = sum(len(own.eigenvalues) for own in self._directions)
        return covered == len(self._chains.jumps) and all(
            np.all(own.eigenvalues[own.n_leading :] <= _NEGLIGIBLE) for own in self._directions
        )

    def _make_overlaps(
        self, packing: Packing, active: ActiveRows, blocks: NewtonBlocks, n_threads: int
    ) -> np.ndarray:
        """Return ``Y``."""
        starts, bins = packing.starts, active.codes.bins
        columns = [slice(a, b) for a, b in pairwise(starts.tolist())]
        tables, rows = _tables_of_columns(self._chains, packing, self._directions)
        sums = np.zeros((sum(map(len, tables)), starts[-1]))
        for part, table, column in zip(rows, tables, columns, strict=True):
            sums[part, column] = table * blocks.joint[column]

        def add_pair(pair: tuple[int, int]) -> None:
            g, h = pair
            table = np.empty((starts[g + 1] - starts[g], starts[h + 1] - starts[h]))
            rowloops.scatter_pair(bins[g], bins[h], active.weight, table)
            sums[rows[g], columns[h]] = tables[g] @ table
            sums[rows[h], columns[g]] = tables[h] @ table.T

        sizes = np.diff(starts)
        pairs = [
            (g, h)
            for g, h in combinations(np.flatnonzero(sizes > 1).tolist(), 2)
            if len(tables[g]) or len(tables[h])
        ]
        thread_map(add_pair, pairs, n_threads)
        overlaps = np.ascontiguousarray(packing.fold(sums))
        for row in overlaps:
            self._chains.rmatvec(row, row)
        for own in self._directions:
            shifts = own.basis.T @ blocks.pull[own.entries]
            overlaps[own.leading] -= np.outer(shifts / blocks.total, blocks.pull)
            overlaps[own.leading, own.entries] = 0.0
        return overlaps

    def correction(self, rhs: np.ndarray) -> np.ndarray:
        """Return ``(M^-1 - B^-1) rhs``."""
        leading, out = np.empty(len(self._excess)), np.zeros_like(rhs)
        for own in self._directions:
            leading[own.leading] = own.basis.T @ rhs[own.entries]
        leading = self._excess @ leading
        for own in self._directions:
            out[own.entries] = own.basis @ leading[own.leading]
        return out

    @property
    def n_parameters(self) -> float:
        """The trace of ``I - M^-1``."""
        total = 0.0
        for own in self._directions:
            variances = 1.0 / (1.0 + own.eigenvalues)
            excess = np.diag(self._excess)[own.leading]
            total += float(np.sum(1.0 - variances) - excess @ variances[: own.n_leading])
        return total

    def curve_variances(self, shares: np.ndarray, out: np.ndarray) -> None:
        """Write the first two terms of ``H^-1`` for the entries of tables, see above.

        An entry is taken minus the mean over its feature, weighted by ``shares``.  Entries of
        features without directions are left as they are.
        """
        votes = _centered_tables(self._chains, self._directions, shares)
        for own in self._directions:
            k, scale = own.n_leading, 1.0 + own.eigenvalues
            curves = votes[: len(scale), own.entries].T
            leading, others = curves[:, :k] / np.sqrt(scale[:k]), curves[:, k:] / scale[k:]
            excess = self._excess[own.leading]
            overlaps = excess @ (self._overlaps[:, own.entries] @ own.vectors[:, k:])
            out[own.entries] = np.sum(curves**2 / scale, axis=1)
            out[own.entries] += np.sum(leading @ excess[:, own.leading] * leading, axis=1)
            out[own.entries] -= 2 * np.sum(leading @ overlaps * others, axis=1)


def coupling_cost(problem: Problem, n_active: int) -> float:
    """Estimate the seconds to compute the couplings of a problem, infinite if it has none."""
    sizes = np.diff(problem.terms.chains.starts).astype(float)
    sizes[sizes > _MAX_BLOCK] = 0.0
    n, longest, n_columns = sizes.sum(), sizes.max(), len(problem.packing.members)
    if n == 0.0:
        return np.inf
    k = min(n, _max_directions(problem.terms.n_bins))
    pairs = 1.5e-9 * n_active * n_columns * (n_columns - 1) / 2
    products = 1e-10 * k * longest * (n + k) + 2e-9 * k * n
    return float(pairs + products + 5e-10 * np.sum(sizes**3) + 4e-11 * k**3)


def _max_directions(n_bins: int) -> int:
    return int(min(_MAX_DIRECTIONS, _MAX_SIZE / n_bins))


def _leading_directions(chains: Chains, packing: Packing, blocks: NewtonBlocks) -> list[Directions]:
    """Return the directions of all features of few bins, by joint column."""
    features = [d for members in packing.members for d in members]
    parts = [slice(a, b) for a, b in pairwise(chains.starts.tolist())]
    sizes = np.diff(chains.starts)
    columns = _block_columns(chains, blocks.diagonal, int(sizes[sizes <= _MAX_BLOCK].max()))
    found = {}
    for d in features:
        if sizes[d] <= _MAX_BLOCK:
            values, vectors = np.linalg.eigh(columns[: sizes[d], parts[d]])
            found[d] = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    everything = np.sort(np.concatenate([values for values, _ in found.values()]))[::-1]
    n_max = _max_directions(len(chains.jumps))
    least = max(_NEGLIGIBLE, everything[n_max - 1] if n_max <= len(everything) else 0.0)
    directions, first = [], 0
    for d, (values, vectors) in found.items():
        last = first + int(np.count_nonzero(values > least))
        directions.append(Directions(parts[d], values, vectors, slice(first, last)))
        first = last
    return directions


def _block_columns(chains: Chains, diagonal: np.ndarray, n: int) -> np.ndarray:
    """Return the first ``n`` columns of the blocks ``S'(D - dd'/k)S`` of all features."""
    first, sizes = chains.starts[:-1], np.diff(chains.starts)
    totals = np.add.reduceat(diagonal, first)
    columns = np.empty((n, len(diagonal)))
    for k in range(n):
        unit = np.zeros(len(diagonal))
        unit[(first + k)[k < sizes]] = 1.0
        weighted = diagonal * chains.matvec(unit)
        means = np.add.reduceat(weighted, first) / np.where(totals > 0.0, totals, 1.0)
        chains.rmatvec(weighted - diagonal * np.repeat(means, sizes), columns[k])
    return columns


def _tables_of_columns(
    chains: Chains, packing: Packing, directions: list[Directions]
) -> tuple[list[np.ndarray], list[slice]]:
    """Return the joint tables of the leading directions of each joint column, and their rows."""
    by_entry = {own.entries.start: own for own in directions}
    tables, rows, first = [], [], 0
    for g, members in enumerate(packing.members):
        parts = [np.zeros((0, packing.starts[g + 1] - packing.starts[g]))]
        for d in members:
            own = by_entry.get(chains.starts[d])
            if own is None or own.n_leading == 0:
                continue
            weights = np.zeros((own.n_leading, len(chains.jumps)))
            weights[:, own.entries] = own.basis.T
            for row in weights:
                row[:] = chains.matvec(row)
            parts.append(packing.expand(weights)[:, packing.starts[g] : packing.starts[g + 1]])
        tables.append(np.concatenate(parts))
        rows.append(slice(first, first + len(tables[-1])))
        first = rows[-1].stop
    return tables, rows


def _centered_tables(
    chains: Chains, directions: list[Directions], shares: np.ndarray
) -> np.ndarray:
    """Return the table of direction ``k`` of every feature, centered by shares, as row ``k``."""
    first, sizes = chains.starts[:-1], np.diff(chains.starts)
    tables = np.zeros((max(len(own.eigenvalues) for own in directions), len(shares)))
    for k, row in enumerate(tables):
        for own in directions:
            if k < len(own.eigenvalues):
                row[own.entries] = own.vectors[:, k]
        table = chains.matvec(row)
        row[:] = table - np.repeat(np.add.reduceat(shares * table, first), sizes)
    return tables
