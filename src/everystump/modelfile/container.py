"""The archive of a model file: a zip without compression, read as strictly as it is written."""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from everystump.modelfile.encode import parse_dtype
from everystump.modelfile.errors import ModelFileError

MAX_BYTES = 2**32 - 2**20
MAX_FILES = 65_000
MAX_JSON_BYTES = 2**24
MAX_JSON_VALUES = 1_000_000
_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX, _PLAIN_FILE = 3, 0o100644 << 16
_LONGEST_HEADER, _LONGEST_NAME = 1000, 40
# What a zip holds beside names and contents: before each file, in the list of files, at the end.
_BEFORE, _LISTED, _END = 30, 46, 22
_SIZE = rb"(?:0|[1-9][0-9]{0,17})"
# The start of an .npy file of format 1.0, exactly as NumPy writes it.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?s:..)\{'descr': '(?P<dtype>[^']{1,20})', 'fortran_order': "
    rb"(?P<fortran>True|False), 'shape': "
    rb"\((?P<shape>|" + _SIZE + rb",|" + _SIZE + rb"(?:, " + _SIZE + rb")+)\), \} *\n"
)


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a zip; the same files make the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=False) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system, info.external_attr = _UNIX, _PLAIN_FILE
            archive.writestr(info, content)


def check_size(files: Mapping[str, bytes]) -> None:
    """Raise if files are too large or too many for an archive."""
    n_bytes = sum(len(content) + 100 + 2 * len(name) for name, content in files.items())
    if n_bytes > MAX_BYTES:
        raise ModelFileError(
            f"model: it takes {n_bytes / 2**30:.1f} GiB, and a model file holds 4; keep it with "
            f"joblib."
        )
    if len(files) > MAX_FILES:
        raise ModelFileError(
            f"model: it has {len(files) - 1} arrays, and a model file holds {MAX_FILES - 1}; keep "
            f"it with joblib."
        )


def check_json(text: bytes | memoryview) -> None:
    """Raise if a text of JSON would take far more memory than it has bytes."""
    if len(text) > MAX_JSON_BYTES:
        raise ModelFileError(
            f"beside its arrays it takes {len(text) / 2**20:.1f} MiB, and a model file holds "
            f"{MAX_JSON_BYTES / 2**20:g}"
        )
    # Every value but the first in its list or object comes after a comma.
    n_values = sum(bytes(text).count(mark) for mark in (b"[", b"{", b","))
    if n_values > MAX_JSON_VALUES:
        raise ModelFileError(
            f"beside its arrays it has {n_values:,} values, and a model file holds "
            f"{MAX_JSON_VALUES:,}"
        )


def _check_end(content: bytes) -> None:
    """Raise unless a zip ends as ours do; a list of files that it claims could fill the memory."""
    end = content[-_END:]
    if not end.startswith(b"PK\x05\x06") or content[-_END - 20 :].startswith(b"PK\x06\x07"):
        raise ValueError("its end is missing")
    n_files, n_bytes = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    if n_files > MAX_FILES or n_bytes > n_files * (_LISTED + _LONGEST_NAME):
        raise ValueError("its list of files is too long")


def read_archive(content: bytes) -> dict[str, memoryview]:
    """Return the files in a zip, in their order; raises if it is not one that we wrote."""
    _check_end(content)
    view, files, start = memoryview(content), {}, 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos, listed_from, comment = archive.infolist(), archive.start_dir, archive.comment
    for info in infos:
        header = info.FileHeader(zip64=False)
        plain = info.compress_type == zipfile.ZIP_STORED and not (
            info.flag_bits or info.extra or info.comment
        )
        if not plain or info.compress_size != info.file_size:
            raise ValueError(f"{info.filename[:40]!r} is compressed, encrypted or annotated")
        first = start + len(header)
        if info.header_offset != start or view[start:first] != header:
            raise ValueError(f"the header of {info.filename[:40]!r} is damaged")
        start = first + info.file_size
        part = view[first:start]
        if len(part) != info.file_size or zlib.crc32(part) != info.CRC:
            raise ValueError(f"{info.filename[:40]!r} is damaged")
        if info.filename in files:
            raise ValueError(f"it holds {info.filename[:40]!r} twice")
        files[info.filename] = part
    listed = sum(_LISTED + len(info.filename) for info in infos)
    if comment or listed_from != start or len(content) != start + listed + _END:
        raise ValueError("it holds more than its files")
    return files


def npy_bytes(array: np.ndarray) -> bytes:
    """Return an array as the content of an ``.npy`` file."""
    buffer = io.BytesIO()
    npy.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def read_array(content: memoryview) -> np.ndarray:
    """Return the array of an ``.npy`` file; raises if the file is not all that it claims to be."""
    first = 10 + int.from_bytes(content[8:10], "little")
    if first > _LONGEST_HEADER:
        raise ValueError("an array has too long a header")
    shape, fortran, dtype = _read_header(bytes(content[:first]))
    if math.prod(shape) * dtype.itemsize != len(content) - first:
        raise ValueError(f"an array of shape {shape} has {len(content) - first} bytes")
    flat = np.frombuffer(content, dtype, count=math.prod(shape), offset=first)
    return flat.reshape(shape, order="F" if fortran else "C").copy(order="K")


@lru_cache(maxsize=1024)
def _read_header(header: bytes) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return shape, order and type; NumPy's own reader takes more than it writes, and warns."""
    found = _HEADER.fullmatch(header)
    if found is None:
        raise ValueError("an array has another header than NumPy writes")
    dtype = parse_dtype(found["dtype"].decode())
    shape = tuple(int(size) for size in found["shape"].decode().split(",") if size)
    if dtype.itemsize == 0:
        raise ValueError(f"an array has the type {dtype}")
    return shape, found["fortran"] == b"True", dtype
