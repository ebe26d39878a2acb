"""Console output of the commands: text, tables, JSON, notes and errors."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from everystump._files import replace_surrogates
from everystump._text import InvalidInputError
from everystump._values import is_missing

BAD_INPUT = 2
_PIPE_WIDTH, _MIN_WIDTH, _BAR_WIDTH = 160, 40, 24
_STANDARD_INPUT = re.compile(r"^-(?=[ ,:])")  # as the name of a file
_MAX_LABEL = 13  # characters, so that a table of metrics fits 80 columns


class InputError(click.ClickException):
    """Invalid input, reported in one sentence."""

    exit_code = BAD_INPUT


class OutputClosedError(Exception):
    """Standard output cannot be written; ``reason`` is None if its reader closed the pipe."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.reason = None if isinstance(error, BrokenPipeError) else error.strerror


@contextmanager
def exit_on_input_error() -> Iterator[None]:
    """Report errors that the user can fix in one sentence, with the exit code of bad input."""
    try:
        yield
    except InvalidInputError as error:
        raise InputError(_STANDARD_INPUT.sub("standard input", str(error))) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        what = str(error.strerror or error).rstrip(".")
        raise InputError(re.sub(r"^path='(.*?)' ", r"--out \1 ", f"{where}{what}.")) from None


def echo(text: str) -> None:
    """Print to standard output and flush it."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "it is closed")
        if in_a_terminal():
            click.echo(replace_surrogates(text))
            return
        sys.stdout.flush()
        # A path that is not UTF-8 is printed as its bytes.
        rest = memoryview(f"{click.unstyle(text)}\n".encode(errors="surrogateescape"))
        while rest:  # an unbuffered stream may write only a part
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except OSError as error:
        raise OutputClosedError(error) from error


def echo_stderr(text: str) -> None:
    """Print to standard error; if that fails, continue without it."""
    try:
        click.echo(replace_surrogates(text), err=True)
    except OSError:
        if sys.stderr is not None:  # discard what is left in its buffer
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def print_notes(*notes: str | None) -> None:
    """Print notes to standard error, once the command can no longer fail on bad input."""
    for note in filter(None, notes):
        echo_stderr(f"Note: {note}")


def in_a_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def print_result(record: dict[str, Any], text: str, as_json: bool) -> None:
    """Print the result of a command as JSON or as text."""
    if not as_json:
        echo(text)
        return
    from everystump.report._encoding import to_plain

    echo(json.dumps(to_plain(record), allow_nan=False))


def two_columns(pairs: Sequence[tuple[str, str]]) -> str:
    """Return names and texts in two columns."""
    width = max(len(name) for name, _ in pairs)
    return "\n".join(
        f"{click.style(f'{name:<{width}}', bold=True)}  {wrap(text, width + 2)}"
        for name, text in pairs
    )


def wrap(text: str, indent: int = 0) -> str:
    """Return a text wrapped to the width of the terminal, lines after the first indented."""
    if not in_a_terminal():
        return text
    width = max(shutil.get_terminal_size().columns - indent, _MIN_WIDTH)
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * indent).join(lines)


def table(
    titles: Sequence[str],
    rows: Sequence[Sequence[Any]],
    bars: Sequence[float] | None = None,
    right: Collection[int] = (),
    colors: tuple[str, str] = ("", ""),
) -> str:
    """Return rows as a text table, with a bar per row if ``bars`` has their lengths.

    Numeric columns, and those of ``right``, are right-aligned.  ``colors`` are those of positive
    and negative bars.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for k, title in enumerate(titles):
        numeric = k in right or all(isinstance(row[k], float | int | None) for row in rows)
        align: Any = "right" if numeric else "left"
        grid.add_column(title, justify=align, no_wrap=numeric, overflow="fold")
    if bars is not None:
        grid.add_column("", no_wrap=True)
    largest = max((abs(number) for number in bars or ()), default=0.0) or 1.0
    for k, row in enumerate(rows):
        cells = [Text(_cell(value)) for value in row]
        if bars is not None:
            style = colors[0 if bars[k] > 0 else 1]
            cells.append(Text("█" * round(_BAR_WIDTH * abs(bars[k]) / largest), style=style))
        grid.add_row(*cells)
    console = Console(width=None if in_a_terminal() else _PIPE_WIDTH)
    with console.capture() as captured:
        console.print(grid)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _cell(value: Any) -> str:
    if is_missing(value):
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def metrics_text(metrics: Mapping[str, Any]) -> str:
    """Return the metrics of `everystump._evaluation.evaluate` as a table, and any warning."""
    from everystump._evaluation import (
        baseline_answer,
        baseline_warning,
        interval_title,
        metric_rows,
    )

    baseline = metrics["baseline"]
    answer = baseline_answer({"baseline": baseline | {"answer": _short(baseline["answer"])}})
    always, positive = f"always {answer}", metrics.get("positive")
    rows = metric_rows({**metrics, "positive": None if positive is None else _short(positive)})
    titles = {"name": "", "value": "model", "interval": interval_title(metrics), "baseline": always}
    if not any(row["interval"] for row in rows):
        del titles["interval"]
    cells = [[row[key] for key in titles] for row in rows]
    text = table(list(titles.values()), cells, right=range(1, len(titles)))
    warning = baseline_warning(metrics)
    return f"{text}\n\n{wrap(warning)}" if warning else text


def _short(label: Any) -> str:
    text = str(label)
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 1]}…"
