"""Find a data set by its name: packaged with its checksum and credit, or in the user's folder."""

from __future__ import annotations

import hashlib
import os
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from everystump.datasets.csvtable import Table, parse_table

FOLDER_VARIABLE = "EVERYSTUMP_DATA"
SUFFIXES = (".csv", ".csv.gz")


class Packaged(NamedTuple):
    """One file in the folder `data`, how to know that it is whole, and whom to thank."""

    file: str
    sha256: str
    credit: str


PACKAGED = {
    "heart": Packaged(
        "heart.csv",
        "fb6175056cde1a627521aa2f59ebeca768dfc5f13bb22a2aac5ab029b54b4b9e",
        "Statlog (Heart), UCI Machine Learning Repository, doi:10.24432/C57303, CC BY 4.0; "
        "label 1 is absence, 2 presence of heart disease.",
    ),
}
PACKAGED_FOLDER = files("everystump.datasets") / "data"


@overload
def load_dataset(name: str, *, return_X_y: Literal[False] = False) -> Bunch: ...


@overload
def load_dataset(
    name: str, *, return_X_y: Literal[True]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...


def load_dataset(
    name: str, *, return_X_y: bool = False
) -> Bunch | tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load a data set by its name.

    Packaged names come first: ``heart``. Any other name is looked for as ``<name>.csv`` or
    ``<name>.csv.gz`` in the folder that the environment variable ``EVERYSTUMP_DATA`` names. Such
    a file has a header, numeric features first, the label in the last column ``target``, and an
    empty cell for a missing value.

    Parameters
    ----------
    name : str
        Name of the data set.
    return_X_y : bool, default=False
        Return only ``(data, target)``.

    Returns
    -------
    Bunch or tuple
        A `sklearn.utils.Bunch` with

        - ``data``, an array of shape (n_samples, n_features), NaN where a value is missing;
        - ``target``, an array of shape (n_samples,), each row's class as an index;
        - ``feature_names``, a list of the features' names;
        - ``target_names``, an array of the classes' labels as the file has them;
        - ``DESCR``, the size of the data and their credit or place;

        or ``(data, target)`` if `return_X_y`.

    Raises
    ------
    ValueError
        If there is no such data set, a packaged file is damaged, or a file of the user's has
        another format.

    Examples
    --------
    >>> from everystump.datasets import load_dataset
    >>> heart = load_dataset("heart")
    >>> heart.data.shape, heart.target_names.tolist()
    ((270, 13), ['1', '2'])
    >>> print(heart.DESCR)
    heart: 270 rows, 13 features, classes '1' (150), '2' (120). Statlog (Heart), ...
    >>> X, y = load_dataset("heart", return_X_y=True)
    """
    if name in PACKAGED:
        entry = PACKAGED[name]
        table, credit = parse_table(_verified(entry), entry.file), entry.credit
    else:
        path = _find(name)
        table, credit = parse_table(path.read_bytes(), path.name), f"Read from {path}."
    if return_X_y:
        return table.data, table.target
    return Bunch(**table._asdict(), DESCR=f"{name}: {_size(table)}. {credit}")


def _verified(entry: Packaged) -> bytes:
    """Return what a packaged file holds, if its checksum is right."""
    content = (PACKAGED_FOLDER / entry.file).read_bytes()
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        raise ValueError(
            f"The packaged file {entry.file} is damaged (its SHA-256 is not the recorded one): "
            "install everystump again."
        )
    return content


def _find(name: str) -> Path:
    """Return the user's file for a name that is not packaged."""
    available = _user_files()
    if name not in available:
        names = ", ".join(sorted({*PACKAGED, *available}))
        raise ValueError(
            f"name={name!r} is no known data set: choose one of {names}, or put {name}.csv or "
            f"{name}.csv.gz into the folder that the environment variable {FOLDER_VARIABLE} names "
            f"({os.environ.get(FOLDER_VARIABLE) or 'not set'})."
        )
    return available[name]


def _user_files() -> dict[str, Path]:
    """Return the data files of the user's folder by name; a plain file hides a compressed one."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return {}
    if not Path(folder).is_dir():
        raise ValueError(
            f"{FOLDER_VARIABLE}={folder!r} is no folder: set it to a folder of CSV files."
        )
    return {
        path.name.removesuffix(suffix): path
        for suffix in reversed(SUFFIXES)
        for path in Path(folder).iterdir()
        if path.name.endswith(suffix) and path.is_file()
    }


def _size(table: Table) -> str:
    rows, features = table.data.shape
    counts = np.bincount(table.target)
    classes = ", ".join(
        f"{str(name)!r} ({count})" for name, count in zip(table.target_names, counts, strict=True)
    )
    return f"{rows} rows, {features} features, classes {classes}"
