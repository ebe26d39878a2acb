"""Live progress of a fit on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from everystump.solvers.certificate import relative_gap


class Reporter:
    """Print one line a fit that is rewritten in place, or a line a step where it cannot be.

    Parameters
    ----------
    verbose : int
        0 is silent, 1 reports.
    title : str
        What is being fitted.
    """

    def __init__(self, verbose: int, title: str) -> None:
        self.verbose, self.title = verbose, title
        self._start = time.perf_counter()
        self._live = sys.stderr.isatty()

    def __call__(self, n_iter: int, primal: float, dual: float) -> None:
        """Report one Newton step."""
        if self.verbose:
            seconds = time.perf_counter() - self._start
            line = (
                f"{self.title}: step {n_iter}, objective {primal:.6g}, "
                f"gap {relative_gap(primal, dual):.1e}, {seconds:.1f} s"
            )
            start, end = ("\r\x1b[K", "") if self._live else ("", "\n")
            print(f"{start}{line}", end=end, file=sys.stderr, flush=True)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.verbose and self._live:
            print(file=sys.stderr)


@contextmanager
def count_done(verbose: int, title: str, total: int) -> Iterator[Callable[[], None]]:
    """Give a function to be called after each of ``total`` pieces of work."""
    done = count(1)
    live = sys.stderr.isatty()

    def tick() -> None:
        if verbose:
            start, end = ("\r\x1b[K", "") if live else ("", "\n")
            print(f"{start}{title} {next(done)} of {total}", end=end, file=sys.stderr, flush=True)

    yield tick
    if verbose and live:
        print(file=sys.stderr)
