"""The archive of a model file: an uncompressed zip of a JSON text and arrays in NumPy's format.

`zipfile` and `numpy.lib.format` do the parsing.  The checks here reject what they tolerate but
`write_archive` and `npy_bytes` never write, so that memory use stays in proportion to the file.
"""

from __future__ import annotations

import io
import math
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

MAX_BYTES = 2**32 - 2**20
MAX_FILES = 65_000
MAX_JSON_BYTES = 2**24
MAX_JSON_VALUES = 1_000_000
_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX, _REGULAR_FILE = 3, 0o100644 << 16
_MAX_HEADER, _MAX_NAME = 1000, 40
# Bytes of a zip besides names and contents: two headers per file, and the end.
_HEADERS, _END = 30 + 46, 22
_DTYPE = re.compile(r"[<>|][biufU](?:0|[1-9][0-9]{0,8})")


class ModelFileError(ValueError):
    """A model cannot be stored, or a file does not contain a readable model.

    Examples
    --------
    >>> from everystump import ModelFileError, load
    >>> try:
    ...     load(".")
    ... except ModelFileError as error:
    ...     print(error)
    '.' is a folder; pass the path of a model file.
    """


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a zip archive; identical contents give identical bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=False) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system, info.external_attr = _UNIX, _REGULAR_FILE
            archive.writestr(info, content)


def read_archive(file: BinaryIO) -> dict[str, bytes]:
    """Return the files in a zip archive, in order; raise if `write_archive` did not write it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END))
    _check_directory_size(file.read())
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        for info in infos:
            if info.compress_type or info.flag_bits or info.extra or info.comment:
                raise ValueError(f"{info.filename[:40]!r} is compressed, encrypted or annotated")
        n_bytes = sum(_HEADERS + 2 * len(info.filename) + info.file_size for info in infos)
        if archive.comment or size != n_bytes + _END:
            raise ValueError("it contains more than its files")
        files = {info.filename: _read_file(file, info) for info in infos}
    if len(files) < len(infos):
        raise ValueError("it contains a file twice")
    return files


def _check_directory_size(end: bytes) -> None:
    """Check how long the list of files is before `zipfile` makes an object for each of them."""
    if not end.startswith(b"PK\x05\x06"):
        raise ValueError("its end is missing")
    n_files, n_bytes = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    if n_files > MAX_FILES or n_bytes > n_files * (_HEADERS + _MAX_NAME):
        raise ValueError("its list of files is too long")


def _read_file(file: BinaryIO, info: zipfile.ZipInfo) -> bytes:
    """Return a file; `ZipFile.read` does not check all of its header, and takes longer."""
    header = info.FileHeader(zip64=False)
    file.seek(info.header_offset)
    found, content = file.read(len(header)), file.read(info.file_size)
    if found != header or zlib.crc32(content) != info.CRC:
        raise ValueError(f"{info.filename!r} is damaged")
    return content


def check_size(files: Mapping[str, bytes]) -> None:
    """Check that files are neither too large nor too many for an archive."""
    n_bytes = sum(len(content) + 100 + 2 * len(name) for name, content in files.items())
    if n_bytes > MAX_BYTES:
        raise ModelFileError(
            f"model: it takes {n_bytes / 2**30:.1f} GiB, but a model file is limited to 4 GiB; "
            f"use joblib instead."
        )
    if len(files) > MAX_FILES:
        raise ModelFileError(
            f"model: it has {len(files) - 1} arrays, but a model file is limited to "
            f"{MAX_FILES - 1}; use joblib instead."
        )


def check_json(text: bytes) -> None:
    """Check that parsing a JSON text takes memory in proportion to its size."""
    if len(text) > MAX_JSON_BYTES:
        raise ModelFileError(
            f"besides its arrays it takes {len(text) / 2**20:.1f} MiB, but a model file is "
            f"limited to {MAX_JSON_BYTES / 2**20:g} MiB"
        )
    # Every value but the first in its list or object follows a comma.
    n_values = sum(text.count(mark) for mark in (b"[", b"{", b","))
    if n_values > MAX_JSON_VALUES:
        raise ModelFileError(
            f"besides its arrays it has {n_values:,} values, but a model file is limited to "
            f"{MAX_JSON_VALUES:,}"
        )


def npy_bytes(array: np.ndarray) -> bytes:
    """Return an array as the content of an ``.npy`` file."""
    buffer = io.BytesIO()
    npy.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def read_array(content: bytes) -> np.ndarray:
    """Return the array in an ``.npy`` file; raise if its size or header is inconsistent."""
    start = 10 + int.from_bytes(content[8:10], "little")
    if start > _MAX_HEADER:
        raise ValueError("the header of an array is too long")
    shape, fortran_order, dtype = _read_header(content[:start])
    if math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError(f"an array of shape {shape} has {len(content) - start} bytes")
    flat = np.frombuffer(content, dtype, count=math.prod(shape), offset=start)
    return flat.reshape(shape, order="F" if fortran_order else "C").copy(order="K")


@lru_cache(maxsize=1024)
def _read_header(header: bytes) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return shape, order and type; raise unless NumPy would write the same header."""
    buffer, expected = io.BytesIO(header), io.BytesIO()
    npy.read_magic(buffer)
    shape, fortran_order, dtype = npy.read_array_header_1_0(buffer)
    descr = npy.dtype_to_descr(dtype)
    npy.write_array_header_1_0(
        expected, {"descr": descr, "fortran_order": fortran_order, "shape": shape}
    )
    if header.rstrip()[10:] != expected.getvalue().rstrip()[10:]:
        raise ValueError("the header of an array is not one that NumPy writes")
    if parse_dtype(str(descr)).itemsize == 0:
        raise ValueError(f"an array has the type {dtype}")
    return shape, fortran_order, dtype


def is_storable(dtype: np.dtype) -> bool:
    """Whether model files may contain values of a type: booleans, numbers of 64 bits, and text."""
    return dtype.kind == "U" or (dtype.kind in "biuf" and dtype.itemsize <= 8)


def parse_dtype(text: str) -> np.dtype:
    """Return the type with a name such as ``"<f8"``; raise if model files cannot contain it."""
    if not (_DTYPE.fullmatch(text) and is_storable(np.dtype(text))):
        raise ValueError(f"it has values of type {text[:40]}")
    return np.dtype(text)
