"""Atomic writing of files, and checks of the paths that users pass."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable
from glob import glob, has_magic
from pathlib import Path
from typing import Any

_MAX_REPR, _MAX_STEM, _MAX_SUFFIX = 80, 30, 10


def write_atomic(out: Path, write: Callable[[Path], object]) -> None:
    """Write a temporary file next to ``out`` and rename it when it is complete.

    Symbolic links are followed.  An existing file keeps its permissions; those of a new file
    follow the umask.
    """
    target = Path(os.path.realpath(out))
    _check_regular_file(out, target)
    prefix, suffix = f".{target.stem[:_MAX_STEM]}-", target.suffix[:_MAX_SUFFIX]
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=suffix)
    except OSError as error:
        raise _write_error(error, out) from error
    try:
        try:
            write(Path(name))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.chmod(name, _mode(target, name))
        os.replace(name, target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, name):
            raise _write_error(error, out) from error
        raise


def write_text(out: Path, text: str) -> None:
    """Write a text file atomically."""
    write_atomic(out, lambda path: path.write_text(text, encoding="utf-8", newline="\n"))


def _mode(target: Path, temporary: str) -> int:
    """Return the permissions of an existing file, or those of a new one."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    # Reading the umask would change it for all threads, so a file is created instead.
    probe = f"{temporary}~"
    handle = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        return stat.S_IMODE(os.fstat(handle).st_mode)
    finally:
        os.close(handle)
        os.unlink(probe)


def _write_error(error: OSError, out: Path) -> OSError:
    """Return an error with the user's path instead of that of the temporary file."""
    return type(error)(
        f"path={str(out)!r} cannot be written ({error.strerror or error}); choose another path."
    )


def _check_regular_file(out: Path, target: Path) -> None:
    """Check that a path is not that of a folder, pipe or device, which renaming would replace."""
    try:
        # The user's own path: /dev/stdout may be a pipe, which has no real path.
        is_regular = out.is_file() or not (out.exists() or os.path.lexists(target))
    except OSError as error:
        raise _write_error(error, out) from error
    if target.is_dir():
        raise IsADirectoryError(f"path={str(out)!r} is a folder; pass the path of a file in it.")
    if not is_regular:
        raise ValueError(
            f"path={str(out)!r} is not a regular file but a pipe, a device or the like; pass "
            f"another path."
        )


def replace_surrogates(name: str) -> str:
    r"""Return a file name that can be printed and stored, with � for bytes that are not UTF-8.

    Examples
    --------
    >>> replace_surrogates("a.csv"), replace_surrogates("a\udcff.csv")
    ('a.csv', 'a�.csv')
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", name)


def check_path(path: Any) -> Path:
    """Return a user's path as a `Path`; raise if it is not a path.

    Examples
    --------
    >>> check_path("model.json").suffix
    '.json'
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        swapped = hasattr(path, "get_params")
        remedy = "pass the model first and then the path" if swapped else "pass a str or a Path"
        short = " ".join(repr(path)[:_MAX_REPR].split())
        raise TypeError(f"path={short} is of type {type(path).__name__}; {remedy}.")
    if not text:
        raise ValueError("path='' is empty; pass the path of a file.")
    if "\0" in text:
        raise ValueError(f"path={text!r} contains a null character; remove it.")
    return Path(text)


def find_data_files(path: Any) -> list[Path]:
    """Return the Parquet or CSV files of a path, a pattern, a folder, or a list of these, in order.

    Of a folder, these are the files in it and in its folders that are not hidden; their names must
    end in ``.parquet``, ``.pq``, ``.csv`` or, compressed, ``.csv.gz`` and the like.
    """
    if isinstance(path, list | tuple):
        if not path:
            raise ValueError("path=[] has no files; pass at least one.")
        return list(dict.fromkeys(file for part in path for file in find_data_files(part)))
    root = check_path(path)
    if root.is_dir():
        inside = (file.relative_to(root) for file in sorted(root.rglob("*")) if file.is_file())
        hidden = "._"
        found = [root / file for file in inside if not any(p[0] in hidden for p in file.parts)]
    elif root.exists():
        return [root]
    else:
        found = [Path(name) for name in sorted(glob(str(root), recursive=True))]
        found = [file for file in found if file.is_file()]
        if not found and not has_magic(str(root)):
            raise FileNotFoundError(f"path={str(root)!r} does not exist; check the name.")
    kinds = {_data_kind(file) for file in found}
    if not found or kinds == {None}:
        raise FileNotFoundError(f"path={str(root)!r}: there is no Parquet or CSV file; check it.")
    if len(kinds) > 1:
        other = next(file for file in found if _data_kind(file) != _data_kind(found[0]))
        raise ValueError(
            f"path={str(root)!r} contains {found[0].name} and {other.name}; pass a pattern of "
            f"Parquet files or of CSV files only."
        )
    return found


def _data_kind(path: Path) -> str | None:
    """Return the format of a file by its name, None if it is unknown."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes[-1:] in ([".parquet"], [".pq"]):
        return "parquet"
    return "csv" if ".csv" in suffixes else None


def check_output_path(path: Any, *, overwrite: bool = True) -> Path:
    """Return a user's path as a `Path`; raise if no file can be written there."""
    out = check_path(path)
    label, target = f"path={str(out)!r}", Path(os.path.realpath(out))
    if os.fspath(path).endswith(os.sep):
        raise IsADirectoryError(f"{label} is a folder; pass the path of a file in it.")
    _check_regular_file(out, target)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{label} is in a folder that does not exist; create it.")
    if not overwrite and target.exists():
        raise FileExistsError(f"{label} exists; pass overwrite=True to replace it.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{label} is in a folder without write permission; choose another folder."
        )
    return out
