"""Read a labeled table from CSV: features first, and the label in the last column `target`."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TARGET_COLUMN = "target"
_DECOMPRESS = {b"\x1f\x8b": gzip.decompress, b"\xfd7zXZ\x00": lzma.decompress}
_LEADING_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")


class Table(NamedTuple):
    """A labeled table.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        The features; NaN where a value is missing.
    target : ndarray of shape (n_samples,)
        The class of each row as an index into `target_names`.
    feature_names : list of str
        The header without its last column.
    target_names : ndarray of shape (n_classes,)
        The distinct labels as text, sorted as numbers if all of them are numbers.
    categories : dict of str to list of str
        The levels of each categorical feature, by its name: `data` holds indices into them.
    """

    data: NDArray[np.float64]
    target: NDArray[np.int64]
    feature_names: list[str]
    target_names: NDArray[np.str_]
    categories: dict[str, list[str]]


class Column(NamedTuple):
    """A feature: its values, or the codes of its levels if it is categorical."""

    values: NDArray[np.float64]
    levels: list[str]


def parse_table(content: bytes, source: str) -> Table:
    r"""Parse the bytes of a CSV file, plain or compressed with gzip or xz.

    A feature is categorical if any of its cells is not a number. Its levels are coded from 0: in
    the order of their leading numbers if all of them have one ("0-4", "5-9", "10-14"), else
    alphabetically.

    Parameters
    ----------
    content : bytes
        The content of the file.
    source : str
        The name of the file in error messages.

    Returns
    -------
    Table
        The parsed table.

    Examples
    --------
    >>> from everystump.datasets._csv import parse_table
    >>> table = parse_table(b"age,weight,size,target\n30,,xl,no\n41,80.5,m,yes\n", "example.csv")
    >>> table.data
    array([[30. ,  nan,  1. ],
           [41. , 80.5,  0. ]])
    >>> table.categories
    {'size': ['m', 'xl']}
    >>> table.target, table.target_names
    (array([0, 1]), array(['no', 'yes'], dtype='<U3'))
    """
    try:
        header, rows = _split(_decode(content, source), source)
    except csv.Error as error:
        raise ValueError(f"{source} is not valid CSV ({error}): save it as CSV again.") from error
    *features, labels = zip(*rows, strict=True)
    if "" in labels:
        raise ValueError(f"{source} has rows with an empty {TARGET_COLUMN!r}: remove these rows.")
    names = header[:-1]
    columns = (_encode(cells, name, source) for cells, name in zip(features, names, strict=True))
    return make_table(names, columns, labels)


def _encode(cells: Sequence[str], name: str, source: str) -> Column:
    """Encode one feature of a file; reject placeholders for missing values among numbers."""
    column = encode_column(cells)
    texts = [level for level in column.levels if not _LEADING_NUMBER.match(level)]
    if texts and len(texts) < len(column.levels):
        raise ValueError(
            f"{source} has {texts[0]!r} among the numbers of column {name!r}: "
            "leave the cells of missing values empty, or write all levels as text."
        )
    return column


def make_table(names: list[str], columns: Iterable[Column], labels: Sequence[str]) -> Table:
    """Return a table from named columns and the labels of the rows."""
    data = np.empty((len(labels), len(names)))
    categories = {}
    for d, column in enumerate(columns):
        data[:, d] = column.values
        if column.levels:
            categories[names[d]] = column.levels
    target_names, target = encode_labels(labels)
    return Table(data, target, names, target_names, categories)


def encode_column(cells: Sequence[str]) -> Column:
    """Encode a feature as numbers or, if a cell is not a number, as codes; empty cells are NaN.

    Examples
    --------
    >>> from everystump.datasets._csv import encode_column
    >>> encode_column(["10-14", "5-9", "", "10-14"])
    Column(values=array([ 1.,  0., nan,  1.]), levels=['5-9', '10-14'])
    """
    try:
        return Column(np.array([cell or "nan" for cell in cells], dtype=np.float64), [])
    except ValueError:
        levels = _sorted_levels({*cells} - {""})
    codes = {"": np.nan} | {level: float(code) for code, level in enumerate(levels)}
    return Column(np.array([codes[cell] for cell in cells]), levels)


def encode_labels(labels: Sequence[str]) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Return the distinct labels, and each row's label as an index into them."""
    names, target = np.unique(np.array(labels), return_inverse=True)
    try:
        order = np.argsort(names.astype(np.float64), kind="stable")
    except ValueError:
        return names, target
    return names[order], np.argsort(order)[target]


def _sorted_levels(levels: set[str]) -> list[str]:
    """Sort levels by their leading numbers if all of them have one, else alphabetically."""
    numbers = {level: _LEADING_NUMBER.match(level) for level in levels}
    found = {level: float(number[0]) for level, number in numbers.items() if number}
    if len(found) < len(levels):
        return sorted(levels)
    return sorted(levels, key=lambda level: (found[level], level))


def _decode(content: bytes, source: str) -> str:
    try:
        for magic, decompress in _DECOMPRESS.items():
            if content.startswith(magic):
                content = decompress(content)
                break
        return content.decode("utf-8-sig")
    except (EOFError, OSError, UnicodeDecodeError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"{source} is not UTF-8 text, plain or compressed with gzip or xz: save it again."
        ) from error


def _split(text: str, source: str) -> tuple[list[str], list[list[str]]]:
    """Split CSV text into its header and its rows of the same length; skip blank lines."""
    lines = csv.reader(io.StringIO(text, newline=""))
    header = next(lines, [])
    if len(header) == 1 and (other := next((c for c in ";\t|" if c in header[0]), None)):
        raise ValueError(f"{source} separates columns by {other!r}: separate them by commas.")
    if len(header) < 2 or header[-1] != TARGET_COLUMN:
        raise ValueError(
            f"{source} has the header {header!r}: "
            f"name at least one feature and put the label last as {TARGET_COLUMN!r}."
        )
    if repeated := [name for name in header if header.count(name) > 1]:
        raise ValueError(f"{source} has several columns named {repeated[0]!r}: rename all but one.")
    rows = []
    for row in filter(None, lines):
        if len(row) != len(header):
            raise ValueError(
                f"{source} has {len(row)} cells in line {lines.line_num}, "
                f"but {len(header)} in the header: fix the line."
            )
        rows.append(row)
    if not rows:
        raise ValueError(f"{source} has a header but no rows: add at least one row.")
    return header, rows
