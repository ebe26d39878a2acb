"""Read a table of the project's one format: CSV, features first, the label last as `target`."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LABEL_COLUMN = "target"
_GZIP_MAGIC = b"\x1f\x8b"


class Table(NamedTuple):
    """A labelled table.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The features; NaN where a cell is empty.
    target : ndarray of shape (n_samples,)
        The class of each row as an index into `target_names`.
    feature_names : list of str
        The header without its last column.
    target_names : ndarray of shape (n_classes,)
        The distinct labels as text, in the order of their numbers if all of them are numbers.
    """

    data: NDArray[np.float64]
    target: NDArray[np.int64]
    feature_names: list[str]
    target_names: NDArray[np.str_]


def parse_table(content: bytes, source: str) -> Table:
    r"""Parse the bytes of a CSV file, plain or compressed by gzip.

    Parameters
    ----------
    content : bytes
        What the file holds.
    source : str
        What to call the file in error messages.

    Returns
    -------
    Table
        Features as numbers, labels as classes.

    Examples
    --------
    >>> from everystump.datasets.csvtable import parse_table
    >>> table = parse_table(b"age,weight,target\n30,,no\n41,80.5,yes\n", "example.csv")
    >>> table.data
    array([[30. ,  nan],
           [41. , 80.5]])
    >>> table.target, table.target_names
    (array([0, 1]), array(['no', 'yes'], dtype='<U3'))
    """
    header, rows = _split(_decode(content, source), source)
    *features, labels = zip(*rows, strict=True)
    data = np.empty((len(rows), len(features)))
    for d, cells in enumerate(features):
        data[:, d] = _numbers(cells, header[d], source)
    target_names, target = _classes(labels, source)
    return Table(data, target, header[:-1], target_names)


def _decode(content: bytes, source: str) -> str:
    try:
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise ValueError(
            f"{source} is neither UTF-8 text nor gzip-compressed UTF-8 text: save it as CSV again."
        ) from error


def _split(text: str, source: str) -> tuple[list[str], list[list[str]]]:
    """Split CSV text into its header and its rows, all of one length; pass over blank lines."""
    lines = csv.reader(io.StringIO(text, newline=""))
    header = next(lines, [])
    if len(header) < 2 or header[-1] != LABEL_COLUMN:
        raise ValueError(
            f"{source} has the header {header!r}: "
            f"name at least one feature and put the label last as {LABEL_COLUMN!r}."
        )
    rows = []
    for row in filter(None, lines):
        if len(row) != len(header):
            raise ValueError(
                f"{source} has {len(row)} cells in line {lines.line_num}: "
                f"give it {len(header)}, as in the header."
            )
        rows.append(row)
    if not rows:
        raise ValueError(f"{source} has a header but no rows: add at least one row.")
    return header, rows


def _numbers(cells: Sequence[str], name: str, source: str) -> NDArray[np.float64]:
    """Convert one feature; an empty cell is NaN."""
    column = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            column[i] = float(cell) if cell else np.nan
        except ValueError as error:
            raise ValueError(
                f"{source} has text such as {cell!r} in column {name!r}: "
                "encode its categories as numbers first."
            ) from error
    return column


def _classes(labels: Sequence[str], source: str) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Return the distinct labels and the index of each row's label among them."""
    names, target = np.unique(np.array(labels), return_inverse=True)
    if names[0] == "":
        raise ValueError(f"{source} has rows without a label in {LABEL_COLUMN!r}: remove them.")
    try:
        order = np.argsort(names.astype(np.float64), kind="stable")
    except ValueError:
        return names, target
    return names[order], np.argsort(order)[target]
