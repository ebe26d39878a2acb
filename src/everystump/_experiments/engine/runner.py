"""Run the tasks of an experiment in parallel, each once and each with its own seed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import joblib
from joblib.parallel import LokyBackend, get_active_backend
from sklearn import config_context

from everystump._core.threads import one_blas_thread, yields_results
from everystump._experiments.engine.experiment import Experiment, Record, Task
from everystump._experiments.engine.journal import Journal, exclusive_lock, output_errors
from everystump._experiments.engine.pages import LIBRARIES, ExperimentResult
from everystump._text import InvalidInputError
from everystump.datasets import DatasetNotFoundError, load_dataset

JOURNALS = "journals"
SECONDS = "task_seconds"
_POLL_SECONDS = 0.5

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the numbers of finished and of all tasks, first with those of the journal."""


class MissingDataError(InvalidInputError):
    """None of an experiment's datasets are available."""


def run_experiment(
    experiment: Experiment,
    out: Path,
    *,
    runs: int,
    seed: int,
    jobs: int,
    progress: Progress = lambda done, total: None,
    warn: Callable[[str], object] = lambda message: None,
) -> ExperimentResult:
    """Run the unfinished tasks of an experiment and report on all of them.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    out : Path
        Output folder; finished tasks are kept in its folder ``journals``.
    runs : int
        Number of runs.
    seed : int
        The numbers depend on it, but not on `jobs`.
    jobs : int
        Number of processes.
    progress, warn : callable
        Called after each finished task, and with messages for the user.

    Returns
    -------
    ExperimentResult
        The report, and the time of the tasks.

    Raises
    ------
    MissingDataError
        If no task has its data.
    InvalidInputError
        If data are damaged, the journal belongs to another run, or another process writes to it.
    """
    with output_errors(out):
        (out / JOURNALS).mkdir(parents=True, exist_ok=True)
    with exclusive_lock(out / JOURNALS / f"{experiment.name}.lock"):
        journal = open_journal(experiment, out, seed)
        if journal.n_damaged:
            warn(
                f"{journal.path} has damaged lines ({journal.n_damaged}); their tasks are run "
                "again."
            )
        tasks = experiment.tasks(runs)
        missing = _missing_data(task for task in tasks if task.key not in journal.results)
        available = [
            task
            for task in tasks
            if task.key in journal.results or not missing.keys() & set(task.datasets)
        ]
        if not available:
            raise MissingDataError(" ".join(dict.fromkeys(missing.values())))
        for reason in dict.fromkeys(missing.values()):
            warn(f"{experiment.name} continues without some of its data. {reason}")
        records = run_tasks(experiment, available, journal, seed=seed, jobs=jobs, progress=progress)
    seconds = sum(record[SECONDS] for record in records)
    return ExperimentResult(experiment, experiment.report(records), runs, seed, seconds, missing)


def _missing_data(tasks: Iterable[Task]) -> dict[str, str]:
    """Return the datasets that are not available, each with the reason."""
    missing = {}
    for name in dict.fromkeys(name for task in tasks for name in task.datasets):
        try:
            load_dataset(name)
        except DatasetNotFoundError as error:
            missing[name] = str(error)
        except ValueError as error:
            raise InvalidInputError(str(error)) from error
    return missing


def open_journal(experiment: Experiment, out: Path, seed: int) -> Journal:
    """Open the journal of an experiment, or start one."""
    head = {
        "experiment": experiment.name,
        "edition": experiment.entry.edition,
        "seed": seed,
        **{library: version(library) for library in LIBRARIES},
    }
    return Journal(out / JOURNALS / f"{experiment.name}.jsonl", head)


def run_tasks(
    experiment: Experiment,
    tasks: Sequence[Task],
    journal: Journal,
    *,
    seed: int,
    jobs: int,
    progress: Progress,
) -> list[Record]:
    """Run the tasks that are not in the journal; return the records of all in their order."""
    unfinished = [task for task in tasks if task.key not in journal.results]
    done = len(tasks) - len(unfinished)
    progress(done, len(tasks))
    for key, result in _run_in_parallel(experiment, unfinished, seed, jobs):
        with output_errors(journal.path.parent):
            journal.add(key, result)
        done += 1
        progress(done, len(tasks))
    return [task.arguments | journal.results[task.key] for task in tasks]


def _run_in_parallel(
    experiment: Experiment, tasks: Sequence[Task], seed: int, jobs: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    if tasks:
        # With at most as many processes as tasks, each runs a task and so watches its parent.
        n_jobs, run = min(jobs, len(tasks)), joblib.delayed(_run_task)
        return_as = "generator_unordered" if yields_results() else "list"
        parallel = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as=return_as)
        # The workers of a cluster are not processes of this one.
        parent = os.getpid() if isinstance(get_active_backend()[0], LokyBackend) else None
        yield from parallel(run(experiment.run_task, task, seed, parent) for task in tasks)


def _run_task(
    run_task: Callable[..., dict[str, Any]], task: Task, seed: int, parent: int | None
) -> tuple[str, dict[str, Any]]:
    """Run a task in one thread, so that its results do not depend on the process.

    Data and parameters are known to be valid, and validation takes much of the time of a small
    fit, so scikit-learn's checks are disabled.
    """
    if parent is not None:
        _prepare_worker(parent)
    start = time.perf_counter()
    with one_blas_thread, config_context(assume_finite=True, skip_parameter_validation=True):
        result = run_task(task.seed(seed), **task.arguments)
    return task.key, result | {SECONDS: time.perf_counter() - start}


@cache
def _prepare_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, which stops its workers, and exit when the parent is gone.

    A killed parent cannot stop its workers, which would otherwise keep running.
    """
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_watch, args=(parent,), name="watch_parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os._exit(1)  # without waiting for other threads
