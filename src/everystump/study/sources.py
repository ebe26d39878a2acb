"""Tables from files: CSV and Parquet, plain or compressed; what is wrong is named by its line."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from everystump.study import RefusedError

_DELIMITERS = ",;\t|"
_SAMPLE = 64 * 1024
_NEWLINE, _QUOTE = b"\n", b'"'


def read_file(path: Path, *, delimiter: str | None = None, encoding: str = "utf-8") -> Any:
    """Return the table in a file as a pandas frame.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.tsv``, ``.txt`` or ``.parquet``; text may be compressed as ``.gz``.
    delimiter : str, optional
        What separates cells; found in the first lines by default.
    encoding : str, default="utf-8"
        How text is encoded.
    """
    content = _content(path)
    if _suffix(path) in (".parquet", ".pq"):
        return _read_parquet(path, content)
    if not content.strip():
        raise RefusedError(f"{path} is empty; it needs a line of names and lines of values.")
    text = _decoded(path, content, encoding).replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
    cut = "\t" if delimiter == "\\t" else delimiter or _found_delimiter(path, text)
    try:
        _refuse_equal_names(path, text, cut)
        _refuse_ragged(path, text, cut)
        return _read_csv(path, text, cut)
    except (csv.Error, TypeError) as error:
        raise RefusedError(f"{path} cannot be read with --delimiter {cut!r}: {error}.") from None


def _suffix(path: Path) -> str:
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.name.lower().endswith(".gz") else content
    except FileNotFoundError:
        raise RefusedError(f"{path} does not exist; check the name.") from None
    except IsADirectoryError:
        raise RefusedError(f"{path} is a folder; name a file in it.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise RefusedError(f"{path} cannot be read ({error}); check the file.") from None


def _decoded(path: Path, content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise RefusedError(f"--encoding {encoding} is not known; use utf-8 or latin-1.") from None
    except UnicodeDecodeError as error:
        line = content.count(_NEWLINE, 0, error.start) + 1
        raise RefusedError(
            f"{path}, line {line}: the text is not {encoding}; pass --encoding latin-1, or "
            f"whatever it is in."
        ) from None


def _found_delimiter(path: Path, text: str) -> str:
    """Return the delimiter that splits the first lines best; a single column has none."""
    head = text[:_SAMPLE].splitlines()[:20]
    counts = {cut: [len(row) for row in csv.reader(head, delimiter=cut)] for cut in _DELIMITERS}
    cut = max(_DELIMITERS, key=lambda cut: (counts[cut][0] > 1, np.mean(counts[cut])))
    if counts[cut][0] == 1:
        raise RefusedError(
            f"{path}, line 1: no comma, semicolon, tab or bar separates {head[0][:40]!r}; pass "
            f"--delimiter."
        )
    return cut


def _refuse_equal_names(path: Path, text: str, delimiter: str) -> None:
    """Raise if two columns have one name, which pandas would change."""
    head = text.split("\n", 1)[0]
    names = [name.strip() for name in next(csv.reader([head], delimiter=delimiter))]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RefusedError(f"{path}, line 1: two columns are named {twice!r}; rename one.")


def _refuse_ragged(path: Path, text: str, delimiter: str) -> None:
    """Raise if a line has more or fewer cells than the first."""
    content = text.encode()
    if _QUOTE in content or len(delimiter.encode()) != 1:
        reader = csv.reader(io.StringIO(text), delimiter=delimiter)
        counts = [(reader.line_num, len(row)) for row in reader if row]
        for line, found in counts:
            if found != counts[0][1]:
                _say_ragged(path, line, found, counts[0][1])
        return
    raw = np.frombuffer(content if content.endswith(_NEWLINE) else content + _NEWLINE, np.uint8)
    ends = np.flatnonzero(raw == ord(_NEWLINE))
    cuts = np.flatnonzero(raw == ord(delimiter))
    cells = np.diff(np.searchsorted(cuts, ends), prepend=0) + 1
    filled = np.diff(ends, prepend=-1) > 2  # lines that hold nothing are skipped
    odd = np.flatnonzero((cells != cells[0]) & filled)
    if len(odd):
        _say_ragged(path, int(odd[0]) + 1, int(cells[odd[0]]), int(cells[0]))


def _say_ragged(path: Path, line: int, found: int, wanted: int) -> None:
    raise RefusedError(
        f"{path}, line {line}: {found} cells where the first line has {wanted}; mend the line, or "
        f"pass --delimiter."
    )


def _read_csv(path: Path, text: str, delimiter: str) -> Any:
    import pandas as pd

    try:
        frame = pd.read_csv(
            io.StringIO(text), sep=delimiter, skipinitialspace=True, index_col=False
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        what = " ".join(str(error).split())
        raise RefusedError(f"{path} cannot be read: {what}; mend it there.") from None
    if len(frame) == 0:
        raise RefusedError(f"{path} has names but no rows; add some.")
    return frame


def _read_parquet(path: Path, content: bytes) -> Any:
    import pandas as pd

    try:
        return pd.read_parquet(io.BytesIO(content))
    except ImportError:
        raise RefusedError(
            f"{path}: Parquet needs pyarrow; pip install 'everystump[parquet]', or pass a CSV."
        ) from None
    except Exception as error:
        what = " ".join(str(error).split())[:200]
        raise RefusedError(f"{path} is no Parquet file that can be read ({what}).") from None
