"""Files that are read in chunks of rows: CSV, plain or compressed, and Parquet."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np

from everystump._core.threads import prefetch
from everystump._files import find_data_files
from everystump._memory import available_memory
from everystump._text import InvalidInputError, truncate_list
from everystump._workflow.options import Dialect
from everystump._workflow.reading.csv_text import parse_csv
from everystump._workflow.reading.fast_csv import FastCsv
from everystump._workflow.reading.files import (
    decode_text,
    empty_error,
    finish_frame,
    parquet_error,
)
from everystump._workflow.reading.frames import (
    DECIMALS,
    DELIMITER,
    NOTES,
    with_text_names,
)
from everystump.chunks import default_chunk_size

BLOCK = 1 << 24
"""Bytes of a CSV that are parsed at a time."""
MEMORY_FRACTION = 1 / 8
"""Files larger than this fraction of the available memory are read in chunks.

In memory, the text, the table and a fit take several times the size of the file.
"""
# The size in memory of a compressed CSV, relative to the file.
_COMPRESSION = 5
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
_NOT_STREAMED = {b"PK\x03\x04": "a zip archive", b"\x28\xb5\x2f\xfd": "compressed with Zstandard"}


@dataclass(frozen=True)
class ReadOptions:
    """How files are read.

    Attributes
    ----------
    dialect : Dialect
        Options of the user for CSV files.
    text : collection of str
        Columns that are read as text.
    keep_zeros : bool
        Whether columns of a CSV with integers such as ``007`` are read as text.
    types : mapping of str to str, optional
        Columns that suffice, and their kind, see `FastCsv`; all columns by default.
    """

    dialect: Dialect
    text: Collection[str] = ()
    keep_zeros: bool = True
    types: Mapping[str, str] | None = None


@dataclass(frozen=True)
class FileStream:
    """Data files with the same columns, read in chunks."""

    files: Sequence[Path]

    @classmethod
    def find(cls, path: Path) -> FileStream:
        """Return the files of a path, a folder or a pattern."""
        try:
            files = find_data_files(path)
        except (OSError, ValueError) as error:
            raise InvalidInputError(str(error).replace(f"path={str(path)!r}", str(path))) from None
        for file in files:
            with _input_errors(file):
                start = _first_bytes(file)
            why = next((why for magic, why in _NOT_STREAMED.items() if start.startswith(magic)), "")
            if why:
                raise InvalidInputError(
                    f"{file} is {why}, which is not read in chunks; decompress it."
                )
        return cls(files)

    def n_bytes(self) -> int:
        """Return about how many bytes the files have without compression."""
        return sum(map(_uncompressed_bytes, self.files))

    def read(self, options: ReadOptions) -> Iterator[tuple[Path, Any]]:
        """Yield frames and their files; the index of a frame numbers the rows of its file.

        The separators of CSV files are those of the first rows.  Files without rows are skipped.
        """
        has_rows = False
        for file in self.files:
            with _input_errors(file):
                is_parquet = _is_parquet(file)
            frame = None
            for frame in (_parquet_frames if is_parquet else _csv_frames)(file, options):
                yield file, frame
            has_rows |= frame is not None
            if frame is not None and not is_parquet:
                delimiter, decimal = frame.attrs[DELIMITER], frame.attrs[DECIMALS][0]
                dialect = replace(options.dialect, delimiter=delimiter, decimal=decimal)
                options = replace(options, dialect=dialect)
        if not has_rows:
            names = truncate_list([str(file) for file in self.files], 3)
            have = "has" if len(self.files) == 1 else "have"
            raise InvalidInputError(f"{names} {have} no rows; add some.")

    def read_ahead(self, options: ReadOptions) -> Iterator[tuple[Path, Any]]:
        """Yield the same as `read`; a thread reads the next frame while the current one is used."""
        return prefetch(self.read(options))


def is_single(path: Path) -> bool:
    """Whether a path is not a folder or a pattern of files, but names a file, existing or not."""
    return path.is_file() or not (path.is_dir() or has_magic(str(path)))


def find_large(path: Path) -> FileStream | None:
    """Return the files of a path if there are several, or one too large for the memory."""
    if not is_single(path):
        return FileStream.find(path)
    try:
        stream = FileStream.find(path)
        return stream if stream.n_bytes() > MEMORY_FRACTION * available_memory() else None
    except InvalidInputError:
        return None  # the other reader reports what is wrong, or supports it


@contextmanager
def name_file(path: Path) -> Iterator[None]:
    """Add the name of a file to the errors of its rows."""
    try:
        yield
    except InvalidInputError as error:
        text = str(error)
        raise InvalidInputError(text if str(path) in text else f"{path}: {text}") from None


@contextmanager
def _input_errors(path: Path) -> Iterator[None]:
    """Report errors of reading a file with its name."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        what = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise InvalidInputError(f"{path} cannot be read ({what}); check the file.") from error


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(8)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq") or _first_bytes(path).startswith(b"PAR1")


def find_opener(start: bytes) -> Callable[..., Any] | None:
    """Return the function that opens a compressed file, given its first bytes; None for others."""
    return next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)


def is_streamed(start: bytes) -> bool:
    """Whether a CSV can be read in chunks from a pipe, given its first bytes."""
    return not start.startswith((*_NOT_STREAMED, b"PAR1"))


def _uncompressed_bytes(path: Path) -> int:
    with _input_errors(path):
        if not _is_parquet(path):
            is_plain = find_opener(_first_bytes(path)) is None
            return path.stat().st_size * (1 if is_plain else _COMPRESSION)
    try:
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(path)
    except Exception as error:
        raise parquet_error(path, error) from None
    return sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))


def _parquet_frames(path: Path, options: ReadOptions) -> Iterator[Any]:
    """Yield frames of a Parquet file, with the dtypes that the whole file would have."""
    try:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
            floats = _integers_with_nulls(file)
            n_rows = default_chunk_size(max(1, len(file.schema_arrow.names)))
            first = 0
            for batch in file.iter_batches(n_rows):
                frame = batch.to_pandas()
                frame = frame.astype({k: np.float64 for k in floats if k in frame.columns})
                frame = with_text_names(path, frame)
                frame.index = range(first, first + len(frame))
                first += len(frame)
                yield finish_frame(path, frame, options.dialect, options.text)
    except InvalidInputError:
        raise
    except Exception as error:
        raise parquet_error(path, error) from None


def _integers_with_nulls(file: Any) -> list[str]:
    """Return the columns that are floats in a frame of the whole file."""
    import pyarrow as pa

    columns = [k for k, field in enumerate(file.schema_arrow) if pa.types.is_integer(field.type)]
    if file.metadata.num_columns != len(file.schema_arrow):  # nested columns
        return []
    found = []
    for k in columns:
        groups = (file.metadata.row_group(g) for g in range(file.metadata.num_row_groups))
        statistics = (group.column(k).statistics for group in groups)
        if any(s is not None and s.null_count for s in statistics):
            found.append(file.schema_arrow.names[k])
    return found


def _csv_frames(path: Path, options: ReadOptions) -> Iterator[Any]:
    """Yield frames of a CSV file."""
    encoding = options.dialect.encoding or "utf-8"
    with _input_errors(path):
        opener = find_opener(_first_bytes(path)) or open
        with opener(path, "rb") as file:
            yield from CsvParser(path, options).frames(csv_blocks(path, file, encoding))


class CsvParser:
    """Parses blocks of a CSV, each as if it were a file; the first one has the header."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path, self._options = path, options
        self._header, self._attrs = b"", dict[str, Any]()
        self._dialect = options.dialect
        self._fast: FastCsv | None = None
        self._n_lines = self._n_rows = 0

    def frames(self, blocks: Iterator[bytes]) -> Iterator[Any]:
        """Yield the frames of blocks; raise if these have no header."""
        for block in blocks:
            frame = self._parse(block)
            if frame is not None and len(frame):
                frame.attrs |= self._attrs
                frame.index = range(self._n_rows, self._n_rows + len(frame))
                self._n_rows += len(frame)
                yield finish_frame(self._path, frame, Dialect(), self._options.text)
        if not self._header:
            raise empty_error(self._path)

    def _parse(self, block: bytes) -> Any:
        """Return the frame of a block, None if it is blank."""
        frame, notes = None if self._fast is None else self._fast.read(block), list[str]()
        if frame is None and block.strip():
            frame, notes = parse_csv(
                self._path,
                decode_text(self._path, self._header + block, "utf-8"),
                self._dialect,
                self._options.text,
                keep_zeros=self._options.keep_zeros,
                line_offset=self._n_lines - self._header.count(b"\n"),
            )
        self._n_lines += block.count(b"\n")
        if frame is not None and not self._header:
            self._start(block, frame)
            frame.attrs[NOTES] = notes
        return frame

    def _start(self, block: bytes, frame: Any) -> None:
        """Keep the header and the separators of the first block for the others."""
        stripped, self._attrs = block.lstrip(b"\r\n"), dict(frame.attrs)
        self._header = stripped[: _first_row_end(stripped)]
        self._dialect = replace(
            self._dialect, delimiter=self._attrs[DELIMITER], decimal=self._attrs[DECIMALS][0]
        )
        self._fast = FastCsv.create(frame.columns.tolist(), self._dialect, self._options.types)


def csv_blocks(path: Path, raw: Any, encoding: str, size: int | None = None) -> Iterator[bytes]:
    """Yield the text of a CSV in UTF-8, in blocks of whole rows; the first has the header.

    ``raw`` is a file of bytes, and ``size`` how many of them to read at a time, `BLOCK` by default.
    """
    with _input_errors(path):
        is_utf8 = codecs.lookup(_known(encoding)).name == "utf-8"
        file = raw if is_utf8 else codecs.EncodedFile(raw, "utf-8", encoding)
        try:
            block = _next_rows(file, size or BLOCK).removeprefix(codecs.BOM_UTF8)
            while block:
                yield block
                block = _next_rows(file, size or BLOCK)
        except UnicodeError:
            raise InvalidInputError(
                f"{path}: the text is not {encoding}; pass the actual --encoding."
            ) from None


def _next_rows(file: Any, limit: int) -> bytes:
    """Return the next block: up to the first line break that is not inside quotes."""
    parts = [file.read(limit)]
    n_quotes, size = parts[0].count(b'"'), 0
    # With an unmatched quote there is none; the parser then reports the line.
    while parts[-1] and size < limit and (len(parts) == 1 or n_quotes % 2):
        parts.append(file.readline())
        n_quotes, size = n_quotes + parts[-1].count(b'"'), size + len(parts[-1])
    return b"".join(parts)


def _known(encoding: str) -> str:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InvalidInputError(
            f"--encoding {encoding} is unknown; use utf-8, utf-16, latin-1 or another encoding."
        ) from None
    return encoding


def _first_row_end(block: bytes) -> int:
    """Return where the header ends, after the first line break that is not inside quotes."""
    end = block.find(b"\n") + 1
    while end and block.count(b'"', 0, end) % 2:
        end = block.find(b"\n", end) + 1
    return end or len(block)
