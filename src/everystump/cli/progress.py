"""Progress on standard error: a bar in a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from everystump.cli.console import echo_stderr

PAUSE = 10.0


@contextmanager
def progress_bar(title: str, *, transient: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the number of finished tasks and the total.

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
        yield _progress_lines(title, print_last=not transient)
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


def _progress_lines(title: str, *, print_last: bool) -> Callable[[int, int], None]:
    """Return a function that prints a line of progress every few seconds."""
    last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        if (print_last and done == total) or time.monotonic() - last > PAUSE:
            last = time.monotonic()
            echo_stderr(f"{title}: {done} of {total} done")

    return show
