"""Columns of few places joined into one, so that the row loops have fewer codes to read.

Forty-four one-hot columns of which few combinations occur become one column of at most 256
joint places.  A joint place stands for one place in each member, so the table of a joint column
is the sum of its members' entries: a product with a sparse matrix of zeros and ones.  The sums
over rows are exactly what they were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

_MOST_PLACES = 256
_FEW_PLACES = 16


@dataclass(frozen=True)
class Packing:
    """Joint columns and how they hang together with the original ones.

    Attributes
    ----------
    codes : ndarray of shape (n_joint, n_rows)
        The joint place of each row.
    starts : ndarray of shape (n_joint + 1,)
        Where each joint column begins in a flat joint table.
    members : tuple of ndarray
        The original columns of each joint column.
    expand : csr_array of shape (n_joint_places, n_places)
        ``expand @ table`` is the joint table; its transpose takes joint sums back.
    """

    codes: np.ndarray
    starts: np.ndarray
    members: tuple[np.ndarray, ...]
    expand: sparse.csr_array


def pack(codes: np.ndarray, sizes: np.ndarray) -> Packing:
    """Join columns of few places greedily, in their order, while the joint places stay few."""
    first_place = np.concatenate([[0], np.cumsum(sizes)])
    few = [d for d in range(len(sizes)) if sizes[d] <= _FEW_PLACES]
    joints: list[_Joint] = []
    for d in few:
        if not joints or not joints[-1].join(d, codes[d], int(sizes[d])):
            joints.append(_Joint(d, codes[d], int(sizes[d])))
    joints = [joint for joint in joints if len(joint.members) > 1]
    joined = {d for joint in joints for d in joint.members}
    alone = [d for d in range(len(sizes)) if d not in joined]
    if not joints:
        members = tuple(np.array([d]) for d in alone)
        return Packing(codes, first_place, members, sparse.eye_array(first_place[-1], format="csr"))
    packed = np.concatenate([codes[alone], [joint.codes.astype(codes.dtype) for joint in joints]])
    places = [np.arange(sizes[d])[:, None] + first_place[d] for d in alone]
    places += [joint.places + first_place[joint.members] for joint in joints]
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in places])])
    row_starts = np.concatenate([[0], np.cumsum(np.concatenate([np.full(*p.shape) for p in places]))])
    columns = np.concatenate([p.ravel() for p in places])
    expand = sparse.csr_array(
        (np.ones(len(columns)), columns, row_starts.astype(np.int64)),
        shape=(starts[-1], first_place[-1]),
    )
    members = tuple(np.array([d]) for d in alone) + tuple(np.array(j.members) for j in joints)
    return Packing(packed, starts, members, expand)


class _Joint:
    """A joint column in the making."""

    def __init__(self, d: int, codes: np.ndarray, size: int) -> None:
        self.members = [d]
        self.codes = codes
        self.places = np.arange(size)[:, None]

    def join(self, d: int, codes: np.ndarray, size: int) -> bool:
        """Take column ``d`` in, unless too many joint places would occur."""
        pair = self.codes.astype(np.int32) * size + codes
        seen = np.flatnonzero(np.bincount(pair, minlength=len(self.places) * size))
        if len(seen) > _MOST_PLACES:
            return False
        new_code = np.empty(len(self.places) * size, dtype=np.uint8)
        new_code[seen] = np.arange(len(seen))
        self.codes = new_code[pair]
        self.places = np.column_stack([self.places[seen // size], seen % size])
        self.members.append(d)
        return True
