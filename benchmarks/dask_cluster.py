"""Fits on a local Dask cluster of two worker processes: time and traffic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import everystump
from benchmarks.dask_steps import count_traffic
from benchmarks.memory import noisy_two_norm
from benchmarks.report import Row, Skipped
from benchmarks.settings import N_JOBS, Settings
from benchmarks.targets import AtMost
from benchmarks.timing import timed, timed_fit

_NAMES = ("StumpLogisticRegression", "StumpSVC")
_N_PARTITIONS, N_WORKERS = 8, 2


def against_local(settings: Settings) -> Iterator[Row | Skipped]:
    """Fits of 1,000,000 x 20 in the memory of two workers against local ones, and the traffic."""
    try:
        import dask.array as da

        import everystump.dask as everystump_dask
    except ImportError as error:
        yield Skipped("dask", "skipped", str(error))
        return
    X, y = noisy_two_norm(settings.rows(1_000_000))
    with local_cluster() as (_, client):
        chunk = -(-len(X) // _N_PARTITIONS)
        parts = da.from_array(X, (chunk, -1)).persist(), da.from_array(y, chunk).persist()
        client.gather([client.submit(lambda: 0)])
        for name in _NAMES:
            model = getattr(everystump_dask, f"Dask{name}")()
            model.fit(*parts)
            ours = timed(lambda model=model: model.fit(*parts), settings)
            local = timed_fit(getattr(everystump, name)(n_jobs=N_JOBS), X, y, settings)
            yield Row(
                f"Dask{name}, two-norm {len(X):,}, {N_WORKERS} workers",
                ours.seconds,
                local.seconds,
                f"{name}, {N_JOBS} threads",
                AtMost(1.5),
                quality_ok=bool(ours.result.certificate_.converged),
                quality=f"gap {ours.result.certificate_.gap:.1e}, "
                f"local {local.result.certificate_.gap:.1e}",
            )
            with count_traffic() as traffic:
                model.fit(*parts)
            table = sum(len(shape.knots) for shape in model.shapes_) * 8
            yield Row(
                f"Dask{name}: bytes per call and worker, mean of {traffic.n_calls} calls",
                traffic.n_bytes / traffic.n_calls / N_WORKERS / 1e6,
                table / 1e6,
                "features x bins x 8 bytes",
                AtMost(4),
                unit="MB",
                quality=f"largest call {traffic.largest / 1e3:.0f} kB",
            )


@contextmanager
def local_cluster(n_workers: int = N_WORKERS) -> Iterator[tuple[Any, Any]]:
    """Run a cluster of single-threaded worker processes; yield it and a client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        client.wait_for_workers(n_workers)
        yield cluster, client
