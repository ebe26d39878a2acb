"""Known datasets that are not packaged: checksums, credits and sources."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from everystump.datasets._csv import Table, encode_labels
from everystump.datasets._fingerprint import fingerprint


class OpenML(NamedTuple):
    """The ID of a dataset at OpenML, and which of its rows to use."""

    data_id: int
    rows: slice = slice(None)


class KnownDataset(NamedTuple):
    """Checksum, labels, credit and source of a dataset.

    Attributes
    ----------
    fingerprint : str
        Checksum of the table's content.
    labels : tuple of str
        The class labels, ordered by the checksums of the classes.
    credit : str
        Authors or donors, and license.
    source : str
        Where users can find it.
    openml : OpenML or None
        Where to download it, if it is available at OpenML.
    """

    fingerprint: str
    labels: tuple[str, ...]
    credit: str
    source: str
    openml: OpenML | None = None


def recognize(known: KnownDataset, table: Table) -> Table | None:
    """Return the table with the known labels and sorted rows, or None if its content differs.

    Sorting makes the order of the rows, and so a random split, independent of the file.
    """
    found = fingerprint(table)
    if found.sha256 != known.fingerprint:
        return None
    labels = np.array(known.labels)[found.ranks]
    target_names, target = encode_labels(labels[table.target].tolist())
    order = np.lexsort([target, *table.data.T[::-1]])
    return table._replace(data=table.data[order], target=target[order], target_names=target_names)


_USPS = (
    "J. J. Hull, A database for handwritten text recognition research, IEEE Transactions on "
    "Pattern Analysis and Machine Intelligence 16, 1994; 16 x 16 gray values, "
)
_ELEMENTS = "https://hastie.su.domains/ElemStatLearn/data.html"

KNOWN = {
    "australian": KnownDataset(
        "231acd115ec5e16019db0724a4c1126d8122b06c5b4cac54529ad23bb46bcda3",
        ("1", "0"),
        "R. Quinlan, Statlog (Australian Credit Approval), UCI Machine Learning Repository, "
        "doi:10.24432/C59012, CC BY 4.0.",
        "https://archive.ics.uci.edu/dataset/143 (australian.dat)",
        OpenML(40981),
    ),
    "covtype_binary_50k": KnownDataset(
        "ad5749e4ce84ed183808e63f721a2c5e674cf0514fce6bb592aa1b88d3804a1d",
        ("0", "1"),
        "J. Blackard, Covertype, UCI Machine Learning Repository, doi:10.24432/C50K5N, CC BY 4.0; "
        "50,000 rows in two classes.",
        "the source of scikit-multiflow 0.4.1 (covtype.csv)",
    ),
    "fourclass": KnownDataset(
        "e33da83cf95e5aed706a042cae559445a140fe1cbdd1d4a68d7c5343dd0f0f9f",
        ("1", "-1"),
        "T. K. Ho and E. M. Kleinberg, Building projectable classifiers of arbitrary complexity, "
        "International Conference on Pattern Recognition, 1996; in two classes as in LIBSVM Data.",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html (fourclass)",
    ),
    "usps_test": KnownDataset(
        "c2f98984f728b32b3c530dee44fdaab4aee2e470e5deb23ee8e9e08f7eec3141",
        ("3", "4", "8", "5", "1", "0", "2", "6", "7", "9"),
        f"{_USPS}test set.",
        f"{_ELEMENTS} (zip.test.gz)",
        OpenML(41082, slice(7291, 9298)),
    ),
    "usps_train": KnownDataset(
        "012bd4b46aba24a2ff4b31c91ae012c9efc4d2f252175af40b857dc198161748",
        ("4", "0", "5", "1", "8", "3", "9", "6", "2", "7"),
        f"{_USPS}training set.",
        f"{_ELEMENTS} (zip.train.gz)",
        OpenML(41082, slice(0, 7291)),
    ),
}
