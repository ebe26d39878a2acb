"""Run an experiment: on all cores, each task once, from seeds of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import joblib
from sklearn import config_context

from everystump._core.threads import one_blas_thread
from everystump._experiments import InvalidInputError
from everystump._experiments.experiment import Experiment, Record, Task
from everystump._experiments.journal import Journal, alone, writing
from everystump._experiments.page import LIBRARIES, Finished
from everystump._experiments.workers import end_with
from everystump.datasets import DatasetNotFoundError, load_dataset

JOURNALS = "journals"
SECONDS = "task_seconds"

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number of finished tasks and of all, first with those of the journal."""


class MissingDataError(InvalidInputError):
    """None of an experiment's data are here."""


def run_experiment(
    experiment: Experiment,
    out: Path,
    *,
    runs: int,
    seed: int,
    jobs: int,
    progress: Progress = lambda done, total: None,
    warn: Callable[[str], object] = lambda sentence: None,
) -> Finished:
    """Do what is left of an experiment and report on all of it.

    Parameters
    ----------
    experiment : Experiment
        What to do.
    out : Path
        A folder; finished tasks are kept in its folder ``journals``.
    runs : int
        Number of runs.
    seed : int
        The numbers depend on it, and not on `jobs`.
    jobs : int
        Number of processes.
    progress, warn : callable
        Told of finished tasks, and of what a user should know.

    Returns
    -------
    Finished
        The report and what it took.

    Raises
    ------
    MissingDataError
        If no task has its data.
    InvalidInputError
        If data are damaged, the journal belongs to another run, or another process writes it.
    """
    with writing(out):
        (out / JOURNALS).mkdir(parents=True, exist_ok=True)
    with alone(out / JOURNALS / f"{experiment.name}.lock"):
        journal = open_journal(experiment, out, seed)
        if journal.damaged:
            warn(f"{journal.path} has damaged lines ({journal.damaged}); their work is done again.")
        tasks = experiment.tasks(runs)
        missing = _missing_data(task for task in tasks if task.key not in journal.results)
        possible = [
            task
            for task in tasks
            if task.key in journal.results or not missing.keys() & set(task.needs)
        ]
        if not possible:
            raise MissingDataError(" ".join(dict.fromkeys(missing.values())))
        for reason in dict.fromkeys(missing.values()):
            warn(f"{experiment.name} goes on without some of its data. {reason}")
        records = run_tasks(experiment, possible, journal, seed=seed, jobs=jobs, progress=progress)
    seconds = sum(record[SECONDS] for record in records)
    return Finished(experiment, experiment.report(records), runs, seed, seconds, missing)


def _missing_data(tasks: Iterable[Task]) -> dict[str, str]:
    """Return the data sets that are not here, each with the reason in a sentence."""
    missing = {}
    for name in dict.fromkeys(name for task in tasks for name in task.needs):
        try:
            load_dataset(name)
        except DatasetNotFoundError as error:
            missing[name] = str(error)
        except ValueError as error:
            raise InvalidInputError(str(error)) from error
    return missing


def open_journal(experiment: Experiment, out: Path, seed: int) -> Journal:
    """Open the journal of an experiment, beginning it if there is none."""
    head = {
        "experiment": experiment.name,
        "edition": experiment.edition,
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
    progress: Progress = lambda done, total: None,
) -> list[Record]:
    """Return the records of all tasks in their order, doing those that the journal lacks."""
    left = [task for task in tasks if task.key not in journal.results]
    done = len(tasks) - len(left)
    progress(done, len(tasks))
    for key, result in _work_through(experiment, left, seed, jobs):
        with writing(journal.path.parent):
            journal.add(key, result)
        done += 1
        progress(done, len(tasks))
    return [task.arguments | journal.results[task.key] for task in tasks]


def _work_through(
    experiment: Experiment, tasks: Sequence[Task], seed: int, jobs: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    if tasks:
        # No more processes than tasks: each gets one, and so watches that this process is there.
        n_jobs, do = min(jobs, len(tasks)), joblib.delayed(_do)
        parallel = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
        yield from parallel(do(experiment.work, task, seed, os.getpid()) for task in tasks)


def _do(
    work: Callable[..., dict[str, Any]], task: Task, seed: int, parent: int
) -> tuple[str, dict[str, Any]]:
    """Do one task in one thread, so that its numbers are the same wherever it runs.

    Data and parameters are the experiment's own, and scikit-learn need not check them: for tiny
    machines that is a good part of the time.
    """
    end_with(parent)
    start = time.perf_counter()
    with one_blas_thread, config_context(assume_finite=True, skip_parameter_validation=True):
        result = work(task.seed(seed), **task.arguments)
    return task.key, result | {SECONDS: time.perf_counter() - start}
