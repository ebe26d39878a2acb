"""Data sets that are known but not packaged: how to recognise them, and where to get them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from everystump.datasets.csvtable import Table, classes
from everystump.datasets.fingerprint import fingerprint


class OpenML(NamedTuple):
    """Where a data set stands at OpenML: its number, and its rows there."""

    data_id: int
    rows: slice = slice(None)


class Known(NamedTuple):
    """How to recognise a table, whom to thank for it, and where to get it.

    Attributes
    ----------
    fingerprint : str
        The checksum of `everystump.datasets.fingerprint`.
    labels : tuple of str
        The labels of the classes, in the order of the classes' checksums.
    credit : str
        Whom to thank.
    source : str
        Where a user finds it.
    openml : OpenML or None
        Where to download it, if OpenML has it.
    """

    fingerprint: str
    labels: tuple[str, ...]
    credit: str
    source: str
    openml: OpenML | None = None


def recognise(known: Known, table: Table) -> Table | None:
    """Return the table with the known labels and its rows sorted, or None if it is another.

    The order of the rows is then the same whatever file they come from, and so is a random split.
    """
    found = fingerprint(table)
    if found.sha256 != known.fingerprint:
        return None
    labels = np.array(known.labels)[found.ranks]
    target_names, target = classes(labels[table.target].tolist())
    order = np.lexsort([target, *table.data.T[::-1]])
    return table._replace(data=table.data[order], target=target[order], target_names=target_names)


_USPS = (
    "J. J. Hull, A database for handwritten text recognition research, IEEE Transactions on "
    "Pattern Analysis and Machine Intelligence 16, 1994; 16 x 16 grey values, "
)
_ELEMENTS = "https://hastie.su.domains/ElemStatLearn/data.html"

CATALOGUE = {
    "australian": Known(
        "231acd115ec5e16019db0724a4c1126d8122b06c5b4cac54529ad23bb46bcda3",
        ("1", "0"),
        "R. Quinlan, Statlog (Australian Credit Approval), UCI Machine Learning Repository, "
        "doi:10.24432/C59012, CC BY 4.0.",
        "https://archive.ics.uci.edu/dataset/143 (australian.dat)",
        OpenML(40981),
    ),
    "covtype_binary_50k": Known(
        "ad5749e4ce84ed183808e63f721a2c5e674cf0514fce6bb592aa1b88d3804a1d",
        ("0", "1"),
        "J. Blackard, Covertype, UCI Machine Learning Repository, doi:10.24432/C50K5N, CC BY 4.0; "
        "50,000 rows in two classes.",
        "the source of scikit-multiflow 0.4.1 (covtype.csv)",
    ),
    "fourclass": Known(
        "e33da83cf95e5aed706a042cae559445a140fe1cbdd1d4a68d7c5343dd0f0f9f",
        ("1", "-1"),
        "T. K. Ho and E. M. Kleinberg, Building projectable classifiers of arbitrary complexity, "
        "International Conference on Pattern Recognition, 1996; in two classes as in LIBSVM Data.",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html (fourclass)",
    ),
    "usps_test": Known(
        "c2f98984f728b32b3c530dee44fdaab4aee2e470e5deb23ee8e9e08f7eec3141",
        ("3", "4", "8", "5", "1", "0", "2", "6", "7", "9"),
        f"{_USPS}test set.",
        f"{_ELEMENTS} (zip.test.gz)",
        OpenML(41082, slice(7291, 9298)),
    ),
    "usps_train": Known(
        "012bd4b46aba24a2ff4b31c91ae012c9efc4d2f252175af40b857dc198161748",
        ("4", "0", "5", "1", "8", "3", "9", "6", "2", "7"),
        f"{_USPS}training set.",
        f"{_ELEMENTS} (zip.train.gz)",
        OpenML(41082, slice(0, 7291)),
    ),
}
