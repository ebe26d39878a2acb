"""Download a data set from OpenML through scikit-learn, which keeps it in a cache of its own."""

from __future__ import annotations

import warnings
from http.client import HTTPException
from typing import Any

import numpy as np

from everystump.datasets.csvtable import Column, Table, encode, make_table


class DownloadError(Exception):
    """OpenML did not give the data set; the text says why."""


def download(data_id: int, rows: slice = slice(None)) -> Table:
    """Return some rows of a data set of OpenML.

    Parameters
    ----------
    data_id : int
        Its number at OpenML.
    rows : slice, default=slice(None)
        Which of its rows to take.

    Returns
    -------
    Table
        Nominal features are numbers if all their categories are, else codes of levels.

    Raises
    ------
    DownloadError
        If the download failed.
    """
    from sklearn.datasets import fetch_openml  # slow to import, and seldom needed

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A network error occurred")
            fetched = fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff", n_retries=1)
    except (HTTPException, OSError, ValueError) as error:
        raise DownloadError(" ".join(f"{type(error).__name__}: {error}".split())) from error
    columns = [_column(fetched, d, rows) for d in range(len(fetched.feature_names))]
    labels = [str(label) for label in fetched.target[rows]]
    return make_table(list(fetched.feature_names), columns, labels)


def _column(fetched: Any, d: int, rows: slice) -> Column:
    """Return a feature, whose categories scikit-learn has numbered in the order of the file."""
    values = np.asarray(fetched.data[rows, d], dtype=np.float64)
    spelled = (fetched.categories or {}).get(fetched.feature_names[d])
    if spelled is None:
        return Column(values, [])
    return encode(["" if np.isnan(code) else str(spelled[int(code)]) for code in values])
