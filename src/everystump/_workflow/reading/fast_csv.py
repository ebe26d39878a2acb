"""Blocks of a CSV whose columns are known, parsed by pyarrow if they have no surprises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from everystump._values import NUMBER, TEXT
from everystump._workflow.options import Dialect
from everystump._workflow.reading.csv_text import missing_cells

BOOLEAN, INTEGER = "boolean", "integer"
# Parsed by one thread at a time.
_PART = 1 << 22


@dataclass(frozen=True)
class FastCsv:
    """Reads some columns of CSV blocks: "number", "integer", "boolean" or "text"."""

    names: Sequence[str]
    types: Mapping[str, str]
    dialect: Dialect

    @classmethod
    def create(
        cls, names: Sequence[str], dialect: Dialect, types: Mapping[str, str] | None
    ) -> Self | None:
        """Return a reader, None without types, pyarrow, or a delimiter that it supports."""
        delimiter = dialect.delimiter or ","
        if types is None or len(delimiter.encode()) > 1 or not set(types) <= set(names):
            return None
        try:
            import pyarrow.csv  # noqa: F401
        except ImportError:
            return None
        return cls(names, types, dialect)

    def read(self, block: bytes) -> Any:
        """Return a frame of a block without a header, None if some cell is unexpected."""
        import pyarrow as pa
        from pyarrow import csv

        delimiter = (self.dialect.delimiter or ",").encode()
        has_text = TEXT in self.types.values()
        if has_text and delimiter + b" " in block:
            return None  # spaces before quotes and missing values
        arrow = {NUMBER: pa.float64(), INTEGER: pa.int64(), BOOLEAN: pa.bool_(), TEXT: pa.string()}
        try:
            table = csv.read_csv(
                pa.BufferReader(block),
                read_options=csv.ReadOptions(column_names=list(self.names), block_size=_PART),
                parse_options=csv.ParseOptions(
                    delimiter=delimiter.decode(), newlines_in_values=b'"' in block
                ),
                convert_options=csv.ConvertOptions(
                    column_types={name: arrow[kind] for name, kind in self.types.items()},
                    include_columns=list(self.types),
                    null_values=missing_cells(self.dialect),
                    strings_can_be_null=True,
                    true_values=["True", "TRUE", "true"],
                    false_values=["False", "FALSE", "false"],
                    decimal_point=self.dialect.decimal or ".",
                ),
            )
        except pa.ArrowException:
            return None  # what is wrong with the block is found by the other parser
        return table.to_pandas()
