"""Which columns of text are numbers, times or dates, but for a few words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from everystump._text import counted, listed
from everystump._workflow import RefusedError
from everystump._workflow.datetext import parts_of, read_dates, telling_parts
from everystump._workflow.kinds import TEXT, TIMES, kind_of
from everystump._workflow.labels import as_number
from everystump._workflow.numbertext import are_beyond_doubles, is_code, read_numbers
from everystump._workflow.readings import (
    ClockReading,
    DateReading,
    NumberReading,
    Reader,
    Reading,
    are_few,
    as_times,
    by_cell,
    cells_of,
    clocks,
    date_reader,
    number_reader,
)

_SAMPLE, _MANY = 200, 20


class _Candidate(NamedTuple):
    """A way to read cells."""

    kind: str
    reader: Reader
    option: Any = None


def find_readings(
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


def apply_readings(frame: Any, readings: Mapping[str, Reading]) -> Any:
    """Return a table whose columns are read; dates become several where they stood."""
    import pandas as pd

    if not readings:
        return frame
    columns: dict[str, Any] = {}
    for name in frame.columns:
        columns |= readings[name].features(frame[name]) if name in readings else {name: frame[name]}
    return pd.DataFrame(columns, index=frame.index)


def tell_readings(frame: Any, readings: Mapping[str, Reading]) -> list[str]:
    """Return what a user should know of how columns are read."""
    written, words, dates, hours, rounded, unsigned = [], [], [], [], [], []
    for name, reading in readings.items():
        if isinstance(reading, NumberReading):
            written += _written(frame[name], reading)
            unsigned += [name] if reading.lacks_percent(frame[name]) else []
            rounded += [name] if are_beyond_doubles(cells_of(frame[name])) else []
        elif isinstance(reading, DateReading):
            dates.append(
                f"{name} ({', '.join(reading.parts.values())}{_order(frame[name], reading)})"
            )
        else:
            hours.append(name)
        words += [_words(frame[name], reading)] if reading.missing else []
    keep = "pass --categorical to keep a column as it is written"
    sentences = {
        f"Numbers, read from text: {listed(written)}.": written,
        f"Dates, turned into numbers: {listed(dates)}.": dates,
        f"Times, turned into hours: {listed(hours)}.": hours,
        f"Rounded, as whole numbers beyond 2^53: {listed(rounded)}.": rounded,
        f"Percents, of which some are without the sign, and taken to be percents as well: "
        f"{listed(unsigned)}.": unsigned,
        f"Words that count as missing: {listed(words)}; {keep}.": words,
    }
    return [sentence for sentence, of in sentences.items() if of]


def seems_numeric(column: Any) -> bool:
    """Tell whether most of many different cells of a text are numbers."""
    cells = cells_of(column)
    if len(cells) < _MANY or any(map(is_code, cells[:_SAMPLE])) or are_beyond_doubles(cells):
        return False
    return 2 * int(np.isnan(read_numbers(cells[:_SAMPLE], ".")[0]).sum()) < min(len(cells), _SAMPLE)


def _written(column: Any, reading: NumberReading) -> list[str]:
    """Return the longest cell with a sign or a separator, if there is one, and its number."""
    odd = [cell for cell in cells_of(column)[:_SAMPLE] if as_number(cell) == cell]
    cell = max((cell for cell in odd if cell not in reading.missing), key=len, default=None)
    if cell is None:
        return []
    value = read_numbers([cell], reading.decimal, reading.sign)[0][0]
    return [f"{column.name} ({cell!r} is {value:.15g})"]


def _words(column: Any, reading: Reading) -> str:
    """Return the words in a column, and in how many rows they are."""
    n_rows = int(column.astype(str).str.strip().isin(reading.missing).sum())
    words = listed([repr(word) for word in reading.missing], 3)
    return f"{column.name} ({words} in {counted(n_rows, 'row')})"


def _order(column: Any, reading: DateReading) -> str:
    """Return which of day and month is taken to be first, if the column does not tell."""
    if as_times(column) is not None:
        return ""
    cells = cells_of(column)
    for some in (cells[:_SAMPLE], cells):  # the first few tell in most cases
        one, other = (read_dates(some, day_first=first) for first in (False, True))
        if np.array_equal(one, other, equal_nan=True) or (np.isnat(one) != np.isnat(other)).any():
            return ""
    return "; the month is taken to be before the day"


def _forced(column: Any, decimals: Sequence[str]) -> NumberReading | None:
    """Return how a column is read that is said to be of numbers."""
    if kind_of(column) != TEXT:
        return None
    candidate, words = _best(cells_of(column), _numbers(decimals))
    if candidate is None or len(words) == column.nunique():
        raise RefusedError(f"--numeric {column.name}: the column has no numbers; leave it out.")
    return _number_reading(column, candidate.option, words)


def _find_reading(column: Any, decimals: Sequence[str], taken: Collection[str]) -> Reading | None:
    """Return how a column is read, None if it stays as it is."""
    kind = kind_of(column)
    if kind == TIMES:
        dates = as_times(column)
        return ClockReading() if dates is None else _date_reading(column.name, dates, taken)
    if kind != TEXT or hasattr(column, "cat"):
        return None
    cells = cells_of(column)
    candidates = [
        *_numbers(decimals),
        _Candidate("clock", clocks),
        *(_Candidate("date", date_reader(first), first) for first in (False, True)),
    ]
    best, words = _best(cells, candidates)
    if best is None or not are_few(words, cells) or are_beyond_doubles(cells):
        return None
    if best.kind == "number" and any(map(is_code, cells)):
        return None
    if best.kind == "number":
        return _number_reading(column, best.option, words)
    if best.kind == "clock":
        return ClockReading(missing=tuple(words))
    dates = by_cell(column, best.reader)
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


def _number_reading(column: Any, decimal: str, words: Sequence[str]) -> NumberReading:
    _, sign = read_numbers(cells_of(column), decimal)
    return NumberReading(decimal=decimal, sign=sign, missing=tuple(words))


def _date_reading(
    name: str, dates: Any, taken: Collection[str], **given: Any
) -> DateReading | None:
    """Return how dates are read, None if they are all the same."""
    numbers = parts_of(dates)
    parts = {}
    for part in telling_parts(dates, numbers):
        own = f"{name}_{part}"
        while own in taken:
            own += "_"
        parts[part] = own
    return DateReading(parts=parts, **given) if parts else None
