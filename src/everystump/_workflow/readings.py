"""How the cells of a column are read as numbers: found once, and remembered with the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from everystump._workflow import InvalidInputError
from everystump._workflow.datetext import date_features, read_dates
from everystump._workflow.kinds import NUMBERS, TEXT, kind_of
from everystump._workflow.numbertext import read_clock, read_numbers

_MOST_WORDS, _WORD_SHARE, _FEWEST = 10, 0.2, 10
Reader = Callable[[Sequence[str]], np.ndarray]
"""Reads cells; what it cannot read is NaN or NaT."""


@dataclass(frozen=True, kw_only=True)
class Reading(ABC):
    """How a column becomes features.

    Attributes
    ----------
    missing : tuple of str
        Words that count as missing values.
    """

    missing: tuple[str, ...] = ()
    kind: ClassVar[str]

    @abstractmethod
    def names(self, name: str) -> list[str]:
        """Return what the features are called that a column becomes."""

    @abstractmethod
    def read(self, column: Any) -> tuple[dict[str, Any], list[str]]:
        """Return the features, and the words that count as missing but are not known as such.

        Raise if these are not few.
        """

    def features(self, column: Any) -> dict[str, Any]:
        """Return the features, or raise if more than a few cells are words."""
        return self.read(column)[0]

    def _read(self, column: Any, readers: Iterable[Reader], what: str) -> tuple[Any, list[str]]:
        """Return a column as the reader has it that reads most cells, and words, or raise."""
        if kind_of(column) != TEXT:
            raise _unread(column, column.notna(), what)
        known = column.isna() | column.astype(str).str.strip().isin(self.missing)
        found = []
        for reader in readers:
            values = parse_column(column, reader)
            bad = values.isna() & ~known
            if not bad.any():
                return values, []
            found.append((values, bad))
        values, bad = min(found, key=lambda one: int(one[1].sum()))
        words = unique_cells(column[bad])
        if not are_few_words(words, unique_cells(column[~known])):
            raise _unread(column, bad, what)
        return values, words


@dataclass(frozen=True, kw_only=True)
class NumberParser(Reading):
    """Numbers, which may have separators and the sign of a unit.

    Attributes
    ----------
    decimal : str
        What begins fractions, where a column does not tell.
    sign : str
        The currency, or the percent sign, which changes nothing: 35.8% is 35.8.
    """

    decimal: str = "."
    sign: str = ""
    kind: ClassVar[str] = "number"

    def names(self, name: str) -> list[str]:
        """Return the name of the column."""
        return [name]

    def read(self, column: Any) -> tuple[dict[str, Any], list[str]]:
        """Return the column as numbers."""
        if kind_of(column) != NUMBERS:
            decimals = dict.fromkeys((self.decimal, ".", ","))
            readers = [number_reader(decimal, self.sign) for decimal in decimals]
            values, words = self._read(column, readers, "a number")
            return {column.name: values}, words
        return {column.name: column}, []

    def lacks_percent(self, column: Any) -> bool:
        """Tell whether numbers of a column of percents are without the sign, all or some."""
        if self.sign != "%":
            return False
        if kind_of(column) == NUMBERS:
            return bool(column.notna().any())
        cells = [cell for cell in unique_cells(column) if cell not in self.missing]
        return any("%" not in cell and any(map(str.isdecimal, cell)) for cell in cells)


@dataclass(frozen=True, kw_only=True)
class TimeParser(Reading):
    """Times of the day, and durations, which become hours."""

    kind: ClassVar[str] = "clock"

    def names(self, name: str) -> list[str]:
        """Return the name of the column."""
        return [name]

    def read(self, column: Any) -> tuple[dict[str, Any], list[str]]:
        """Return the column as hours."""
        if column.dtype.kind == "m":
            return {column.name: column.dt.total_seconds() / 3600}, []
        if kind_of(column) != NUMBERS:  # such as datetime.time
            column = column.astype(str).astype(object).where(column.notna(), None)
            values, words = self._read(column, [clocks], "a time")
            return {column.name: values}, words
        return {column.name: column}, []


@dataclass(frozen=True, kw_only=True)
class DateParser(Reading):
    """Dates, which become a few numbers each.

    Attributes
    ----------
    parts : mapping of str to str
        The numbers, and what the features that hold them are called.
    day_first : bool
        Whether 1/2/2012 is in February, where a column does not tell.
    """

    parts: Mapping[str, str]
    day_first: bool = False
    kind: ClassVar[str] = "date"

    def names(self, name: str) -> list[str]:
        """Return the names of the parts."""
        return list(self.parts.values())

    def read(self, column: Any) -> tuple[dict[str, Any], list[str]]:
        """Return the numbers of the dates, however this column writes them."""
        import pandas as pd

        dates, words = as_times(column), list[str]()
        if dates is None:
            readers = [date_reader(self.day_first), date_reader(not self.day_first)]
            dates, words = self._read(column, readers, "a date")
        numbers = date_features(dates)
        features = {
            name: pd.Series(numbers[part], index=column.index) for part, name in self.parts.items()
        }
        return features, words


_KINDS: dict[str, Any] = {one.kind: one for one in (NumberParser, TimeParser, DateParser)}


def as_plain(readings: Mapping[str, Reading]) -> dict[str, dict[str, Any]]:
    """Return readings as plain data, to be kept with a model."""
    return {
        name: {"kind": one.kind, **asdict(one), "missing": list(one.missing)}
        for name, one in readings.items()
    }


def parsers_from_dict(kept: Mapping[str, Mapping[str, Any]]) -> dict[str, Reading]:
    """Return the readings that were kept with a model."""
    known = {}
    for name, one in kept.items():
        given = {key: value for key, value in one.items() if key not in ("kind", "missing")}
        known[name] = _KINDS[one["kind"]](**given, missing=tuple(one["missing"]))
    return known


def number_reader(decimal: str, sign: str | None) -> Reader:
    """Return what reads numbers."""
    return lambda cells: read_numbers(cells, decimal, sign)[0]


def date_reader(day_first: bool) -> Reader:
    """Return what reads dates."""
    return lambda cells: read_dates(cells, day_first=day_first)


def clocks(cells: Sequence[str]) -> np.ndarray:
    """Read times of the day."""
    read = [read_clock(cell) for cell in cells]
    return np.array([np.nan if one is None else one for one in read], dtype=np.float64)


def unique_cells(column: Any) -> list[str]:
    """Return the different cells of a column of text."""
    return [str(cell).strip() for cell in column.dropna().unique()]


def parse_column(column: Any, reader: Reader) -> Any:
    """Return a column of text as a reader has it, each different cell read once."""
    import pandas as pd

    codes, cells = pd.factorize(column)
    read = reader([str(cell).strip() for cell in cells])
    empty = np.array(["NaT"], read.dtype) if read.dtype.kind == "M" else np.array([np.nan])
    return pd.Series(np.concatenate([read, empty])[codes], index=column.index, name=column.name)


def as_times(column: Any) -> Any:
    """Return a column of dates as pandas' times, None if it holds something else."""
    import pandas as pd

    if hasattr(column, "cat"):
        column = column.astype(column.cat.categories.dtype)
    if column.dtype.kind == "M":
        return column
    there = column.dropna()
    if len(there) and hasattr(there.iloc[0], "toordinal"):  # datetime.date, which has no zone
        return pd.to_datetime(column, errors="coerce").astype("datetime64[s]")
    return None


def are_few_words(words: Sequence[str], cells: Sequence[str]) -> bool:
    """Tell whether words are so few among the different cells that the column is none of words."""
    n_read = len(cells) - len(words)
    few = len(words) <= min(_MOST_WORDS, _WORD_SHARE * len(cells)) and n_read >= _FEWEST
    return not words or few


def _unread(column: Any, bad: Any, what: str) -> InvalidInputError:
    """Return what to raise for cells that are not what a model wants."""
    where = np.flatnonzero(bad.to_numpy())
    row = int(where[0]) if len(where) else 0
    options = "--missing and --decimal" if what == "a number" else "--missing"
    return InvalidInputError(
        f"{column.name!r} is {column.iloc[row]!r} in row {column.index[row]} (0 is the first), "
        f"where the model wants {what}; correct it, or see {options}."
    )
