"""A training table in a scratch file: parsed once from files of any size, then read in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from everystump._workflow.schema.expected_columns import (
    LEVELS,
    ColumnWords,
    ExpectedColumns,
    describe_words,
    merge_words,
)
from everystump._workflow.schema.labels import (
    as_labels,
    check_classes,
    ordered_classes,
    positive_label,
)
from everystump._workflow.schema.training_data import (
    InferredFeatures,
    check_columns,
    describe_classes,
    describe_unlabeled,
    infer_features,
)

# The schema is inferred from at least this many rows, if there are as many.
_SCHEMA_ROWS = 50_000
_CONSTANT = ("constant", "no values")


@dataclass(frozen=True, eq=False)
class Head:
    """The first rows of files, and the schema that is inferred from these."""

    frame: Any
    features: InferredFeatures
    notes: list[str]  # on how the files are read

    @classmethod
    def read(
        cls, stream: FileStream, target: str, options: ColumnOptions, dialect: Dialect
    ) -> Head:
        """Read the first rows, and infer their schema."""
        import pandas as pd

        frames: list[Any] = []
        for _, frame in stream.read(ReadOptions(dialect, text=[target])):
            check_columns(frame.columns, [target])
            frames.append(frame[frame[target].notna()])
            if sum(map(len, frames)) >= _SCHEMA_ROWS:
                break
        if not any(map(len, frames)):
            raise _no_labels_error(target)
        attrs = frames[0].attrs
        notes = attrs.pop(NOTES, [])
        joined = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
        joined.attrs = attrs
        return cls(joined, infer_features(joined, target, options), notes)

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


def _no_labels_error(target: str) -> InvalidInputError:
    return InvalidInputError(f"{target!r} is missing in every row; name another --target.")


@dataclass(eq=False)
class _Labels:
    """The labels of all rows, as codes of their text until all are known."""

    codes: list[np.ndarray] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    n_missing: int = 0

    def add(self, column: Any) -> np.ndarray:
        """Add the labels of some rows; return which of these are labeled."""
        import pandas as pd

        is_labeled = column.notna().to_numpy()
        codes, texts = pd.factorize(column[is_labeled].astype(str))
        own = [self.index.setdefault(text, len(self.index)) for text in texts.tolist()]
        self.codes.append(np.array([*own, -1], dtype=np.int32)[codes])
        self.n_missing += int((~is_labeled).sum())
        return is_labeled

    def finish(self, target: str, requested: str | None) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return the class index of each row, the classes, and the positive one."""
        import pandas as pd

        if not self.index:
            raise _no_labels_error(target)
        labels, of_text = np.unique(as_labels(pd.Series(list(self.index))), return_inverse=True)
        codes = of_text.astype(np.min_scalar_type(-len(labels)))[np.concatenate(self.codes)]
        counts = np.bincount(codes, minlength=len(labels))
        check_classes(target, labels.tolist(), len(codes))
        positive = positive_label(labels, counts, target, requested)
        classes = ordered_classes(labels, positive)
        if len(classes) == 2 and classes[0] != labels[0]:
            codes = 1 - codes
        return codes, classes, positive


@dataclass(frozen=True, eq=False)
class Spool:
    """The features and labels of a table; the features are in a file."""

    path: Path
    head: Head
    codes: np.ndarray  # (n_rows,): the index of each row's class
    classes: np.ndarray  # sorted, but of two the second is the positive one
    positive: Any
    messages: list[str]

    def chunks(self, is_used: np.ndarray) -> SpoolChunks:
        """Return some of the rows in chunks, labeled by the index of their class."""
        return SpoolChunks(self, is_used)

    def rows(self, index: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return some rows, with indices in ascending order, and the indices of their classes."""
        import pyarrow as pa

        is_used = np.zeros(len(self.codes), dtype=bool)
        is_used[index] = True
        table = pa.concat_tables([part for part, _ in self.read(is_used)])
        return self._with_levels(table.to_pandas()), self.codes[index]

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

    def __iter__(self) -> Iterator[tuple[Any, np.ndarray]]:
        import pandas as pd

        for table, rows in prefetch(self.spool.read(self.is_used)):
            X = table.to_pandas(types_mapper=pd.ArrowDtype)
            yield self.spool._with_levels(X), self.spool.codes[rows]


def spool_files(
    stream: FileStream,
    head: Head,
    target: str,
    options: ColumnOptions,
    dialect: Dialect,
    path: Path,
) -> Spool:
    """Parse files as their first rows, and write the features to the file ``path``."""
    import pyarrow as pa

    expected, constants, labels = head.expected, head.constants, _Labels()
    words: dict[str, ColumnWords] = {}
    arrow = {NUMBER: pa.float64(), TEXT: pa.large_string(), LEVELS: pa.float64()}
    types = head.types(target)
    arrow_types = {
        name: pa.int64() if types.get(name) == INTEGER else arrow[kind]
        for name, kind in expected.kinds.items()
    }
    schema = pa.schema(arrow_types.items())
    read = ReadOptions(dialect, [target, *expected.text], keep_zeros=False, types=types)
    with (
        _disk_errors(path),
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, schema) as out,
    ):
        for source, frame in prefetch(stream.read(read)):
            with name_file(source):
                check_columns(frame.columns, [target])
                _check_constants(frame, constants)
                words = merge_words(words, expected.find_words(frame))
                X = expected.match(frame[labels.add(frame[target])])
                out.write_batch(_record_batch(X, schema))
    codes, classes, positive = labels.finish(target, options.positive)
    n_head = len(head.features.X)
    messages = list(head.notes)
    if n_head < len(codes):
        messages.append(
            f"{pluralize(len(codes), 'row')}; schema of the first {pluralize(n_head, 'row')}:"
        )
    if labels.n_missing:
        messages.append(describe_unlabeled(labels.n_missing, target))
    messages += head.features.messages
    if n_head < len(codes):
        messages += describe_words(words)
    messages.append(describe_classes(np.sort(classes).tolist(), positive))
    return Spool(path, head, codes, classes, positive, messages)


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
