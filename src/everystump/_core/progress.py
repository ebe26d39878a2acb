"""Live progress of long computations on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Self

from everystump._core.solvers.certificate import relative_gap

_MIN_SECONDS = 0.2  # between two updates
_transient = ContextVar("transient", default=False)


@contextmanager
def transient() -> Iterator[None]:
    """Erase the progress of fits from the terminal when they end."""
    token = _transient.set(True)
    try:
        yield
    finally:
        _transient.reset(token)


class _StatusLine:
    """A line that is rewritten on a terminal; elsewhere each update is a new line."""

    def __init__(self, verbose: int, title: str) -> None:
        self.verbose, self.title = verbose if sys.stderr else 0, title
        self._start = time.perf_counter()
        self._live = bool(self.verbose) and sys.stderr.isatty()
        self._last_update: float | None = None
        self._pending: str | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    def show(self, text: str) -> None:
        """Show the title and a text, at most a few times per second; always the last text."""
        if self.verbose:
            self._pending = text
            if self._last_update is None or self.seconds - self._last_update >= _MIN_SECONDS:
                self._print()

    def _print(self) -> None:
        if self._pending is not None:
            start, end = ("\r\x1b[K", "") if self._live else ("", "\n")
            line = f"{start}{self.title}{self._pending}"
            print(line, end=end, file=sys.stderr, flush=True)
            self._last_update, self._pending = self.seconds, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._print()
        if self.verbose and self._live:
            print("\r\x1b[K" if _transient.get() else "\n", end="", file=sys.stderr, flush=True)


class FitProgress(_StatusLine):
    """Reports the Newton steps of a fit."""

    def __call__(self, n_iter: int, primal: float, dual: float) -> None:
        """Report one Newton step."""
        self.show(
            f": step {n_iter}, objective {primal:.6g}, gap {relative_gap(primal, dual):.1e}, "
            f"{self.seconds:.1f} s"
        )


class EnsembleProgress(_StatusLine):
    """Reports the stumps of an ensemble."""

    def __init__(self, verbose: int, title: str, total: int) -> None:
        super().__init__(verbose, title)
        self._total, self._done = total, count(1)

    def __call__(self, error: float) -> None:
        """Report one more stump and its weighted error."""
        done = next(self._done)
        self.show(f": stump {done} of {self._total}, error {error:.4f}, {self.seconds:.1f} s")


@contextmanager
def progress_counter(verbose: int, title: str, total: int) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each of ``total`` tasks."""
    done = count(1)
    with _StatusLine(verbose, title) as line:
        yield lambda: line.show(f" {next(done)} of {total}")
