"""Live progress of a fit on standard error."""

from __future__ import annotations

import sys
import time

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
            print(f"\r\x1b[K{line}" if self._live else line, end="", file=sys.stderr)
            print("" if self._live else "\n", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line."""
        if self.verbose and self._live:
            print(file=sys.stderr)
