"""The bytes of a user's file, decompressed; what kind of file it is follows from its content."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from everystump._text import pluralize
from everystump._workflow import InvalidInputError

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZSTD = b"\x28\xb5\x2f\xfd"
_WORKBOOKS = {"[Content_Types].xml": "an Excel workbook", "mimetype": "an OpenDocument file"}
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"ARROW1\0\0": "a Feather file",
    b"SQLite format 3\0": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"%PDF-": "a PDF file",
    **{bytes([0x80, protocol]): "a pickle" for protocol in (2, 3, 4, 5)},
}
_TAR, _AT_TAR = (b"ustar\x0000", b"ustar  \0"), 257


def read_decompressed(path: Path) -> bytes:
    """Return what is in a file, read once and decompressed.

    Files of gzip, bzip2, xz and Zstandard, and zip archives of one file, are decompressed, whatever
    they are called.  The path ``-`` is standard input, unless there is a file of that name.
    """
    try:
        content = _read_bytes(path)
        unpack = _unpacker(content)
        if unpack is None:
            return _check_kind(path, content)
        content = unpack(path, content)
    except FileNotFoundError:
        raise InvalidInputError(f"{path} does not exist; check the name.") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{path} is a folder; name a file in it.") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        what = str(error).rstrip(".")
        raise InvalidInputError(f"{path} cannot be read ({what}); check the file.") from None
    if _unpacker(content) is not None:
        raise InvalidInputError(
            f"{path} is compressed twice; decompress it once, and pass that file."
        )
    return _check_kind(path, content)


def _read_bytes(path: Path) -> bytes:
    """Return the bytes of a file or of standard input."""
    if str(path) == "-" and sys.stdin is not None and not path.exists():
        return sys.stdin.buffer.read()
    return path.read_bytes()


def _unpacker(content: bytes) -> Callable[[Path, bytes], bytes] | None:
    """Return what decompresses a content, None if it is not compressed."""
    if content.startswith(_ZIP):
        return _unzipped
    return next((unpack for magic, unpack in _BY_MAGIC.items() if content.startswith(magic)), None)


def _unzipped(path: Path, content: bytes) -> bytes:
    """Return the one file of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
        workbook = next((kind for name, kind in _WORKBOOKS.items() if name in names), None)
        if workbook is not None:
            raise InvalidInputError(
                f"{path} is {workbook}; save its table as CSV, and pass that file."
            )
        # macOS adds files of its own, which hold no data.
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise InvalidInputError(
                f"{path} is a zip archive of {pluralize(len(names), 'file')}; unpack it, and pass "
                f"one of them."
            )
        try:
            return archive.read(names[0])
        except (RuntimeError, NotImplementedError) as error:  # a password, or a rare method
            raise InvalidInputError(
                f"{path} cannot be unpacked ({error}); unpack it, and pass the file in it."
            ) from None


def _bunzipped(path: Path, content: bytes) -> bytes:
    try:
        return bz2.decompress(content)
    except ValueError as error:  # it ends too early
        raise EOFError(str(error)) from None


def _unzstd(path: Path, content: bytes) -> bytes:
    """Return what Zstandard compressed, if a module for it is installed."""
    try:
        zstandard = import_module("zstandard")
    except ImportError:
        raise InvalidInputError(
            f"{path} is compressed by Zstandard; decompress it, or pip install zstandard."
        ) from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)) as reader:
            return reader.read()
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from None


_BY_MAGIC: dict[bytes, Callable[[Path, bytes], bytes]] = {
    b"\x1f\x8b": lambda _, content: gzip.decompress(content),
    **{b"BZh%d1AY&SY" % level: _bunzipped for level in range(1, 10)},
    b"\xfd7zXZ\0": lambda _, content: lzma.decompress(content),
    _ZSTD: _unzstd,
}


def _check_kind(path: Path, content: bytes) -> bytes:
    """Return a content, or say that it is a kind of file that holds no table to be read here."""
    kind = next((kind for magic, kind in _OTHERS.items() if content.startswith(magic)), None)
    if content[_AT_TAR : _AT_TAR + 8] in _TAR:
        kind = "a tar archive"
    if kind is not None:
        raise InvalidInputError(f"{path} is {kind}; save the table as CSV or Parquet.")
    return content
