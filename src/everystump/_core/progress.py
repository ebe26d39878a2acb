"""Live progress of long work on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Self

from everystump._core.solvers.certificate import relative_gap

_PAUSE = 0.2
_transient = ContextVar("transient", default=False)


@contextmanager
def transient() -> Iterator[None]:
    """Let the progress of fits vanish from the terminal when they end."""
    token = _transient.set(True)
    try:
        yield
    finally:
        _transient.reset(token)


class _Line:
    """A line on standard error that is rewritten in place, or new lines where it cannot be."""

    def __init__(self, verbose: int, title: str) -> None:
        self.verbose, self.title = verbose if sys.stderr else 0, title
        self._start = time.perf_counter()
        self._live = bool(self.verbose) and sys.stderr.isatty()
        self._shown: float | None = None
        self._waiting: str | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._start

    def show(self, text: str) -> None:
        """Show a text after the title, a few times a second at most; the last is always shown."""
        if self.verbose:
            self._waiting = text
            if self._shown is None or self.seconds - self._shown >= _PAUSE:
                self._print()

    def _print(self) -> None:
        if self._waiting is not None:
            start, end = ("\r\x1b[K", "") if self._live else ("", "\n")
            line = f"{start}{self.title}{self._waiting}"
            print(line, end=end, file=sys.stderr, flush=True)
            self._shown, self._waiting = self.seconds, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._print()
        if self.verbose and self._live:
            print("\r\x1b[K" if _transient.get() else "\n", end="", file=sys.stderr, flush=True)


class FitProgress(_Line):
    """Reports the Newton steps of a fit.

    Parameters
    ----------
    verbose : int
        0 is silent, 1 reports.
    title : str
        What is being fitted.
    """

    def __call__(self, n_iter: int, primal: float, dual: float) -> None:
        """Report one Newton step."""
        self.show(
            f": step {n_iter}, objective {primal:.6g}, gap {relative_gap(primal, dual):.1e}, "
            f"{self.seconds:.1f} s"
        )


class Rounds(_Line):
    """Reports the rounds of an ensemble."""

    def __init__(self, verbose: int, title: str, total: int) -> None:
        super().__init__(verbose, title)
        self._total, self._done = total, count(1)

    def __call__(self, error: float) -> None:
        """Report one more stump and its weighted error."""
        done = next(self._done)
        self.show(f": stump {done} of {self._total}, error {error:.4f}, {self.seconds:.1f} s")


@contextmanager
def progress_counter(verbose: int, title: str, total: int) -> Iterator[Callable[[], None]]:
    """Give a function to be called after each of ``total`` pieces of work."""
    done = count(1)
    with _Line(verbose, title) as line:
        yield lambda: line.show(f" {next(done)} of {total}")
