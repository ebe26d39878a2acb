"""Read a table of the project's one format: CSV, features first, the label last as `target`."""

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

LABEL_COLUMN = "target"
_DECOMPRESS = {b"\x1f\x8b": gzip.decompress, b"\xfd7zXZ\x00": lzma.decompress}
_LEADING_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")


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
    categories : dict of str to list of str
        The levels of each feature that is text, by its name: `data` holds indices into them.
    """

    data: NDArray[np.float64]
    target: NDArray[np.int64]
    feature_names: list[str]
    target_names: NDArray[np.str_]
    categories: dict[str, list[str]]


class Column(NamedTuple):
    """A feature: its numbers, or the codes of its levels if there are any."""

    values: NDArray[np.float64]
    levels: list[str]


def parse_table(content: bytes, source: str) -> Table:
    r"""Parse the bytes of a CSV file, plain or compressed by gzip or xz.

    A feature with any cell that is no number is text. Its levels are numbered from 0: in the order
    of the numbers that they begin with if all of them do ("0-4", "5-9", "10-14"), else by alphabet.

    Parameters
    ----------
    content : bytes
        What the file holds.
    source : str
        What to call the file in error messages.

    Returns
    -------
    Table
        Features as numbers or codes of levels, labels as classes.

    Examples
    --------
    >>> from everystump.datasets.csvtable import parse_table
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
        raise ValueError(f"{source} is no CSV ({error}): save it as CSV again.") from error
    *features, labels = zip(*rows, strict=True)
    if "" in labels:
        raise ValueError(f"{source} has rows without a label in {LABEL_COLUMN!r}: remove them.")
    names = header[:-1]
    columns = (_encode(cells, name, source) for cells, name in zip(features, names, strict=True))
    return make_table(names, columns, labels)


def _encode(cells: Sequence[str], name: str, source: str) -> Column:
    """Convert one feature of a file, in which a mark for a missing value must not be a level."""
    column = encode(cells)
    words = [level for level in column.levels if not _LEADING_NUMBER.match(level)]
    if words and len(words) < len(column.levels):
        raise ValueError(
            f"{source} has {words[0]!r} among the numbers of column {name!r}: "
            "leave the cell of a missing value empty, or write all levels as words."
        )
    return column


def make_table(names: list[str], columns: Iterable[Column], labels: Sequence[str]) -> Table:
    """Join named columns and the labels of the rows into a table."""
    data = np.empty((len(labels), len(names)))
    categories = {}
    for d, column in enumerate(columns):
        data[:, d] = column.values
        if column.levels:
            categories[names[d]] = column.levels
    target_names, target = classes(labels)
    return Table(data, target, names, target_names, categories)


def encode(cells: Sequence[str]) -> Column:
    """Convert one feature to numbers or, if a cell is no number, to codes; empty is NaN.

    Examples
    --------
    >>> from everystump.datasets.csvtable import encode
    >>> encode(["10-14", "5-9", "", "10-14"])
    Column(values=array([ 1.,  0., nan,  1.]), levels=['5-9', '10-14'])
    """
    try:
        return Column(np.array([cell or "nan" for cell in cells], dtype=np.float64), [])
    except ValueError:
        levels = _in_order({*cells} - {""})
    codes = {"": np.nan} | {level: float(code) for code, level in enumerate(levels)}
    return Column(np.array([codes[cell] for cell in cells]), levels)


def classes(labels: Sequence[str]) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Return the distinct labels and the index of each row's label among them."""
    names, target = np.unique(np.array(labels), return_inverse=True)
    try:
        order = np.argsort(names.astype(np.float64), kind="stable")
    except ValueError:
        return names, target
    return names[order], np.argsort(order)[target]


def _in_order(levels: set[str]) -> list[str]:
    """Sort levels by the numbers that they begin with if all of them do, else by alphabet."""
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
            f"{source} is neither UTF-8 text nor UTF-8 text compressed by gzip or xz: "
            "save it as CSV again."
        ) from error


def _split(text: str, source: str) -> tuple[list[str], list[list[str]]]:
    """Split CSV text into its header and its rows, all of one length; pass over blank lines."""
    lines = csv.reader(io.StringIO(text, newline=""))
    header = next(lines, [])
    if len(header) == 1 and (other := next((c for c in ";\t|" if c in header[0]), None)):
        raise ValueError(f"{source} separates its columns by {other!r}: separate them by commas.")
    if len(header) < 2 or header[-1] != LABEL_COLUMN:
        raise ValueError(
            f"{source} has the header {header!r}: "
            f"name at least one feature and put the label last as {LABEL_COLUMN!r}."
        )
    if twice := [name for name in header if header.count(name) > 1]:
        raise ValueError(f"{source} has several columns named {twice[0]!r}: rename all but one.")
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
