"""How large a run is, and what all benchmarks agree on."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

N_JOBS = 2
_START = time.perf_counter()


@dataclass(frozen=True)
class Settings:
    """A full run, or a quick one with about a tenth of the rows and fewer repetitions.

    Attributes
    ----------
    quick : bool
        Whether the run is quick.
    patience : float
        The most seconds for a fit of a peer that is tried on more and more rows.
    """

    quick: bool = False
    patience: float = 600.0

    @property
    def repeats(self) -> int:
        """How often to time what takes less than two seconds."""
        return 2 if self.quick else 3

    def rows(self, n_rows: int) -> int:
        """Return how many rows to use where a full run uses ``n_rows``."""
        return n_rows // 10 if self.quick else n_rows


def say(line: str) -> None:
    """Report progress on standard error."""
    print(f"[{time.perf_counter() - _START:6.0f} s] {line}", file=sys.stderr, flush=True)
