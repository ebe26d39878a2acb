"""Find a data set by its name: in the package, in the user's folder, or at OpenML."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from everystump.datasets.catalogue import CATALOGUE, recognise
from everystump.datasets.csvtable import LABEL_COLUMN, Table, parse_table
from everystump.datasets.folder import user_files, where
from everystump.datasets.frames import as_pandas
from everystump.datasets.openml import DownloadError, download
from everystump.datasets.packaged import PACKAGED, read_packaged

__all__ = ["DatasetNotFoundError", "dataset_names", "load_dataset"]


class DatasetNotFoundError(ValueError):
    """A known data set is not packaged, not in the user's folder, and not to be downloaded."""


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` knows, sorted.

    Returns
    -------
    list of str
        The packaged data sets and those that are looked for elsewhere. The user's own files are
        not among them.

    Examples
    --------
    >>> from everystump.datasets import dataset_names
    >>> dataset_names()[:3]
    ['australian', 'breast', 'breast_683']
    """
    return sorted([*PACKAGED, *CATALOGUE])


@overload
def load_dataset(
    name: str, *, return_X_y: Literal[False] = False, as_frame: bool = False
) -> Bunch: ...


@overload
def load_dataset(
    name: str, *, return_X_y: Literal[True], as_frame: Literal[False] = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...


@overload
def load_dataset(name: str, *, return_X_y: Literal[True], as_frame: bool) -> tuple[Any, Any]: ...


def load_dataset(
    name: str, *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | tuple[Any, Any]:
    """Load a data set by its name.

    Of `dataset_names`, all are packaged but ``australian``, ``covtype_binary_50k``, ``fourclass``,
    ``usps_test`` and ``usps_train``. These, and names of your own, are looked for as
    ``<name>.csv`` or ``<name>.csv.gz`` in the folder that the environment variable
    ``EVERYSTUMP_DATA`` names. Such a file has a header, the features first, the label in the last
    column ``target``, and an empty cell for a missing value. A file with the name of a packaged
    data set is not looked at.

    The network is used only for ``australian``, ``usps_test`` and ``usps_train``, and only if the
    folder does not have them: then `sklearn.datasets.fetch_openml` downloads them or takes them
    from its cache. A file or download of one of the five is refused if its content is not the
    known one; its labels may be spelled in another way, and its rows, which are sorted, may stand
    in another order.

    Parameters
    ----------
    name : str
        Name of the data set.
    return_X_y : bool, default=False
        Return only ``(data, target)``.
    as_frame : bool, default=False
        Give ``data`` as a pandas DataFrame, in which text is categorical, and ``target`` as a
        Series.

    Returns
    -------
    Bunch or tuple
        A `sklearn.utils.Bunch` with

        - ``data``, an array of shape (n_samples, n_features), NaN where a value is missing;
        - ``target``, an array of shape (n_samples,), each row's class as an index;
        - ``feature_names``, a list of the features' names;
        - ``target_names``, an array of the classes' labels as text;
        - ``categories``, a dict of the features that are text: from a feature's name to the list
          of its levels, of which ``data`` holds the indices;
        - ``DESCR``, the size of the data and their credit or place;

        or ``(data, target)`` if `return_X_y`.

    Raises
    ------
    DatasetNotFoundError
        If a known data set is not packaged, not in the folder and not to be downloaded.
    ValueError
        If there is no such data set, or a file is damaged or has another format.
    ImportError
        If `as_frame` and pandas is not installed.

    Examples
    --------
    >>> from everystump.datasets import load_dataset
    >>> heart = load_dataset("heart")
    >>> heart.data.shape, heart.target_names.tolist()
    ((270, 13), ['1', '2'])
    >>> print(heart.DESCR)
    heart: 270 rows, 13 features, classes '1' (150), '2' (120). Statlog (Heart), ...
    >>> X, y = load_dataset("heart", return_X_y=True)

    The levels of text are in the order of their numbers, if they have some:

    >>> cancer = load_dataset("breast_cancer_ljubljana")
    >>> cancer.categories["inv-nodes"]
    ['0-2', '3-5', '6-8', '9-11', '12-14', '15-17', '24-26']
    >>> cancer.data[0].tolist()
    [2.0, 2.0, 3.0, 0.0, 1.0, 3.0, 1.0, 2.0, 0.0]
    """
    table, credit = _look_up(name)
    data, target = as_pandas(table) if as_frame else (table.data, table.target)
    if return_X_y:
        return data, target
    described = {**table._asdict(), "data": data, "target": target}
    return Bunch(**described, DESCR=f"{name}: {_size(table)}. {credit}")


class _Found(NamedTuple):
    table: Table
    credit: str


def _look_up(name: str) -> _Found:
    """Return a table and its credit from the first place that has it."""
    if not isinstance(name, str):
        raise ValueError(f"name={name!r} is no name: pass one of {', '.join(dataset_names())}.")
    if name in PACKAGED:
        return _Found(read_packaged(name), PACKAGED[name].credit)
    files = user_files()
    if name in files:
        return _read(name, files[name])
    if name in CATALOGUE:
        return _fetch(name)
    names = ", ".join(sorted({*dataset_names(), *files}))
    raise ValueError(
        f"name={name!r} is no known data set: choose one of {names}, "
        f"or put {name}.csv or {name}.csv.gz into {where()}."
    )


def _read(name: str, path: Path) -> _Found:
    """Read a file of the user's; one with a known name must be the known table."""
    content = _content(path)
    if name not in CATALOGUE:
        return _Found(parse_table(content, path.name), f"Read from {path}.")
    known = CATALOGUE[name]
    try:
        recognised = recognise(known, parse_table(content, path.name))
    except ValueError:
        recognised = None
    if recognised is None:
        raise ValueError(
            f"{path} is damaged or another table than the known {name!r}: "
            f"get it again from {known.source}, or rename the file."
        )
    return _Found(recognised, f"{known.credit} Read from {path}.")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): make it readable.") from error


def _fetch(name: str) -> _Found:
    """Download a known table."""
    known = CATALOGUE[name]
    remedy = (
        f"get it from {known.source} and put it as {name}.csv, with a header and the label "
        f"last as {LABEL_COLUMN!r}, into {where()}."
    )
    if known.openml is None:
        raise DatasetNotFoundError(f"name={name!r} is not packaged: {remedy}")
    place = f"OpenML ({known.openml.data_id})"
    try:
        table = recognise(known, download(*known.openml))
    except DownloadError as error:
        sentence = f"name={name!r} did not come from {place}, {error}: {remedy}"
        raise DatasetNotFoundError(sentence) from error
    if table is None:
        raise DatasetNotFoundError(
            f"name={name!r} is another table at {place} than is known: {remedy}"
        )
    return _Found(table, f"{known.credit} From {place}.")


def _size(table: Table) -> str:
    rows, features = table.data.shape
    counts = np.bincount(table.target)
    classes = ", ".join(
        f"{str(name)!r} ({count})" for name, count in zip(table.target_names, counts, strict=True)
    )
    return f"{rows} rows, {features} features, classes {classes}"
