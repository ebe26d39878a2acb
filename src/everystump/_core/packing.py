"""Columns of few places joined into one, so that the row loops have fewer codes to read.

Forty-four one-hot columns of which few combinations occur become one column of at most 256
joint places.  A joint place stands for one place in each member, so the table of a joint column
is the sum of its members' entries: a product with a sparse matrix of zeros and ones.  The sums
over rows are exactly what they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

_MOST_PLACES = 256
_MOST_OWN_PLACES = 1024
_FEW_PLACES = 16


class Home(NamedTuple):
    """The joint column of a feature, and the feature's own place at each joint place."""

    joint: int
    places: np.ndarray

    def own(self, sums: np.ndarray) -> np.ndarray:
        """Return sums by the feature's own places, given several by joint place, one a row."""
        return np.array([np.bincount(self.places, weights=row) for row in sums])


@dataclass(frozen=True)
class Packing:
    """Joint columns and how they hang together with the original ones.

    Attributes
    ----------
    codes : ndarray of shape (n_joint, n_rows)
        The joint place of each row.
    starts : ndarray of shape (n_joint + 1,)
        Where each joint column begins in a flat joint table.
    members : tuple of tuple of int
        The original columns of each joint column.
    places : tuple of ndarray of shape (n_joint_places, n_members)
        The place of each member, in a flat table of the original columns, at each joint place.
    homes : tuple of Home
        Where each original column is found.
    expand : csr_array of shape (n_all_joint_places, n_all_places)
        ``expand @ table`` is the joint table.
    """

    codes: np.ndarray
    starts: np.ndarray
    members: tuple[tuple[int, ...], ...]
    places: tuple[np.ndarray, ...]
    locations: tuple[Home, ...]
    expand: sparse.csr_array

    def by_feature(self, sums: np.ndarray) -> np.ndarray:
        """Return sums by the places of all features, given several by joint place, one a row."""
        is_plain = len(self.members) == len(self.locations)
        return sums if is_plain else (self.fold @ sums.T).T

    @cached_property
    def fold(self) -> sparse.csr_array:
        """The transpose of ``expand``: it takes joint sums to the original places."""
        return self.expand.T.tocsr()


def pack(codes: np.ndarray, sizes: np.ndarray) -> Packing:
    """Join columns of few places greedily, in their order, while the joint places stay few.

    Examples
    --------
    >>> one_hot = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.uint8)
    >>> packing = pack(one_hot, np.array([2, 2, 2]))
    >>> packing.codes, packing.members
    (array([[2, 1, 0]], dtype=uint8), ((0, 1, 2),))
    """
    joints = _join(codes, sizes)
    if len(joints) == len(codes):
        packed = codes
    else:
        packed = np.stack([joint.codes for joint in joints]).astype(codes.dtype, copy=False)
    first_place = np.concatenate([[0], np.cumsum(sizes)])
    places = tuple(joint.places + first_place[joint.members] for joint in joints)
    entries = np.concatenate([p.ravel() for p in places])
    per_row = np.concatenate([np.full(len(p), p.shape[1]) for p in places])
    row_starts = np.concatenate([[0], np.cumsum(per_row)])
    expand = sparse.csr_array(
        (np.ones(len(entries)), entries, row_starts), shape=(len(per_row), first_place[-1])
    )
    starts = np.concatenate([[0], np.cumsum([len(p) for p in places])])
    members = tuple(tuple(joint.members) for joint in joints)
    return Packing(packed, starts, members, places, _homes(joints), expand)


def _homes(joints: list[_Joint]) -> tuple[Home, ...]:
    found = {
        d: Home(g, joint.places[:, j])
        for g, joint in enumerate(joints)
        for j, d in enumerate(joint.members)
    }
    return tuple(found[d] for d in sorted(found))


def _join(codes: np.ndarray, sizes: np.ndarray) -> list[_Joint]:
    constant = np.flatnonzero(sizes == 1).tolist()
    alone = [_Joint(constant, codes[constant[0]], 1)] if constant else []
    joined: list[_Joint] = []
    for d in np.flatnonzero(sizes > 1).tolist():
        joint = _Joint([d], codes[d], size := int(sizes[d]))
        if size > _FEW_PLACES:
            alone.append(joint)
        elif not joined or not joined[-1].join(joint):
            joined.append(joint)
    return sorted(alone + joined, key=lambda joint: joint.members)


class _Joint:
    """A joint column in the making."""

    def __init__(self, members: list[int], codes: np.ndarray, size: int) -> None:
        self.members = members
        self.codes = codes
        self.places = np.repeat(np.arange(size)[:, None], len(members), axis=1)
        self._n_own = size

    def join(self, other: _Joint) -> bool:
        """Take another column in, unless too many joint places would occur.

        The members' own places are limited as well: they share a dense block of the preconditioner.
        """
        size = len(other.places)
        if self._n_own + size > _MOST_OWN_PLACES:
            return False
        pair = self.codes.astype(np.int32) * size + other.codes
        seen = np.flatnonzero(np.bincount(pair, minlength=len(self.places) * size))
        if len(seen) > _MOST_PLACES:
            return False
        joint_code = np.zeros(len(self.places) * size, dtype=np.uint8)
        joint_code[seen] = np.arange(len(seen))
        self.codes = joint_code[pair]
        self.places = np.hstack([self.places[seen // size], other.places[seen % size]])
        self.members = self.members + other.members
        self._n_own += size
        return True
