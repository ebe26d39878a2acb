"""The choice of C on a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import everystump
from benchmarks.data import two_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings
from benchmarks.targets import AtMost
from benchmarks.timing import timed_fit


def against_one_fit(settings: Settings) -> Iterator[Row]:
    """Paths of up to 11 C x 5 folds against one fit with C=1."""
    yield _row(everystump.StumpSVCCV, everystump.StumpSVC, 100_000, settings)
    yield _row(
        everystump.StumpLogisticRegressionCV, everystump.StumpLogisticRegression, 200_000, settings
    )


def _row(search: Any, single: Any, n_rows: int, settings: Settings) -> Row:
    data = two_norm(settings.rows(n_rows))
    path = timed_fit(search(n_jobs=N_JOBS), data.X, data.y, settings)
    one = timed_fit(single(C=1.0, n_jobs=N_JOBS), data.X, data.y, settings)
    return Row(
        f"{search.__name__}, two-norm {len(data.X):,}",
        path.seconds,
        one.seconds,
        "one fit, C=1",
        AtMost(10),
        quality=f"test error {data.error(path.result):.3f}%, one fit {data.error(one.result):.3f}%",
    )
