"""The chain of one feature: weights of smooth stumps, and the table that they add up to.

Let ``m[k]`` be the mass of the stumps between place ``k - 1`` and place ``k`` of a feature.  By
Theorem 5 of Lin & Li they act as one smooth stump of weight ``g[k]``, and the kernel's norm is
``|g|^2`` when the table of the feature is ::

    U[k] = U[0] + sum over 0 < j <= k of s[j] g[j],        s[j] = sqrt(2 m[j]).

With a free bias ``U[0] = 0`` loses nothing.  Without one, every stump votes -1 to its left and
+1 to its right, and the stumps outside the data are constant there, so that ::

    U[0] = s[0] g[0] / 2 - sum over j > 0 of s[j] g[j] / 2,  s[0] = sqrt(2 (mass outside)).

Weights and tables of all features lie end to end in flat arrays of one entry a place; with a
bias, ``s[0] = 0`` and the first weight of each feature does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from everystump.jit import kernel
from everystump.measure import Masses


@dataclass(frozen=True)
class Chains:
    """The chains of all features.

    Attributes
    ----------
    starts : ndarray of shape (n_features + 1,)
        Where each feature begins in a flat array.
    jumps : ndarray of shape (n_places,)
        ``s`` above.
    centred : bool
        Whether stumps vote -1 and +1 around their threshold (no bias) or 0 and 1 (bias).
    """

    starts: np.ndarray
    jumps: np.ndarray
    centred: bool

    @classmethod
    def of(cls, masses: Sequence[Masses], *, centred: bool) -> Chains:
        """Return the chains of features with these masses."""
        outside = [mass.outside if centred else 0.0 for mass in masses]
        jumps = [np.sqrt(2 * np.append(o, m.inside)) for o, m in zip(outside, masses, strict=True)]
        starts = np.concatenate([[0], np.cumsum([len(jump) for jump in jumps])])
        return cls(starts, np.concatenate(jumps), centred)

    @property
    def positions(self) -> np.ndarray:
        """Where each place stands: twice the mass between the feature's first place and it."""
        positions = np.empty_like(self.jumps)
        _spread(self.starts, self.jumps, False, self.jumps, positions)
        return positions

    def gram(self, positions: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of rows, given the position of each row in each feature.

        It is the kernel of ``spread``: ``min(a, b)`` summed over features with a bias, half the
        total mass less the mass between the rows without one.
        """
        between = cdist(positions, positions, "cityblock")
        if self.centred:
            return np.sum(self.jumps**2) / 4 - between / 2
        reach = positions.sum(axis=1)
        return (reach[:, None] + reach[None, :] - between) / 2

    def votes(self, members: Sequence[int], places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of some features, and what each votes at given places.

        ``places`` has a column a member, of places in a flat table.  Votes are up to a constant
        for each weight.
        """
        entries = [np.arange(self.starts[d], self.starts[d + 1]) for d in members]
        votes = [
            self.jumps[entry] * (entry <= place[:, None])
            for entry, place in zip(entries, places.T, strict=True)
        ]
        return np.concatenate(entries), np.concatenate(votes, axis=1)

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """Return the tables that stump weights add up to."""
        table = np.empty_like(weights)
        _spread(self.starts, self.jumps, self.centred, weights, table)
        return table

    def collect(self, sums: np.ndarray) -> np.ndarray:
        """Return the transpose of `spread` times ``sums``."""
        out = np.empty_like(sums)
        _collect(self.starts, self.jumps, self.centred, sums, out)
        return out


@kernel
def _spread(starts, jumps, centred, weights, table):
    for d in range(starts.shape[0] - 1):
        total = 0.0
        first = starts[d]
        table[first] = 0.0
        for k in range(first + 1, starts[d + 1]):
            total += jumps[k] * weights[k]
            table[k] = total
        if centred:
            base = (jumps[first] * weights[first] - total) / 2
            for k in range(first, starts[d + 1]):
                table[k] += base


@kernel
def _collect(starts, jumps, centred, sums, out):
    for d in range(starts.shape[0] - 1):
        total = 0.0
        first = starts[d]
        for k in range(starts[d + 1] - 1, first, -1):
            total += sums[k]
            out[k] = jumps[k] * total
        half = 0.0
        if centred:
            half = (total + sums[first]) / 2
            for k in range(first + 1, starts[d + 1]):
                out[k] -= jumps[k] * half
        out[first] = jumps[first] * half


@kernel
def factor(starts, jumps, diagonal, price, damp):
    """Factor ``I + S'(D - dd'/sum(d))S`` of each feature, ``D = diag(d)``, ``S`` the plain sums.

    ``price[k]`` is the curvature that the places from ``k`` on put on the value at ``k`` when
    they are free to follow it, and ``damp[k] = 1 / (1 + s[k]^2 price[k])``; nothing is subtracted.
    """
    for d in range(starts.shape[0] - 1):
        carry = 0.0
        for k in range(starts[d + 1] - 1, starts[d] - 1, -1):
            price[k] = diagonal[k] + carry
            damp[k] = 1.0 / (1.0 + jumps[k] * jumps[k] * price[k])
            carry = price[k] * damp[k]


@kernel
def solve(starts, jumps, price, damp, rhs, out):
    """Solve with the factors of `factor`: a sweep to the left, then one to the right.

    With ``pull[k]`` what the right-hand sides beyond ``k`` ask of the value at ``k``, the sweeps
    are ``pull[k-1] = damp (pull + s price rhs)`` and
    ``value[k] = damp (value[k-1] + s (rhs - s pull))``.
    """
    pull = np.empty(rhs.shape[0])
    for d in range(starts.shape[0] - 1):
        first = starts[d]
        last = starts[d + 1] - 1
        carry = 0.0
        for k in range(last, first, -1):
            pull[k] = carry
            carry = carry * damp[k] + price[k] * jumps[k] * damp[k] * rhs[k]
        value = 0.0
        if price[first] > 0.0:
            value = -carry / price[first]
        out[first] = rhs[first]
        for k in range(first + 1, last + 1):
            asked = damp[k] * (rhs[k] - jumps[k] * pull[k])
            out[k] = asked - damp[k] * jumps[k] * price[k] * value
            value = value * damp[k] + jumps[k] * asked
