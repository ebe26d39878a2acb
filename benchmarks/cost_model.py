"""A model of the cost of fits on a cluster, from two small fits, checked on larger ones.

The seconds of each phase of a fit are assumed to be ``start + slope * rows / threads``: reading the
partitions, finding the bins of their values, and the mean call of the solver, whose number is that
of the larger of the two small fits.  All fits are of `DaskStumpLogisticRegression` on
single-threaded worker processes of this machine, with partitions in their memory.  Seconds are
processor time, the mean of the workers plus that of the client: other processes on the machine
matter little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any

import numpy as np

from benchmarks.dask_cluster import N_WORKERS, local_cluster
from benchmarks.dask_steps import BINNING, READING, SOLVER, Steps, count_traffic, observe_steps
from benchmarks.memory import peak_bytes
from benchmarks.report import StudyTable
from benchmarks.settings import Settings, log
from everystump.datasets import flip_labels, make_twonorm

_PHASES = (READING, BINNING, SOLVER, "rest")
# Calls with one gather and with one scatter, and with the loss of every row.
_GATHER, _SCATTER = f"{SOLVER}: directional_slopes", f"{SOLVER}: sums"
_PART_ROWS = 62_500
_PILOT_ROWS = (2 * _PART_ROWS, 8 * _PART_ROWS)
# The threads of a worker of the plan, and its network: bytes per second of the client, and seconds
# for the way there and back.
_WORKER_THREADS = 8
_BANDWIDTH, _LATENCY = 1.25e9, 0.5e-3
_HEADER = (
    *("rows", "features", "pairs", "bins", "threads", "calls"),
    *("read ns", "bin ns", "gather ns", "scatter ns", "call ns", "ms per call"),
    *("read s", "bin s", "calls s", "rest s", "network s", "predicted s", "measured s", "ratio"),
    *("kB per call and worker", "bytes per row, predicted", "measured"),
)


@dataclass(frozen=True)
class Size:
    """The size of a fit."""

    n_rows: int
    n_features: int = 20
    n_pairs: int = 0
    n_bins: int = 256
    n_threads: int = N_WORKERS

    @property
    def n_lookups(self) -> int:
        """The number of table entries that are added up for a row."""
        return self.n_features + self.n_pairs

    @property
    def row_bytes(self) -> float:
        """About the bytes of a row on a worker at the peak, besides those of its partition.

        While rows are encoded, these are a cell of 2 bytes and a code per value; then the code, and
        about 60 bytes for the label and the vectors of the solver.  Pairs use these codes.
        """
        code_bytes = self.n_features * (1 if self.n_bins <= 256 else 2)
        return code_bytes + max(2 * self.n_features, 60)


@dataclass(frozen=True)
class Measured:
    """A fit that was run: the seconds of its phases, its calls, and bytes."""

    size: Size
    seconds: dict[str, float]
    n_calls: int
    gather: float  # seconds of a call
    scatter: float
    call_bytes: float  # per call and worker
    memory: int  # bytes by which the peak memory of all workers grew during the fit

    @property
    def total(self) -> float:
        """The seconds of the fit."""
        return sum(self.seconds.values())


@dataclass(frozen=True)
class CostModel:
    """Predicts the cost of larger fits from two small ones of the same features, pairs and bins."""

    small: Measured
    large: Measured

    def phase(self, phase: str, size: Size) -> float:
        """Return the predicted seconds of a phase."""
        if phase == "rest":  # the client's work on tables does not depend on the rows
            return self.large.seconds[phase]
        n_steps = [fit.n_calls if phase == SOLVER else 1 for fit in (self.small, self.large)]
        fits = zip((self.small, self.large), n_steps, strict=True)
        start, slope = self._line([fit.seconds[phase] / n for fit, n in fits])
        return n_steps[1] * (start + slope * size.n_rows / size.n_threads)

    def rates(self) -> tuple[float, ...]:
        """Return nanoseconds per value and thread, and milliseconds per call.

        The former are those of reading, binning, a gather, a scatter, and a mean call.
        """
        fits = (self.small, self.large)
        by_loop = [
            [fit.seconds[READING] for fit in fits],
            [fit.seconds[BINNING] for fit in fits],
            [fit.gather for fit in fits],
            [fit.scatter for fit in fits],
            [fit.seconds[SOLVER] / fit.n_calls for fit in fits],
        ]
        size = self.large.size
        counts = (*[size.n_features] * 2, *[size.n_lookups] * 3)
        lines = [self._line(seconds) for seconds in by_loop]
        nanoseconds = (1e9 * slope / n for (_, slope), n in zip(lines, counts, strict=True))
        return (*nanoseconds, 1e3 * lines[-1][0])

    def row_bytes(self, fit: Measured) -> float:
        """Return the bytes per row of a fit, from the difference to the smaller of the two."""
        return (fit.memory - self.small.memory) / (fit.size.n_rows - self.small.size.n_rows)

    def _line(self, seconds: Sequence[float]) -> tuple[float, float]:
        """Return start and slope of the seconds as a function of the rows per thread."""
        sizes = self.small.size, self.large.size
        rows = [size.n_rows / size.n_threads for size in sizes]
        slope = max(0.0, (seconds[1] - seconds[0]) / (rows[1] - rows[0]))
        return max(0.0, seconds[1] - slope * rows[1]), slope


def predictions(settings: Settings) -> StudyTable:
    """Predicted and measured costs of fits on a local cluster, and those of 1e9 x 100."""
    base = Size(settings.rows(1_000_000))
    sizes = [
        base,
        replace(base, n_rows=4 * base.n_rows),
        replace(base, n_threads=1),
        replace(base, n_features=80),
        replace(base, n_bins=1024),
        replace(base, n_pairs=80),
    ]
    models: dict[tuple, CostModel] = {}
    rows = []
    for size in sizes:
        if _kind(size) not in models:
            models[_kind(size)] = _pilot(size, settings)
        model = models[_kind(size)]
        measured = _measure(size, settings)
        rows.append(_row(model, size, measured))
        log(f"  {rows[-1]}")
    plan = Size(10**9, 100, n_threads=15 * _WORKER_THREADS)
    for size in (plan, replace(plan, n_pairs=100)):
        rows.append(_row(_pilot(size, settings), size, None))
    title = "Fits on a cluster: predicted from two small ones, and measured; the last two are plans"
    return StudyTable(title, _HEADER, rows)


def _kind(size: Size) -> tuple[int, int, int]:
    return size.n_features, size.n_pairs, size.n_bins


def _pilot(size: Size, settings: Settings) -> CostModel:
    """Return the model of fits of some kind, from two small ones on two workers."""
    pilots = (settings.rows(n) for n in _PILOT_ROWS)
    small, large = (
        _measure(replace(size, n_rows=n, n_threads=N_WORKERS), settings) for n in pilots
    )
    return CostModel(small, large)


def _row(model: CostModel, size: Size, measured: Measured | None) -> tuple:
    phases = [model.phase(phase, size) for phase in _PHASES]
    network = 0.0
    if measured is None:
        n_bytes = model.large.call_bytes * size.n_threads / _WORKER_THREADS
        network = model.large.n_calls * (_LATENCY + n_bytes / _BANDWIDTH)
    predicted = sum(phases) + network
    found = ("-", "-") if measured is None else (measured.total, predicted / measured.total)
    return (
        *(f"{size.n_rows:,}", size.n_features, size.n_pairs, size.n_bins, size.n_threads),
        model.large.n_calls,
        *model.rates(),
        *(*phases, network, predicted, *found),
        model.large.call_bytes / 1e3,
        size.row_bytes,
        "-" if measured is None else model.row_bytes(measured),
    )


def _measure(size: Size, settings: Settings) -> Measured:
    """Return the cost of a fit on a new local cluster, after a fit of few rows."""
    from everystump.dask import DaskStumpLogisticRegression

    pairs = list(islice(combinations(range(size.n_features), 2), size.n_pairs))
    model = DaskStumpLogisticRegression(max_bins=size.n_bins, interactions=pairs or 0)
    with local_cluster(size.n_threads) as (_, client):
        model.fit(*_simulate(replace(size, n_rows=5_000)))
        data = _simulate(size)
        before, pids = client.run(peak_bytes), client.run(os.getpid).values()
        runs = []
        for _ in range(settings.repeats - 1):
            steps = Steps(clock=lambda: _processor_seconds(pids))
            start = steps.clock()
            with observe_steps(steps):
                model.fit(*data)
            runs.append((steps.clock() - start, steps))
        after = client.run(peak_bytes)
        with count_traffic() as traffic:
            model.fit(*data)
    seconds, steps = min(runs, key=lambda run: run[0])
    phases = {phase: sum(steps.select(phase)) for phase in _PHASES[:-1]}
    phases["rest"] = seconds - sum(phases.values())
    grown = sum(after[worker] - before[worker] for worker in after)
    return Measured(
        size,
        phases,
        len(steps.select(SOLVER)),
        float(np.mean(steps.select(_GATHER))),
        float(np.mean(steps.select(_SCATTER))),
        traffic.n_bytes / traffic.n_calls / size.n_threads,
        grown,
    )


def _processor_seconds(workers: Collection[int]) -> float:
    """Return the processor time of this process, plus the mean of other ones, on Linux."""
    # The clock of a process, as clock_getcpuclockid returns it.
    seconds = [time.clock_gettime((~pid << 3) | 2) for pid in workers]
    return time.process_time() + sum(seconds) / len(seconds)


def _simulate(size: Size) -> tuple[Any, Any]:
    """Return two-norm data with flipped labels in the memory of the workers."""
    import dask
    import dask.array as da
    from distributed import wait

    n_parts = max(size.n_threads, -(-size.n_rows // _PART_ROWS))
    rows = -(-size.n_rows // n_parts)
    samples, labels = [], []
    for seed in range(n_parts):
        X, y = dask.delayed(_simulate_part, nout=2)(rows, size.n_features, seed)
        samples.append(da.from_delayed(X, (rows, size.n_features), np.float64))
        labels.append(da.from_delayed(y, (rows,), np.int64))
    data = dask.persist(da.concatenate(samples), da.concatenate(labels))
    wait(data)
    return data


def _simulate_part(n_rows: int, n_features: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_twonorm(n_rows, n_features, random_state=seed)
    return X, flip_labels(y, 0.1, random_state=seed).astype(np.int64)
