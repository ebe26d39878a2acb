"""Ten million rows against one million: seconds, and peak memory above the input.

Run as a module with the name of an estimator and a number of rows, this file is the process that
fits.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import everystump
from benchmarks.memory import N_FEATURES, noisy_two_norm, peak_bytes, run_in_process
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost

_NAMES = ("StumpLogisticRegression", "StumpSVC")
_REPEATS = 3
_WARM_UP_ROWS = 60_000
_GB = 1e9


def ten_times(settings: Settings) -> Iterator[Row]:
    """Fits of 10,000,000 x 20 in memory against a tenth of the rows, and their peak memory."""
    n_rows = settings.rows(10_000_000)
    for name in _NAMES:
        log(f"  {name} on {n_rows:,} x {N_FEATURES} ...")
        found = run_in_process("benchmarks.many_rows", name, n_rows)
        yield Row(
            f"{name}, two-norm {n_rows:,}",
            found["seconds"],
            found["few_seconds"],
            f"itself, {n_rows // 10:,} rows",
            AtMost(11),
            quality_ok=found["converged"],
            quality=f"passes {found['passes']:.0f}, few rows {found['few_passes']:.0f}",
        )
        yield Row(
            f"{name}, two-norm {n_rows:,}, peak memory",
            found["peak"] / _GB,
            found["input"] / _GB,
            "the input",
            AtMost(0.7),
            unit="GB",
        )


def measure(name: str, n_rows: int) -> dict[str, float]:
    """Return seconds and passes of both fits, and the peak memory of the larger one."""
    model = getattr(everystump, name)(n_jobs=N_JOBS)
    X, y = noisy_two_norm(n_rows)
    model.fit(X[:_WARM_UP_ROWS], y[:_WARM_UP_ROWS])
    few = n_rows // 10
    few_seconds = min(_seconds(model, X[:few], y[:few]) for _ in range(_REPEATS))
    few_passes = model.certificate_.passes
    before = _reset_peak()
    seconds = _seconds(model, X, y)
    return {
        "seconds": seconds,
        "few_seconds": few_seconds,
        "passes": model.certificate_.passes,
        "few_passes": few_passes,
        "converged": bool(model.certificate_.converged),
        "input": X.nbytes,
        "peak": peak_bytes() - before,
    }


def _seconds(model: object, X: object, y: object) -> float:
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def _reset_peak() -> int:
    """Reset the peak memory if the system supports it, and return it."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")
    return peak_bytes()


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
