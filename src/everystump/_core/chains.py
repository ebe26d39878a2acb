"""The chain of one feature: weights of smooth stumps, and the table that they add up to.

The places of a feature hang together as a tree: a path for numbers, where ``parent[k] = k - 1``, a
star for a category, and a leaf more for what is missing (see `everystump._core.columns`).
Let ``m[k]`` be the mass of the stumps between place ``k`` and its parent.  By Theorem 5 of
Lin & Li they act as one smooth stump of weight ``g[k]``, and the kernel's norm is ``|g|^2`` when
the table is ::

    U[k] = U[parent[k]] + s[k] g[k],        s[k] = sqrt(2 m[k]).

With a free bias ``U[0] = 0`` loses nothing.  Without one, every stump votes +1 beyond its edge and
-1 on the root's side, and the stumps outside the data are constant there, so that ::

    U[0] = s[0] g[0] / 2 - sum over j > 0 of s[j] g[j] / 2,  s[0] = sqrt(2 (mass outside)).

Weights and tables of all features lie end to end in flat arrays of one entry a place; with a
bias, ``s[0] = 0`` and the first weight of each feature does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from scipy import sparse

from everystump._core.columns import Column
from everystump._core.jit import kernel
from everystump._core.measures import Masses
from everystump._core.threads import share

# Kernel matrices are added up from so many features at a time, of which so many stay in the cache
# together with so many rows.
_FEATURES_AT_ONCE, _FEATURES_IN_CACHE, _TILE = 256, 32, 128


@dataclass(frozen=True)
class Chains:
    """The chains of all features.

    Attributes
    ----------
    starts : ndarray of shape (n_features + 1,)
        Where each feature begins in a flat array.
    parents : ndarray of shape (n_bins,)
        The place that each place hangs on, itself for the first of each feature; parents come
        before what hangs on them.
    jumps : ndarray of shape (n_bins,)
        ``s`` above.
    leaves : ndarray of bool, shape (n_bins,)
        Whether a place hangs aside, as levels and what is missing do, and not on a path of numbers.
    centered : bool
        Whether stumps vote -1 and +1 around their threshold (no bias) or 0 and 1 (bias).
    """

    starts: np.ndarray
    parents: np.ndarray
    jumps: np.ndarray
    leaves: np.ndarray
    centered: bool

    @classmethod
    def of(cls, columns: Sequence[Column], masses: Sequence[Masses], *, centered: bool) -> Chains:
        """Return the chains of features with these places and masses."""
        jumps = [np.append(mass.outside if centered else 0.0, mass.inside) for mass in masses]
        starts = np.concatenate([[0], np.cumsum([len(jump) for jump in jumps])])
        places = np.arange(starts[-1])
        parents, aside = np.maximum(places - 1, 0), np.zeros(len(places), dtype=bool)
        parents[starts[:-1]] = starts[:-1]
        for column, start in zip(columns, starts, strict=False):
            if column.is_category or column.missing > 0:
                own = slice(start, start + column.n_bins)
                parents[own] = start + column.parents
                place = np.arange(column.n_bins)
                aside[own] = column.is_category & (place > 0) | (place == column.missing_bin)
        return cls(starts, parents, np.sqrt(2 * np.concatenate(jumps)), aside, centered)

    def scaled(self, factors: np.ndarray) -> Chains:
        """Return the chains whose jumps are multiplied by ``factors``."""
        return replace(self, jumps=self.jumps * factors)

    def gram(self, places: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return the kernel matrix of rows, given the place of each row in each feature.

        It is the kernel of ``spread``: the mass shared on the ways to the roots with a bias, half
        the total mass less the mass between the rows without one.
        """
        shared = self._shared(places, n_threads)
        if np.where(self.leaves, self.jumps, 0.0)[places].any():
            shared += self._same_leaves(places)
        if not self.centered:
            return shared
        reach = np.diag(shared) / 2
        shared += np.sum(self.jumps**2) / 4
        shared -= reach[:, None]
        shared -= reach[None, :]
        return shared

    def _shared(self, places: np.ndarray, n_threads: int) -> np.ndarray:
        """Return twice the mass that rows share on the ways from the starts of the paths."""
        n_rows, n_features = places.shape
        positions = self._positions()
        out = np.zeros((n_rows, n_rows))
        edges = (n_rows * np.sqrt(np.linspace(0.0, 1.0, n_threads + 1))).astype(int)
        parts = [(lo, hi) for lo, hi in pairwise(edges.tolist()) if lo < hi]
        for first in range(0, n_features, _FEATURES_AT_ONCE):
            some = places[:, first : first + _FEATURES_AT_ONCE]
            # Features at position 0 fill up the last four.
            at = np.zeros((-(-some.shape[1] // 4) * 4, n_rows))
            np.take(positions, some.T, out=at[: some.shape[1]])
            share(partial(_add_minima_of, at, out), parts, n_threads)
        mirror(out)
        return out

    def _positions(self) -> np.ndarray:
        """Return where each place stands on the path of its feature: twice the mass to its start.

        What hangs aside stands where it hangs.
        """
        on_path = np.where(self.leaves, 0.0, self.jumps)
        positions = np.empty_like(self.jumps)
        _spread(self.starts, self.parents, on_path, False, on_path, positions)
        return positions

    def _same_leaves(self, places: np.ndarray) -> np.ndarray:
        """Return the mass, twice, of the leaves that rows have in common."""
        rows, features = np.nonzero(self.leaves[places])
        at = places[rows, features]
        shape = len(places), len(self.jumps)
        marks = sparse.csr_array((self.jumps[at], (rows, at)), shape=shape)
        return (marks @ marks.T).toarray()

    def votes(self, members: Sequence[int], places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of some features, and what each votes at given places.

        ``places`` has a column a member, of places in a flat table.  Votes are up to a constant
        for each weight.
        """
        entries = [np.arange(self.starts[d], self.starts[d + 1]) for d in members]
        votes = [
            self.jumps[entry] * self._is_beyond(d)[place - self.starts[d]]
            for d, entry, place in zip(members, entries, places.T, strict=True)
        ]
        return np.concatenate(entries), np.concatenate(votes, axis=1)

    def _is_beyond(self, d: int) -> np.ndarray:
        """Return whether each place of a feature lies beyond the edge to each place."""
        first, last = self.starts[d], self.starts[d + 1]
        beyond = np.eye(last - first, dtype=bool)
        for k, parent in enumerate(self.parents[first + 1 : last] - first, start=1):
            beyond[k] |= beyond[parent]
        return beyond

    @property
    def widest(self) -> float:
        """The kernel's widest distance between two rows, at most."""
        return float(np.sqrt(np.sum(self.jumps**2)))

    def nowhere(self) -> np.ndarray:
        """Return weights of 0."""
        return np.zeros(len(self.jumps))

    @staticmethod
    def dot(u: np.ndarray, v: np.ndarray) -> float:
        """Return the inner product of two vectors of weights."""
        return float(u @ v)

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """Return the tables that stump weights add up to."""
        table = np.empty_like(weights)
        _spread(self.starts, self.parents, self.jumps, self.centered, weights, table)
        return table

    def collect(self, sums: np.ndarray) -> np.ndarray:
        """Return the transpose of `spread` times ``sums``."""
        out = np.empty_like(sums)
        _collect(self.starts, self.parents, self.jumps, self.centered, sums, out)
        return out


def _add_minima_of(positions: np.ndarray, out: np.ndarray, part: tuple[int, int]) -> None:
    add_minima(positions, *part, out)


@kernel
def add_minima(positions, first, last, out):
    """Add ``sum over d of min(positions[d, i], positions[d, j])`` to ``out[i, j]``, ``j <= i``.

    Only for rows ``i`` from ``first`` up to ``last``; what lies above the diagonal is left unclear.
    The number of features is a multiple of 4.  Two rows and four features at a time: a position
    that is read serves twice, and a quarter of the sums go through memory.
    """
    n_features = positions.shape[0]
    nobody = np.empty(_TILE)
    for lo in range(0, last, _TILE):
        for start in range(0, n_features, _FEATURES_IN_CACHE):
            end = min(n_features, start + _FEATURES_IN_CACHE)
            for i in range(max(first, lo), last, 2):
                k = min(i + 1, last - 1)
                n = min(lo + _TILE, k + 1) - lo
                upper = out[i, lo : lo + n]
                lower = out[k, lo : lo + n] if k > i else nobody[:n]
                for d in range(start, end, 4):
                    _add_minima_of_two(positions[d : d + 4], i, k, lo, upper, lower)


@kernel
def _add_minima_of_two(x, i, k, lo, upper, lower):
    x0, x1, x2, x3 = x[0, lo:], x[1, lo:], x[2, lo:], x[3, lo:]
    a0, a1, a2, a3 = x[0, i], x[1, i], x[2, i], x[3, i]
    b0, b1, b2, b3 = x[0, k], x[1, k], x[2, k], x[3, k]
    for j in range(upper.shape[0]):
        y0, y1, y2, y3 = x0[j], x1[j], x2[j], x3[j]
        left = (y0 if y0 < a0 else a0) + (y1 if y1 < a1 else a1)
        upper[j] += left + ((y2 if y2 < a2 else a2) + (y3 if y3 < a3 else a3))
        left = (y0 if y0 < b0 else b0) + (y1 if y1 < b1 else b1)
        lower[j] += left + ((y2 if y2 < b2 else b2) + (y3 if y3 < b3 else b3))


@kernel
def mirror(out):
    """Copy what lies below the diagonal of a matrix to above it."""
    n = out.shape[0]
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(n, top + _TILE)):
                for j in range(left, min(i, left + _TILE)):
                    out[j, i] = out[i, j]


@kernel
def _spread(starts, parents, jumps, centered, weights, table):
    for d in range(starts.shape[0] - 1):
        total = 0.0
        first = starts[d]
        table[first] = 0.0
        # Along a path sums are carried, which spares the wait for what was just stored.
        if _is_path(parents, first, starts[d + 1] - 1):
            for k in range(first + 1, starts[d + 1]):
                total += jumps[k] * weights[k]
                table[k] = total
        else:
            for k in range(first + 1, starts[d + 1]):
                change = jumps[k] * weights[k]
                total += change
                table[k] = table[parents[k]] + change
        if centered:
            base = (jumps[first] * weights[first] - total) / 2
            for k in range(first, starts[d + 1]):
                table[k] += base


@kernel
def _collect(starts, parents, jumps, centered, sums, out):
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        if _is_path(parents, first, starts[d + 1] - 1):
            total = 0.0
            for k in range(starts[d + 1] - 1, first, -1):
                total += sums[k]
                out[k] = jumps[k] * total
            out[first] = sums[first] + total
        else:
            out[first : starts[d + 1]] = sums[first : starts[d + 1]]
            for k in range(starts[d + 1] - 1, first, -1):
                total = out[k]
                out[parents[k]] += total
                out[k] = jumps[k] * total
        half = 0.0
        if centered:
            half = out[first] / 2
            for k in range(first + 1, starts[d + 1]):
                out[k] -= jumps[k] * half
        out[first] = jumps[first] * half


@kernel
def factor(starts, parents, jumps, diagonal, price, damp):
    """Factor ``I + S'(D - dd'/sum(d))S`` of each feature, ``D = diag(d)``, ``S`` the plain sums.

    ``price[k]`` is the curvature that the places from ``k`` on put on the value at ``k`` when
    they are free to follow it, and ``damp[k] = 1 / (1 + s[k]^2 price[k])``; nothing is subtracted.
    """
    price[:] = diagonal
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        for k in range(starts[d + 1] - 1, first, -1):
            damp[k] = 1.0 / (1.0 + jumps[k] * jumps[k] * price[k])
            price[parents[k]] += price[k] * damp[k]
        damp[first] = 1.0 / (1.0 + jumps[first] * jumps[first] * price[first])


@kernel
def solve(starts, parents, jumps, price, damp, rhs, out):
    """Solve with the factors of `factor`: a sweep to the roots, then one back.

    With ``pull[k]`` what the right-hand sides beyond ``k`` ask of the value at ``k``, the sweeps
    are ``pull[parent] += damp (pull + s price rhs)`` and
    ``value[k] = damp (value[parent] + s (rhs - s pull))``.
    """
    longest = 0
    for d in range(starts.shape[0] - 1):
        longest = max(longest, starts[d + 1] - starts[d])
    pull = np.empty(longest)
    value = np.empty(longest)
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        last = starts[d + 1] - 1
        if _is_path(parents, first, last):
            _solve_path(first, last, jumps, price, damp, rhs, pull, out)
        else:
            _solve_tree(first, last, parents, jumps, price, damp, rhs, pull, value, out)


@kernel
def _is_path(parents, first, last):
    strays = 0
    for k in range(first + 1, last + 1):
        strays += parents[k] != k - 1
    return strays == 0


@kernel
def _solve_path(first, last, jumps, price, damp, rhs, pull, out):
    """Do what `_solve_tree` does where every place hangs on the one before.

    Pull and value are carried along, which spares the wait for what was just stored.
    """
    carried = 0.0
    for k in range(last, first, -1):
        pull[k - first] = carried
        carried = damp[k] * price[k] * jumps[k] * rhs[k] + damp[k] * carried
    before = -carried / price[first] if price[first] > 0.0 else 0.0
    out[first] = rhs[first]
    for k in range(first + 1, last + 1):
        asked = damp[k] * (rhs[k] - jumps[k] * pull[k - first])
        out[k] = asked - damp[k] * jumps[k] * price[k] * before
        before = before * damp[k] + jumps[k] * asked


@kernel
def _solve_tree(first, last, parents, jumps, price, damp, rhs, pull, value, out):
    pull[: last - first + 1] = 0.0
    for k in range(last, first, -1):
        asked = pull[k - first] + price[k] * jumps[k] * rhs[k]
        pull[parents[k] - first] += damp[k] * asked
    value[0] = -pull[0] / price[first] if price[first] > 0.0 else 0.0
    out[first] = rhs[first]
    for k in range(first + 1, last + 1):
        before = value[parents[k] - first]
        asked = damp[k] * (rhs[k] - jumps[k] * pull[k - first])
        out[k] = asked - damp[k] * jumps[k] * price[k] * before
        value[k - first] = before * damp[k] + jumps[k] * asked


def edge_signs(chains: Chains, directions: np.ndarray | None) -> np.ndarray | None:
    """Return the sign that each place's weight must have, 0 where it is free.

    The first place of a feature has no edge and no sign; what is missing is neither low nor high.
    """
    if directions is None:
        return None
    signs = np.repeat(directions, np.diff(chains.starts))
    signs[chains.starts[:-1]] = 0
    signs[chains.leaves] = 0
    return signs
