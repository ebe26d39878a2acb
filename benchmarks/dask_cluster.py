"""Fits on a local Dask cluster of two worker processes: time, traffic, and lost workers."""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import everystump
from benchmarks.memory import noisy_two_norm
from benchmarks.report import Row, Skipped, StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost
from benchmarks.timing import timed, timed_fit

_NAMES = ("StumpLogisticRegression", "StumpSVC")
_N_PARTITIONS, _N_WORKERS = 8, 2
_N_FAULTS, _FAULT_ROWS = 50, 60_000


def against_local(settings: Settings) -> Iterator[Row | Skipped]:
    """Fits of 1,000,000 x 20 in the memory of two workers against local ones, and the traffic."""
    try:
        import dask.array as da

        import everystump.dask as everystump_dask
    except ImportError as error:
        yield Skipped("dask", "skipped", str(error))
        return
    X, y = noisy_two_norm(settings.rows(1_000_000))
    with _cluster() as (_, client):
        chunk = -(-len(X) // _N_PARTITIONS)
        parts = da.from_array(X, (chunk, -1)).persist(), da.from_array(y, chunk).persist()
        client.gather([client.submit(lambda: 0)])
        for name in _NAMES:
            model = getattr(everystump_dask, f"Dask{name}")()
            model.fit(*parts)
            ours = timed(lambda model=model: model.fit(*parts), settings)
            local = timed_fit(getattr(everystump, name)(n_jobs=N_JOBS), X, y, settings)
            yield Row(
                f"Dask{name}, two-norm {len(X):,}, {_N_WORKERS} workers",
                ours.seconds,
                local.seconds,
                f"{name}, {N_JOBS} threads",
                AtMost(1.5),
                quality_ok=bool(ours.result.certificate_.converged),
                quality=f"gap {ours.result.certificate_.gap:.1e}, "
                f"local {local.result.certificate_.gap:.1e}",
            )
            with _count_traffic() as traffic:
                model.fit(*parts)
            table = sum(len(shape.knots) for shape in model.shapes_) * 8
            yield Row(
                f"Dask{name}: bytes per call and worker, mean of {traffic.n_calls} calls",
                traffic.n_bytes / traffic.n_calls / _N_WORKERS / 1e6,
                table / 1e6,
                "features x bins x 8 bytes",
                AtMost(4),
                unit="MB",
                quality=f"largest call {traffic.largest / 1e3:.0f} kB",
            )


def lost_workers(settings: Settings) -> StudyTable:
    """Fits during which a worker process is killed, at random moments."""
    import dask.array as da

    from everystump.dask import DaskStumpLogisticRegression, DaskStumpSVC

    X, y = noisy_two_norm(settings.rows(_FAULT_ROWS))
    parts = da.from_array(X, (len(X) // 7, -1)), da.from_array(y, len(X) // 7)
    models = [DaskStumpLogisticRegression(), DaskStumpSVC()]
    rng, rows = random.Random(0), []
    with _cluster() as (cluster, client):
        for model in models:
            model.fit(*parts)
        expected = []
        for model in models:
            start = time.perf_counter()
            model.fit(*parts)
            scores = model.decision_function(X)
            expected.append((scores, model.certificate_, time.perf_counter() - start))
        for k in range(5 if settings.quick else _N_FAULTS):
            model, (scores, certificate, seconds) = models[k % 2], expected[k % 2]
            client.wait_for_workers(_N_WORKERS, timeout=120)
            delay = rng.uniform(0.0, seconds)
            timer = threading.Timer(delay, _kill_one, (cluster, rng))
            timer.start()
            start = time.perf_counter()
            model.fit(*parts)
            took = time.perf_counter() - start
            timer.join()
            difference = float(np.abs(model.decision_function(X) - scores).max())
            gap = float(model.certificate_.gap)
            rows.append(
                (k, type(model).__name__, delay, took, model.n_rebuilt_parts_, gap, difference)
            )
            log(f"  {rows[-1]}, undisturbed gap {certificate.gap:.2e}, {seconds:.2g} s")
    title = "A worker killed during each fit: all fits finished"
    header = ("fit", "model", "killed after s", "seconds", "parts rebuilt", "gap", "score change")
    return StudyTable(title, header, rows, [])


@contextmanager
def _cluster() -> Iterator[tuple[Any, Any]]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=_N_WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        client.wait_for_workers(_N_WORKERS)
        yield cluster, client


def _kill_one(cluster: Any, rng: random.Random) -> None:
    pids = [worker.pid for worker in cluster.workers.values() if worker.pid]
    os.kill(rng.choice(pids), signal.SIGKILL)


@dataclass
class _Traffic:
    sizes: list[int] = field(default_factory=list)

    @property
    def n_calls(self) -> int:
        return len(self.sizes)

    @property
    def n_bytes(self) -> int:
        return sum(self.sizes)

    @property
    def largest(self) -> int:
        return max(self.sizes)


@contextmanager
def _count_traffic() -> Iterator[_Traffic]:
    """Count the bytes of the arguments and results of messages to problems on all workers."""
    from everystump.dask._cluster import RowCluster

    traffic, original = _Traffic(), RowCluster._run

    def run(self: Any, call: Any) -> list[Any]:
        sent = len(pickle.dumps([*self._waiting, call])) * self.n_parts
        results = original(self, call)
        if call.method == "call":
            traffic.sizes.append(sent + sum(len(pickle.dumps(result)) for result in results))
        return results

    RowCluster._run = run  # type: ignore[method-assign]
    try:
        yield traffic
    finally:
        RowCluster._run = original  # type: ignore[method-assign]
