"""How commands speak: to people, to machines, and of what they refuse."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from everystump._files import replace_surrogates
from everystump._text import InvalidInputError

BAD_INPUT = 2
_WIDTH_IN_A_PIPE, _NARROW, _BAR = 160, 40, 24


class InputError(click.ClickException):
    """Bad input, told in one sentence."""

    exit_code = BAD_INPUT


class OutputClosedError(Exception):
    """Standard output takes no more; ``reason`` is None if its reader has seen enough."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.reason = None if isinstance(error, BrokenPipeError) else error.strerror


@contextmanager
def exit_on_input_error() -> Iterator[None]:
    """Turn what a user can fix into one sentence and the exit code of bad input."""
    try:
        yield
    except InvalidInputError as error:
        raise InputError(str(error)) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        what = str(error.strerror or error).rstrip(".")
        raise InputError(re.sub(r"^path='(.*?)' ", r"--out \1 ", f"{where}{what}.")) from None


def echo(text: str) -> None:
    """Print on standard output, all of it and now."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "it is closed")
        if in_a_terminal():
            click.echo(replace_surrogates(text))
            return
        sys.stdout.flush()
        # A path that is not UTF-8 is printed as the bytes that it is.
        rest = memoryview(f"{click.unstyle(text)}\n".encode(errors="surrogateescape"))
        while rest:  # what is not buffered may be written in part
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except OSError as error:
        raise OutputClosedError(error) from error


def echo_stderr(text: str) -> None:
    """Print on standard error; where that takes no more, the work goes on without."""
    try:
        click.echo(replace_surrogates(text), err=True)
    except OSError:
        if sys.stderr is not None:  # what is left in its buffer has no place to go either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def in_a_terminal() -> bool:
    """Tell whether a person watches standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def say(record: dict[str, Any], text: str, as_json: bool) -> None:
    """Print what a command found, for machines or for people."""
    if not as_json:
        echo(text)
        return
    from everystump.report.plain import as_plain

    echo(json.dumps(as_plain(record), allow_nan=False))


def two_columns(pairs: Sequence[tuple[str, str]]) -> str:
    """Return names and what is to be said of them, the names in a column."""
    width = max(len(name) for name, _ in pairs)
    return "\n".join(
        f"{click.style(f'{name:<{width}}', bold=True)}  {wrapped(text, width + 2)}"
        for name, text in pairs
    )


def wrapped(text: str, indent: int = 0) -> str:
    """Return a text broken between words where a terminal ends, lines after the first indented."""
    if not in_a_terminal():
        return text
    within = max(shutil.get_terminal_size().columns - indent, _NARROW)
    lines = textwrap.wrap(text, within, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * indent).join(lines)


def table(
    titles: Sequence[str],
    rows: Sequence[Sequence[Any]],
    bars: Sequence[float] | None = None,
    right: Collection[int] = (),
    colors: tuple[str, str] = ("", ""),
) -> str:
    """Return rows as text in columns, with a bar for each row if there are numbers for them.

    Columns of numbers, and those of ``right``, end at one place.  ``colors`` are those of bars
    above and below zero.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for k, title in enumerate(titles):
        numbers = k in right or all(isinstance(row[k], float | int | None) for row in rows)
        align: Any = "right" if numbers else "left"
        grid.add_column(title, justify=align, no_wrap=numbers, overflow="fold")
    if bars is not None:
        grid.add_column("", no_wrap=True)
    largest = max((abs(number) for number in bars or ()), default=0.0) or 1.0
    for k, row in enumerate(rows):
        cells = [Text(_cell(value)) for value in row]
        if bars is not None:
            style = colors[0 if bars[k] > 0 else 1]
            cells.append(Text("█" * round(_BAR * abs(bars[k]) / largest), style=style))
        grid.add_row(*cells)
    console = Console(width=None if in_a_terminal() else _WIDTH_IN_A_PIPE)
    with console.capture() as shown:
        console.print(grid)
    return "\n".join(line.rstrip() for line in shown.get().splitlines())


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
