"""Tables from text: cells found, counted and read; what is wrong is named by its line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from everystump._text import pluralize
from everystump._workflow import InvalidInputError
from everystump._workflow.dialect import DECIMALS, Dialect
from everystump._workflow.labels import as_number
from everystump._workflow.numbertext import exceed_float_precision
from everystump._workflow.readings import unique_cells
from everystump._workflow.tidying import MISSING, large_columns, replaced

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_ONE_NAME = re.compile(r'"[^"]*"|[\w.-]+')
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_SAMPLE, _SAMPLE_LINES, _SAMPLE_CELLS = 64 * 1024, 20, 200


def parse_table(
    path: Path, text: str, dialect: Dialect, as_text: Collection[str] = ()
) -> tuple[Any, list[str]]:
    """Return a frame and what was guessed; ``path`` is where the text comes from.

    Columns of ``as_text`` stay text, whatever their cells look like.
    """
    skipped = len(text) - len(text.lstrip("\n"))
    text = text.strip("\n")
    cut = _delimiter(path, text, dialect.delimiter, skipped + 1)
    text = _without_blanks(text, cut)
    try:
        names = _names(path, text, cut, skipped + 1)
        messages = _check_ragged(path, text, cut, skipped)
        how = _How(names, replace(dialect, delimiter=cut), as_text)
        frame, decimal = _read(path, text, how)
    except (csv.Error, TypeError) as error:
        raise InvalidInputError(
            f"{path} cannot be read with --delimiter {cut!r}: {error}."
        ) from None
    if _are_values(names):
        messages.append(
            "The first line is of numbers, and is taken for names; if not, add such a line."
        )
    if dialect.delimiter is None and cut != ",":
        messages.append(f"Cells are separated by {_DELIMITERS[cut]}.")
    if dialect.decimal is None and decimal == ",":
        messages.append("Numbers have decimal commas; if they do not, pass --decimal '.'.")
    other = "." if decimal == "," else ","
    frame.attrs[DECIMALS] = (decimal,) if dialect.decimal else (decimal, other)
    return frame, messages


def _without_blanks(text: str, cut: str) -> str:
    """Return a text without blanks at the ends of cells, if no quotes may keep them."""
    if cut == " " or '"' in text or not (f" {cut}" in text or " \n" in text or text.endswith(" ")):
        return text
    return re.sub(rf" +(?={re.escape(cut)}|\n|$)", "", text)


class _How(NamedTuple):
    """How to read a text: the columns' names, its dialect, and which columns stay text."""

    names: list[str]
    dialect: Dialect
    as_text: Collection[str]


def _rows(lines: Iterable[str], delimiter: str) -> Any:
    """Return a reader that splits cells as pandas does."""
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _delimiter(path: Path, text: str, given: str | None, line: int) -> str:
    """Return what separates cells: as given, or what splits the first lines best."""
    head = text[:_SAMPLE].splitlines()[:_SAMPLE_LINES]
    counts = {cut: [len(row) for row in _rows(head, cut)] for cut in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda cut: (counts[cut][0] > 1, np.mean(counts[cut])))
    splits = counts[best][0] > 1
    if given is not None:
        cut = "\t" if given == "\\t" else given
        if cut not in head[0] and splits:
            raise InvalidInputError(
                f"{path}, line {line}: no {cut!r} separates {head[0][:40]!r}; pass --delimiter "
                f"{best!r}."
            )
        return cut
    if not splits and not _ONE_NAME.fullmatch(head[0].strip()):
        raise InvalidInputError(
            f"{path}, line {line}: no comma, semicolon, tab or bar separates {head[0][:40]!r}; "
            f"pass --delimiter."
        )
    return best


def _names(path: Path, text: str, delimiter: str, line: int) -> list[str]:
    """Return the columns' names, made up where one is empty, or raise if two are the same."""
    first = next(_rows(io.StringIO(text), delimiter))
    names = [name.strip() or f"Unnamed: {k}" for k, name in enumerate(first)]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            remedy = "add a line of names" if _are_values(names) else "rename one"
            raise InvalidInputError(
                f"{path}, line {line}: two columns are named {name!r}; {remedy}."
            )
        seen.add(name)
    return names


def _are_values(names: Sequence[str]) -> bool:
    """Tell whether a line is of numbers that do not just count, and so may hold values."""
    numbers = [as_number(name) for name in names]
    counting = [list(range(start, start + len(names))) for start in (0, 1)]
    return not any(isinstance(one, str) for one in numbers) and numbers not in counting


def _check_ragged(path: Path, text: str, delimiter: str, skipped: int) -> list[str]:
    """Raise if a row has more or fewer cells than the first; tell of rows over several lines."""
    if '"' not in text and len(delimiter.encode()) == 1:
        odd, messages = _odd_line(text, delimiter), list[str]()
    else:
        odd, messages = _odd_quoted_row(text, delimiter, skipped)
    if odd is None:
        return messages
    first, last, found, wanted = odd
    closes = "is never closed" if text.count('"') % 2 else f"closes in line {last + skipped}"
    why = "" if first == last else f" (a quote that opens there {closes})"
    raise InvalidInputError(
        f"{path}, line {first + skipped}: {pluralize(found, 'cell')} where the first line has "
        f"{wanted:,}{why}; correct the line, or pass --delimiter."
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


def _odd_quoted_row(
    text: str, delimiter: str, skipped: int
) -> tuple[tuple[int, int, int, int] | None, list[str]]:
    """Return the same of a text with quotes, and what to tell of rows that take several lines."""
    rows = list(_counted(text, delimiter))
    wanted = rows[0][2]
    odd = next(((*row, wanted) for row in rows if row[2] != wanted), None)
    long = [(first, last) for first, last, _ in rows if last > first]
    if not long:
        return odd, []
    first, last = (line + skipped for line in long[0])
    return odd, [
        f"Quoted cells go over several lines in {pluralize(len(long), 'row')}, the first from line "
        f"{first} to {last}."
    ]


def _counted(text: str, delimiter: str) -> Iterator[tuple[int, int, int]]:
    """Yield the first and the last line and the number of cells of each row."""
    reader = _rows(io.StringIO(text), delimiter)
    first = 1
    for row in reader:
        if row:
            yield first, reader.line_num, len(row)
        first = reader.line_num + 1


def _read(path: Path, text: str, how: _How) -> tuple[Any, str]:
    """Return a frame, and what begins the fractions of its numbers."""
    decimal = how.dialect.decimal or "."
    frame = _read_csv(path, text, how, decimal)
    is_open = how.dialect.decimal is None and how.dialect.delimiter != ","
    is_usual = how.dialect.usual_decimal == ","
    others = frame.drop(columns=list(how.as_text), errors="ignore")
    if is_open and _has_decimal_commas(others, is_usual):
        decimal = ","
        frame = _read_csv(path, text, how, decimal)
    frame = _with_whole_numbers(frame, path, text, how)
    return frame, decimal


def _has_decimal_commas(frame: Any, is_usual: bool) -> bool:
    """Tell whether all cells of a column, as far as one looks, are numbers with commas.

    Not if another column has fractions with points.
    """
    fractions = frame.select_dtypes("float")
    if (fractions.notna() & (fractions != np.floor(fractions))).any(axis=None):
        return False
    for name in frame.columns[[kind.kind not in "iufb" for kind in frame.dtypes]]:
        cells = [str(cell).strip() for cell in frame[name].dropna().iloc[:_SAMPLE_CELLS]]
        with_comma = [cell for cell in cells if _WITH_COMMA.fullmatch(cell)]
        whole = sum(cell.lstrip("+-").isdecimal() for cell in cells)
        # Three digits after every comma may as well be thousands.
        is_clear = is_usual or any(not _THOUSANDS.fullmatch(cell) for cell in with_comma)
        if with_comma and is_clear and len(with_comma) + whole == len(cells):
            return True
    return False


def _with_whole_numbers(frame: Any, path: Path, text: str, how: _How) -> Any:
    """Return a frame whose whole numbers too large to be told apart as numbers are text."""
    large = large_columns(frame)
    if not large:
        return frame
    written = _read_csv(path, text, how._replace(as_text=large), ".")
    exact = {
        name: written[name] for name in large if exceed_float_precision(unique_cells(written[name]))
    }
    return replaced(frame, exact)


def _read_csv(path: Path, text: str, how: _How, decimal: str) -> Any:
    import pandas as pd

    missing = how.dialect.missing
    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=how.dialect.delimiter,
            decimal=decimal,
            header=0,
            names=how.names,
            dtype={name: str for name in how.names if name in how.as_text},
            na_values=["", *missing] if missing else list(MISSING),
            keep_default_na=False,
            skipinitialspace=True,
            low_memory=False,  # else a column may become numbers here and text there
            skip_blank_lines=len(how.names) > 1,  # of a single column they are missing values
            index_col=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        if "Calling read" in str(error):  # how pandas tells that it was interrupted
            raise KeyboardInterrupt from error
        what = " ".join(str(error).split()).rstrip(".")
        raise InvalidInputError(f"{path} cannot be read: {what}; correct the file.") from None
