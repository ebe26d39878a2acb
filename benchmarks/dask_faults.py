"""Fits on a local Dask cluster during each of which a worker process is killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from benchmarks.dask_cluster import N_WORKERS, local_cluster
from benchmarks.dask_steps import SOLVER, Steps, observe_steps
from benchmarks.memory import noisy_two_norm
from benchmarks.report import StudyTable
from benchmarks.settings import Settings, log

_N_FITS, _N_ROWS = 50, 60_000
# A new cluster starts after so many fits: nannies restart workers later and later.
_FITS_PER_CLUSTER = 5
_HEADER = (
    *("fit", "model", "phase of the kill", "step", "seconds", "parts rebuilt"),
    *("gap", "objective change", "score change"),
)


def lost_workers(settings: Settings) -> StudyTable:
    """Fits during which a worker process is killed: half at random times, half in solver calls."""
    import dask.array as da

    from everystump.dask import DaskStumpLogisticRegression, DaskStumpSVC

    X, y = noisy_two_norm(settings.rows(_N_ROWS))
    parts = da.from_array(X, (len(X) // 7, -1)), da.from_array(y, len(X) // 7)
    models = [DaskStumpLogisticRegression(), DaskStumpSVC()]
    rng, n_fits = random.Random(0), 4 if settings.quick else _N_FITS
    with local_cluster():
        references = [_Reference.measure(model, parts, X) for model in models]
    rows: list[tuple] = []
    while len(rows) < n_fits:
        with local_cluster() as (cluster, client):
            for k in range(len(rows), min(len(rows) + _FITS_PER_CLUSTER, n_fits)):
                if not _is_complete(client):
                    break
                kill = references[k % 2].choose(rng, in_solver=k % 4 >= 2)
                fit = _disturbed_fit(models[k % 2], parts, X, references[k % 2], cluster, kill)
                rows.append((k, *fit))
                log(f"  {rows[-1]}")
    return StudyTable(_summary(rows, models[0].tol), _HEADER, rows)


def _is_complete(client: Any) -> bool:
    """Whether all workers run; a nanny may fail to restart one that was killed."""
    try:
        client.wait_for_workers(N_WORKERS, timeout=30)
    except TimeoutError:
        return False
    return True


def _summary(rows: Sequence[tuple], tol: float) -> str:
    killed = [row for row in rows if row[2] != "after the fit"]
    gap, objective, score = (max(row[k] for row in rows) for k in (6, 7, 8))
    return (
        f"{len(rows)} fits, a worker killed during {len(killed)} of them: all finished, "
        f"{sum(row[5] for row in rows)} parts rebuilt, largest gap {gap:.1e} (tol {tol:g}), "
        f"largest relative change of the objective {objective:.1e}, of a score {score:.1e}"
    )


class _Kill(NamedTuple):
    """When a worker is killed: the step of the fit, and the seconds after its start."""

    step: int
    delay: float


@dataclass
class _Reference:
    """An undisturbed fit: its steps, certificate and scores."""

    steps: Steps
    certificate: Any
    scores: np.ndarray

    @classmethod
    def measure(cls, model: Any, parts: tuple, X: np.ndarray) -> _Reference:
        """Fit twice: the first fit compiles or loads compiled code."""
        model.fit(*parts)
        steps = Steps()
        with observe_steps(steps):
            model.fit(*parts)
        return cls(steps, model.certificate_, model.decision_function(X))

    def choose(self, rng: random.Random, in_solver: bool) -> _Kill:
        """Return a moment inside a call of the solver, or one of the whole fit."""
        steps, seconds = range(len(self.steps.names)), self.steps.seconds
        if in_solver:
            step = rng.choice([k for k in steps if self.steps.names[k].startswith(SOLVER)])
        else:
            (step,) = rng.choices(steps, seconds)
        return _Kill(step, rng.uniform(0, seconds[step]))


def _disturbed_fit(
    model: Any, parts: tuple, X: np.ndarray, reference: _Reference, cluster: Any, kill: _Kill
) -> tuple:
    """Return the row of a fit during which a worker is killed."""
    phase: list[Any] = ["after the fit", -1]
    steps = Steps()

    def strike() -> None:
        phase[:] = steps.current
        pids = [worker.pid for worker in cluster.workers.values() if worker.pid]
        os.kill(random.Random(kill.step).choice(pids), signal.SIGKILL)

    timer = threading.Timer(kill.delay, strike)
    steps.on_start = lambda step: timer.start() if step == kill.step else None
    start = time.perf_counter()
    with observe_steps(steps):
        model.fit(*parts)
    seconds = time.perf_counter() - start
    timer.cancel()
    certificate, expected = model.certificate_, reference.certificate
    if not certificate.converged:
        raise RuntimeError(f"The certificate is not valid: {certificate}.")
    objective = abs(certificate.primal - expected.primal) / abs(expected.primal)
    change = float(np.abs(model.decision_function(X) - reference.scores).max())
    name, n_rebuilt = type(model).__name__, model.n_rebuilt_parts_
    return (name, *phase, seconds, n_rebuilt, float(certificate.gap), float(objective), change)
