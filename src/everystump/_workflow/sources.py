"""Tables from files: text and Parquet, plain or compressed."""

from __future__ import annotations

import io
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from everystump._workflow import InvalidInputError
from everystump._workflow.contents import read_decompressed
from everystump._workflow.csvtext import parse_table
from everystump._workflow.dialect import Dialect
from everystump._workflow.tidying import (
    integers_as_text,
    large_columns,
    mask_missing,
    normalize_dtypes,
    replaced,
    with_text_names,
)

_PARQUET = b"PAR1"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_file(
    path: Path, dialect: Dialect | None = None, *, text: Collection[str] = ()
) -> tuple[Any, list[str]]:
    """Return the table in a file as a pandas frame, and what was guessed of how it is written.

    Parameters
    ----------
    path : Path
        A text of a line of names and lines of values, or Parquet; either may be compressed.
    dialect : Dialect, optional
        What the user says of a text.
    text : collection of str
        Columns whose cells are to stay text, whatever they look like.
    """
    return parse_file(path, read_decompressed(path), dialect, text=text)


def parse_file(
    path: Path, content: bytes, dialect: Dialect | None = None, *, text: Collection[str] = ()
) -> tuple[Any, list[str]]:
    """Do the same with the content of a file that has been read already."""
    dialect = dialect or Dialect()
    if content.startswith(_PARQUET) or path.suffix.lower() in (".parquet", ".pq"):
        frame, messages = _read_parquet(path, content), list[str]()
        frame = mask_missing(frame, dialect.missing)
        whole = frame.columns[[dtype.kind in "iu" for dtype in frame.dtypes]]
        large = large_columns(frame[whole])
        frame = replaced(frame, {name: integers_as_text(frame[name]) for name in large})
    else:
        decoded = _decoded(path, content, dialect.encoding or "utf-8")
        frame, messages = parse_table(path, decoded, dialect, text)
    if len(frame) == 0:
        raise InvalidInputError(f"{path} has names but no rows; add some.")
    frame = normalize_dtypes(frame, leave=text)
    _check_infinite(path, frame)
    return frame, messages


def _decoded(path: Path, content: bytes, encoding: str) -> str:
    """Return the text of a file, its lines ended by one character."""
    if encoding == "utf-8" and content.startswith(_UTF16):
        raise InvalidInputError(f"{path}, line 1: the text is not utf-8; pass --encoding utf-16.")
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise InvalidInputError(
            f"--encoding {encoding} is not known; use utf-8, utf-16, latin-1 or the like."
        ) from None
    except UnicodeError as error:
        line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        likely = "utf-16-le" if b"\0" in content else "latin-1" if encoding == "utf-8" else "utf-8"
        raise InvalidInputError(
            f"{path}, line {line}: the text is not {encoding}; pass --encoding {likely}, or "
            f"whatever it is in."
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InvalidInputError(
            f"{path}, line {line}: this is not text in {encoding}; pass a CSV or Parquet file, or "
            f"--encoding utf-16-le if it is in that."
        )
    if not text.strip():
        raise InvalidInputError(f"{path} is empty; it needs a line of names and lines of values.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_parquet(path: Path, content: bytes) -> Any:
    """Return the table of a Parquet file; an index with a name is a column of it."""
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError:
        raise InvalidInputError(
            f"{path}: Parquet needs pyarrow; pip install 'everystump[parquet]', or pass a CSV."
        ) from None
    except Exception as error:
        what = " ".join(str(error).split())[:200].rstrip(".")
        raise InvalidInputError(f"{path} is not a readable Parquet file: {what}.") from None
    return with_text_names(path, frame)


def _check_infinite(path: Path, frame: Any) -> None:
    """Raise if a number is infinite, which no stump can stand on."""
    for name in frame.columns[[kind.kind == "f" for kind in frame.dtypes]]:
        bad = np.flatnonzero(np.isinf(frame[name].to_numpy(dtype=np.float64, na_value=np.nan)))
        if len(bad):
            raise InvalidInputError(
                f"{path}: {name!r} is infinite in row {bad[0]} (0 is the first); correct it, or "
                f"leave the cell empty."
            )
