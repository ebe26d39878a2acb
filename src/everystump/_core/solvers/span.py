"""Few rows and many features: the problem in the span of its rows.

At the optimum the weights are ``V'c``, a combination of the rows with coefficients ``c``, and every
step of Newton's method from such weights leads to such weights.  So ``(c, K c)`` stands for them,
``K = V V'`` being the kernel matrix: ``K c`` are the rows' scores, and the product of one vector's
``c`` and another's ``K c`` is their inner product.  The solvers do the same in this language, step
for step, but once the kernel matrix is known nothing that they do grows with the features.  The
certificate is computed in the features' own weights in the end.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import NamedTuple, cast

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError

from everystump._core.chains import Chains
from everystump._core.losses import Loss
from everystump._core.packing import Packing
from everystump._core.solvers.bracket import Bracket
from everystump._core.solvers.conjugate import Stop
from everystump._core.solvers.finish import finish
from everystump._core.solvers.newton import multipliers
from everystump._core.solvers.point import Point
from everystump._core.solvers.problem import Problem, Solution, Span
from everystump._core.solvers.rows import RowBlock, Rows

# Seconds of what is to be chosen between; only ratios matter.  A kernel value, for each feature; an
# entry of a matrix that is multiplied or, with each of its rows, factored; a code; a place; a call.
_KERNEL_VALUE, _ENTRY, _FACTOR, _CODE, _PLACE, _CALL = 5e-11, 5e-9, 2e-11, 1.5e-9, 1.5e-8, 5e-5
_MOST_ROWS = 4000
# A problem of more than so many places a row, with such a kernel of a row with itself, times C, is
# a long one: its rows can be told apart by their features, and the solution comes close to it.
_MANY_PLACES, _LARGE_KERNEL = 12, 10.0
# What is added to the diagonal of a kernel matrix, by its largest entry, until it can be factored.
_JITTERS = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10)


class Effort(NamedTuple):
    """What solving takes, roughly.

    Newton steps, counted as if all rows were active in each, and products with Newton's matrices,
    ordinarily and in long problems.
    """

    steps: int
    products: int
    most_products: int


class Gram:
    """The kernel matrix of the rows of a table, computed when it is first asked for.

    All problems on the table share it: its classes, its folds, all values of C.

    Parameters
    ----------
    chains : Chains
        The chains of all features.
    packing : Packing
        Codes of all rows.
    """

    def __init__(self, chains: Chains, packing: Packing) -> None:
        self._chains, self._packing = chains, packing
        self._lock = Lock()
        self._whole: np.ndarray | None = None

    def pays(self, n_rows: int, C: float, effort: Effort) -> bool:
        """Tell whether a problem of so many rows is likely to be quicker with the matrix."""
        if n_rows > _MOST_ROWS:
            return False
        places = len(self._chains.jumps)
        large = C * self._chains.diameter**2 > 4 * _LARGE_KERNEL
        long = large and places > _MANY_PLACES * n_rows
        n_products = effort.most_products if long else effort.products
        matrix = _KERNEL_VALUE * n_rows**2 * (len(self._chains.starts) - 1)
        step = _ENTRY * n_rows**2 + _FACTOR * n_rows**3 + 4 * _CALL
        product = _CODE * n_rows * len(self._packing.codes) + _PLACE * places + _CALL
        with_matrix = (0.0 if self._whole is not None else matrix) + effort.steps * step
        return with_matrix < (n_products + 2 * effort.steps) * product

    def of(self, index: np.ndarray, n_threads: int) -> np.ndarray:
        """Return the matrix of some rows."""
        codes = self._packing.codes
        if len(index) < codes.shape[1] / 2:
            return self._chains.kernel_matrix(self._packing.flat_bins(codes[:, index]), n_threads)
        with self._lock:
            if self._whole is None:
                self._whole = self._chains.kernel_matrix(self._packing.flat_bins(codes), n_threads)
        return self._whole[np.ix_(index, index)]


class SpanBlock(RowBlock):
    """All rows, each seeing an entry of its own in a table instead of its codes."""

    def scatter_by_class(self, r: np.ndarray, *_: object) -> np.ndarray:
        """Return ``r`` of the positive and of the negative rows, 0 at the others."""
        return np.where([self.positive, ~self.positive], r, 0.0)

    def curvature(self) -> tuple[np.ndarray, int]:
        """Fix the curvature and pick the rows that have any; return it."""
        weight = self.loss.curvature(self.margin)
        self.active = np.flatnonzero(weight)
        self.weight = weight[self.active]
        return weight, len(self.active)

    def set_direction(self, table: np.ndarray, bias: float) -> None:
        """Set the direction of the margins."""
        self.step = (table + bias) * self.sign


class SpanRows(Rows):
    """The rows of a problem in their span: one block, without codes."""

    make_block = SpanBlock

    def __init__(self, rows: Rows, loss: type[Loss]) -> None:
        n = rows.packing.codes.shape[1]
        codes, starts = np.empty((0, n), dtype=np.uint8), np.zeros(1, dtype=np.intp)
        nothing = Packing(codes, starts, (), (), (), sparse.csr_array((0, 0)))
        index, positive, weight = (
            np.concatenate(parts)
            for parts in zip(
                *[(b.row_numbers(), b.positive, b.row_weight) for b in rows.blocks], strict=True
            )
        )
        super().__init__(nothing, index, positive, loss, weight, rows.C, n_threads=1)
        self.index, self.block = index, cast(SpanBlock, self.blocks[0])


class SpanNewton:
    """Newton's steps in the span of the rows, where every system is solved exactly."""

    products = 0

    def __init__(self, problem: Problem, span: Span, rows: SpanRows) -> None:
        self._bias, self._span, self._rows = problem.bias, span, rows

    def bend(self) -> np.ndarray:
        """Raise: no weight has a sign to keep."""
        raise NotImplementedError

    def direction(
        self, now: Bracket, stop: Stop, scale: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Return the step ``(dw, db)`` at the rows' current margins."""
        self._rows.curvature()
        if self._rows.n_active == 0:
            return now.residual, now.imbalance / (now.total or 1.0)
        active, weight = self._rows.block.active, self._rows.block.weight
        kernel = self._span.matrix[np.ix_(active, active)]
        score, balance = now.residual[1][active], now.imbalance if self._bias else None
        multiplier = np.zeros_like(now.residual[1])
        for jitter in _JITTERS:
            try:
                multiplier[active], db = multipliers(kernel, weight, score, balance, jitter)
            except LinAlgError:
                continue
            return now.residual - self._span.rmatvec(multiplier), db
        return now.residual, 0.0


class SpanPoint(Point):
    """A point whose weights are a combination of the rows; what it returns is like any other."""

    rows: SpanRows

    def __init__(self, problem: Problem, rows: Rows, gram: Gram) -> None:
        self._home = problem, rows
        inside = SpanRows(rows, problem.loss)
        self._span = Span(gram.of(inside.index, rows.n_threads))
        newton = SpanNewton(problem, self._span, inside)
        super().__init__(replace(problem, span=self._span), inside, newton)

    def resume(self, start: Solution) -> None:
        """Go to the combination of the rows that the dual variables for another C make."""
        self.place(self._span.rmatvec(start.dual_coef[self.rows.index]), start.bias)

    def finish(self, tol: float, n_iter: int) -> Solution:
        """Return the solution with its certificate, in the features' own weights."""
        problem, rows = self._home
        coef = np.zeros(rows.packing.codes.shape[1])
        coef[self.rows.index] = self.weights[0]
        rows.set_duals(self.rows.dual_coef(np.ones(2)))
        weights = problem.chains.rmatvec(rows.combine(coef))
        return finish(problem, rows, weights, self.bias, tol, n_iter)


def start_point(problem: Problem, rows: Rows, gram: Gram | None, effort: Effort) -> Point:
    """Return a point at 0, in the span of the rows if that promises to be quicker."""
    if gram is None or problem.signs is not None:
        return Point(problem, rows)
    if gram.pays(rows.n_rows, rows.C, effort):
        return SpanPoint(problem, rows, gram)
    return Point(problem, rows)
