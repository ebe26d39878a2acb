"""Dates as people write them, and their numeric features."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = (
    r"(?P<name>(?i:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|"
    r"june|july|august|september|october|november|december))\.?"
)
_DAYS = (
    r"(?P<year>\d{4})(?P<by>[-/.])(?P<month>\d{1,2})(?P=by)(?P<day>\d{1,2})",
    r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?=T)",
    r"(?P<one>\d{1,2})(?P<by>[-/.])(?P<two>\d{1,2})(?P=by)(?P<year>\d{4}|\d{2})",
    rf"(?P<day>\d{{1,2}})[- ]{_NAME}[-, ]\s?(?P<year>\d{{4}}|\d{{2}})",
    rf"{_NAME}[- ](?P<day>\d{{1,2}})(?:,\s?| )(?P<year>\d{{4}})",
    r"(?P<year>\d{4})[-/](?P<month>\d{2})",
    rf"{_NAME}[- ](?P<year>\d{{4}})",
)
_TIME = (
    r"(?:(?:T|\s+)(?P<hour>\d{1,2}):?(?P<minute>[0-5]\d)(?::?(?P<second>[0-5]\d)(?:[.,]\d+)?)?"
    r"(?:\s?(?P<half>[AaPp])[Mm])?(?:\s?(?:Z|UTC|GMT|[-+]\d{2}:?\d{2}))?)?"
)
_PATTERNS = tuple(re.compile(day + _TIME, re.ASCII) for day in _DAYS)
_PLAIN = re.compile(r"[\d/.-]+([T ][\d:]+)?", re.ASCII)  # no words, time zones or fractions
_FIRST = np.datetime64("0001-01-01", "s")
_CENTURY = 69  # two-digit years from here on are in the 20th century, as in POSIX
YEAR, MONTH, WEEKDAY, HOUR = "year", "month", "weekday", "hour"


def read_dates(cells: Sequence[str], *, day_first: bool) -> np.ndarray:
    """Return cells as times, NaT where a cell is not a date.

    Cells with slashes or dashes have one order of day and month; with points the day is first.
    Time zones are ignored: the local time as written is returned.

    Examples
    --------
    >>> cells = ["2012-01-31", "31.1.12", "1/2/2012", "Jan 5, 2012 1:30 PM", "no"]
    >>> read_dates(cells, day_first=False).astype(str).tolist()
    ['2012-01-31T00:00:00', '2012-01-31T00:00:00', '2012-01-02T00:00:00', '2012-01-05T13:30:00',
     'NaT']
    """
    out = _read_uniform(cells, day_first)
    out[out < _FIRST] = "NaT"
    for k in np.flatnonzero(np.isnat(out)).tolist():
        out[k] = _read_date(cells[k].strip(), day_first) or "NaT"
    return out


def _read_uniform(cells: Sequence[str], day_first: bool) -> np.ndarray:
    """Return the times in cells that have the format of the first one, which is fast."""
    import pandas as pd

    form = _strptime_format(cells[0].strip(), day_first) if len(cells) else None
    if form is None:
        return np.full(len(cells), "NaT", "M8[s]")
    read = pd.to_datetime(pd.Series(cells, dtype=object), format=form, errors="coerce")
    return read.to_numpy(dtype="M8[s]", copy=True)


def _match(cell: str) -> re.Match | None:
    return next(filter(None, (pattern.fullmatch(cell) for pattern in _PATTERNS)), None)


def _strptime_format(cell: str, day_first: bool) -> str | None:
    """Return the format of a cell; None if it is not a date or has words, which vary by locale."""
    found = _match(cell)
    if found is None or not _PLAIN.fullmatch(cell):
        return None
    order = ("%d", "%m") if day_first or found.groupdict().get("by") == "." else ("%m", "%d")
    year = "%Y" if len(found["year"]) == 4 else "%y"
    directives = {"year": year, "month": "%m", "day": "%d", "one": order[0], "two": order[1]}
    directives |= {"hour": "%H", "minute": "%M", "second": "%S"}
    spans = sorted((*found.span(name), name) for name in found.groupdict() if name in directives)
    form, at = "", 0
    for first, last, name in spans:
        if first >= 0:
            form, at = form + cell[at:first] + directives[name], last
    return form + cell[at:]


def _read_date(cell: str, day_first: bool) -> np.datetime64 | None:
    """Return a cell as a time, None if it is not a date."""
    found = _match(cell)
    if found is None:
        return None
    parts = found.groupdict()
    if parts.get("name"):
        parts["month"] = _MONTHS.index(parts["name"][:3].lower()) + 1
    if parts.get("one"):
        order = ("day", "month") if day_first or parts["by"] == "." else ("month", "day")
        parts |= dict(zip(order, (parts["one"], parts["two"]), strict=True))
    year, hour = int(parts["year"]), int(parts["hour"] or 0)
    if len(parts["year"]) == 2:
        year += 1900 if year >= _CENTURY else 2000
    if parts["half"]:
        hour = (hour % 12 if 1 <= hour <= 12 else 99) + (12 if parts["half"] in "pP" else 0)
    clock = (hour, int(parts["minute"] or 0), int(parts["second"] or 0))
    try:
        return np.datetime64(
            datetime(year, int(parts["month"]), int(parts.get("day") or 1), *clock)
        )
    except ValueError:  # such as February 30
        return None


def date_features(dates: Any) -> dict[str, np.ndarray]:
    """Return numeric features of a pandas column of times, NaN where a time is missing.

    ``year`` has a fraction, so that the middle of 2012 is 2012.5; ``month`` is 1 to 12, ``weekday``
    1 (Monday) to 7, and ``hour`` is the time of day with its fraction.
    """
    when = dates.dt
    if when.tz is not None:
        dates = when.tz_localize(None)
        when = dates.dt
    seconds = (dates - when.normalize()).dt.total_seconds()
    length = 365.0 + when.is_leap_year
    numbers = {
        YEAR: when.year + (when.day_of_year - 1 + seconds / 86_400) / length,
        MONTH: when.month,
        WEEKDAY: when.day_of_week + 1,
        HOUR: seconds / 3600,
    }
    is_known = dates.notna().to_numpy()
    return {
        name: np.where(is_known, column.to_numpy(dtype=np.float64, na_value=np.nan), np.nan)
        for name, column in numbers.items()
    }


def informative_features(dates: Any, features: Mapping[str, np.ndarray]) -> list[str]:
    """Return the features of dates that are not constant and not redundant.

    Within one year the month adds nothing to ``year``, and the weekday is meaningless if all dates
    have the same day of the month, such as the first.
    """
    present = dates.dropna().dt
    varies = {name: len(np.unique(x[~np.isnan(x)])) > 1 for name, x in features.items()}
    varies[MONTH] &= present.year.nunique() > 1
    varies[WEEKDAY] &= present.day.nunique() > 1
    return [name for name in features if varies[name]]
