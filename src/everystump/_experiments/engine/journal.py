"""A journal of finished tasks, one per line, that survives an interruption at any time.

Each line is a checksum and a JSON object, and is on disk before its task counts as done.  A line
that was truncated or changed does not match its checksum; its task is run again.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from everystump._files import write_text
from everystump._text import InvalidInputError


class Journal:
    """The finished tasks of one experiment in one file.

    Parameters
    ----------
    path : Path
        The file, created when the first task is added.
    head : dict
        Settings shared by all results (seed, edition, versions): the first line.

    Attributes
    ----------
    path : Path
        The file.
    results : dict
        Stored result of each task, by key.
    n_damaged : int
        Number of lines that were dropped because of their checksum.

    Raises
    ------
    InvalidInputError
        If the file was started with another head.
    """

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        self.path, self._head = path, head
        self.results: dict[str, dict[str, Any]] = {}
        self.n_damaged = 0
        if path.exists():
            self._read()

    def _read(self) -> None:
        lines = self.path.read_bytes().splitlines(keepends=True)
        entries = [_parse(line) for line in lines]
        intact = [entry for entry in entries if entry is not None]
        if intact and "head" not in intact[0]:
            intact = []  # without the head, the seed and versions of the results are unknown
        self.n_damaged = len(entries) - len(intact)
        for entry in intact:
            if "head" in entry:
                self._check_head(entry["head"])
            else:
                self.results[entry["key"]] = entry["result"]
        if self.n_damaged:
            write_text(self.path, "".join(_line(entry) for entry in intact))

    def _check_head(self, head: dict[str, Any]) -> None:
        changed = [name for name in self._head | head if self._head.get(name) != head.get(name)]
        if changed:
            before = ", ".join(f"{name} {head.get(name)}" for name in changed)
            now = ", ".join(f"{name} {self._head.get(name)}" for name in changed)
            raise InvalidInputError(
                f"{self.path} was started with {before}, but this run has {now}: "
                "choose another --out, or remove that file."
            )

    def add(self, key: str, result: dict[str, Any]) -> None:
        """Store the result of a task; it is on disk when this returns."""
        started = self.path.exists() and self.path.stat().st_size > 0
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            if not started:
                file.write(_line({"head": self._head}))
            file.write(_line({"key": key, "result": result}))
            file.flush()
            os.fsync(file.fileno())
        self.results[key] = result


@contextmanager
def output_errors(out: Path) -> Iterator[None]:
    """Turn an `OSError` into a message about the output folder."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(
            f"--out {out} cannot be written to ({error}): free some space or choose another "
            "folder; finished work is kept."
        ) from error


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock file, or fail if another process does; a killed process releases it."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with output_errors(path.parent):
        file = path.open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInputError(
                f"Another process is using {path.parent}: wait for it, or choose another --out."
            ) from None
        yield


def _line(entry: dict[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True, allow_nan=False)
    return f"{zlib.crc32(text.encode()):08x} {text}\n"


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the entry of a line, or None if the line is damaged."""
    if not line.endswith(b"\n") or line[8:9] != b" ":
        return None
    text = line[9:-1]
    if f"{zlib.crc32(text):08x}".encode() != line[:8]:
        return None
    entry: dict[str, Any] = json.loads(text)
    return entry
