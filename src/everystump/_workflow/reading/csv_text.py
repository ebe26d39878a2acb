"""CSV text to dataframes: delimiter, header, ragged rows, decimal commas and integer codes."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from everystump._text import InvalidInputError, pluralize
from everystump._workflow.options import Dialect
from everystump._workflow.reading.frames import (
    DECIMALS,
    DELIMITER,
    large_columns,
    unique_cells,
    with_columns,
)
from everystump._workflow.reading.number_text import as_number, exceed_float_precision, is_code

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
# Cells that are missing values unless the user specifies others.
_MISSING = (
    *("", "?", "NA", "N/A", "n/a", "n.a.", "N.A.", "<NA>", "#N/A", "#NA", "#N/A N/A"),
    *("NaN", "nan", "-NaN", "-nan", "None", "NULL", "null"),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
_SINGLE_NAME = re.compile(r'"[^"]*"|[\w.-]+')
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_SAMPLE, _SAMPLE_LINES, _SAMPLE_CELLS = 64 * 1024, 20, 200


def parse_csv(
    path: Path,
    text: str,
    dialect: Dialect,
    as_text: Collection[str] = (),
    *,
    keep_zeros: bool = True,
    line_offset: int = 0,
) -> tuple[Any, list[str]]:
    """Return a frame and notes on what was detected; ``path`` is the source of the text.

    The columns of ``as_text`` are read as text, even if their cells are numbers.  So are integers
    too large for floats and, with ``keep_zeros``, integers with leading zeros.  Errors count lines
    from ``line_offset``.
    """
    skipped = len(text) - len(text.lstrip("\n")) + line_offset
    text = text.strip("\n")
    delimiter = _find_delimiter(path, text, dialect.delimiter, skipped + 1)
    text = _strip_cells(text, delimiter)
    try:
        names = _header(path, text, delimiter, skipped + 1)
        notes = _check_ragged(path, text, delimiter, skipped)
        settings = _Settings(names, replace(dialect, delimiter=delimiter), as_text, keep_zeros)
        frame, decimal = _read(path, text, settings)
    except (csv.Error, TypeError) as error:
        raise InvalidInputError(
            f"{path} cannot be read with --delimiter {delimiter!r}: {error}."
        ) from None
    if _are_values(names):
        notes.append(
            "The first line contains numbers and was read as the header; if it is data, add a "
            "header line."
        )
    if dialect.delimiter is None and delimiter != ",":
        notes.append(f"Columns are separated by {_DELIMITERS[delimiter]}.")
    if dialect.decimal is None and decimal == ",":
        notes.append("Numbers have decimal commas; if they do not, pass --decimal '.'.")
    other = "." if decimal == "," else ","
    frame.attrs[DECIMALS] = (decimal,) if dialect.decimal else (decimal, other)
    frame.attrs[DELIMITER] = delimiter
    return frame, notes


def missing_cells(dialect: Dialect) -> list[str]:
    """Return the cells that are missing values."""
    return ["", *dialect.missing] if dialect.missing else list(_MISSING)


def _strip_cells(text: str, delimiter: str) -> str:
    """Return a text without spaces at the ends of cells, unless there are quotes."""
    ends_with_space = f" {delimiter}" in text or " \n" in text or text.endswith(" ")
    if delimiter == " " or '"' in text or not ends_with_space:
        return text
    return re.sub(rf" +(?={re.escape(delimiter)}|\n|$)", "", text)


class _Settings(NamedTuple):
    """How to read a text: names of columns, dialect, columns to read as text, leading zeros."""

    names: list[str]
    dialect: Dialect
    as_text: Collection[str]
    keep_zeros: bool


def _rows(lines: Iterable[str], delimiter: str) -> Any:
    """Return a reader that splits cells as pandas does."""
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _find_delimiter(path: Path, text: str, requested: str | None, line: int) -> str:
    """Return the requested delimiter, or the one that splits the first lines best."""
    head = text[:_SAMPLE].splitlines()[:_SAMPLE_LINES]
    counts = {mark: [len(row) for row in _rows(head, mark)] for mark in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda mark: (counts[mark][0] > 1, np.mean(counts[mark])))
    splits = counts[best][0] > 1
    if requested is not None:
        delimiter = "\t" if requested == "\\t" else requested
        if delimiter not in head[0] and splits:
            raise InvalidInputError(
                f"{path}, line {line}: no {delimiter!r} in {head[0][:40]!r}; pass --delimiter "
                f"{best!r}."
            )
        return delimiter
    if not splits and not _SINGLE_NAME.fullmatch(head[0].strip()):
        raise InvalidInputError(
            f"{path}, line {line}: no comma, semicolon, tab or vertical bar in {head[0][:40]!r}; "
            f"pass --delimiter."
        )
    return best


def _header(path: Path, text: str, delimiter: str, line: int) -> list[str]:
    """Return the names of the columns, generated where empty, or raise if two are equal."""
    first = next(_rows(io.StringIO(text), delimiter))
    names = [name.strip() or f"Unnamed: {k}" for k, name in enumerate(first)]
    duplicate = next((name for name, count in Counter(names).items() if count > 1), None)
    if duplicate is not None:
        remedy = "add a header line" if _are_values(names) else "rename one of them"
        raise InvalidInputError(
            f"{path}, line {line}: two columns are named {duplicate!r}; {remedy}."
        )
    return names


def _are_values(names: Sequence[str]) -> bool:
    """Whether a header consists of numbers other than 0, 1, 2, ... or 1, 2, 3, ..."""
    numbers = [as_number(name) for name in names]
    counting = [list(range(start, start + len(names))) for start in (0, 1)]
    return not any(isinstance(number, str) for number in numbers) and numbers not in counting


def _check_ragged(path: Path, text: str, delimiter: str, skipped: int) -> list[str]:
    """Raise if a row has more or fewer cells than the header; return notes on multi-line rows."""
    if '"' not in text and len(delimiter.encode()) == 1:
        ragged, notes = _ragged_line(text, delimiter), list[str]()
    else:
        ragged, notes = _ragged_quoted_row(text, delimiter, skipped)
    if ragged is None:
        return notes
    first, last, n_cells, n_names = ragged
    closes = "never closed" if text.count('"') % 2 else f"closed in line {last + skipped}"
    why = "" if first == last else f" (a quote opened there is {closes})"
    raise InvalidInputError(
        f"{path}, line {first + skipped}: {pluralize(n_cells, 'cell')}, but the header has "
        f"{n_names:,}{why}; fix the line, or pass --delimiter."
    )


def _ragged_line(text: str, delimiter: str) -> tuple[int, int, int, int] | None:
    """Return the first line whose number of cells differs from the header's, and both numbers."""
    raw = np.frombuffer(text.encode() + b"\n", np.uint8)
    ends = np.flatnonzero(raw == ord("\n"))
    cuts = np.flatnonzero(raw == ord(delimiter))
    cells = np.diff(np.searchsorted(cuts, ends), prepend=0) + 1
    filled = np.diff(ends, prepend=-1) > 1  # empty lines are skipped
    ragged = np.flatnonzero((cells != cells[0]) & filled)
    if len(ragged) == 0:
        return None
    line = int(ragged[0])
    return line + 1, line + 1, int(cells[line]), int(cells[0])


def _ragged_quoted_row(
    text: str, delimiter: str, skipped: int
) -> tuple[tuple[int, int, int, int] | None, list[str]]:
    """Return the same for a text with quotes, and notes on rows that span several lines."""
    rows = list(_row_spans(text, delimiter))
    n_names = rows[0][2]
    ragged = next(((*row, n_names) for row in rows if row[2] != n_names), None)
    long = [(first, last) for first, last, _ in rows if last > first]
    if not long:
        return ragged, []
    first, last = (line + skipped for line in long[0])
    return ragged, [
        f"Quoted cells span several lines in {pluralize(len(long), 'row')}, first in lines "
        f"{first} to {last}."
    ]


def _row_spans(text: str, delimiter: str) -> Iterator[tuple[int, int, int]]:
    """Yield the first line, the last line and the number of cells of each row."""
    reader = _rows(io.StringIO(text), delimiter)
    first = 1
    for row in reader:
        if row:
            yield first, reader.line_num, len(row)
        first = reader.line_num + 1


def _read(path: Path, text: str, settings: _Settings) -> tuple[Any, str]:
    """Return a frame and its decimal separator."""
    dialect = settings.dialect
    decimal = dialect.decimal or "."
    frame = _read_csv(path, text, settings, decimal)
    others = frame.drop(columns=list(settings.as_text), errors="ignore")
    may_be_comma = dialect.decimal is None and dialect.delimiter != ","
    if may_be_comma and _has_decimal_commas(others, dialect.usual_decimal == ","):
        decimal = ","
        frame = _read_csv(path, text, settings, decimal)
    return _with_exact_integers(frame, path, text, settings), decimal


def _has_decimal_commas(frame: Any, is_usual: bool) -> bool:
    """Whether all sampled cells of a column are integers or numbers with a comma.

    Not if another column has fractions with decimal points.
    """
    fractions = frame.select_dtypes("float")
    if (fractions.notna() & (fractions != np.floor(fractions))).any(axis=None):
        return False
    for name in frame.columns[[kind.kind not in "iufb" for kind in frame.dtypes]]:
        cells = [str(cell).strip() for cell in frame[name].dropna().iloc[:_SAMPLE_CELLS]]
        with_comma = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
        n_integers = sum(cell.lstrip("+-").isdecimal() for cell in cells)
        # Three digits after every comma may also be thousands.
        is_clear = is_usual or any(not _THOUSANDS.fullmatch(cell) for cell in with_comma)
        if with_comma and is_clear and len(with_comma) + n_integers == len(cells):
            return True
    return False


def _with_exact_integers(frame: Any, path: Path, text: str, settings: _Settings) -> Any:
    """Return a frame in which integers that are too large for floats, and codes, are text."""
    large = large_columns(frame)
    padded = _zero_padded_columns(frame, text, settings) if settings.keep_zeros else []
    if not large and not padded:
        return frame
    columns = [name for name in settings.names if name in {*large, *padded}]
    raw = _read_csv(path, text, settings._replace(as_text=columns), ".", columns)
    exact = {}
    for name in columns:
        cells = unique_cells(raw[name])
        if exceed_float_precision(cells) or (name in padded and any(map(is_code, cells))):
            exact[name] = raw[name]
    return with_columns(frame, exact)


def _zero_padded_columns(frame: Any, text: str, settings: _Settings) -> list[str]:
    """Return the columns of integers some of which may have leading zeros, such as ``007``."""
    names, delimiter = settings.names, settings.dialect.delimiter or ","
    if '"' in text or len(delimiter.encode()) > 1:
        found = re.search(rf'[{re.escape(delimiter)}\n" +-]0\d', text)
        columns = list(range(len(names))) if found else []
    else:
        columns = _zero_padded_cells(text, delimiter)
    return [names[k] for k in columns if k < len(names) and _are_integers(frame[names[k]])]


def _are_integers(column: Any) -> bool:
    if column.dtype.kind == "f":
        values = column.dropna().to_numpy()
        return bool(np.all(values == np.floor(values)))
    return column.dtype.kind in "iu"


def _zero_padded_cells(text: str, delimiter: str) -> list[int]:
    """Return the numbers of the columns in which a cell may be an integer with a leading zero."""
    raw = np.frombuffer(f"\n\n{text}\n".encode(), np.uint8)
    bounds, signs = np.zeros((2, 256), dtype=bool)
    bounds[[*f"{delimiter}\n ".encode()]] = True
    signs[[*b"+-"]] = True
    zeros = np.flatnonzero(raw[:-2] == ord("0"))
    zeros = zeros[raw[zeros + 1] - ord("0") < 10]  # unsigned: only digits are below 10
    after, before = raw[zeros + 2], raw[zeros - 1]
    starts = bounds[before] | (signs[before] & bounds[raw[zeros - 2]])
    zeros = zeros[starts & (bounds[after] | (after - ord("0") < 10))]  # not 01/02 or 1e-05
    if len(zeros) == 0:
        return []
    ends, cuts = np.flatnonzero(raw == ord("\n")), np.flatnonzero(raw == ord(delimiter))
    first = np.searchsorted(cuts, ends)  # the first delimiter after each line break
    line = np.searchsorted(ends, zeros) - 1
    return np.unique(np.searchsorted(cuts, zeros) - first[line]).tolist()


def _read_csv(
    path: Path, text: str, settings: _Settings, decimal: str, columns: list[str] | None = None
) -> Any:
    """Return a frame with all columns, or with some of them."""
    import pandas as pd

    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=settings.dialect.delimiter,
            decimal=decimal,
            header=0,
            names=settings.names,
            usecols=columns,
            dtype={name: str for name in settings.names if name in settings.as_text},
            na_values=missing_cells(settings.dialect),
            keep_default_na=False,
            skipinitialspace=True,
            low_memory=False,  # otherwise a column may mix numbers and text
            skip_blank_lines=len(settings.names) > 1,  # missing values in a single column
            index_col=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        if "Calling read" in str(error):  # how pandas reports an interrupt
            raise KeyboardInterrupt from error
        what = " ".join(str(error).split()).rstrip(".")
        raise InvalidInputError(f"{path} cannot be read: {what}; fix the file.") from None
