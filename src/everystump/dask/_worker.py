"""The rows of some chunks of a training table on a worker: their codes and the state of solvers.

An instance lives on a worker as a Dask actor.  What it holds follows from its chunks and from the
calls of its methods so far, so that it can be rebuilt elsewhere by repeating them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from everystump._core.blocks import Blocks
from everystump._core.boosting.losses import BoostingLoss
from everystump._core.boosting.rows import boosted_blocks
from everystump._core.chunk_columns import BinSums, add_sums
from everystump._core.columns import Column, Columns
from everystump._core.design import Design
from everystump._core.losses import LossFamily
from everystump._core.solvers.row_blocks import SolverBlocks, subsample_rows
from everystump._tables.chunks import Chunk, TablePlan
from everystump._terms import Term


@dataclass
class PartSizes:
    """The sizes of the chunks of a part, and sums over its rows."""

    n_rows: list[int]  # of each chunk, of positive weight
    class_counts: np.ndarray  # (n_classes,)
    n_additions: int  # through which a row's term goes at most in a sum over the part
    sums: list[BinSums]  # of each column


@dataclass
class RowSample:
    """Some rows: their codes, labels, weights, and dual variables ``y a`` in some problems."""

    codes: np.ndarray  # (n_features, n_rows)
    label: np.ndarray  # (n_rows,)
    weight: np.ndarray  # (n_rows,)
    duals: np.ndarray  # (n_problems, n_rows)

    def __add__(self, other: RowSample) -> RowSample:
        return RowSample(
            np.concatenate([self.codes, other.codes], axis=1),
            np.concatenate([self.label, other.label]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.duals, other.duals], axis=1),
        )


class _EncodedRows(NamedTuple):
    """The encoded rows of a chunk."""

    codes: np.ndarray  # (n_features, n_rows)
    label: np.ndarray  # (n_rows,)
    weight: np.ndarray | None  # (n_rows,)
    sums: list[BinSums]  # of each column

    @classmethod
    def from_chunk(cls, chunk: Chunk, plan: TablePlan, n_threads: int) -> _EncodedRows:
        rows = plan.read(chunk)
        codes = np.empty((len(plan.columns), len(rows.label)), dtype=plan.code_type)
        return cls(codes, rows.label, rows.weight, plan.encode(rows, codes, n_threads))


class WorkerRows:
    """The rows of some chunks; ``class_weight`` is the weight of each class."""

    def __init__(
        self, plan: TablePlan, class_weight: np.ndarray, n_threads: int, *chunks: Chunk
    ) -> None:
        parts = [_EncodedRows.from_chunk(chunk, plan, n_threads) for chunk in chunks]
        self._codes = np.concatenate([part.codes for part in parts], axis=1)
        self._label = np.concatenate([part.label for part in parts])
        self._sample_weight = _join_weights([(part.weight, len(part.label)) for part in parts])
        self._weight = _multiply(self._sample_weight, class_weight, self._label)
        self._sizes = [len(part.label) for part in parts]
        self._n_threads = n_threads
        self._starts: list[int] = []
        self._design: Design | None = None
        self._problems: dict[int, Blocks] = {}
        sums = parts[0].sums
        for part in parts[1:]:
            sums = add_sums(sums, part.sums)
        self._sums, self._n_classes = sums, len(class_weight)

    def run(self, calls: Sequence[tuple[str, tuple]]) -> Any:
        """Call methods one after the other, given their arguments; return the last result."""
        result = None
        for method, args in calls:
            result = getattr(self, method)(*args)
        return result

    def sizes(self) -> PartSizes:
        """Return the sizes of the part."""
        counts = np.bincount(self._label, minlength=self._n_classes)
        return PartSizes(self._sizes, counts, len(self._label) + 1, self._sums)

    def set_design(
        self, starts: Sequence[int], columns: tuple[Column, ...], options: dict[str, Any]
    ) -> None:
        """Set the columns of the whole table; ``starts`` are the first rows of the chunks in it."""
        self._starts = list(starts)
        own = Columns(columns, self._codes)
        self._design = Design.from_columns(
            own, sample_weight=self._sample_weight, join=False, **options
        )

    @property
    def design(self) -> Design:
        """The design of the whole table with the codes of these rows."""
        if self._design is None:
            raise RuntimeError("set_design must be called first.")
        return self._design

    def add_interactions(self, terms: Sequence[Term], max_cells: int, strength: float) -> None:
        """Add interactions to the design."""
        self._design = self.design.with_interactions(
            terms, max_cells=max_cells, strength=strength, n_threads=self._n_threads
        )

    def cell_sums(self) -> np.ndarray:
        """Return the weight of the rows in the cells of interactions."""
        return self.design.cell_sums

    def open_solver(self, key: int, positive: int, loss: LossFamily, C: float) -> None:
        """Add the problem of a class against the rest."""
        is_positive = self._label == positive
        self._problems[key] = SolverBlocks(
            self.design.packing, None, is_positive, loss, self._weight, C, self._n_threads
        )

    def open_subsample(
        self, key: int, positive: int, loss: LossFamily, C: float, k: int
    ) -> np.ndarray:
        """Add the problem of one out of every ``k`` rows.

        Returns
        -------
        ndarray
            The number of rows, of positive ones, and the total weight.
        """
        rows = self._subsample(k)
        weight = self._weight
        equal = weight.strides == (0,)
        is_positive = self._label[rows] == positive
        own = weight[: len(rows)] if equal else weight[rows]
        if len(rows):
            self._problems[key] = SolverBlocks(
                self.design.packing, rows, is_positive, loss, own, C, self._n_threads
            )
        return np.array([len(rows), is_positive.sum(), own.sum()], dtype=np.float64)

    def open_boosting(
        self, key: int, positive: int, loss: BoostingLoss, mean_weight: float
    ) -> None:
        """Add the boosting problem of a class against the rest."""
        cost = np.ascontiguousarray(self._weight / mean_weight)
        self._problems[key] = boosted_blocks(
            self.design.packing, self._label == positive, cost, loss, self._n_threads
        )

    def close_problems(self) -> None:
        """Remove all problems."""
        self._problems = {}

    def call(self, key: int, method: str, args: tuple, n_rows: float | None) -> Any:
        """Return the sum of the results of a method of all blocks of a problem."""
        problem = self._problems.get(key)
        return None if problem is None else problem.call(method, *args, n_rows=n_rows)

    def sample(self, keys: Sequence[int], k: int) -> RowSample:
        """Return one out of every ``k`` rows with their dual variables in some problems."""
        rows = self._subsample(k)
        duals = np.empty((len(keys), len(rows)))
        for k, key in enumerate(keys):
            duals[k] = self._problems[key].dual_coef()[rows]  # type: ignore[attr-defined]
        return RowSample(
            self._codes[:, rows], self._label[rows], np.array(self._weight[rows]), duals
        )

    def _subsample(self, k: int) -> np.ndarray:
        offsets = np.cumsum([0, *self._sizes[:-1]])
        parts = [
            subsample_rows(start, start + size, k) - start + offset
            for start, size, offset in zip(self._starts, self._sizes, offsets, strict=True)
        ]
        return np.concatenate(parts)


def _join_weights(parts: list[tuple[np.ndarray | None, int]]) -> np.ndarray | None:
    """Return the weights of the rows of all chunks; None if all are 1."""
    if all(weight is None for weight, _ in parts):
        return None
    return np.concatenate([np.ones(n) if weight is None else weight for weight, n in parts])


def _multiply(
    sample_weight: np.ndarray | None, class_weight: np.ndarray, label: np.ndarray
) -> np.ndarray:
    """Return sample weights times class weights; equal weights take no memory."""
    if sample_weight is None and np.all(class_weight == class_weight[0]):
        return np.broadcast_to(class_weight[0], label.shape)
    factor = class_weight[label]
    return factor if sample_weight is None else factor * sample_weight
