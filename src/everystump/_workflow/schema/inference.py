"""Inference of the text columns that hold numbers, times or dates, apart from a few words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from everystump._text import InvalidInputError, pluralize, truncate_list
from everystump._workflow.reading.date_text import (
    date_features,
    informative_features,
    read_dates,
)
from everystump._workflow.reading.frames import unique_cells
from everystump._workflow.reading.number_text import (
    as_number,
    exceed_float_precision,
    is_code,
    is_integer,
    read_numbers,
)
from everystump._workflow.schema.columns import NUMBERS, TEXT, TIMES, column_kind
from everystump._workflow.schema.parsers import (
    CellReader,
    ColumnParser,
    DateParser,
    NumberParser,
    TimeParser,
    are_few,
    as_datetimes,
    date_reader,
    number_reader,
    parse_cells,
    read_clocks,
)

_SAMPLE, _MANY = 200, 20


class _Candidate(NamedTuple):
    """A possible parser of a column."""

    kind: str
    reader: CellReader
    option: Any = None


def infer_parsers(
    frame: Any, decimals: Sequence[str], *, unchanged: Collection[str], numeric: Collection[str]
) -> dict[str, ColumnParser]:
    """Return the parsers of the columns that need one.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of any kind.
    decimals : sequence of str
        Possible decimal separators, the most likely one first.
    unchanged : collection of str
        Columns that stay as they are.
    numeric : collection of str
        Columns to parse as numbers, with all other cells missing.
    """
    parsers: dict[str, ColumnParser] = {}
    taken = set(frame.columns)
    for name in frame.columns[[dtype.kind not in "iufb" for dtype in frame.dtypes]]:
        if name in unchanged:
            continue
        parser: ColumnParser | None = (
            _forced_number_parser(frame[name], decimals)
            if name in numeric
            else _infer_parser(frame[name], decimals, taken)
        )
        if parser is not None:
            parsers[name] = parser
            taken.update(parser.names(name))
    return parsers


def infer_number_parser(column: Any, decimals: Sequence[str]) -> NumberParser | None:
    """Return the parser of numbers for a column that holds numbers, as for a feature, else None."""
    if column_kind(column) == NUMBERS:
        return None if hasattr(column, "cat") or column.dtype.kind == "b" else NumberParser()
    if decimals[0] == "." and _are_plain_numbers(column):
        return NumberParser()
    parser = _infer_parser(column, decimals, ())
    return parser if isinstance(parser, NumberParser) else None


def force_number_parser(column: Any, decimals: Sequence[str]) -> NumberParser | None:
    """Return the parser of numbers for a column, with all other cells missing.

    None if it has no numbers.
    """
    if column_kind(column) == NUMBERS:
        return NumberParser()
    if column_kind(column) != TEXT:
        return None
    candidate, words = _best_candidate(unique_cells(column), _number_candidates(decimals))
    if candidate is None or len(words) == column.nunique():
        return None
    return _number_parser(column, candidate.option, words)


def _are_plain_numbers(column: Any) -> bool:
    """Whether all cells of a text column are decimal numbers, by a quick test."""
    import pandas as pd

    if column_kind(column) != TEXT or column.notna().sum() == 0 or hasattr(column, "cat"):
        return False
    cells = unique_cells(column)
    is_code_or_large = any(map(is_code, cells)) or exceed_float_precision(cells)
    present = column.dropna()
    return not is_code_or_large and bool(pd.to_numeric(present, errors="coerce").notna().all())


def describe_parsers(frame: Any, parsers: Mapping[str, ColumnParser]) -> list[str]:
    """Return sentences about how columns are parsed."""
    numbers, words, dates, hours, rounded, unsigned = [], [], [], [], [], []
    for name, parser in parsers.items():
        if isinstance(parser, NumberParser):
            numbers += _number_example(frame[name], parser)
            unsigned += [name] if parser.lacks_percent(frame[name]) else []
            rounded += [name] if exceed_float_precision(unique_cells(frame[name])) else []
        elif isinstance(parser, DateParser):
            dates.append(
                f"{name} ({', '.join(parser.parts.values())}{_assumed_order(frame[name])})"
            )
        else:
            hours.append(name)
        words += [_word_counts(frame[name], parser)] if parser.missing else []
    sentences = {
        f"Numbers parsed from text: {truncate_list(numbers)}.": numbers,
        f"Dates converted to numbers: {truncate_list(dates)}.": dates,
        f"Times converted to hours: {truncate_list(hours)}.": hours,
        f"Integers beyond 2^53, rounded to floats: {truncate_list(rounded)}.": rounded,
        f"Percentages, some of them without a percent sign: {truncate_list(unsigned)}.": unsigned,
        f"Words treated as missing values: {truncate_list(words)}; pass --categorical to keep a "
        f"column as text.": words,
    }
    return [sentence for sentence, columns in sentences.items() if columns]


def seems_numeric(column: Any) -> bool:
    """Whether a text column has many distinct cells, most of which are numbers."""
    cells = unique_cells(column)
    if len(cells) < _MANY or any(map(is_code, cells[:_SAMPLE])) or exceed_float_precision(cells):
        return False
    return 2 * int(np.isnan(read_numbers(cells[:_SAMPLE], ".")[0]).sum()) < min(len(cells), _SAMPLE)


def has_leading_zeros(column: Any) -> bool:
    """Whether a text column consists of integers, some of which have leading zeros."""
    cells = unique_cells(column)
    if not any(map(is_code, cells)):
        return False
    return are_few([cell for cell in cells if not is_integer(cell)], cells)


def _number_example(column: Any, parser: NumberParser) -> list[str]:
    """Return the longest cell that is not a plain number, if there is one, and its value."""
    formatted = [cell for cell in unique_cells(column)[:_SAMPLE] if as_number(cell) == cell]
    cell = max((cell for cell in formatted if cell not in parser.missing), key=len, default=None)
    if cell is None:
        return []
    value = read_numbers([cell], parser.decimal, parser.sign)[0][0]
    return [f"{column.name} ({cell!r} is {value:.15g})"]


def _word_counts(column: Any, parser: ColumnParser) -> str:
    """Return the words in a column that are missing values, and the number of their rows."""
    n_rows = int(column.astype(str).str.strip().isin(parser.missing).sum())
    words = truncate_list([repr(word) for word in parser.missing], 3)
    return f"{column.name} ({words} in {pluralize(n_rows, 'row')})"


def _assumed_order(column: Any) -> str:
    """Return a remark if the order of day and month is ambiguous in a column."""
    if as_datetimes(column) is not None:
        return ""
    cells = unique_cells(column)
    for tested in (cells[:_SAMPLE], cells):  # a sample is enough in most cases
        month_first, day_first = (read_dates(tested, day_first=d) for d in (False, True))
        is_equal = np.array_equal(month_first, day_first, equal_nan=True)
        if is_equal or (np.isnat(month_first) != np.isnat(day_first)).any():
            return ""
    return "; assuming month before day"


def _forced_number_parser(column: Any, decimals: Sequence[str]) -> NumberParser | None:
    """Return the parser of a column that the user declares to be numeric."""
    if column_kind(column) != TEXT:
        return None
    parser = force_number_parser(column, decimals)
    if parser is None:
        raise InvalidInputError(f"--numeric {column.name}: the column has no numbers; omit it.")
    return parser


def _infer_parser(
    column: Any, decimals: Sequence[str], taken: Collection[str]
) -> ColumnParser | None:
    """Return the parser of a column, None if it stays as it is."""
    kind = column_kind(column)
    if kind == TIMES:
        dates = as_datetimes(column)
        return TimeParser() if dates is None else _date_parser(column.name, dates, taken)
    if kind != TEXT or hasattr(column, "cat"):
        return None
    cells = unique_cells(column)
    candidates = [
        *_number_candidates(decimals),
        _Candidate("clock", read_clocks),
        *(_Candidate("date", date_reader(first), first) for first in (False, True)),
    ]
    best, words = _best_candidate(cells, candidates)
    if best is None or not are_few(words, cells) or exceed_float_precision(cells):
        return None
    if best.kind == "number" and any(map(is_code, cells)):
        return None
    if best.kind == "number":
        return _number_parser(column, best.option, words)
    if best.kind == "clock":
        return TimeParser(missing=tuple(words))
    dates = parse_cells(column, best.reader)
    return _date_parser(column.name, dates, taken, day_first=best.option, missing=tuple(words))


def _number_candidates(decimals: Sequence[str]) -> list[_Candidate]:
    return [_Candidate("number", number_reader(decimal, None), decimal) for decimal in decimals]


def _best_candidate(
    cells: Sequence[str], candidates: Sequence[_Candidate]
) -> tuple[_Candidate | None, list[str]]:
    """Return the first candidate that parses most cells, and the cells that it cannot parse.

    It must parse at least half of a sample; this rules out text columns quickly.
    """
    sample = cells[:_SAMPLE]
    likely = [
        candidate
        for candidate in candidates
        if 2 * len(_unparsed(sample, candidate)) <= len(sample)
    ]
    if not cells or not likely:
        return None, []
    best, fewest = likely[0], _unparsed(cells, likely[0])
    for other in likely[1:]:
        words = _unparsed(cells, other) if fewest else []
        if len(words) < len(fewest):
            best, fewest = other, words
    return best, fewest


def _unparsed(cells: Sequence[str], candidate: _Candidate) -> list[str]:
    is_missing = np.isnat if candidate.kind == "date" else np.isnan
    return [cells[k] for k in np.flatnonzero(is_missing(candidate.reader(cells))).tolist()]


def _number_parser(column: Any, decimal: str, words: Sequence[str]) -> NumberParser:
    _, sign = read_numbers(unique_cells(column), decimal)
    return NumberParser(decimal=decimal, sign=sign, missing=tuple(words))


def _date_parser(
    name: str, dates: Any, taken: Collection[str], **options: Any
) -> DateParser | None:
    """Return the parser of dates, None if they are all equal."""
    parts = {}
    for part in informative_features(dates, date_features(dates)):
        feature = f"{name}_{part}"
        while feature in taken:
            feature += "_"
        parts[part] = feature
    return DateParser(parts=parts, **options) if parts else None
