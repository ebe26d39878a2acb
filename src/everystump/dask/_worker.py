"""The rows of some chunks of a training table on a worker: their codes and the state of solvers.

An instance lives on a worker as a Dask actor.  What it holds follows from its chunks and from the
calls of its methods so far, so that it can be rebuilt elsewhere by repeating them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from distributed import get_worker
from distributed.protocol.pickle import dumps, loads

from everystump._core.blocks import Blocks
from everystump._core.boosting.losses import BoostingLoss
from everystump._core.boosting.rows import boosted_blocks
from everystump._core.columns import Column, Columns
from everystump._core.design import Design
from everystump._core.losses import LossFamily
from everystump._core.solvers.multinomial_blocks import MultinomialBlocks
from everystump._core.solvers.row_blocks import SolverBlocks
from everystump._tables.headers import Chunk
from everystump._tables.part_table import PartTable
from everystump._terms import Term


@dataclass
class RowSample:
    """Some rows: their codes, labels, weights, and dual variables ``y a`` in some problems."""

    codes: np.ndarray  # (n_features, n_rows)
    label: np.ndarray  # (n_rows,)
    weight: np.ndarray  # (n_rows,)
    duals: np.ndarray  # (n_problems, n_rows); a multinomial problem has one row per class

    def __add__(self, other: RowSample) -> RowSample:
        return RowSample(
            np.concatenate([self.codes, other.codes], axis=1),
            np.concatenate([self.label, other.label]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.duals, other.duals], axis=1),
        )


class Failed(NamedTuple):
    """The result of a call that raised an error, unlike one that was lost with its worker."""

    error: Exception


class WorkerRows(PartTable):
    """The rows of some chunks, which messages call by their ``sources``; see `PartTable`."""

    def __init__(self, sources: Sequence[str], categorical_features: Any, *chunks: Chunk) -> None:
        n_threads = get_worker().state.nthreads
        super().__init__(chunks, sources, categorical_features, n_threads)
        self._design: Design | None = None
        self._problems: dict[int, Blocks] = {}

    def run(self, calls: bytes) -> bytes:
        """Call methods, given pickled pairs of their names and arguments.

        Returns
        -------
        bytes
            The last result, pickled; `Failed` if one of the calls raised an error.
        """
        result: Any = None
        try:
            for method, args in loads(calls):
                result = getattr(self, method)(*args)
        except Exception as error:
            result = Failed(error)
        return dumps(result)

    def set_design(
        self,
        tables: Sequence[np.ndarray],
        class_weight: np.ndarray,
        columns: tuple[Column, ...],
        options: dict[str, Any],
    ) -> None:
        """Encode the rows, given the code of each cell by column, and set the columns.

        ``class_weight`` is the weight of each class.
        """
        codes, label, weight = self.encode(tables)
        self._label, self._weight = label, _multiply(weight, class_weight, label)
        self._n_classes = len(class_weight)
        self._design = Design.from_columns(
            Columns(columns, codes), sample_weight=weight, join=False, **options
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

    def open_multinomial(self, key: int, C: float) -> None:
        """Add the problem of all classes."""
        self._problems[key] = MultinomialBlocks(
            self.design.packing,
            None,
            self._label,
            C * self._weight,
            self._n_classes,
            self._n_threads,
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
        rows = self.subsample(k)
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
        rows = self.subsample(k)
        duals = [np.empty((0, len(rows)))]
        for key in keys:
            found = self._problems[key].dual_coef()  # type: ignore[attr-defined]
            duals.append(np.atleast_2d(found)[:, rows])
        codes = self.design.columns.codes[:, rows]
        return RowSample(
            codes, self._label[rows], np.array(self._weight[rows]), np.concatenate(duals)
        )


def _multiply(
    sample_weight: np.ndarray | None, class_weight: np.ndarray, label: np.ndarray
) -> np.ndarray:
    """Return sample weights times class weights; equal weights take no memory."""
    if sample_weight is None and np.all(class_weight == class_weight[0]):
        return np.broadcast_to(class_weight[0], label.shape)
    factor = class_weight[label]
    return factor if sample_weight is None else factor * sample_weight
