"""Joint columns: columns of few bins merged into one, so that the row loops read fewer codes.

For example, 44 one-hot columns with few distinct combinations become one column of at most 256
joint bins.  A joint bin stands for one bin of each member, so the table of a joint column is the
sum of its members' entries: a product with a sparse matrix of zeros and ones.  Nothing is
approximated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from everystump._core.codes import Codes

_MAX_JOINT_BINS = 256
_MAX_MEMBER_BINS = 1024  # of all members together
_FEW_BINS = 16


class Location(NamedTuple):
    """The joint column of a feature, and the feature's own bin at each joint bin."""

    joint: int
    bins: np.ndarray

    def feature_sums(self, joint_sums: np.ndarray) -> np.ndarray:
        """Return sums by the feature's own bins, given sums by joint bin; one row per sum."""
        return np.array([np.bincount(self.bins, weights=row) for row in joint_sums])


@dataclass(frozen=True)
class Packing:
    """The codes of all rows in joint columns, and how these relate to the features.

    A flat table has one entry per bin, feature by feature; a flat joint table has one entry per
    joint bin, joint column by joint column.  In both, the tables of interactions follow.
    """

    codes: Codes  # the joint bins of all rows, and their cells in interactions
    members: tuple[tuple[int, ...], ...]  # the features of each joint column
    # (n_joint_bins, n_members) each: the index in a flat table of the bin of each member.
    bins: tuple[np.ndarray, ...]
    locations: tuple[Location, ...]  # of each feature
    expand_matrix: sparse.csr_array  # times a flat table is the flat joint table

    @property
    def starts(self) -> np.ndarray:
        """Where each joint column begins in a flat joint table."""
        return self.codes.starts

    @cached_property
    def is_trivial(self) -> bool:
        """Whether no columns are joined."""
        return len(self.members) == len(self.locations)

    def expand(self, table: np.ndarray) -> np.ndarray:
        """Return the joint table of a table, which may have several rows, each a table."""
        if self.is_trivial:
            return table
        n_bins = self.expand_matrix.shape[1]
        expanded = (self.expand_matrix @ table[..., :n_bins].T).T
        return np.concatenate([expanded, table[..., n_bins:]], axis=-1)

    def fold(self, joint: np.ndarray) -> np.ndarray:
        """Return sums by bin, given sums by joint bin: the transpose of `expand`.

        ``joint`` may have several rows, each a joint table.
        """
        if self.is_trivial:
            return joint
        n_bins = self.starts[-1]
        folded = (self._fold_matrix @ joint[..., :n_bins].T).T
        return np.concatenate([folded, joint[..., n_bins:]], axis=-1)

    @cached_property
    def _fold_matrix(self) -> sparse.csr_array:
        return self.expand_matrix.T.tocsr()

    def flat_bins(self, bins: np.ndarray) -> np.ndarray:
        """Return the indices in a flat table of the bins of some rows, given their joint bins.

        The shape is (n_rows, n_features); features are in the order of the joint columns.
        """
        joint = zip(self.bins, bins, strict=True)
        return np.concatenate([own.astype(np.int32)[code] for own, code in joint], axis=1)


def pack(codes: np.ndarray, sizes: np.ndarray, max_joint_bins: int = _MAX_JOINT_BINS) -> Packing:
    """Join columns of few bins greedily, in order, while the number of joint bins stays small.

    Examples
    --------
    >>> one_hot = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.uint8)
    >>> packing = pack(one_hot, np.array([2, 2, 2]))
    >>> packing.codes.bins, packing.members
    (array([[2, 1, 0]], dtype=uint8), ((0, 1, 2),))
    """
    return _pack_joints(_join(codes, sizes, max_joint_bins), codes, sizes)


def keep_columns(codes: np.ndarray, sizes: np.ndarray) -> Packing:
    """Return the codes as they are, for rows in parts that need not have the same joint bins."""
    joints = [_Joint([d], codes[d], int(size)) for d, size in enumerate(sizes)]
    return _pack_joints(joints, codes, sizes)


def _pack_joints(joints: list[_Joint], codes: np.ndarray, sizes: np.ndarray) -> Packing:
    if len(joints) == len(codes):
        packed = codes
    else:
        packed = np.stack([joint.codes for joint in joints]).astype(codes.dtype, copy=False)
    first_bin = np.concatenate([[0], np.cumsum(sizes)])
    bins = tuple(joint.bins + first_bin[joint.members] for joint in joints)
    entries = np.concatenate([b.ravel() for b in bins])
    per_row = np.concatenate([np.full(len(b), b.shape[1]) for b in bins])
    row_starts = np.concatenate([[0], np.cumsum(per_row)])
    matrix = sparse.csr_array(
        (np.ones(len(entries)), entries, row_starts), shape=(len(per_row), first_bin[-1])
    )
    starts = np.concatenate([[0], np.cumsum([len(b) for b in bins])])
    members = tuple(tuple(joint.members) for joint in joints)
    return Packing(Codes.from_bins(packed, starts), members, bins, _locations(joints), matrix)


def _locations(joints: list[_Joint]) -> tuple[Location, ...]:
    locations = {
        d: Location(g, joint.bins[:, j])
        for g, joint in enumerate(joints)
        for j, d in enumerate(joint.members)
    }
    return tuple(locations[d] for d in sorted(locations))


def _join(codes: np.ndarray, sizes: np.ndarray, max_joint_bins: int) -> list[_Joint]:
    constant = np.flatnonzero(sizes == 1).tolist()
    single = [_Joint(constant, codes[constant[0]], 1)] if constant else []
    joined: list[_Joint] = []
    for d in np.flatnonzero(sizes > 1).tolist():
        joint = _Joint([d], codes[d], size := int(sizes[d]))
        if size > _FEW_BINS:
            single.append(joint)
        elif not joined or not joined[-1].join(joint, max_joint_bins):
            joined.append(joint)
    return sorted(single + joined, key=lambda joint: joint.members)


class _Joint:
    """A joint column under construction."""

    def __init__(self, members: list[int], codes: np.ndarray, size: int) -> None:
        self.members = members
        self.codes = codes
        self.bins = np.repeat(np.arange(size)[:, None], len(members), axis=1)
        self._n_member_bins = size

    def join(self, other: _Joint, max_joint_bins: int) -> bool:
        """Add another column unless that makes too many joint bins; return whether it was added.

        The members' own bins are limited too: they share a dense block of the preconditioner.
        """
        size = len(other.bins)
        if self._n_member_bins + size > _MAX_MEMBER_BINS:
            return False
        pair = self.codes.astype(np.int32) * size + other.codes
        present = np.flatnonzero(np.bincount(pair, minlength=len(self.bins) * size))
        if len(present) > max_joint_bins:
            return False
        joint_code = np.zeros(len(self.bins) * size, dtype=np.uint8)
        joint_code[present] = np.arange(len(present))
        self.codes = joint_code[pair]
        self.bins = np.hstack([self.bins[present // size], other.bins[present % size]])
        self.members = self.members + other.members
        self._n_member_bins += size
        return True
