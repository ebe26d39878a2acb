"""The choice of C on a path."""

from __future__ import annotations

from collections.abc import Iterator

import everystump
from benchmarks.data import two_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings
from benchmarks.targets import AtMost
from benchmarks.timing import timed_fit


def against_one_fit(settings: Settings) -> Iterator[Row]:
    """StumpSVCCV, 11 C x 5 folds, against one fit with the C chosen, 100,000 rows."""
    data = two_norm(settings.rows(100_000))
    search = everystump.StumpSVCCV(Cs=11, cv=5, n_jobs=N_JOBS)
    path = timed_fit(search, data.X, data.y, settings)
    C = float(path.result.C_)
    single = timed_fit(everystump.StumpSVC(C=C, n_jobs=N_JOBS), data.X, data.y, settings)
    yield Row(
        f"StumpSVCCV, 11 C x 5 folds, two-norm {len(data.X):,}",
        path.seconds,
        single.seconds,
        f"one fit, C={C:.3g}",
        AtMost(20),
        quality=f"test error {data.error(path.result):.3f}%, "
        f"one fit {data.error(single.result):.3f}%",
    )
