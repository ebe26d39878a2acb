"""Dataframes from CSV and Parquet files, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from everystump._text import InvalidInputError, pluralize
from everystump._workflow.options import Dialect
from everystump._workflow.reading.csv_text import parse_csv
from everystump._workflow.reading.frames import (
    DELIMITER,
    integers_as_text,
    large_columns,
    mask_missing,
    normalize_dtypes,
    with_columns,
    with_text_names,
)

_PARQUET = b"PAR1"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZSTD = b"\x28\xb5\x2f\xfd"
_WORKBOOKS = {"[Content_Types].xml": "an Excel workbook", "mimetype": "an OpenDocument file"}
_UNSUPPORTED = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"ARROW1\0\0": "a Feather file",
    b"SQLite format 3\0": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"%PDF-": "a PDF file",
    **{bytes([0x80, protocol]): "a pickle" for protocol in (2, 3, 4, 5)},
}
_SAMPLE, _MAX_CONTROLS = 64 * 1024, 0.05  # bytes, and their fraction of control characters
_TAR, _TAR_OFFSET = (b"ustar\x0000", b"ustar  \0"), 257


def read_file(
    path: Path, dialect: Dialect | None = None, *, text: Collection[str] = ()
) -> tuple[Any, list[str]]:
    """Return the table in a file as a pandas frame, and notes on how the file was read.

    Parameters
    ----------
    path : Path
        A CSV file with a header line, or Parquet; either may be compressed.
    dialect : Dialect, optional
        Options of the user for a CSV file.
    text : collection of str
        Columns that are read as text, even if their cells are numbers.
    """
    return parse_file(path, read_decompressed(path), dialect, text=text)


def parse_file(
    path: Path,
    content: bytes,
    dialect: Dialect | None = None,
    *,
    text: Collection[str] = (),
    keep_zeros: bool = True,
) -> tuple[Any, list[str]]:
    """Return the same as `read_file` for content that has already been read.

    With ``keep_zeros``, columns of a CSV with integers such as ``007`` are read as text.
    """
    dialect = dialect or Dialect()
    if content.startswith(_PARQUET) or path.suffix.lower() in (".parquet", ".pq"):
        return finish_frame(path, _read_parquet(path, content), dialect, text), []
    decoded = decode_text(path, content, dialect.encoding or "utf-8")
    frame, notes = parse_csv(path, decoded, dialect, text, keep_zeros=keep_zeros)
    return finish_frame(path, frame, Dialect(), text), notes


def finish_frame(path: Path, frame: Any, dialect: Dialect, text: Collection[str]) -> Any:
    """Return a frame with missing values and a few dtypes, or raise if a number is infinite."""
    if len(frame) == 0:
        raise InvalidInputError(f"{path} has a header but no rows; add rows.")
    if DELIMITER not in frame.attrs:  # Parquet
        frame = mask_missing(frame, dialect.missing)
        integers = frame.columns[[dtype.kind in "iu" for dtype in frame.dtypes]]
        large = large_columns(frame[integers])
        frame = with_columns(frame, {name: integers_as_text(frame[name]) for name in large})
    frame = normalize_dtypes(frame, skip=text)
    _check_finite(path, frame)
    return frame


def read_decompressed(path: Path) -> bytes:
    """Return the decompressed content of a file, which is read once.

    Compression (gzip, bzip2, xz, Zstandard, or a zip archive with one file) is detected by content,
    not by file name.  The path ``-`` is standard input, unless a file with that name exists.
    """
    try:
        content = _read_bytes(path)
    except FileNotFoundError:
        raise InvalidInputError(f"{path} does not exist; check the name.") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{path} is a folder; pass a file in it.") from None
    except OSError as error:
        raise _unreadable(path, error) from None
    return decompress(path, content)


def decompress(path: Path, content: bytes) -> bytes:
    """Return the decompressed content of a file; raise if its format is not supported."""
    decompressor = _decompressor(content)
    if decompressor is None:
        return check_format(path, content)
    try:
        content = decompressor(path, content)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from None
    if _decompressor(content) is not None:
        raise InvalidInputError(f"{path} is compressed twice; decompress it once and pass that.")
    return check_format(path, content)


def _unreadable(path: Path, error: Exception) -> InvalidInputError:
    what = str(error).rstrip(".")
    return InvalidInputError(f"{path} cannot be read ({what}); check the file.")


def _read_bytes(path: Path) -> bytes:
    """Return the bytes of a file or of standard input."""
    if str(path) == "-" and sys.stdin is not None and not path.exists():
        return sys.stdin.buffer.read()
    return path.read_bytes()


def _decompressor(content: bytes) -> Callable[[Path, bytes], bytes] | None:
    """Return the function that decompresses some content, None if it is not compressed."""
    if content.startswith(_ZIP):
        return _unzip
    return next((f for magic, f in _DECOMPRESSORS.items() if content.startswith(magic)), None)


def _unzip(path: Path, content: bytes) -> bytes:
    """Return the only file of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
        workbook = next((kind for name, kind in _WORKBOOKS.items() if name in names), None)
        if workbook is not None:
            raise InvalidInputError(f"{path} is {workbook}; save its sheet as CSV and pass that.")
        # macOS adds metadata files.
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise InvalidInputError(
                f"{path} is a zip archive with {pluralize(len(names), 'file')}; extract it and "
                f"pass one of them."
            )
        try:
            return archive.read(names[0])
        except (RuntimeError, NotImplementedError) as error:  # a password, or a rare method
            raise InvalidInputError(
                f"{path} cannot be extracted ({error}); extract it and pass the file inside."
            ) from None


def _decompress_bz2(path: Path, content: bytes) -> bytes:
    try:
        return bz2.decompress(content)
    except ValueError as error:  # truncated
        raise EOFError(str(error)) from None


def _decompress_zstd(path: Path, content: bytes) -> bytes:
    try:
        zstandard = import_module("zstandard")
    except ImportError:
        raise InvalidInputError(
            f"{path} is compressed with Zstandard; decompress it, or pip install zstandard."
        ) from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)) as reader:
            return reader.read()
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from None


_DECOMPRESSORS: dict[bytes, Callable[[Path, bytes], bytes]] = {
    b"\x1f\x8b": lambda _, content: gzip.decompress(content),
    **{b"BZh%d1AY&SY" % level: _decompress_bz2 for level in range(1, 10)},
    b"\xfd7zXZ\0": lambda _, content: lzma.decompress(content),
    _ZSTD: _decompress_zstd,
}


def check_format(path: Path, content: bytes) -> bytes:
    """Return a file's content, or raise if its format is recognized but not supported."""
    kind = next((kind for magic, kind in _UNSUPPORTED.items() if content.startswith(magic)), None)
    if content[_TAR_OFFSET : _TAR_OFFSET + 8] in _TAR:
        kind = "a tar archive"
    if kind is not None:
        raise InvalidInputError(f"{path} is {kind}; save the table as CSV or Parquet.")
    return content


def decode_text(path: Path, content: bytes, encoding: str) -> str:
    r"""Return the text of a file, with ``\n`` at the ends of lines."""
    if encoding == "utf-8" and content.startswith(_UTF16):
        raise InvalidInputError(f"{path}, line 1: the text is not utf-8; pass --encoding utf-16.")
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise InvalidInputError(
            f"--encoding {encoding} is unknown; use utf-8, utf-16, latin-1 or another encoding."
        ) from None
    except UnicodeError as error:
        line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise _encoding_error(path, content, encoding, line) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _encoding_error(path, content, encoding, line)
    if not text.strip():
        raise empty_error(path)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def empty_error(path: Path) -> InvalidInputError:
    """Return the error for a CSV file without a header."""
    return InvalidInputError(f"{path} is empty; a table needs a header line and rows.")


def _encoding_error(path: Path, content: bytes, encoding: str, line: int) -> InvalidInputError:
    """Return the error for a file that is not text in the expected encoding."""
    sample = np.frombuffer(content[:_SAMPLE], np.uint8)
    n_controls = int(np.sum((sample < ord(" ")) & ~np.isin(sample, [*b"\t\n\r"])))
    zeros = [int(np.sum(sample[k::2] == 0)) for k in (0, 1)]  # of UTF-16, every other byte is zero
    likely = "latin-1" if encoding == "utf-8" else "utf-8"
    if max(zeros) > 0.2 * len(sample) and min(zeros) < 0.01 * len(sample):
        likely = "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    elif n_controls > max(_MAX_CONTROLS * len(sample), 4):
        return InvalidInputError(f"{path} is not a text file; pass a CSV or Parquet file.")
    elif b"\0" in content:
        return InvalidInputError(
            f"{path}, line {line}: the text is not {encoding}, or contains a null character; fix "
            f"the file."
        )
    return InvalidInputError(
        f"{path}, line {line}: the text is not {encoding}; pass --encoding {likely}, or the actual "
        f"encoding."
    )


def _read_parquet(path: Path, content: bytes) -> Any:
    """Return the table of a Parquet file; a named index becomes a column."""
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except Exception as error:
        raise parquet_error(path, error) from None
    return with_text_names(path, frame)


def parquet_error(path: Path, error: Exception) -> InvalidInputError:
    """Return the error for a Parquet file that cannot be read."""
    if isinstance(error, ImportError):
        return InvalidInputError(
            f"{path}: Parquet needs pyarrow; pip install 'everystump[parquet]', or pass a CSV."
        )
    what = " ".join(str(error).split())[:200].rstrip(".")
    return InvalidInputError(f"{path} is not a readable Parquet file: {what}.")


def _check_finite(path: Path, frame: Any) -> None:
    """Raise if a number is infinite."""
    for name in frame.columns[[kind.kind == "f" for kind in frame.dtypes]]:
        bad = np.flatnonzero(np.isinf(frame[name].to_numpy(dtype=np.float64, na_value=np.nan)))
        if len(bad):
            raise InvalidInputError(
                f"{path}: {name!r} is infinite in row {frame.index[bad[0]]} (counting from 0); fix "
                f"it, or leave the cell empty."
            )
