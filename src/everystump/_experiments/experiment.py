"""What an experiment is: independent tasks, each from its own seed, and a report on their results.

A file of this room describes one table or figure.  Its ``EXPERIMENT`` has the protocol in words,
and says which tasks there are, how one is done and what is read from the results.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Record: TypeAlias = dict[str, Any]
"""Arguments and results of one finished task; times are under names that end in ``seconds``."""


@dataclass(frozen=True)
class Task:
    """One piece of work that is done, stored and repeated as a whole.

    Attributes
    ----------
    key : str
        Its name, unique in the experiment; its seed comes from it.
    arguments : dict
        What the work is called with besides the seed.
    needs : tuple of str
        Names of the data sets that it loads.
    """

    key: str
    arguments: dict[str, Any]
    needs: tuple[str, ...] = ()

    def seed(self, seed: int) -> int:
        """Return the task's own seed, whatever other tasks there are."""
        sequence = np.random.SeedSequence([seed, zlib.crc32(self.key.encode())])
        return int(sequence.generate_state(1)[0])


def runs_on(datasets: Mapping[str, tuple[str, ...]], runs: int) -> list[Task]:
    """Return the tasks of doing something ``runs`` times on each data set, run by run.

    ``datasets`` has the name of each set in the paper, and of the data sets to load for it.
    """
    return [
        Task(f"{dataset}/{run}", {"dataset": dataset, "run": run}, needs)
        for run in range(runs)
        for dataset, needs in datasets.items()
    ]


@dataclass(frozen=True)
class Cell:
    """One number of a paper beside ours.

    Attributes
    ----------
    row, column : str
        Its place in the table.
    ours, ours_error : float or None
        Our mean and its standard error; None where the data are not to be had.
    paper, paper_error : float or None
        The paper's mean and its standard error; None where it gives none.
    tolerance : float
        How far from the paper's our mean may be and still agree, besides what chance explains.
    more_is_better : bool
        Whether a larger number is the better one.
    reason : str
        Why a difference is there, where that is known, or why there is no number of ours.
    """

    row: str
    column: str
    ours: float | None
    ours_error: float | None = None
    paper: float | None = None
    paper_error: float | None = None
    tolerance: float = 0.0
    more_is_better: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, whether our results bear it out, and the figures that say so."""

    text: str
    holds: bool
    evidence: str


@dataclass(frozen=True)
class Picture:
    """A picture of a report: the end of its file name, its caption and how it is drawn."""

    suffix: str
    caption: str
    draw: Callable[[], Any]
    """Returns a matplotlib figure."""


@dataclass(frozen=True)
class Report:
    """What an experiment found."""

    cells: Sequence[Cell] = ()
    claims: Sequence[Claim] = ()
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = ()
    curves: Sequence[dict[str, Any]] = ()
    """Rows of numbers behind the pictures, for the CSV file of a figure."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure that can be made again.

    Attributes
    ----------
    name : str
        What the user calls it.
    title : str
        Paper, number and content.
    protocol : str
        What is done and how often, and each choice that the paper leaves open, in Markdown.
    runs : int
        The paper's number of runs.
    tasks : callable
        Number of runs -> list of `Task`.
    work : callable
        ``work(seed, **arguments)`` -> dict of plain numbers, lists and texts.
    report : callable
        List of `Record` in the order of the tasks -> `Report`.
    edition : int
        Raised when the same seed gives other numbers than before.
    """

    name: str
    title: str
    protocol: str
    runs: int
    tasks: Callable[[int], list[Task]]
    work: Callable[..., dict[str, Any]]
    report: Callable[[list[Record]], Report]
    edition: int = 1
