"""The size of a run, and constants that all benchmarks share."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

N_JOBS = 2
_START = time.perf_counter()


@dataclass(frozen=True)
class Settings:
    """A full run, or a quick one with about a tenth of the rows and fewer repeats.

    Attributes
    ----------
    quick : bool
        Whether the run is quick.
    patience : float
        Maximum seconds for a fit of a peer that is tried on more and more rows.
    cache : Path or None
        A file of results of ``interactions-tables``, which is read and extended.
    cached_peers : bool
        Whether ``interactions-tables`` leaves out the splits for which the file has no results of
        the peers.
    """

    quick: bool = False
    patience: float = 600.0
    cache: Path | None = None
    cached_peers: bool = False

    @property
    def repeats(self) -> int:
        """Number of repeats of what takes less than two seconds."""
        return 2 if self.quick else 3

    def rows(self, n_rows: int) -> int:
        """Return the number of rows where a full run uses ``n_rows``."""
        return n_rows // 10 if self.quick else n_rows


def log(line: str) -> None:
    """Print progress to standard error."""
    print(f"[{time.perf_counter() - _START:6.0f} s] {line}", file=sys.stderr, flush=True)
