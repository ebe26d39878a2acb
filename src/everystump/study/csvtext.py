"""Tables from text: cells found, counted and read; what is wrong is named by its line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from everystump.study import RefusedError
from everystump.study.dialect import Dialect

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_ONE_NAME = re.compile(r'"[^"]*"|[\w.-]+')
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_SAMPLE, _SAMPLE_LINES, _SAMPLE_CELLS = 64 * 1024, 20, 200
_ALSO_MISSING = ["?"]


def parse_table(path: Path, text: str, dialect: Dialect) -> tuple[Any, list[str]]:
    """Return a frame and what was guessed; ``path`` is where the text comes from."""
    skipped = len(text) - len(text.lstrip("\n"))
    text = text.strip("\n")
    cut = _delimiter(path, text, dialect.delimiter, skipped + 1)
    try:
        names = _names(path, text, cut, skipped + 1)
        _refuse_ragged(path, text, cut, skipped)
        frame, decimal = _read(path, text, replace(dialect, delimiter=cut), len(names) == 1)
    except (csv.Error, TypeError) as error:
        raise RefusedError(f"{path} cannot be read with --delimiter {cut!r}: {error}.") from None
    told = []
    if dialect.delimiter is None and cut != ",":
        told.append(f"Cells are separated by {_DELIMITERS[cut]}.")
    if dialect.decimal is None and decimal == ",":
        told.append("Numbers have decimal commas; if they do not, pass --decimal '.'.")
    return frame, told


def _delimiter(path: Path, text: str, given: str | None, line: int) -> str:
    """Return what separates cells: as told, or what splits the first lines best."""
    head = text[:_SAMPLE].splitlines()[:_SAMPLE_LINES]
    counts = {cut: [len(row) for row in csv.reader(head, delimiter=cut)] for cut in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda cut: (counts[cut][0] > 1, np.mean(counts[cut])))
    splits = counts[best][0] > 1
    if given is not None:
        cut = "\t" if given == "\\t" else given
        if cut not in head[0] and splits:
            raise RefusedError(
                f"{path}, line {line}: no {cut!r} separates {head[0][:40]!r}; pass --delimiter "
                f"{best!r}, or leave it out."
            )
        return cut
    if not splits and not _ONE_NAME.fullmatch(head[0].strip()):
        raise RefusedError(
            f"{path}, line {line}: no comma, semicolon, tab or bar separates {head[0][:40]!r}; "
            f"pass --delimiter."
        )
    return best


def _names(path: Path, text: str, delimiter: str, line: int) -> list[str]:
    """Return the columns' names, or raise if two are the same, which pandas would change."""
    names = [name.strip() for name in next(csv.reader(io.StringIO(text), delimiter=delimiter))]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise RefusedError(f"{path}, line {line}: two columns are named {name!r}; rename one.")
        seen.add(name)
    return names


def _refuse_ragged(path: Path, text: str, delimiter: str, skipped: int) -> None:
    """Raise if a line has more or fewer cells than the first."""
    plain = '"' not in text and len(delimiter.encode()) == 1
    odd = (_odd_line if plain else _odd_quoted_line)(text, delimiter)
    if odd is None:
        return
    first, last, found, wanted = odd
    why = "" if first == last else f" (a quote that opens there closes in line {last + skipped})"
    raise RefusedError(
        f"{path}, line {first + skipped}: {found} cells where the first line has {wanted}{why}; "
        f"mend the line, or pass --delimiter."
    )


def _odd_line(text: str, delimiter: str) -> tuple[int, int, int, int] | None:
    """Return the first line with another number of cells than the first, and both numbers."""
    raw = np.frombuffer(text.encode() + b"\n", np.uint8)
    ends = np.flatnonzero(raw == ord("\n"))
    cuts = np.flatnonzero(raw == ord(delimiter))
    cells = np.diff(np.searchsorted(cuts, ends), prepend=0) + 1
    filled = np.diff(ends, prepend=-1) > 1  # lines that hold nothing are skipped
    odd = np.flatnonzero((cells != cells[0]) & filled)
    if len(odd) == 0:
        return None
    line = int(odd[0])
    return line + 1, line + 1, int(cells[line]), int(cells[0])


def _odd_quoted_line(text: str, delimiter: str) -> tuple[int, int, int, int] | None:
    """Return the same of a text with quotes, whose cells may go over several lines."""
    rows = _counted(text, delimiter)
    _, _, wanted = next(rows)
    odd = ((first, last, found) for first, last, found in rows if found != wanted)
    return next(((*where, wanted) for where in odd), None)


def _counted(text: str, delimiter: str) -> Iterator[tuple[int, int, int]]:
    """Yield the first and the last line and the number of cells of each row."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    first = 1
    for row in reader:
        if row:
            yield first, reader.line_num, len(row)
        first = reader.line_num + 1


def _read(path: Path, text: str, dialect: Dialect, one_column: bool) -> tuple[Any, str]:
    """Return a frame, and what begins the fractions of its numbers."""
    decimal = dialect.decimal or "."
    frame = _read_csv(path, text, dialect, decimal, one_column)
    if dialect.decimal is None and dialect.delimiter != "," and _has_decimal_commas(frame):
        decimal = ","
        frame = _read_csv(path, text, dialect, decimal, one_column)
    return frame, decimal


def _has_decimal_commas(frame: Any) -> bool:
    """Tell whether all cells of a column, as far as one looks, are numbers with commas."""
    for name in frame.columns[[kind.kind not in "iufb" for kind in frame.dtypes]]:
        cells = [str(cell).strip() for cell in frame[name].dropna().iloc[:_SAMPLE_CELLS]]
        with_comma = sum(bool(_WITH_COMMA.fullmatch(cell)) for cell in cells)
        whole = sum(cell.lstrip("+-").isdecimal() for cell in cells)
        if with_comma and with_comma + whole == len(cells):
            return True
    return False


def _read_csv(path: Path, text: str, dialect: Dialect, decimal: str, one_column: bool) -> Any:
    import pandas as pd

    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=dialect.delimiter,
            decimal=decimal,
            na_values=["", *dialect.missing] if dialect.missing else _ALSO_MISSING,
            keep_default_na=not dialect.missing,
            skipinitialspace=True,
            skip_blank_lines=not one_column,  # of a single column they are missing values
            index_col=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        what = " ".join(str(error).split()).rstrip(".")
        raise RefusedError(f"{path} cannot be read: {what}; mend it there.") from None
