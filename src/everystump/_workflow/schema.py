"""Which columns of text are numbers, times or dates, but for a few words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from everystump._text import pluralize, truncate_list
from everystump._workflow import InvalidInputError
from everystump._workflow.datetext import date_features, informative_parts, read_dates
from everystump._workflow.kinds import TEXT, TIMES, kind_of
from everystump._workflow.labels import as_number
from everystump._workflow.numbertext import exceed_float_precision, is_code, read_numbers
from everystump._workflow.readings import (
    DateParser,
    NumberParser,
    Reader,
    Reading,
    TimeParser,
    are_few_words,
    as_times,
    clocks,
    date_reader,
    number_reader,
    parse_column,
    unique_cells,
)

_SAMPLE, _MANY = 200, 20


class _Candidate(NamedTuple):
    """A way to read cells."""

    kind: str
    reader: Reader
    option: Any = None


def infer_parsers(
    frame: Any, decimals: Sequence[str], *, as_it_is: Collection[str], numeric: Collection[str]
) -> dict[str, Reading]:
    """Return how the columns of a table are read that do not stay as they are.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of any kind.
    decimals : sequence of str
        What may begin fractions, the likeliest first.
    as_it_is : collection of str
        Columns to leave alone.
    numeric : collection of str
        Columns of numbers, whatever else they hold, which counts as missing.
    """
    found: dict[str, Reading] = {}
    taken = set(frame.columns)
    for name in frame.columns[[dtype.kind not in "iufb" for dtype in frame.dtypes]]:
        if name in as_it_is:
            continue
        reading: Reading | None = (
            _forced(frame[name], decimals)
            if name in numeric
            else _find_reading(frame[name], decimals, taken)
        )
        if reading is not None:
            found[name] = reading
            taken.update(reading.names(name))
    return found


def apply_parsers(frame: Any, readings: Mapping[str, Reading]) -> Any:
    """Return a table whose columns are read; dates become several where they stood."""
    import pandas as pd

    if not readings:
        return frame
    columns: dict[str, Any] = {}
    for name in frame.columns:
        columns |= readings[name].features(frame[name]) if name in readings else {name: frame[name]}
    return pd.DataFrame(columns, index=frame.index)


def describe_parsers(frame: Any, readings: Mapping[str, Reading]) -> list[str]:
    """Return what a user should know of how columns are read."""
    written, words, dates, hours, rounded, unsigned = [], [], [], [], [], []
    for name, reading in readings.items():
        if isinstance(reading, NumberParser):
            written += _written(frame[name], reading)
            unsigned += [name] if reading.lacks_percent(frame[name]) else []
            rounded += [name] if exceed_float_precision(unique_cells(frame[name])) else []
        elif isinstance(reading, DateParser):
            dates.append(
                f"{name} ({', '.join(reading.parts.values())}{_order(frame[name], reading)})"
            )
        else:
            hours.append(name)
        words += [_words(frame[name], reading)] if reading.missing else []
    keep = "pass --categorical to keep a column as it is written"
    sentences = {
        f"Numbers, read from text: {truncate_list(written)}.": written,
        f"Dates, turned into numbers: {truncate_list(dates)}.": dates,
        f"Times, turned into hours: {truncate_list(hours)}.": hours,
        f"Rounded, as whole numbers beyond 2^53: {truncate_list(rounded)}.": rounded,
        f"Percents, of which some are without the sign, and taken to be percents as well: "
        f"{truncate_list(unsigned)}.": unsigned,
        f"Words that count as missing: {truncate_list(words)}; {keep}.": words,
    }
    return [sentence for sentence, of in sentences.items() if of]


def seems_numeric(column: Any) -> bool:
    """Tell whether most of many different cells of a text are numbers."""
    cells = unique_cells(column)
    if len(cells) < _MANY or any(map(is_code, cells[:_SAMPLE])) or exceed_float_precision(cells):
        return False
    return 2 * int(np.isnan(read_numbers(cells[:_SAMPLE], ".")[0]).sum()) < min(len(cells), _SAMPLE)


def _written(column: Any, reading: NumberParser) -> list[str]:
    """Return the longest cell with a sign or a separator, if there is one, and its number."""
    odd = [cell for cell in unique_cells(column)[:_SAMPLE] if as_number(cell) == cell]
    cell = max((cell for cell in odd if cell not in reading.missing), key=len, default=None)
    if cell is None:
        return []
    value = read_numbers([cell], reading.decimal, reading.sign)[0][0]
    return [f"{column.name} ({cell!r} is {value:.15g})"]


def _words(column: Any, reading: Reading) -> str:
    """Return the words in a column, and in how many rows they are."""
    n_rows = int(column.astype(str).str.strip().isin(reading.missing).sum())
    words = truncate_list([repr(word) for word in reading.missing], 3)
    return f"{column.name} ({words} in {pluralize(n_rows, 'row')})"


def _order(column: Any, reading: DateParser) -> str:
    """Return which of day and month is taken to be first, if the column does not tell."""
    if as_times(column) is not None:
        return ""
    cells = unique_cells(column)
    for some in (cells[:_SAMPLE], cells):  # the first few tell in most cases
        one, other = (read_dates(some, day_first=first) for first in (False, True))
        if np.array_equal(one, other, equal_nan=True) or (np.isnat(one) != np.isnat(other)).any():
            return ""
    return "; the month is taken to be before the day"


def _forced(column: Any, decimals: Sequence[str]) -> NumberParser | None:
    """Return how a column is read that is said to be of numbers."""
    if kind_of(column) != TEXT:
        return None
    candidate, words = _best(unique_cells(column), _numbers(decimals))
    if candidate is None or len(words) == column.nunique():
        raise InvalidInputError(
            f"--numeric {column.name}: the column has no numbers; leave it out."
        )
    return _number_reading(column, candidate.option, words)


def _find_reading(column: Any, decimals: Sequence[str], taken: Collection[str]) -> Reading | None:
    """Return how a column is read, None if it stays as it is."""
    kind = kind_of(column)
    if kind == TIMES:
        dates = as_times(column)
        return TimeParser() if dates is None else _date_reading(column.name, dates, taken)
    if kind != TEXT or hasattr(column, "cat"):
        return None
    cells = unique_cells(column)
    candidates = [
        *_numbers(decimals),
        _Candidate("clock", clocks),
        *(_Candidate("date", date_reader(first), first) for first in (False, True)),
    ]
    best, words = _best(cells, candidates)
    if best is None or not are_few_words(words, cells) or exceed_float_precision(cells):
        return None
    if best.kind == "number" and any(map(is_code, cells)):
        return None
    if best.kind == "number":
        return _number_reading(column, best.option, words)
    if best.kind == "clock":
        return TimeParser(missing=tuple(words))
    dates = parse_column(column, best.reader)
    return _date_reading(column.name, dates, taken, day_first=best.option, missing=tuple(words))


def _numbers(decimals: Sequence[str]) -> list[_Candidate]:
    return [_Candidate("number", number_reader(one, None), one) for one in decimals]


def _best(
    cells: Sequence[str], candidates: Sequence[_Candidate]
) -> tuple[_Candidate | None, list[str]]:
    """Return what reads most cells, the first of equals, and the words that it cannot read.

    It must read half of a first few, so that a column of text costs little.
    """
    few = cells[:_SAMPLE]
    likely = [one for one in candidates if 2 * len(_unread(few, one)) <= len(few)]
    if not cells or not likely:
        return None, []
    best, fewest = likely[0], _unread(cells, likely[0])
    for other in likely[1:]:
        words = _unread(cells, other) if fewest else []
        if len(words) < len(fewest):
            best, fewest = other, words
    return best, fewest


def _unread(cells: Sequence[str], candidate: _Candidate) -> list[str]:
    missing = np.isnat if candidate.kind == "date" else np.isnan
    return [cells[k] for k in np.flatnonzero(missing(candidate.reader(cells))).tolist()]


def _number_reading(column: Any, decimal: str, words: Sequence[str]) -> NumberParser:
    _, sign = read_numbers(unique_cells(column), decimal)
    return NumberParser(decimal=decimal, sign=sign, missing=tuple(words))


def _date_reading(name: str, dates: Any, taken: Collection[str], **given: Any) -> DateParser | None:
    """Return how dates are read, None if they are all the same."""
    numbers = date_features(dates)
    parts = {}
    for part in informative_parts(dates, numbers):
        own = f"{name}_{part}"
        while own in taken:
            own += "_"
        parts[part] = own
    return DateParser(parts=parts, **given) if parts else None
