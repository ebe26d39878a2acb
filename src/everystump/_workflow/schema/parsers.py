"""Parsers of columns that become numeric features; they are stored with a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from everystump._text import InvalidInputError
from everystump._workflow.reading.date_text import date_features, read_dates
from everystump._workflow.reading.frames import unique_cells
from everystump._workflow.reading.number_text import read_clock, read_numbers
from everystump._workflow.schema.columns import NUMBERS, TEXT, column_kind

_MAX_WORDS, _MAX_WORD_FRACTION, _MIN_PARSED = 10, 0.2, 10
CellReader = Callable[[Sequence[str]], np.ndarray]
"""Parses cells; those that it cannot parse are NaN or NaT."""


@dataclass(frozen=True, kw_only=True)
class ColumnParser(ABC):
    """How a column becomes features.

    Attributes
    ----------
    missing : tuple of str
        Words that are treated as missing values.
    """

    missing: tuple[str, ...] = ()
    kind: ClassVar[str]

    def names(self, name: str) -> list[str]:
        """Return the names of the features of a column."""
        return [name]

    @abstractmethod
    def parse(self, column: Any) -> tuple[dict[str, Any], list[str]]:
        """Return the features, and new words that were treated as missing values.

        Raise if there are more than a few of them.
        """

    def features(self, column: Any) -> dict[str, Any]:
        """Return the features, or raise if more than a few cells are words."""
        return self.parse(column)[0]

    def _parse_text(
        self, column: Any, readers: Iterable[CellReader], expected: str
    ) -> tuple[Any, list[str]]:
        """Return the result of the reader that parses most cells, and new words, or raise."""
        if column_kind(column) != TEXT:
            raise _unexpected_cell(column, column.notna(), expected)
        is_missing = column.isna() | column.astype(str).str.strip().isin(self.missing)
        results = []
        for reader in readers:
            values = parse_cells(column, reader)
            bad = values.isna() & ~is_missing
            if not bad.any():
                return values, []
            results.append((values, bad))
        values, bad = min(results, key=lambda result: int(result[1].sum()))
        words = unique_cells(column[bad])
        if not are_few(words, unique_cells(column[~is_missing])):
            raise _unexpected_cell(column, bad, expected)
        return values, words


@dataclass(frozen=True, kw_only=True)
class NumberParser(ColumnParser):
    """Numbers, possibly with thousands separators and a currency or percent sign.

    Attributes
    ----------
    decimal : str
        Decimal separator, where a column is ambiguous.
    sign : str
        Currency or percent sign, which does not change the value: 35.8% is 35.8.
    """

    decimal: str = "."
    sign: str = ""
    kind: ClassVar[str] = "number"

    def parse(self, column: Any) -> tuple[dict[str, Any], list[str]]:
        """Return the column as numbers."""
        if column_kind(column) == NUMBERS:
            return {column.name: column}, []
        decimals = dict.fromkeys((self.decimal, ".", ","))
        readers = [number_reader(decimal, self.sign) for decimal in decimals]
        values, words = self._parse_text(column, readers, "a number")
        return {column.name: values}, words

    def lacks_percent(self, column: Any) -> bool:
        """Whether some numbers of a column of percentages have no percent sign."""
        if self.sign != "%":
            return False
        if column_kind(column) == NUMBERS:
            return bool(column.notna().any())
        cells = [cell for cell in unique_cells(column) if cell not in self.missing]
        return any("%" not in cell and any(map(str.isdecimal, cell)) for cell in cells)


@dataclass(frozen=True, kw_only=True)
class TimeParser(ColumnParser):
    """Times of day and durations, which become hours."""

    kind: ClassVar[str] = "clock"

    def parse(self, column: Any) -> tuple[dict[str, Any], list[str]]:
        """Return the column as hours."""
        if column.dtype.kind == "m":
            return {column.name: column.dt.total_seconds() / 3600}, []
        if column_kind(column) == NUMBERS:
            return {column.name: column}, []
        column = column.astype(str).astype(object).where(column.notna(), None)  # datetime.time
        values, words = self._parse_text(column, [read_clocks], "a time")
        return {column.name: values}, words


@dataclass(frozen=True, kw_only=True)
class DateParser(ColumnParser):
    """Dates, which become several numbers each.

    Attributes
    ----------
    parts : mapping of str to str
        The numbers, see `date_features`, and the names of the features that hold them.
    day_first : bool
        Whether 1/2/2012 is in February, where a column is ambiguous.
    """

    parts: Mapping[str, str]
    day_first: bool = False
    kind: ClassVar[str] = "date"

    def names(self, name: str) -> list[str]:
        """Return the names of the features of a column."""
        return list(self.parts.values())

    def parse(self, column: Any) -> tuple[dict[str, Any], list[str]]:
        """Return numeric features of the dates, in any supported format."""
        import pandas as pd

        dates, words = as_datetimes(column), list[str]()
        if dates is None:
            readers = [date_reader(self.day_first), date_reader(not self.day_first)]
            dates, words = self._parse_text(column, readers, "a date")
        numbers = date_features(dates)
        features = {
            name: pd.Series(numbers[part], index=column.index) for part, name in self.parts.items()
        }
        return features, words


_KINDS: dict[str, Any] = {cls.kind: cls for cls in (NumberParser, TimeParser, DateParser)}


def apply_parsers(frame: Any, parsers: Mapping[str, ColumnParser]) -> Any:
    """Return a frame with parsed columns; the features of a date replace it in place."""
    import pandas as pd

    if not parsers:
        return frame
    columns: dict[str, Any] = {}
    for name in frame.columns:
        columns |= parsers[name].features(frame[name]) if name in parsers else {name: frame[name]}
    return pd.DataFrame(columns, index=frame.index)


def parsers_to_dict(parsers: Mapping[str, ColumnParser]) -> dict[str, dict[str, Any]]:
    """Return parsers as plain data, to be stored with a model."""
    return {
        name: {"kind": parser.kind, **asdict(parser), "missing": list(parser.missing)}
        for name, parser in parsers.items()
    }


def parsers_from_dict(stored: Mapping[str, Mapping[str, Any]]) -> dict[str, ColumnParser]:
    """Return the parsers that were stored with a model."""
    parsers = {}
    for name, record in stored.items():
        options = {key: value for key, value in record.items() if key not in ("kind", "missing")}
        parsers[name] = _KINDS[record["kind"]](**options, missing=tuple(record["missing"]))
    return parsers


def number_reader(decimal: str, sign: str | None) -> CellReader:
    """Return a function that parses numbers."""
    return lambda cells: read_numbers(cells, decimal, sign)[0]


def date_reader(day_first: bool) -> CellReader:
    """Return a function that parses dates."""
    return lambda cells: read_dates(cells, day_first=day_first)


def read_clocks(cells: Sequence[str]) -> np.ndarray:
    """Parse times of day."""
    hours = [read_clock(cell) for cell in cells]
    return np.array([np.nan if hour is None else hour for hour in hours], dtype=np.float64)


def parse_cells(column: Any, reader: CellReader) -> Any:
    """Return a text column parsed by a reader, each distinct cell once."""
    import pandas as pd

    codes, cells = pd.factorize(column)
    read = reader([str(cell).strip() for cell in cells])
    empty = np.array(["NaT"], read.dtype) if read.dtype.kind == "M" else np.array([np.nan])
    return pd.Series(np.concatenate([read, empty])[codes], index=column.index, name=column.name)


def as_datetimes(column: Any) -> Any:
    """Return a column of dates with a datetime dtype, None if it holds something else."""
    import pandas as pd

    if hasattr(column, "cat"):
        column = column.astype(column.cat.categories.dtype)
    if column.dtype.kind == "M":
        return column
    present = column.dropna()
    if len(present) and hasattr(present.iloc[0], "toordinal"):  # datetime.date, without time zone
        return pd.to_datetime(column, errors="coerce").astype("datetime64[s]")
    return None


def are_few(words: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether so few of the distinct cells are words that the column is not text."""
    n_parsed = len(cells) - len(words)
    is_few = (
        len(words) <= min(_MAX_WORDS, _MAX_WORD_FRACTION * len(cells)) and n_parsed >= _MIN_PARSED
    )
    return not words or is_few


def _unexpected_cell(column: Any, bad: Any, expected: str) -> InvalidInputError:
    """Return the error for the first cell that a model does not expect."""
    where = np.flatnonzero(bad.to_numpy())
    row = int(where[0]) if len(where) else 0
    options = "--missing and --decimal" if expected == "a number" else "--missing"
    return InvalidInputError(
        f"{column.name!r} is {column.iloc[row]!r} in row {column.index[row]} (counting from 0), "
        f"where the model expects {expected}; fix it, or see {options}."
    )
