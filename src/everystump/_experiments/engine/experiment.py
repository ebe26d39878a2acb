"""The parts of an experiment: independent tasks, each with its own seed, and a report."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from everystump._experiments.engine import Entry

Record: TypeAlias = dict[str, Any]
"""Arguments and results of one finished task; names of times end in ``seconds``."""


@dataclass(frozen=True)
class Task:
    """The unit of work: run, stored and repeated as a whole.

    Attributes
    ----------
    key : str
        Unique name within the experiment; the task's seed is derived from it.
    arguments : dict
        Keyword arguments of ``run_task`` besides the seed.
    datasets : tuple of str
        Names of the datasets that the task loads.
    """

    key: str
    arguments: dict[str, Any]
    datasets: tuple[str, ...] = ()

    def seed(self, seed: int) -> int:
        """Return the seed of this task, which does not depend on the other tasks."""
        sequence = np.random.SeedSequence([seed, zlib.crc32(self.key.encode())])
        return int(sequence.generate_state(1)[0])

    @classmethod
    def per_run(cls, runs: int, **arguments: Any) -> list[Self]:
        """Return one task per run, each with these arguments."""
        return [cls(str(run), {"run": run, **arguments}) for run in range(runs)]

    @classmethod
    def per_dataset(cls, datasets: Mapping[str, tuple[str, ...]], runs: int) -> list[Self]:
        """Return one task per run and dataset, run by run.

        ``datasets`` maps the paper's name of a dataset to the names of the datasets to load.
        """
        return [
            cls(f"{dataset}/{run}", {"dataset": dataset, "run": run}, names)
            for run in range(runs)
            for dataset, names in datasets.items()
        ]


@dataclass(frozen=True)
class Cell:
    """A number from a paper and our own.

    Attributes
    ----------
    row, column : str
        Position in the table.
    ours, ours_error : float or None
        Our mean and its standard error; None if the data are not available.
    paper, paper_error : float or None
        The paper's mean and its standard error; None if it does not report them.
    tolerance : float
        Difference from the paper that still counts as agreement, in addition to sampling error.
    higher_is_better : bool
        Whether larger numbers are better.
    reason : str
        Likely reason for a difference, or why we have no number.
    """

    row: str
    column: str
    ours: float | None
    ours_error: float | None = None
    paper: float | None = None
    paper_error: float | None = None
    tolerance: float = 0.0
    higher_is_better: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """A conclusion of a paper, whether our results support it, and the evidence."""

    text: str
    holds: bool
    evidence: str


@dataclass(frozen=True)
class Plot:
    """Caption of a report's plot, and a function that returns its matplotlib figure."""

    caption: str
    make_figure: Callable[[], Any]


@dataclass(frozen=True)
class Report:
    """The findings of an experiment."""

    cells: Sequence[Cell] = ()
    claims: Sequence[Claim] = ()
    plot: Plot | None = None
    notes: Sequence[str] = ()
    data: Sequence[dict[str, Any]] = ()
    """Rows of the CSV file if there are no cells: the numbers in the plot."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure to reproduce.

    Attributes
    ----------
    entry : Entry
        Name, title, number of runs and edition.
    protocol : str
        The steps, their repetitions, and each choice that the paper leaves open, in Markdown.
    tasks : callable
        Number of runs -> list of `Task`.
    run_task : callable
        ``run_task(seed, **arguments)`` -> dict that JSON can represent.
    report : callable
        List of `Record` in the order of the tasks -> `Report`.
    """

    entry: Entry
    protocol: str
    tasks: Callable[[int], list[Task]]
    run_task: Callable[..., dict[str, Any]]
    report: Callable[[list[Record]], Report]

    @property
    def name(self) -> str:
        """Name on the command line."""
        return self.entry.name

    @property
    def title(self) -> str:
        """Paper, number and content of the table or figure."""
        return self.entry.title
