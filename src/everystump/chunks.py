"""Training data from files, in chunks for ``fit_chunks``.

Examples
--------
>>> import tempfile
>>> from pathlib import Path
>>> import pandas as pd
>>> from everystump import StumpSVC
>>> from everystump.chunks import FileChunks
>>> with tempfile.TemporaryDirectory() as folder:
...     frame = pd.DataFrame({"age": [20, 30, 40, 50], "sick": [0, 0, 1, 1]})
...     frame.to_csv(Path(folder) / "people.csv", index=False)
...     model = StumpSVC().fit_chunks(FileChunks(folder, target="sick"))
>>> model.predict(pd.DataFrame({"age": [25, 45]})).tolist()
[0, 1]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from everystump._core.threads import prefetch
from everystump._files import find_data_files
from everystump._text import truncate_list

__all__ = ["FileChunks"]

# By default, a chunk has at most this many values and rows.
_CHUNK_CELLS, _CHUNK_ROWS = 2_000_000, 1 << 17
# The name of an index without a name, in a Parquet file that pandas wrote.
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
# Bytes of a CSV that are parsed at once; the types of its columns follow from the first ones.
_CSV_BLOCK = 1 << 24


class FileChunks:
    """Chunks ``(X, y)`` or ``(X, y, sample_weight)`` of Parquet or CSV files.

    Each iteration reads the files anew.  A thread reads the next chunk while one is processed.
    Requires pyarrow: ``pip install 'everystump[parquet]'``.

    Parameters
    ----------
    path : str, path or list of these
        Parquet files, or CSV files with a header line, which may be compressed (``.csv.gz``); a
        pattern such as ``"sales/*.parquet"``, or a folder that contains only such files.
    target : str
        Column of the labels.
    sample_weight : str, default=None
        Column of the sample weights.
    columns : list of str, default=None
        Columns of the features; by default all columns, except for the target and the weights.
    chunk_size : int, default=None
        Rows per chunk; by default at most 131,072, and 2 million values.  The last chunk of each
        file may be smaller.

    Notes
    -----
    The types of the columns of CSV files follow from the first 16 MB of the first file; integers
    are read as floats, and a column without values there as numbers.  In Parquet files that pandas
    wrote, an index is a column if it has a name, and is left out otherwise.
    """

    def __init__(
        self,
        path: Any,
        *,
        target: str,
        sample_weight: str | None = None,
        columns: Sequence[str] | None = None,
        chunk_size: int | None = None,
    ) -> None:
        if chunk_size is not None and not (isinstance(chunk_size, Integral) and chunk_size > 0):
            raise ValueError(f"chunk_size={chunk_size!r} must be a positive number of rows.")
        _check_pyarrow()
        self.files = find_data_files(path)
        self.target, self.sample_weight = target, sample_weight
        names = _column_names(self.files[0])
        special = [name for name in (target, sample_weight) if name is not None]
        listed = [name for name in names if name not in special] if columns is None else columns
        self.columns = list(listed)
        self._read_columns = list(dict.fromkeys([*self.columns, *special]))
        self._check_columns(names, special, listed_by_user=columns is not None)
        self.chunk_size = chunk_size or default_chunk_size(len(self._read_columns))

    def _check_columns(
        self, names: Sequence[str], special: Sequence[str], listed_by_user: bool
    ) -> None:
        """Check that the columns are in all files, and that these have the same ones."""
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{self.files[0]}: two columns are named {twice!r}; rename one.")
        both = [name for name in special if name in self.columns]
        if both:
            raise ValueError(f"columns contains {both[0]!r}, the target or weights; remove it.")
        if not self.columns:
            raise ValueError(f"{self.files[0]} has no columns besides {truncate_list(special)}.")
        for path in self.files:
            own = names if path == self.files[0] else _column_names(path)
            absent = [repr(name) for name in self._read_columns if name not in own]
            if absent:
                raise ValueError(
                    f"{path} has no column {truncate_list(absent, 3)}; all files must have the "
                    f"target, the weights and the same features."
                )
            extra = [repr(name) for name in own if name not in names]
            if extra and not listed_by_user:
                raise ValueError(
                    f"{path} has a column {truncate_list(extra, 3)} that {self.files[0]} does not "
                    f"have; pass the columns to read as columns."
                )

    def __repr__(self) -> str:
        first = f"{self.files[0]}{', ...' if len(self.files) > 1 else ''}"
        return f"FileChunks({first}, target={self.target!r}, chunk_size={self.chunk_size})"

    def __iter__(self) -> Iterator[tuple]:
        import pyarrow as pa

        yield from prefetch(self._read())
        pa.default_memory_pool().release_unused()  # buffers, about 0.1 GB

    def _read(self) -> Iterator[tuple]:
        import pandas as pd

        types = None
        for path in self.files:
            if _is_csv(path):
                types = types or _csv_types(path, self.target)
                batches = _read_csv(path, self._read_columns, types)
            else:
                batches = _read_parquet(path, self._read_columns, self.chunk_size)
            for table in _regroup(batches, self.chunk_size):
                # Metadata of pandas would move columns to the index, and change their names.
                frame = table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
                X, y = frame[self.columns], frame[self.target]
                yield (X, y) if self.sample_weight is None else (X, y, frame[self.sample_weight])


def default_chunk_size(n_columns: int) -> int:
    """Return the default number of rows of a chunk."""
    return max(1, min(_CHUNK_ROWS, _CHUNK_CELLS // n_columns))


def _check_pyarrow() -> None:
    try:
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise ImportError("FileChunks needs pyarrow: pip install 'everystump[parquet]'.") from None


def _is_csv(path: Path) -> bool:
    """Whether a file is not Parquet, by its name or its first bytes."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return False
    try:
        with path.open("rb") as file:
            return file.read(4) != b"PAR1"
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); check the file.") from None


def _read_error(path: Path, error: Exception, names: Sequence[str] = ()) -> ValueError:
    """Return the error for a file that pyarrow cannot read."""
    what = " ".join(str(error).split())[:200].rstrip(".")
    found = re.search(r"CSV column #(\d+):.*conversion error to (\w+): (.*)", what)
    if found and int(found[1]) < len(names):
        kind = "numbers" if found[2] == "double" else found[2]
        return ValueError(
            f"{path}: column {names[int(found[1])]!r} has an {found[3]} where the first rows have "
            f"{kind}; fix the file, or leave the column out of columns."
        )
    kind = "CSV" if _is_csv(path) else "Parquet"
    return ValueError(f"{path} is not a readable {kind} file ({what}); replace or remove it.")


def _column_names(path: Path) -> list[str]:
    """Return the names of the columns of a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if _is_csv(path):
        return _csv_head(path).names
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise _read_error(path, error) from None
    return [name for name in names if not _UNNAMED_INDEX.fullmatch(name)]


def _csv_head(path: Path) -> Any:
    """Return the schema of the first rows of a CSV file."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        with csv.open_csv(path, read_options=csv.ReadOptions(block_size=_CSV_BLOCK)) as reader:
            return reader.schema
    except (pa.ArrowException, OSError, EOFError) as error:
        raise _read_error(path, error) from None


def _csv_types(path: Path, target: str) -> dict[str, Any]:
    """Return the types of the columns of CSV files, from the first rows of one of them."""
    import pyarrow as pa

    types = {}
    for field in _csv_head(path):
        is_number = pa.types.is_integer(field.type) or pa.types.is_null(field.type)
        types[field.name] = pa.float64() if is_number and field.name != target else field.type
    return types


def _read_csv(path: Path, columns: Sequence[str], types: dict[str, Any]) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv

    convert = csv.ConvertOptions(
        column_types={name: types[name] for name in columns},
        include_columns=columns,
        strings_can_be_null=True,
    )
    try:
        read = csv.ReadOptions(block_size=_CSV_BLOCK)
        with csv.open_csv(path, read_options=read, convert_options=convert) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError, EOFError) as error:
        raise _read_error(path, error, _column_names(path)) from None


def _read_parquet(path: Path, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Without buffers, whole row groups would be in memory.
        with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
            for batch in file.iter_batches(n_rows, columns=list(columns)):
                yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as error:
        raise _read_error(path, error) from None


def _regroup(tables: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield the same rows in tables of ``n_rows`` rows; the last one may be smaller."""
    import pyarrow as pa

    waiting: list[Any] = []
    size = 0
    for table in tables:
        waiting.append(table)
        size += len(table)
        while size >= n_rows:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, n_rows)
            waiting, size = [joined.slice(n_rows)], size - n_rows
    if size:
        yield pa.concat_tables(waiting)
