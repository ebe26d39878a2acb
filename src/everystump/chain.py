"""The chain of one feature: weights of smooth stumps, and the table that they add up to.

The places of a feature hang together as a tree: a path for numbers, where ``parent[k] = k - 1``, a
star for a category, and a leaf more for what is missing (see `everystump.columns`).  Let ``m[k]``
be the mass of the stumps between place ``k`` and its parent.  By Theorem 5 of Lin & Li they act as
one smooth stump of weight ``g[k]``, and the kernel's norm is ``|g|^2`` when the table is ::

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

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from everystump.columns import Column
from everystump.jit import kernel
from everystump.measure import Masses


@dataclass(frozen=True)
class Chains:
    """The chains of all features.

    Attributes
    ----------
    starts : ndarray of shape (n_features + 1,)
        Where each feature begins in a flat array.
    parents : ndarray of shape (n_places,)
        The place that each place hangs on, itself for the first of each feature; parents come
        before what hangs on them.
    jumps : ndarray of shape (n_places,)
        ``s`` above.
    leaves : ndarray of bool, shape (n_places,)
        Whether a place hangs aside, as levels and what is missing do, and not on a path of numbers.
    centred : bool
        Whether stumps vote -1 and +1 around their threshold (no bias) or 0 and 1 (bias).
    """

    starts: np.ndarray
    parents: np.ndarray
    jumps: np.ndarray
    leaves: np.ndarray
    centred: bool

    @classmethod
    def of(cls, columns: Sequence[Column], masses: Sequence[Masses], *, centred: bool) -> Chains:
        """Return the chains of features with these places and masses."""
        outside = [mass.outside if centred else 0.0 for mass in masses]
        jumps = [np.sqrt(2 * np.append(o, m.inside)) for o, m in zip(outside, masses, strict=True)]
        starts = np.concatenate([[0], np.cumsum([len(jump) for jump in jumps])])
        parents = [column.parents + start for column, start in zip(columns, starts, strict=False)]
        aside = [
            (column.is_category & (place > 0)) | (place == column.missing_place)
            for column in columns
            for place in [np.arange(column.n_places)]
        ]
        return cls(
            starts,
            np.concatenate(parents),
            np.concatenate(jumps),
            np.concatenate(aside),
            centred,
        )

    def scaled(self, factors: np.ndarray) -> Chains:
        """Return the chains whose jumps are multiplied by ``factors``."""
        return replace(self, jumps=self.jumps * factors)

    def gram(self, places: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of rows, given the place of each row in each feature.

        It is the kernel of ``spread``: the mass shared on the ways to the roots with a bias, half
        the total mass less the mass between the rows without one.
        """
        positions = self._positions()[places]
        aside = np.where(self.leaves, self.jumps**2, 0.0)[places]
        between = cdist(positions, positions, "cityblock")
        reach = positions.sum(axis=1)
        if aside.any():
            own = aside.sum(axis=1)
            reach = reach + own
            between += own[:, None] + own[None, :] - 2 * self._same_leaves(places)
        if self.centred:
            return np.sum(self.jumps**2) / 4 - between / 2
        return (reach[:, None] + reach[None, :] - between) / 2

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

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """Return the tables that stump weights add up to."""
        table = np.empty_like(weights)
        _spread(self.starts, self.parents, self.jumps, self.centred, weights, table)
        return table

    def collect(self, sums: np.ndarray) -> np.ndarray:
        """Return the transpose of `spread` times ``sums``."""
        out = np.empty_like(sums)
        _collect(self.starts, self.parents, self.jumps, self.centred, sums, out)
        return out


@kernel
def _spread(starts, parents, jumps, centred, weights, table):
    for d in range(starts.shape[0] - 1):
        total = 0.0
        first = starts[d]
        table[first] = 0.0
        for k in range(first + 1, starts[d + 1]):
            change = jumps[k] * weights[k]
            total += change
            table[k] = table[parents[k]] + change
        if centred:
            base = (jumps[first] * weights[first] - total) / 2
            for k in range(first, starts[d + 1]):
                table[k] += base


@kernel
def _collect(starts, parents, jumps, centred, sums, out):
    out[:] = sums
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        for k in range(starts[d + 1] - 1, first, -1):
            total = out[k]
            out[parents[k]] += total
            out[k] = jumps[k] * total
        half = 0.0
        if centred:
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
    pull = np.zeros(rhs.shape[0])
    value = np.empty(rhs.shape[0])
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        last = starts[d + 1] - 1
        for k in range(last, first, -1):
            pull[parents[k]] += damp[k] * (pull[k] + price[k] * jumps[k] * rhs[k])
        value[first] = -pull[first] / price[first] if price[first] > 0.0 else 0.0
        out[first] = rhs[first]
        for k in range(first + 1, last + 1):
            before = value[parents[k]]
            asked = damp[k] * (rhs[k] - jumps[k] * pull[k])
            out[k] = asked - damp[k] * jumps[k] * price[k] * before
            value[k] = before * damp[k] + jumps[k] * asked
