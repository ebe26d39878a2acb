"""PerceptronSVC and SVC with the Gaussian kernel on three-norm data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.svm import SVC

from benchmarks.data import error_percent, three_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import Faster
from benchmarks.timing import Timed, timed_fit
from everystump import PerceptronSVC
from everystump._experiments.engine.splits import Split

N_DIRECTIONS = 500
_N_TEST = 10_000


def against_svc(settings: Settings) -> Iterator[Row]:
    """PerceptronSVC, 500 directions, against SVC with the Gaussian kernel, 100,000 rows."""
    n_rows = settings.rows(100_000)
    data = three_norm(n_rows, _N_TEST)
    model = PerceptronSVC(n_directions=N_DIRECTIONS, exact=False, random_state=0, n_jobs=N_JOBS)
    ours = timed_fit(model, data.X, data.y, settings)
    fits = _growing(data, settings)
    largest, error = max(fits), error_percent(data, ours.result)
    how = "measured" if largest == n_rows else f"extrapolated from {largest:,} rows"
    work = f"PerceptronSVC, three-norm {n_rows:,}, {N_DIRECTIONS} directions"
    yield Row(
        work,
        ours.seconds,
        _seconds_at(n_rows, fits),
        f"SVC(gamma='scale'), {how}",
        Faster(10),
        quality_ok=ours.result.certificate_.converged,
        quality=f"test error {error:.3f}%, SVC of {largest:,} rows "
        f"{error_percent(data, fits[largest].result):.3f}%; gap {ours.result.certificate_.gap:.1e}",
    )
    for n_few, few in fits.items():
        if (few_error := error_percent(data, few.result)) <= error:
            quality = f"test error {error:.3f}%, peer {few_error:.3f}%"
            against = f"SVC of {n_few:,} rows, the fewest with no larger error"
            yield Row(work, ours.seconds, few.seconds, against, quality=quality)
            break


def _growing(data: Split, settings: Settings) -> dict[int, Timed]:
    """Fit the SVC to doubling numbers of rows while a fit is expected to stay within the limit."""
    fits: dict[int, Timed] = {}
    n_rows = settings.rows(5000)
    while len(fits) < 2 or _seconds_at(n_rows, fits) <= settings.patience:
        fits[n_rows] = timed_fit(SVC(), data.X[:n_rows], data.y[:n_rows], settings)
        if n_rows == len(data.X):
            break
        n_rows = min(2 * n_rows, len(data.X))
    return fits


def _seconds_at(n_rows: int, fits: dict[int, Timed]) -> float:
    """Return the measured seconds of a fit, or extrapolate the last three by a power law."""
    if n_rows in fits:
        return fits[n_rows].seconds
    sizes = sorted(fits)[-3:]
    seconds = [fits[size].seconds for size in sizes]
    power, constant = np.polyfit(np.log(sizes), np.log(seconds), 1)
    log(f"  SVC takes time proportional to rows^{power:.2f}")
    return float(np.exp(constant) * n_rows**power)
