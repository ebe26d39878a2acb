"""A journal of finished tasks: one line each, safe against being stopped at any moment.

Each line is a checksum and a JSON object, and is forced to the disk before the next task is
counted as done.  A line that was cut short or changed does not match its checksum; its task is done
again.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from everystump._experiments import InvalidInputError
from everystump._files import write_text


class Journal:
    """The finished tasks of one experiment in one file.

    Parameters
    ----------
    path : Path
        The file; made when the first task is added.
    head : dict
        What all results must have in common (seed, edition, versions): the first line.

    Attributes
    ----------
    path : Path
        The file.
    results : dict
        What is stored for each key.
    damaged : int
        Number of lines that were dropped because of their checksum.

    Raises
    ------
    InvalidInputError
        If the file was begun with another head.
    """

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        self.path, self._head = path, head
        self.results: dict[str, dict[str, Any]] = {}
        self.damaged = 0
        if path.exists():
            self._read()

    def _read(self) -> None:
        lines = self.path.read_bytes().splitlines(keepends=True)
        entries = [_parse(line) for line in lines]
        whole = [entry for entry in entries if entry is not None]
        if whole and "head" not in whole[0]:
            whole = []  # without the first line nobody knows what the rest belongs to
        self.damaged = len(entries) - len(whole)
        for entry in whole:
            if "head" in entry:
                self._check_head(entry["head"])
            else:
                self.results[entry["key"]] = entry["result"]
        if self.damaged:
            write_text(self.path, "".join(_line(entry) for entry in whole))

    def _check_head(self, head: dict[str, Any]) -> None:
        other = [name for name in self._head | head if self._head.get(name) != head.get(name)]
        if other:
            was = ", ".join(f"{name} {head.get(name)}" for name in other)
            now = ", ".join(f"{name} {self._head.get(name)}" for name in other)
            raise InvalidInputError(
                f"{self.path} was begun with {was}, and this run has {now}: "
                "choose another --out, or remove that file."
            )

    def add(self, key: str, result: dict[str, Any]) -> None:
        """Store what a task gave; when this returns, it is on the disk."""
        begun = self.path.exists() and self.path.stat().st_size > 0
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            if not begun:
                file.write(_line({"head": self._head}))
            file.write(_line({"key": key, "result": result}))
            file.flush()
            os.fsync(file.fileno())
        self.results[key] = result


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Turn an error of the disk into a sentence on the folder that is written to."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(
            f"--out {out} cannot be written to ({error}): make room in it or choose another "
            "folder; what is done is kept."
        ) from error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Refuse to go on while another process holds the lock file; it is freed even by a kill."""
    try:
        import fcntl
    except ImportError:  # Windows has no such locks
        yield
        return
    with writing(path.parent):
        file = path.open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInputError(
                f"Another process works in {path.parent}: wait for it, or choose another --out."
            ) from None
        yield


def _line(entry: dict[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True, allow_nan=False)
    return f"{zlib.crc32(text.encode()):08x} {text}\n"


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the entry of a line, or None if the line is not whole."""
    if not line.endswith(b"\n") or line[8:9] != b" ":
        return None
    text = line[9:-1]
    if f"{zlib.crc32(text):08x}".encode() != line[:8]:
        return None
    entry: dict[str, Any] = json.loads(text)
    return entry
