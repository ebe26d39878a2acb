"""Load a dataset by name: from the package, the user's folder, or OpenML."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from everystump.datasets._catalog import KNOWN, recognize
from everystump.datasets._csv import TARGET_COLUMN, Table, parse_table
from everystump.datasets._folder import describe_folder, user_files
from everystump.datasets._openml import DownloadError, download
from everystump.datasets._packaged import PACKAGED, read_packaged

__all__ = ["DatasetNotFoundError", "dataset_names", "load_dataset"]


class DatasetNotFoundError(ValueError):
    """A known dataset is not packaged, not in the user's folder, and cannot be downloaded."""


def dataset_names() -> list[str]:
    """Return the names of the known datasets, sorted.

    Returns
    -------
    list of str
        The packaged datasets and those that `load_dataset` looks for elsewhere, without the
        user's own files.

    Examples
    --------
    >>> from everystump.datasets import dataset_names
    >>> dataset_names()[:3]
    ['australian', 'breast', 'breast_683']
    """
    return sorted([*PACKAGED, *KNOWN])


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
    """Load a dataset by name.

    All of `dataset_names` are packaged, except ``australian``, ``covtype_binary_50k``,
    ``fourclass``, ``usps_test`` and ``usps_train``. These, and datasets of your own, are read from
    ``<name>.csv`` or ``<name>.csv.gz`` in the folder given by the environment variable
    ``EVERYSTUMP_DATA``. Such a file has a header, the features first, the label in the last column
    ``target``, and empty cells for missing values. A file with the name of a packaged dataset is
    ignored.

    The network is used only for ``australian``, ``usps_test`` and ``usps_train``, and only if they
    are not in the folder: then `sklearn.datasets.fetch_openml` downloads them, or reads them from
    its cache. The content of these five datasets is verified by a checksum, which does not depend
    on the spelling of the labels or on the order of the rows; the rows are returned sorted.

    Parameters
    ----------
    name : str
        Name of the dataset.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return ``data`` as a pandas DataFrame with categorical columns for text, and ``target`` as
        a Series.

    Returns
    -------
    Bunch or tuple
        A `sklearn.utils.Bunch` with

        - ``data``, an array of shape (n_samples, n_features), NaN where a value is missing;
        - ``target``, an array of shape (n_samples,), the class of each sample as an index;
        - ``feature_names``, a list of the names of the features;
        - ``target_names``, an array of the class labels as text;
        - ``categories``, a dict from the name of each categorical feature to the list of its
          levels, into which ``data`` holds indices;
        - ``DESCR``, the size of the dataset and its credit or path;

        or ``(data, target)`` if `return_X_y`.

    Raises
    ------
    DatasetNotFoundError
        If a known dataset is not packaged, not in the folder, and cannot be downloaded.
    ValueError
        If there is no such dataset, or a file is damaged or has another format.
    ImportError
        If `as_frame` is True and pandas is not installed.

    Examples
    --------
    >>> from everystump.datasets import load_dataset
    >>> heart = load_dataset("heart")
    >>> heart.data.shape, heart.target_names.tolist()
    ((270, 13), ['1', '2'])
    >>> print(heart.DESCR)
    heart: 270 rows, 13 features, classes '1' (150), '2' (120). Statlog (Heart), ...
    >>> X, y = load_dataset("heart", return_X_y=True)

    Levels are sorted by their leading numbers, if they have any:

    >>> cancer = load_dataset("breast_cancer_ljubljana")
    >>> cancer.categories["inv-nodes"]
    ['0-2', '3-5', '6-8', '9-11', '12-14', '15-17', '24-26']
    >>> cancer.data[0].tolist()
    [2.0, 2.0, 3.0, 0.0, 1.0, 3.0, 1.0, 2.0, 0.0]
    """
    table, credit = _find(name)
    data, target = _as_pandas(table) if as_frame else (table.data, table.target)
    if return_X_y:
        return data, target
    fields = {**table._asdict(), "data": data, "target": target}
    return Bunch(**fields, DESCR=f"{name}: {_size(table)}. {credit}")


class _Found(NamedTuple):
    table: Table
    credit: str


def _find(name: str) -> _Found:
    """Return a table and its credit from the first source that has it."""
    if not isinstance(name, str):
        raise ValueError(
            f"name={name!r} is not a string: pass one of {', '.join(dataset_names())}."
        )
    if name in PACKAGED:
        return _Found(read_packaged(name), PACKAGED[name].credit)
    files = user_files()
    if name in files:
        return _read(name, files[name])
    if name in KNOWN:
        return _fetch(name)
    names = ", ".join(sorted({*dataset_names(), *files}))
    raise ValueError(
        f"name={name!r} is not a known dataset: choose one of {names}, "
        f"or save {name}.csv or {name}.csv.gz in {describe_folder()}."
    )


def _read(name: str, path: Path) -> _Found:
    """Read one of the user's files; the content of known datasets is verified."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): make it readable.") from error
    if name not in KNOWN:
        return _Found(parse_table(content, path.name), f"Read from {path}.")
    known = KNOWN[name]
    try:
        recognized = recognize(known, parse_table(content, path.name))
    except ValueError:
        recognized = None
    if recognized is None:
        raise ValueError(
            f"{path} is damaged or is not the known dataset {name!r}: "
            f"get it again from {known.source}, or rename the file."
        )
    return _Found(recognized, f"{known.credit} Read from {path}.")


def _fetch(name: str) -> _Found:
    """Download a known dataset."""
    known = KNOWN[name]
    remedy = (
        f"get it from {known.source} and save it as {name}.csv, with a header and the label in "
        f"the last column {TARGET_COLUMN!r}, in {describe_folder()}."
    )
    if known.openml is None:
        raise DatasetNotFoundError(f"name={name!r} is not packaged: {remedy}")
    source = f"OpenML ({known.openml.data_id})"
    try:
        table = recognize(known, download(*known.openml))
    except DownloadError as error:
        message = f"name={name!r} could not be downloaded from {source}, {error}: {remedy}"
        raise DatasetNotFoundError(message) from error
    if table is None:
        raise DatasetNotFoundError(f"name={name!r} at {source} is not the known dataset: {remedy}")
    return _Found(table, f"{known.credit} From {source}.")


def _size(table: Table) -> str:
    rows, features = table.data.shape
    counts = np.bincount(table.target)
    classes = ", ".join(
        f"{str(name)!r} ({count})" for name, count in zip(table.target_names, counts, strict=True)
    )
    return f"{rows} rows, {features} features, classes {classes}"


def _as_pandas(table: Table) -> tuple[Any, Any]:
    """Return the features as a DataFrame and the classes as a Series."""
    import pandas as pd

    columns = {}
    for name, values in zip(table.feature_names, table.data.T, strict=True):
        columns[name] = values
        if levels := table.categories.get(name):
            codes = np.where(np.isnan(values), -1, values).astype(np.intp)
            columns[name] = pd.Categorical.from_codes(codes, categories=levels)
    return pd.DataFrame(columns), pd.Series(table.target, name=TARGET_COLUMN)
