"""The datasets that come with the package: checksum and credit of each."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import NamedTuple

from everystump.datasets._csv import Table, parse_table

PACKAGED_FOLDER = files("everystump.datasets") / "data"


class Packaged(NamedTuple):
    """SHA-256 checksum of a file in the folder `data`, and its credit."""

    sha256: str
    credit: str


def read_packaged(name: str) -> Table:
    """Return a packaged table after checking the checksum of its file."""
    file = f"{name}.csv.xz"
    try:
        content = (PACKAGED_FOLDER / file).read_bytes()
    except OSError as error:
        raise ValueError(
            f"The packaged file {file} cannot be read ({error.strerror}): reinstall everystump."
        ) from error
    if hashlib.sha256(content).hexdigest() != PACKAGED[name].sha256:
        raise ValueError(
            f"The packaged file {file} is damaged (its SHA-256 is not the recorded one): "
            "reinstall everystump."
        )
    return parse_table(content, file)


def _uci(title: str, number: str, note: str) -> str:
    """Return the credit of a UCI dataset from its title and the end of its DOI."""
    return f"{title}, UCI Machine Learning Repository, doi:10.24432/{number}, CC BY 4.0; {note}."


_BREAST = "W. H. Wolberg, Breast Cancer Wisconsin (Original)", "C5HP4Z"
_GERMAN = "H. Hofmann, Statlog (German Credit Data)", "C5NC77"
_LJUBLJANA = (
    "M. Zwitter and M. Soklic, Breast Cancer, Institute of Oncology, University Medical Centre, "
    "Ljubljana",
    "C51P4M",
)
_THYROID = "Thyroid Disease (new-thyroid)", "C5D010"
_MONK = (
    "S. Thrun et al., The MONK's Problems, 1991, UCI Machine Learning Repository, CC BY 4.0; "
    "generated: the label is 1 if a = b or e = 1; "
)

PACKAGED = {
    "breast": Packaged(
        "90cbbf1c4a3b6537b5a655ce74a581b0293e6c804b22464aed0fbcfeb5b7b13c",
        _uci(*_BREAST, "16 values are missing"),
    ),
    "breast_683": Packaged(
        "aa9c1ddd774947776b0be9173568de62c4efe49875c3e3b69fb21478dc18ae35",
        _uci(*_BREAST, "without the 16 rows with missing values"),
    ),
    "breast_cancer_ljubljana": Packaged(
        "954bc697cbd57e4dc28ab7390882ab4f3271b5ff79d8aaeddc94d5c58366cbc4",
        _uci(*_LJUBLJANA, "without the 9 rows with missing values"),
    ),
    "breast_cancer_ljubljana_286": Packaged(
        "84413d6f904688686cecbfe6670d84d38ba814e5f2add36c431b991b76abbd38",
        _uci(*_LJUBLJANA, "9 values are missing"),
    ),
    "chess": Packaged(
        "de9d57159979244582ee8bfbf9a98f10f40ae2b4c01c0cac5a9104741131b690",
        _uci(
            "A. Shapiro, Chess (King-Rook vs. King-Pawn)",
            "C5DK5C",
            "label won: White can win",
        ),
    ),
    "german": Packaged(
        "5b4daaf8f897487cbc2c94e8308543263d250528a001186768e6ea56eec00557",
        _uci(*_GERMAN, "labels 1: good, 2: bad credit risk"),
    ),
    "german_numeric": Packaged(
        "d88174078511af98c8cd9147e39a71e45bc1a5b22cfdaf7a3755861e52b6e27d",
        _uci(
            *_GERMAN,
            "the repository's numeric version; labels 1: good, 2: bad credit risk",
        ),
    ),
    "heart": Packaged(
        "96c20f5c7835d605cca1a9b9b77d397e0340f8188f22d7216931dd16ef042ae4",
        _uci("Statlog (Heart)", "C57303", "labels 1: absence, 2: presence of heart disease"),
    ),
    "ionosphere": Packaged(
        "d39642539d66ff8a3ce5ceeae4bd1aaf51f904a2f761f2a3adb67e3edc71899f",
        _uci(
            "V. Sigillito, S. Wing, L. Hutton and K. Baker, Ionosphere",
            "C5W01B",
            "labels g: good, b: bad radar return",
        ),
    ),
    "magic": Packaged(
        "16db36062c435021afcfb08eb7bf4c37a0bb4d3d83eeedc7fd3cd0e21d03c03a",
        _uci("R. Bock, MAGIC Gamma Telescope", "C52C8B", "labels g: gamma ray, h: hadron"),
    ),
    "monk1": Packaged(
        "29f0cb226fbd45b67eeab3f445786163b357e0e6be94c08feacd26a0b96e5d61",
        f"{_MONK}all 432 combinations.",
    ),
    "monk1_train124": Packaged(
        "b1ab353b2ee1322995ea82f638c56c6d53d7e83b63b0450d72c34cfe4ffcc5f2",
        f"{_MONK}the 124 training rows.",
    ),
    "new_thyroid_3class": Packaged(
        "3171bce4c709e0ea719808da40998d2b1e46881831569e4717998689a41a2100",
        _uci(*_THYROID, "labels 1: normal, 2: overactive, 3: underactive thyroid"),
    ),
    "pima": Packaged(
        "9b84f0ec44624afa5ad93e6288bcf3a24aeec6b9b83b4e9b558f7c6f6582a5e7",
        "Pima Indians Diabetes, National Institute of Diabetes and Digestive and Kidney Diseases, "
        "donated by V. Sigillito, 1990, to the UCI Machine Learning Repository, which no longer "
        "lists it; label 1: diabetes.",
    ),
    "sonar": Packaged(
        "4d5c1012716090d01b7fbd4f1d1b54f3cd0cd96427cd50e25cbfe0a204279f88",
        _uci(
            "T. Sejnowski and R. Gorman, Connectionist Bench (Sonar, Mines vs. Rocks)",
            "C5T01Q",
            "labels M: mine, R: rock",
        ),
    ),
    "spambase": Packaged(
        "d5144fea12356f066eaafc6f78c95a010752508151e14e1a908dc6508fdee6e1",
        _uci(
            "M. Hopkins, E. Reeber, G. Forman and J. Suermondt, Spambase",
            "C53G6X",
            "label 1: spam",
        ),
    ),
    "thyroid": Packaged(
        "8a9d083b546575a2c5e118e0814395bf24dfcbfead7d9c38b6757315a50dba12",
        _uci(*_THYROID, "labels 0: normal, 1: abnormal thyroid"),
    ),
    "votes84": Packaged(
        "eb725f105f2ae5918ddb38d39060f3b86868c0fd1eafc26b2fb1b135d6017d50",
        _uci("Congressional Voting Records", "C5C01P", "392 values are missing"),
    ),
}
