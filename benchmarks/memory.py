"""Peak memory of a fit in addition to its input, in a separate process.

Run as a module with a number of rows, this file is that process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost
from everystump import StumpSVC
from everystump.datasets import flip_labels, make_twonorm

N_FEATURES = 20
_BLOCK = 10_000
_MB = 1e6


def above_input(settings: Settings) -> Iterator[Row]:
    """Peak memory in addition to the input, 1,000,000 x 20 numbers."""
    n_rows = settings.rows(1_000_000)
    log(f"  peak memory of a fit of {n_rows:,} x {N_FEATURES} ...")
    peak = run_in_process("benchmarks.memory", n_rows)
    yield Row(
        f"StumpSVC, two-norm {n_rows:,}, peak memory",
        (peak["after"] - peak["before"]) / _MB,
        peak["input"] / _MB,
        "the input",
        AtMost(1.2),
        unit="MB",
    )


def run_in_process(module: str, *arguments: object) -> Any:
    """Run a module in a separate process, and return the JSON that it prints."""
    child = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode:
        raise RuntimeError(f"{module} failed: {child.stderr.strip()}")
    return json.loads(child.stdout)


def measure(n_rows: int) -> dict[str, int]:
    """Return the bytes of the input and the peaks of this process before and after a fit."""
    model = StumpSVC(n_jobs=N_JOBS)
    model.fit(*noisy_two_norm(1000))
    X, y = noisy_two_norm(n_rows)
    before = peak_bytes()
    model.fit(X, y)
    return {"input": X.nbytes, "before": before, "after": peak_bytes()}


def peak_bytes() -> int:
    """Return the peak resident memory of this process.

    On Linux, ``getrusage`` of a child includes the peak of its parent, so ``/proc`` is read.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def noisy_two_norm(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulate the data block by block, so that simulation does not determine the peak memory."""
    X, y = np.empty((n_rows, N_FEATURES)), np.empty(n_rows, dtype=np.int64)
    for seed, start in enumerate(range(0, n_rows, _BLOCK)):
        stop = min(start + _BLOCK, n_rows)
        X[start:stop], labels = make_twonorm(stop - start, N_FEATURES, random_state=seed)
        y[start:stop] = flip_labels(labels, 0.1, random_state=seed)
    low, high = X.min(axis=0), X.max(axis=0)
    X -= (low + high) / 2
    X /= (high - low) / 2
    return X, y


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
