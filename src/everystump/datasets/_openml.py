"""Download a dataset from OpenML through scikit-learn, which caches it."""

from __future__ import annotations

import warnings
from http.client import HTTPException
from typing import Any

import numpy as np

from everystump.datasets._csv import Column, Table, encode_column, make_table


class DownloadError(Exception):
    """The download failed; the message gives the reason."""


def download(data_id: int, rows: slice = slice(None)) -> Table:
    """Return rows of a dataset from OpenML.

    Parameters
    ----------
    data_id : int
        Its ID at OpenML.
    rows : slice, default=slice(None)
        Which of its rows to return.

    Returns
    -------
    Table
        Nominal features are numeric if all their categories are, else categorical.

    Raises
    ------
    DownloadError
        If the download failed.
    """
    from sklearn.datasets import fetch_openml  # slow to import and rarely needed

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
    """Return a feature; scikit-learn encodes its categories in the order of the file."""
    values = np.asarray(fetched.data[rows, d], dtype=np.float64)
    categories = (fetched.categories or {}).get(fetched.feature_names[d])
    if categories is None:
        return Column(values, [])
    return encode_column(["" if np.isnan(code) else str(categories[int(code)]) for code in values])
