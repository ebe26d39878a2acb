"""The rows of a problem on a cluster, with the interface that solvers and boosting use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np

from everystump._core.boosting.losses import BoostingLoss
from everystump._core.boosting.rows import READ_ONLY as BOOSTING_READ_ONLY
from everystump._core.design import Design
from everystump._core.losses import LossFamily
from everystump._core.packing import Packing, keep_columns
from everystump._core.solvers.multinomial_blocks import READ_ONLY as MULTINOMIAL_READ_ONLY
from everystump._core.solvers.multinomial_blocks import TRANSIENT as MULTINOMIAL_TRANSIENT
from everystump._core.solvers.row_blocks import READ_ONLY as SOLVER_READ_ONLY
from everystump._core.solvers.row_blocks import SolverBlocks
from everystump._core.solvers.rows import SolverParts
from everystump._terms import Term
from everystump.dask._cluster import RowCluster

_keys = count()


# A subsample of the rows is moved to this process if its codes take at most so many bytes.
_MAX_MOVED = 1e8


class InteractionOptions(NamedTuple):
    """The interactions of a design, and how they were made."""

    terms: Sequence[Term]
    max_cells: int
    strength: float

    def add_to(self, design: Design) -> Design:
        """Return a design with these interactions."""
        return design.with_interactions(
            self.terms, max_cells=self.max_cells, strength=self.strength
        )


@dataclass(frozen=True)
class ClusterTable:
    """A training table whose rows are encoded on the workers of a cluster."""

    cluster: RowCluster
    design: Design  # of the columns, without rows
    class_counts: np.ndarray  # (n_classes,): the number of rows of each class
    class_totals: np.ndarray  # (n_classes,): their total weight
    n_additions: int  # through which a row's term goes at most in a sum over the rows
    n_threads: int  # of this process
    interactions: InteractionOptions | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows of positive weight."""
        return int(self.class_counts.sum())

    @property
    def total_weight(self) -> float:
        """The total weight of the rows."""
        return float(self.class_totals.sum())

    def with_interactions(self, interactions: InteractionOptions) -> ClusterTable:
        """Return the table with exactly these interactions."""
        self.cluster.update_table("add_interactions", *interactions)
        design = interactions.add_to(self.design)
        design = design.with_cell_sums(self.cluster.read("cell_sums"))
        return replace(self, design=design, interactions=interactions)

    def pack(self, codes: np.ndarray) -> Packing:
        """Return the packing of rows in this process, given their codes."""
        columns = replace(self.design.columns, codes=codes)
        design = replace(self.design, columns=columns, packing=keep_columns(codes, columns.sizes))
        return (self.interactions.add_to(design) if self.interactions else design).packing

    def open_solver(self, positive: int, loss: LossFamily, C: float) -> BinaryParts:
        """Return the problem of a class against the rest."""
        parts = self._binary_parts(positive, loss)
        self.cluster.update("open_solver", parts.key, positive, loss, C)
        return parts

    def open_boosting(self, positive: int, loss: BoostingLoss) -> BinaryParts:
        """Return the boosting problem of a class against the rest."""
        parts, mean = self._binary_parts(positive, None), self.total_weight / self.n_rows
        self.cluster.update("open_boosting", parts.key, positive, loss, mean)
        return parts

    def open_multinomial(self, C: float) -> MultinomialClusterParts:
        """Return the problem of all classes."""
        parts = MultinomialClusterParts(self, next(_keys), self.n_rows, C)
        self.cluster.update("open_multinomial", parts.key, C)
        return parts

    def _binary_parts(self, positive: int, loss: LossFamily | None) -> BinaryParts:
        n_positive = int(self.class_counts[positive])
        return BinaryParts(
            self, next(_keys), self.n_rows, positive, loss, n_positive, self.total_weight
        )


class EncodedTable(NamedTuple):
    """A table whose rows are encoded on the workers, and what is known of it here."""

    table: ClusterTable
    classes: np.ndarray

    @property
    def design(self) -> Design:
        """The design of the columns, without rows."""
        return self.table.design

    def with_interactions(
        self, terms: Sequence[Term], max_cells: int, strength: float
    ) -> EncodedTable:
        """Return the table with exactly these interactions."""
        options = InteractionOptions(terms, max_cells, strength)
        return self._replace(table=self.table.with_interactions(options))

    def close(self, parts: ClusterParts, keys: list[int] | None) -> None:
        """Remove a solved problem; with ``keys``, keep it and add its key."""
        if keys is None:
            self.table.cluster.close_problems()
        else:
            keys.append(parts.key)

    def problems(self) -> list[tuple[int, str]]:
        """Return the positive class of each problem, and the suffix of its title."""
        if len(self.classes) == 2:
            return [(1, "")]
        return [(k, f", class {name}") for k, name in enumerate(self.classes.tolist())]


@dataclass(frozen=True)
class ClusterParts:
    """The rows of one problem in the parts of a cluster; see `Parts`."""

    _read_only: ClassVar[frozenset[str]]
    _transient: ClassVar[frozenset[str]] = frozenset()

    table: ClusterTable
    key: int
    n_rows: int

    @property
    def n_threads(self) -> int:
        """The number of threads of this process."""
        return self.table.n_threads

    @property
    def packing(self) -> Packing:
        """The packing of the columns, without rows."""
        return self.table.design.packing

    @property
    def n_lookups(self) -> int:
        """The number of table entries that are added up for a row."""
        return self.packing.codes.n_lookups

    @property
    def n_additions(self) -> int:
        """The largest number of additions that a row's term goes through in `call`."""
        return self.table.n_additions

    def call(self, method: str, *args: Any, n_rows: float | None = None) -> Any:
        """Return the sum of the results of a method of all parts."""
        cluster, call = self.table.cluster, (self.key, method, args, self._share(n_rows))
        if method in self._read_only:
            return cluster.read("call", *call)
        return cluster.change("call", *call, is_transient=method in self._transient)

    def update(self, method: str, *args: Any, n_rows: float | None = None) -> None:
        """Call a method of all parts that returns nothing, together with the next `call`."""
        self.table.cluster.update("call", self.key, method, args, self._share(n_rows))

    def _share(self, n_rows: float | None) -> float | None:
        """Return how many of some rows a part has."""
        return None if n_rows is None else n_rows / self.table.cluster.n_parts


@dataclass(frozen=True)
class MultinomialClusterParts(ClusterParts):
    """The rows of a multinomial problem in the parts of a cluster; see `MultinomialParts`."""

    _read_only: ClassVar[frozenset[str]] = MULTINOMIAL_READ_ONLY
    _transient: ClassVar[frozenset[str]] = MULTINOMIAL_TRANSIENT

    C: float

    @property
    def class_costs(self) -> np.ndarray:
        """The total cost of the rows of each class."""
        return self.C * self.table.class_totals

    @property
    def n_sum_additions(self) -> int:
        """An upper bound on the additions that a row's term goes through in a sum."""
        return self.n_additions

    def dual_coef(self) -> np.ndarray:
        """Return an array without samples: dual variables stay on the workers."""
        return np.empty((len(self.table.class_totals), 0))


@dataclass(frozen=True)
class BinaryParts(ClusterParts):
    """The rows of one binary problem in the parts of a cluster; see `SolverParts`."""

    _read_only: ClassVar[frozenset[str]] = SOLVER_READ_ONLY | BOOSTING_READ_ONLY

    positive: int
    loss: LossFamily | None
    n_positive: int
    total_weight: float

    def subsample(self, k: int, C: float) -> SolverParts:
        """Return one out of every ``k`` rows as a separate problem with another C.

        If it is small it is moved to this process, where the many calls of a solver take less time.
        """
        if self.n_rows / k * len(self.packing.codes.bins) <= _MAX_MOVED:
            sample = self.table.cluster.read("sample", (), k)
            positive, packing = sample.label == self.positive, self.table.pack(sample.codes)
            return SolverBlocks(
                packing, None, positive, self._loss, sample.weight, C, self.n_threads
            )
        key = next(_keys)
        sizes = self.table.cluster.change("open_subsample", key, self.positive, self._loss, C, k)
        n_rows, n_positive, weight = sizes.tolist()
        return replace(
            self, key=key, n_rows=int(n_rows), n_positive=int(n_positive), total_weight=weight
        )

    @property
    def _loss(self) -> LossFamily:
        if self.loss is None:
            raise TypeError("A boosting problem has no subsample.")
        return self.loss

    def dual_coef(self) -> np.ndarray:
        """Return an empty array: dual variables stay on the workers."""
        return np.empty(0)
