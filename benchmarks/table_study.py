"""What studies on many tables share: methods, cached results, splits, ranks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from scipy.stats import rankdata

import everystump
from benchmarks.report import StudyTable
from benchmarks.settings import Settings
from benchmarks.study_cache import StudyCache
from benchmarks.two_class_tables import Table

TEST_SIZE = 0.3
R = TypeVar("R")


@dataclass(frozen=True)
class Method:
    """A model with its default settings in one thread.

    Attributes
    ----------
    name : str
        The name in the header of the table.
    make : callable
        Returns the unfitted model.
    categories : bool
        Whether text is passed as pandas categories, as trees expect it, and not as it is.
    ours : bool
        Whether the model is ours, so that cached results are those of the same code.
    """

    name: str
    make: Callable[[], Any]
    categories: bool = False
    ours: bool = False

    @property
    def key(self) -> str:
        """The name in a file of results."""
        return f"{self.name} {_code_hash()}" if self.ours else self.name


@cache
def _code_hash() -> str:
    """Return a few digits that identify the code of everystump."""
    folder = Path(everystump.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Criterion(Generic[R]):
    """A number of a result; ``larger`` is whether larger ones are better."""

    name: str
    value: Callable[[R], float]
    larger: bool = False
    style: str = ".3g"


@dataclass(frozen=True)
class TableStudy(Generic[R]):
    """A comparison of methods on many tables.

    Attributes
    ----------
    title : str
        What the table of the study shows.
    methods : sequence of Method
        The methods; the last peer is the slowest.
    chosen : str
        The name of the method that is compared with the others.
    unranked : sequence of str
        The names of methods without a rank.
    criteria : sequence of Criterion
        The numbers of a result that are shown.
    result : type
        The dataclass of results.
    load : callable
        Returns the tables, given settings and a list for the reasons why others are missing.
    measure : callable
        Returns the result of a method on a split of a table.
    n_splits : int
        Number of splits.
    """

    title: str
    methods: Sequence[Method]
    chosen: str
    unranked: Sequence[str]
    criteria: Sequence[Criterion[R]]
    result: type[R]
    load: Callable[[Settings, list[str]], list[Table]]
    measure: Callable[[Table, int, Method], R]
    n_splits: int

    @property
    def peers(self) -> list[Method]:
        """The methods that are not ours."""
        return [method for method in self.methods if not method.ours]

    def run(self, settings: Settings) -> StudyTable:
        """Return the table of all results, with means and ranks."""
        skipped: list[str] = []
        tables = self.load(settings, skipped)
        # A quick run uses fewer rows, so its results differ from those of a full run.
        known = StudyCache(None if settings.quick else settings.cache, self.result)
        only_cached = settings.cached_peers and not settings.quick
        rows: list[tuple] = []
        means: list[np.ndarray] = []
        for table in tables:
            splits = [*range(1 if settings.quick else self.n_splits)]
            if only_cached:
                splits = [split for split in splits if self._has_peers(known, table, split)]
            if not splits:
                skipped.append(f"{table.name}: no results of the peers in {settings.cache}")
                continue
            found = np.array([self._split_values(known, table, split) for split in splits])
            means.append(found.mean(axis=0))
            rows += self._table_rows(table, len(splits), means[-1])
        header = ("data", "rows", "features", "criterion", *(m.name for m in self.methods))
        return StudyTable(self.title, header, [*rows, *self._summary(np.array(means))], skipped)

    def fill(self, file: Path) -> None:
        """Compute the results of the peers that a file does not have yet, the slowest last."""
        known = StudyCache(file, self.result)
        *quick, slowest = self.peers
        tables = self.load(Settings(), [])
        # An interrupted run then has some splits of all tables rather than all splits of some.
        jobs = [(table, split) for split in range(self.n_splits) for table in tables]
        for methods in (quick, [slowest]):
            for table, split in jobs:
                for method in methods:
                    self._result(known, table, split, method)

    def _has_peers(self, known: StudyCache[R], table: Table, split: int) -> bool:
        return all((table.name, split, method.key) in known for method in self.peers)

    def _split_values(self, known: StudyCache[R], table: Table, split: int) -> np.ndarray:
        """Return the criteria of all methods, of shape (n_criteria, n_methods)."""
        results = [self._result(known, table, split, method) for method in self.methods]
        return np.array([[c.value(result) for result in results] for c in self.criteria])

    def _result(self, known: StudyCache[R], table: Table, split: int, method: Method) -> R:
        key = (table.name, split, method.key)
        return known.get(key, lambda: self.measure(table, split, method))

    def _table_rows(self, table: Table, n_splits: int, means: np.ndarray) -> Iterator[tuple]:
        name = table.name if n_splits == self.n_splits else f"{table.name} ({n_splits})"
        for criterion, values in zip(self.criteria, means, strict=True):
            cells = [f"{value:{criterion.style}}" for value in values]
            yield name, len(table.y), table.X.shape[1], criterion.name, *cells

    def _summary(self, means: np.ndarray) -> Iterator[tuple]:
        """Yield mean values, mean ranks, and counts of better and worse tables."""
        if not len(means):
            return
        kept = np.array([method.name not in self.unranked for method in self.methods])
        ours = [method.name for method in self.methods].index(self.chosen)
        for k, criterion in enumerate(self.criteria):
            values = means[:, k]
            losses = (-values if criterion.larger else values).round(12)  # equal up to rounding
            cells = (f"{value:.4g}" for value in values.mean(axis=0))
            yield "mean", "", "", criterion.name, *cells
            ranks = rankdata(losses[:, kept], axis=1).mean(axis=0)
            ranked = np.full(len(self.methods), "-", dtype=object)
            ranked[kept] = [f"{rank:.2f}" for rank in ranks]
            yield "mean rank", "", "", criterion.name, *ranked
            better = (losses[:, [ours]] < losses).sum(axis=0)
            worse = (losses[:, [ours]] > losses).sum(axis=0)
            counts = [f"{b} / {w}" for b, w in zip(better, worse, strict=True)]
            counts[ours] = "-"
            yield f"'{self.chosen}' better / worse", "", "", criterion.name, *counts
