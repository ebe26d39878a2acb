"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def write_whole(out: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside ``out`` and move it there when it is complete."""
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.stem}-", suffix=out.suffix)
    try:
        try:
            write(Path(name))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.chmod(name, 0o644)
        os.replace(name, out)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(out: Path, text: str) -> None:
    """Write a text file whole, or leave what was there."""
    write_whole(out, lambda path: path.write_text(text, encoding="utf-8", newline="\n"))
