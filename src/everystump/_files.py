"""Files that are written whole or not at all, and the paths that users name for them."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LONGEST_SHOWN, _LONGEST_STEM, _LONGEST_SUFFIX = 80, 30, 10


def write_atomic(out: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside ``out`` and move it there when it is complete.

    A link stays one, and what it points to is written.  A file that is there keeps its permissions;
    a new one gets those that the umask leaves.
    """
    target = Path(os.path.realpath(out))
    _refuse_other_kinds(out, target)
    prefix, suffix = f".{target.stem[:_LONGEST_STEM]}-", target.suffix[:_LONGEST_SUFFIX]
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=suffix)
    except OSError as error:
        raise _about(error, out) from error
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
            raise _about(error, out) from error
        raise


def write_text(out: Path, text: str) -> None:
    """Write a text file whole, or leave what was there."""
    write_atomic(out, lambda path: path.write_text(text, encoding="utf-8", newline="\n"))


def _mode(target: Path, beside: str) -> int:
    """Return the permissions of a file, or those that a new one gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    # Asking for the umask would change it for all threads; a file tells.
    probe = f"{beside}~"
    handle = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        return stat.S_IMODE(os.fstat(handle).st_mode)
    finally:
        os.close(handle)
        os.unlink(probe)


def _about(error: OSError, out: Path) -> OSError:
    """Return an error that names the user's path instead of a file of ours."""
    return type(error)(
        f"path={str(out)!r} cannot be written ({error.strerror or error}); choose another place."
    )


def _refuse_other_kinds(out: Path, target: Path) -> None:
    """Raise if something other than a plain file is there, which a move would replace."""
    try:
        # The user's own path: that of a pipe such as /dev/stdout leads to no name.
        plain = out.is_file() or not (out.exists() or os.path.lexists(target))
    except OSError as error:
        raise _about(error, out) from error
    if target.is_dir():
        raise IsADirectoryError(f"path={str(out)!r} is a folder; name a file in it.")
    if not plain:
        raise ValueError(
            f"path={str(out)!r} is not a plain file but a pipe, a device or the like; name another "
            f"path."
        )


def replace_surrogates(name: str) -> str:
    r"""Return the name of a file as it can be printed and stored: bytes that are not UTF-8 are �.

    Examples
    --------
    >>> replace_surrogates("a.csv"), replace_surrogates("a\udcff.csv")
    ('a.csv', 'a�.csv')
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", name)


def check_path(path: Any) -> Path:
    """Return a user's path, or say that it is none.

    Examples
    --------
    >>> check_path("model.json").suffix
    '.json'
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        swapped = hasattr(path, "get_params")
        remedy = "pass the model first and then the path" if swapped else "pass a str or a Path"
        shown = " ".join(repr(path)[:_LONGEST_SHOWN].split())
        raise TypeError(f"path={shown} is of the type {type(path).__name__}; {remedy}.")
    if not text:
        raise ValueError("path='' is empty; name a file.")
    if "\0" in text:
        raise ValueError(f"path={text!r} holds a zero character, which no name can; remove it.")
    return Path(text)


def check_output_path(path: Any, *, overwrite: bool = True) -> Path:
    """Return a user's path if a file can be written there, or say why not."""
    out = check_path(path)
    shown, target = f"path={str(out)!r}", Path(os.path.realpath(out))
    if os.fspath(path).endswith(os.sep):
        raise IsADirectoryError(f"{shown} is a folder; name a file in it.")
    _refuse_other_kinds(out, target)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{shown} is in a folder that does not exist; make it.")
    if not overwrite and target.exists():
        raise FileExistsError(f"{shown} exists; pass overwrite=True to replace it.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{shown} is in a folder that may not be written to; choose another folder."
        )
    return out
