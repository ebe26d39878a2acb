"""Standard input that is read in chunks of rows: CSV, plain or compressed."""

from __future__ import annotations

import io
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from everystump._text import InvalidInputError
from everystump._workflow.reading.files import check_format, decompress
from everystump._workflow.reading.stream import (
    CsvParser,
    ReadOptions,
    csv_blocks,
    find_opener,
    is_streamed,
)

STANDARD_INPUT = Path("-")
INPUT_BLOCK = 1 << 20
"""Bytes of standard input that are parsed at a time."""
_HEAD = 512  # bytes by which formats are recognized


class _Rejoined(io.RawIOBase):
    """A stream after some of its bytes, which have already been read."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(part) :]
        buffer[: len(part)] = part
        return len(part)


class InputStream:
    """Standard input in blocks of whole rows, for one or several readers in turn.

    Blocks are kept until all readers have read them.
    """

    files: Sequence[Path] = (STANDARD_INPUT,)

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._blocks = csv_blocks(STANDARD_INPUT, file, encoding, INPUT_BLOCK)
        self._waiting: list[deque[bytes]] = []

    def read(self, options: ReadOptions) -> Iterator[tuple[Path, Any]]:
        """Return frames, as `FileStream.read` does.

        Call it for all readers before the first frame is read.
        """
        own: deque[bytes] = deque()
        self._waiting.append(own)
        return self._frames(options, own)

    # A thread that reads ahead could not be stopped while it waits for more input.
    read_ahead = read

    def _frames(self, options: ReadOptions, own: deque[bytes]) -> Iterator[tuple[Path, Any]]:
        frame = None
        for frame in CsvParser(STANDARD_INPUT, options).frames(self._read_blocks(own)):
            yield STANDARD_INPUT, frame
        if frame is None:
            raise InvalidInputError(f"{STANDARD_INPUT} has a header but no rows; add rows.")

    def _read_blocks(self, own: deque[bytes]) -> Iterator[bytes]:
        while True:
            if not own:
                block = next(self._blocks, None)
                if block is None:
                    return
                for waiting in self._waiting:
                    waiting.append(block)
            yield own.popleft()


def open_input(encoding: str | None) -> InputStream | bytes:
    """Return standard input as a stream, or its content if its format is not read in chunks."""
    file: Any = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
    head = check_format(STANDARD_INPUT, file.read(_HEAD))
    rejoined = io.BufferedReader(_Rejoined(head, file), INPUT_BLOCK)
    if not head or not is_streamed(head):
        return decompress(STANDARD_INPUT, rejoined.read())
    opener = find_opener(head)
    return InputStream(opener(rejoined) if opener else rejoined, encoding or "utf-8")


def is_standard_input(path: Path) -> bool:
    """Whether a path denotes standard input, and not a file of that name."""
    return path == STANDARD_INPUT and not path.exists()
