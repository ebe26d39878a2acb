"""Progress of long work on standard error: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from everystump.cli.console import echo_stderr

PAUSE = 10.0


def warn(sentence: str) -> None:
    """Tell the user something that does not end the work."""
    echo_stderr(f"Note: {sentence}")


def print_notes(sentences: Iterable[str], doubt: str | None = None) -> None:
    """Tell the user some things, once nothing can be refused any more."""
    for sentence in [*sentences, *([doubt] if doubt else [])]:
        warn(sentence)


@contextmanager
def progress_bar(title: str, *, transient: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the number of finished tasks and of all.

    A transient bar is removed at the end.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True) if sys.stderr is not None else None
    if console is None or not console.is_terminal:
        yield _Lines(title, tells_end=not transient)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=transient) as bars:
        bar = bars.add_task(title)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


class _Lines:
    """A line of progress every few seconds."""

    def __init__(self, title: str, *, tells_end: bool) -> None:
        self._title, self._tells_end, self._last = title, tells_end, time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        is_end = self._tells_end and done == total
        if is_end or time.monotonic() - self._last > PAUSE:
            self._last = time.monotonic()
            echo_stderr(f"{self._title}: {done} of {total} done")
