"""A checksum of a table that does not depend on file format, row order or names."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from everystump.datasets._csv import Table


class Fingerprint(NamedTuple):
    """Checksum of a table, and the order of its classes.

    Attributes
    ----------
    sha256 : str
        Checksum of the whole table.
    ranks : list of int
        The rank of each class when ordered by the checksums of the classes, which identifies a
        class independently of its label.
    """

    sha256: str
    ranks: list[int]


def fingerprint(table: Table) -> Fingerprint:
    r"""Return a checksum of a table's rows and classes.

    It depends on the feature values, the order of the features, the levels of categorical
    features, and on which rows share a label. It does not depend on compression, line endings,
    column names, how a number is written, the order of the rows, or how labels are spelled: the
    rows of each class are sorted as bytes, and so are the checksums of the classes.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    Fingerprint
        The checksum and the order of the classes.

    Examples
    --------
    >>> from everystump.datasets._csv import parse_table
    >>> from everystump.datasets._fingerprint import fingerprint
    >>> one = parse_table(b"a,b,target\n1,2,yes\n3,,no\n", "one.csv")
    >>> same = parse_table(b"x,y,target\r\n3.0,,-1\r\n1e0,2,+1\r\n", "same.csv")
    >>> other = parse_table(b"a,b,target\n1,2,yes\n3,0,no\n", "other.csv")
    >>> fingerprint(one).sha256 == fingerprint(same).sha256
    True
    >>> fingerprint(one).sha256 == fingerprint(other).sha256
    False
    """
    data = table.data.astype("<f8") + 0.0  # -0.0 becomes 0.0
    data[np.isnan(data)] = np.nan  # one bit pattern for NaN
    digests = [_digest(data[table.target == k]) for k in range(len(table.target_names))]
    levels = [table.categories.get(name, []) for name in table.feature_names]
    whole = hashlib.sha256(repr((data.shape, levels)).encode())
    for digest in sorted(digests):
        whole.update(digest)
    return Fingerprint(whole.hexdigest(), [sorted(digests).index(digest) for digest in digests])


def _digest(rows: np.ndarray) -> bytes:
    """Return the checksum of a set of rows."""
    return hashlib.sha256(b"".join(sorted(row.tobytes() for row in rows))).digest()
