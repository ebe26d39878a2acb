"""The features that a model expects, and how the columns of a file become these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from everystump._text import InvalidInputError, pluralize, truncate_list
from everystump._values import NUMBER, TEXT
from everystump._workflow.reading.frames import with_columns
from everystump._workflow.schema.columns import NUMBERS, column_kind
from everystump._workflow.schema.labels import numbers_as_text
from everystump._workflow.schema.parsers import ColumnParser, NumberParser, apply_parsers

LEVELS = "levels"
"""The kind of a categorical feature whose levels are numbers."""


class ColumnWords(NamedTuple):
    """Words of a column that are treated as missing values, and missing percent signs."""

    words: tuple[str, ...]
    n_rows: int
    lacks_percent: bool

    def merge(self, other: ColumnWords) -> ColumnWords:
        """Return the words of the rows of both."""
        words = tuple(dict.fromkeys([*self.words, *other.words]))
        return ColumnWords(
            words, self.n_rows + other.n_rows, self.lacks_percent or other.lacks_percent
        )


@dataclass(frozen=True)
class ExpectedColumns:
    """The features that a model expects.

    Attributes
    ----------
    kinds : mapping of str to str
        For each feature "number", "text" for a category of text, or "levels" for one of numbers.
    parsers : mapping of str to ColumnParser
        By names of columns in files.
    decimal : str
        Decimal separator of numbers in text.
    """

    kinds: Mapping[str, str]
    parsers: Mapping[str, ColumnParser]
    decimal: str = "."

    @classmethod
    def from_features(
        cls, X: Any, parsers: Mapping[str, ColumnParser], decimal: str
    ) -> ExpectedColumns:
        """Return the features of a training table."""
        kinds = {}
        for name in X.columns:
            is_number = column_kind(X[name]) == NUMBERS
            is_level = is_number and hasattr(X[name], "cat")
            kinds[name] = LEVELS if is_level else NUMBER if is_number else TEXT
        return cls(kinds, parsers, decimal)

    @property
    def text(self) -> list[str]:
        """The columns that are read as text: categories of text, and those with a parser."""
        return [*(name for name, kind in self.kinds.items() if kind == TEXT), *self.parsers]

    @property
    def sources(self) -> list[str]:
        """The columns of a file from which all features follow."""
        made = {feature: k for k, parser in self.parsers.items() for feature in parser.names(k)}
        return list(dict.fromkeys(made.get(name, name) for name in self.kinds))

    def match(self, frame: Any) -> Any:
        """Return the features from a table, parsed as in the training table."""
        parsers = {k: v for k, v in self.parsers.items() if k in frame.columns}
        needed = {*self.kinds, *parsers}
        frame = frame[[name for name in frame.columns if name in needed]]
        self._check_columns(frame)
        X = apply_parsers(frame, parsers)[list(self.kinds)]
        changed: dict[str, Any] = {}
        for name, expected in self.kinds.items():
            kind = column_kind(X[name])
            if expected == NUMBER and kind != NUMBERS and X[name].notna().any():
                changed |= self._number_parser.features(X[name])
            if expected == TEXT and kind == NUMBERS:
                changed[name] = numbers_as_text(X[name])  # another file may have only numbers
        return with_columns(X, changed)

    def find_words(self, frame: Any) -> dict[str, ColumnWords]:
        """Return the words that are treated as missing, by column.

        Columns that cannot be parsed are skipped; `match` raises for them.
        """
        numeric = [name for name, kind in self.kinds.items() if kind == NUMBER]
        parsers: dict[str, ColumnParser] = dict.fromkeys(numeric, self._number_parser)
        found = {}
        for name, parser in (parsers | dict(self.parsers)).items():
            if name not in frame.columns or not frame[name].notna().any():
                continue
            try:
                words = parser.parse(frame[name])[1]
            except InvalidInputError:
                continue
            lacks_percent = isinstance(parser, NumberParser) and parser.lacks_percent(frame[name])
            if words or lacks_percent:
                n_rows = int(frame[name].astype(str).str.strip().isin(words).sum()) if words else 0
                found[name] = ColumnWords(tuple(words), n_rows, lacks_percent)
        return found

    @property
    def _number_parser(self) -> NumberParser:
        """The parser of numeric columns in which a file has text."""
        return NumberParser(decimal=self.decimal)

    def _check_columns(self, frame: Any) -> None:
        """Raise if a table lacks columns that a model needs, including dates that it parses."""
        source = {
            feature: name for name, parser in self.parsers.items() for feature in parser.names(name)
        }
        needed = (name if name in frame.columns else source.get(name, name) for name in self.kinds)
        absent = [name for name in dict.fromkeys(needed) if name not in frame.columns]
        if absent:
            columns = truncate_list([repr(name) for name in absent], 3)
            what = f"column {columns}, which the model needs"
            if len(absent) > 1:
                what = f"{len(absent):,} columns that the model needs: {columns}"
            raise InvalidInputError(f"The data lack {what}; add or rename columns.")


def describe_words(found: Mapping[str, ColumnWords]) -> list[str]:
    """Return a note for each column whose cells differ in form from the training table."""
    notes = []
    for name, (words, n_rows, lacks_percent) in found.items():
        if words:
            examples = truncate_list([repr(word) for word in words], 3)
            notes.append(f"{name}: {examples} in {pluralize(n_rows, 'row')} treated as missing.")
        if lacks_percent:
            notes.append(
                f"{name}: numbers without a percent sign are read as percentages, as in training: "
                f"35.8 is 35.8%, and 0.358 is 0.358%."
            )
    return notes


def merge_words(
    first: Mapping[str, ColumnWords], second: Mapping[str, ColumnWords]
) -> dict[str, ColumnWords]:
    """Return the words of the rows of two tables, by column."""
    merged = dict(first)
    for name, words in second.items():
        merged[name] = merged[name].merge(words) if name in merged else words
    return merged
