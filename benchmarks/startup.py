"""The first fit of a new process, with compiled code on disk."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import Limit
from benchmarks.timing import timed

_DATA = "from everystump.datasets import make_twonorm; X, y = make_twonorm(1000, random_state=0); "
_OURS = f"{_DATA}from everystump import StumpSVC; StumpSVC(n_jobs={N_JOBS}).fit(X, y)"
_PEER = f"{_DATA}from sklearn.svm import SVC; SVC().fit(X, y)"


def second_process(settings: Settings) -> Iterator[Row]:
    """A new process that imports everystump and fits 1,000 rows."""
    ours, peer = (_seconds(program, settings) for program in (_OURS, _PEER))
    yield Row(
        "a process: import, fit 1,000 rows",
        ours,
        peer,
        "the same with SVC",
        Limit(2, "s"),
    )


def _seconds(program: str, settings: Settings) -> float:
    log("  a process that imports and fits ...")

    def run() -> None:
        subprocess.run([sys.executable, "-c", program], check=True)

    run()
    return timed(run, settings).seconds
