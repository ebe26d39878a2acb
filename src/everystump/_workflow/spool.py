"""A training table in a scratch file: parsed once from files of any size, then read in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from everystump._core.threads import prefetch
from everystump._text import InvalidInputError, format_bytes, pluralize
from everystump._values import NUMBER, TEXT
from everystump._workflow.options import ColumnOptions, Dialect
from everystump._workflow.reading.fast_csv import BOOLEAN, INTEGER
from everystump._workflow.reading.frames import NOTES, boolean_columns
from everystump._workflow.reading.stream import FileStream, ReadOptions, name_file
from everystump._workflow.schema.columns import join_frames
from everystump._workflow.schema.expected_columns import (
    LEVELS,
    ColumnWords,
    ExpectedColumns,
    describe_words,
    merge_words,
)
from everystump._workflow.schema.row_reader import RowReader
from everystump._workflow.schema.target_readers import no_targets_error
from everystump._workflow.schema.training_data import (
    InferredFeatures,
    check_columns,
    infer_features,
    likely_decimals,
)
from everystump._workflow.targets.target import Target

# The schema is inferred from at least this many rows, if there are as many.
_SCHEMA_ROWS = 50_000
_CONSTANT = ("constant", "no values")


@dataclass(frozen=True, eq=False)
class Head:
    """The first rows of files, and the schema that is inferred from these."""

    frame: Any
    features: InferredFeatures
    reader: RowReader  # of targets and weights, which has read nothing yet
    notes: list[str]  # on how the files are read

    @classmethod
    def read(
        cls, stream: FileStream, target: str, options: ColumnOptions, dialect: Dialect
    ) -> Head:
        """Read the first rows, and infer their schema."""
        frames: list[Any] = []
        for _, frame in stream.read(ReadOptions(dialect, text=[target])):
            check_columns(frame.columns, options.row_columns(target))
            frames.append(frame[frame[target].notna()])
            if sum(map(len, frames)) >= _SCHEMA_ROWS:
                break
        if not any(map(len, frames)):
            raise no_targets_error(target)
        notes = frames[0].attrs.pop(NOTES, [])
        joined = join_frames(frames)
        reader = RowReader.infer(joined, target, options, likely_decimals(joined))
        is_used = reader.is_used(joined)
        if not is_used.any():
            reader.add(joined)
            reader.finish()  # raises
        return cls(joined, infer_features(joined, target, is_used, options), reader, notes)

    @property
    def expected(self) -> ExpectedColumns:
        """The features, as later rows must have them."""
        return ExpectedColumns.from_features(
            self.features.X, self.features.parsers, self.features.decimal
        )

    @property
    def constants(self) -> dict[str, list[Any]]:
        """The distinct values of columns that were dropped because they have at most one."""
        names = [name for name, why in self.features.dropped.items() if why in _CONSTANT]
        known = [name for name in names if name in self.frame.columns]
        return {name: self.frame[name].dropna().unique().tolist() for name in known}

    def types(self, target: str) -> dict[str, str]:
        """Return the columns that are read, and what they hold."""
        expected, booleans = self.expected, boolean_columns(self.frame)
        types = {target: TEXT}
        if self.reader.weights is not None:
            types[self.reader.weights.name] = TEXT
        for name in [*expected.sources, *self.constants]:
            kind = self.frame[name].dtype.kind
            if name in expected.text or kind not in "iufb":
                types[name] = TEXT
            elif name in booleans:
                types[name] = BOOLEAN
            else:
                is_integer = kind in "iu" and expected.kinds.get(name) == LEVELS
                types[name] = INTEGER if is_integer else NUMBER
        return types


@dataclass(frozen=True, eq=False)
class Spool:
    """The features and targets of a table; the features are in a file."""

    path: Path
    head: Head
    target: Target
    messages: list[str]

    def chunks(self, is_used: np.ndarray) -> SpoolChunks:
        """Return some of the rows in chunks; for classes, with their indices as labels."""
        return SpoolChunks(self, is_used)

    def rows(self, index: np.ndarray) -> tuple[Any, Target]:
        """Return some rows, with indices in ascending order, and their targets."""
        import pyarrow as pa

        is_used = np.zeros(len(self.target), dtype=bool)
        is_used[index] = True
        table = pa.concat_tables([part for part, _ in self.read(is_used)])
        return self._with_levels(table.to_pandas()), self.target.take(index)

    def read(self, is_used: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield some of the rows in tables, and which rows of the table these are."""
        import pyarrow as pa

        with pa.OSFile(str(self.path)) as file:
            reader, first = pa.ipc.open_file(file), 0
            for k in range(reader.num_record_batches):
                table = pa.Table.from_batches([reader.get_batch(k)])
                rows = first + np.flatnonzero(is_used[first : first + len(table)])
                first += len(table)
                if len(rows) < len(table):
                    table = table.filter(pa.array(is_used[first - len(table) : first]))
                if len(rows):
                    yield table, rows

    def _with_levels(self, X: Any) -> Any:
        kinds = self.head.expected.kinds
        levels = {name: "category" for name, kind in kinds.items() if kind == LEVELS}
        return X.astype(levels) if levels else X


@dataclass(frozen=True, eq=False)
class SpoolChunks:
    """Some rows of a spool, as chunks for ``fit_chunks``."""

    spool: Spool
    is_used: np.ndarray

    def __iter__(self) -> Iterator[tuple]:
        import pandas as pd

        target = self.spool.target
        for table, rows in prefetch(self.spool.read(self.is_used)):
            X = self.spool._with_levels(table.to_pandas(types_mapper=pd.ArrowDtype))
            weight = () if target.weight is None else (target.weight[rows],)
            yield X, target.chunk_values[rows], *weight


def spool_files(
    stream: FileStream,
    head: Head,
    target: str,
    dialect: Dialect,
    path: Path,
) -> Spool:
    """Parse files as their first rows, and write the features to the file ``path``."""
    import pyarrow as pa

    expected, constants, reader = head.expected, head.constants, head.reader
    words: dict[str, ColumnWords] = {}
    arrow = {NUMBER: pa.float64(), TEXT: pa.large_string(), LEVELS: pa.float64()}
    types, weights = head.types(target), reader.weights
    needed = [target] if weights is None else [target, weights.name]
    arrow_types = {
        name: pa.int64() if types.get(name) == INTEGER else arrow[kind]
        for name, kind in expected.kinds.items()
    }
    schema = pa.schema(arrow_types.items())
    read = ReadOptions(dialect, [*needed, *expected.text], keep_zeros=False, types=types)
    with (
        _disk_errors(path),
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, schema) as out,
    ):
        for source, frame in stream.read_ahead(read):
            with name_file(source):
                check_columns(frame.columns, needed)
                _check_constants(frame, constants)
                words = merge_words(words, expected.find_words(frame))
                X = expected.match(frame[reader.add(frame)])
                out.write_batch(_record_batch(X, schema))
    targets = reader.finish()
    n_head, n_rows = len(head.features.X), len(targets)
    messages = list(head.notes)
    if n_head < n_rows:
        messages.append(
            f"{pluralize(n_rows, 'row')}; schema of the first {pluralize(n_head, 'row')}:"
        )
    messages += reader.describe_dropped() + head.features.messages
    if n_head < n_rows:
        messages += describe_words(words)
    return Spool(path, head, targets, messages + reader.describe(targets))


def _record_batch(X: Any, schema: Any) -> Any:
    """Return features with the types of a schema."""
    import pyarrow as pa

    arrays = []
    for column in schema:
        values = X[column.name]
        if pa.types.is_floating(column.type):
            values = values.to_numpy(dtype=np.float64, na_value=np.nan)
        try:
            arrays.append(pa.array(values, type=column.type, from_pandas=True))
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{column.name!r} does not hold the same kind of values as in the first rows "
                f"({' '.join(str(error).split())[:100]}); fix it, or pass --categorical "
                f"{column.name}."
            ) from None
    return pa.record_batch(arrays, schema=schema)


def _check_constants(frame: Any, constants: dict[str, list[Any]]) -> None:
    """Raise if a column that was dropped because it is constant is not."""
    for name, known in constants.items():
        if name not in frame.columns:
            continue
        values = frame[name].dropna()
        new = values[~values.isin(known)]
        if len(new) or (known and len(values) < len(frame)):
            what = (
                f"is {new.tolist()[0]!r} in row {new.index[0]}"
                if len(new)
                else "has missing values"
            )
            raise InvalidInputError(
                f"{name!r} has {'one value' if known else 'no values'} in the first rows, but "
                f"{what} (counting from 0); pass --use {name} or --drop {name}."
            )


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    """Report a full disk with the folder of the scratch file."""
    try:
        yield
    except OSError as error:
        size = format_bytes(path.stat().st_size if path.exists() else 0)
        raise InvalidInputError(
            f"The folder of temporary files, {path.parent.parent}, has no space for more than "
            f"{size} of parsed rows ({error.strerror or error}); set TMPDIR to another folder."
        ) from error
