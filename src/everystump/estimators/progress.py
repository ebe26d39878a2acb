"""Live progress of a fit on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Self

from everystump.solvers.certificate import relative_gap

_PAUSE = 0.2


class _Line:
    """A line on standard error that is rewritten in place, or a line a time where it cannot be."""

    def __init__(self, verbose: int, title: str) -> None:
        self.verbose, self.title = verbose, title
        self._start = time.perf_counter()
        self._live = sys.stderr.isatty()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._start

    def show(self, text: str) -> None:
        """Show a text after the title."""
        if self.verbose:
            start, end = ("\r\x1b[K", "") if self._live else ("", "\n")
            print(f"{start}{self.title}{text}", end=end, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.verbose and self._live:
            print(file=sys.stderr)


class Reporter(_Line):
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
    """Reports the rounds of an ensemble, a few times a second at most."""

    def __init__(self, verbose: int, title: str, total: int) -> None:
        super().__init__(verbose, title)
        self._total, self._done, self._shown = total, 0, -_PAUSE

    def __call__(self, error: float) -> None:
        """Report one more stump and its weighted error."""
        self._done += 1
        if self._done == self._total or self.seconds - self._shown >= _PAUSE:
            self._shown = self.seconds
            self.show(
                f": stump {self._done} of {self._total}, error {error:.4f}, {self._shown:.1f} s"
            )


@contextmanager
def count_done(verbose: int, title: str, total: int) -> Iterator[Callable[[], None]]:
    """Give a function to be called after each of ``total`` pieces of work."""
    done = count(1)
    with _Line(verbose, title) as line:
        yield lambda: line.show(f" {next(done)} of {total}")
