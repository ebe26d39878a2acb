"""The current iterate of a solver: its primal and dual values, and Newton steps from it.

With few rows and many features, the problem is solved in the span of its rows.  At the optimum the
weights are ``V'c``, a combination of the rows with coefficients ``c``, and every Newton step from
such weights leads to such weights.  So ``(c, K c)`` represents them, where ``K = V V'`` is the
kernel matrix: ``K c`` are the scores of the rows, and the product of one vector's ``c`` and
another's ``K c`` is their inner product.  The solvers take the same steps, but once the
kernel matrix is known, no cost depends on the number of features.  The certificate is computed from
the weights of the features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError

from everystump._core.codes import Codes
from everystump._core.losses import LossFamily
from everystump._core.packing import Packing
from everystump._core.solvers.duality import PrimalDual, certified_solution, primal_dual
from everystump._core.solvers.newton_system import (
    StoppingRule,
    TermNewtonSystem,
    hessian_diagonal,
    line_search,
    solve_in_span,
)
from everystump._core.solvers.problem import (
    Effort,
    Problem,
    Solution,
    SolverOptions,
    Span,
    TableKernelMatrix,
)
from everystump._core.solvers.row_blocks import Curvature, RowSums, SolverBlock, SolverBlocks
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.sign_constraints import SignConstraints

# A warm start from another C uses this fraction of its last penalty on the signs.
_RESUMED_SIGN_PENALTY = 0.2
# Added to the diagonal of a kernel matrix, relative to its largest entry, until it can be factored.
_JITTERS = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10)


class Iterate:
    """Weights and intercept, the rows with their margins, and the sign constraints.

    Between steps weights may slightly violate their signs; values and solutions are those of the
    projected weights.
    """

    def __init__(
        self, problem: Problem, rows: Rows, system: SpanNewtonSystem | None = None
    ) -> None:
        self.problem, self.rows = problem, rows
        self.system = system or TermNewtonSystem(problem, rows)
        self.constraints = SignConstraints(problem.signs)
        self.weights = problem.operator.zeros()
        self.intercept = 0.0
        self.step_length = 0.0  # of the last Newton step
        self._current: PrimalDual | None = None  # the last values

    def warm_start(self, start: Solution) -> None:
        """Move to the solution for another C."""
        self.move_to(start.weights, start.intercept)

    def warm_start_constraints(self, start: Solution) -> None:
        """Center the smoothing of the signs at the multipliers for the rows' dual variables."""
        if self.constraints:
            _, current = self.evaluate()
            penalty = _RESUMED_SIGN_PENALTY * self.rows.C / start.C * start.sign_penalty
            self.constraints.warm_start(current.residual + self.weights, penalty)

    def move_to(self, weights: np.ndarray, intercept: float) -> None:
        """Move to other weights and another intercept."""
        self.weights, self.intercept = weights, intercept
        self.rows.set_margins(self.problem.operator.matvec(weights), intercept)

    def rescale(self) -> None:
        """Do nothing: weights of the features keep the scale of the solution they come from."""

    def evaluate(self) -> tuple[RowSums, PrimalDual]:
        """Return the sums over the rows, and the primal and dual values.

        The primal value is that of the projected weights.
        """
        sums = self.rows.sums()
        if not self.constraints:
            self._current = primal_dual(self.problem, self.weights, sums)
            return sums, self._current
        projected = self.problem.project(self.weights)
        self.rows.set_direction(self.problem.terms.matvec(projected - self.weights), 0.0)
        step = self.rows.full_step_loss()
        projected_sums = replace(sums, loss=step.loss, min_margin=step.min_margin)
        current = primal_dual(self.problem, projected, projected_sums)
        return sums, replace(current, residual=current.residual + projected - self.weights)

    def newton_step(self, current: PrimalDual, stop: StoppingRule) -> None:
        """Take one Newton step."""
        scale = None
        if self.constraints:
            if self.constraints.needs_penalty:
                self.constraints.set_penalty(hessian_diagonal(self.problem, self.rows))
            scale = self.constraints.jump_factors(self.weights)
            force = self.constraints.force(self.weights)
            current = replace(current, residual=current.residual + force)
        dw, db = self.system.direction(current, stop, scale)
        self.step_length = self._step(dw, db)

    def _step(self, dw: np.ndarray, db: float) -> float:
        """Take a step along a direction; return its length."""
        operator = self.problem.operator
        self.rows.set_direction(operator.matvec(dw), db)
        t = line_search(self.rows, self.weights, dw, self.constraints, operator.dot)
        self.weights = self.weights + t * dw
        self.intercept += t * db
        self.rows.take_step(t)
        return t

    def residual_gap(self, current: PrimalDual) -> float:
        """Return the contribution of Newton's residual to the duality gap."""
        residual = current.residual
        if self.constraints:
            residual = residual + self.constraints.force(self.weights)
            residual = residual * self.constraints.jump_factors(self.weights)
        return self.problem.operator.dot(residual, residual) / 2

    def solution(self, tol: float, n_iter: int) -> Solution:
        """Return the certified solution."""
        weights = self.problem.project(self.weights)
        solution = certified_solution(
            self.problem, self.rows, weights, self.intercept, tol, n_iter, self._current
        )
        return replace(solution, sign_penalty=self.constraints.penalty)


class SpanBlock(SolverBlock):
    """All rows; instead of codes, each row has its own entry in a "table"."""

    def scatter_by_side(self, r: np.ndarray, side: np.ndarray) -> np.ndarray:
        """Return ``r`` of the rows with a true ``side`` and of the rest, 0 for the others."""
        return np.where([side, ~side], r, 0.0)

    def curvature(self) -> Curvature:
        """Compute the curvature at the margins; return it and the number of active rows."""
        weight = self.loss.curvature(self.margin)
        self.active = np.flatnonzero(weight)
        self.weight = weight[self.active]
        return Curvature(weight, len(self.active))

    def set_direction(self, table: np.ndarray, intercept: float) -> None:
        """Set the direction of the margins."""
        self.step = (table + intercept) * self.sign


class SpanRows(Rows):
    """The rows of a problem in their span: one block, without codes."""

    def __init__(self, rows: Rows, loss: LossFamily) -> None:
        source = cast(SolverBlocks, rows.parts)
        n = source.packing.codes.n_rows
        codes = Codes.from_bins(np.empty((0, n), dtype=np.uint8), np.zeros(1, dtype=np.int64))
        no_columns = Packing(codes, (), (), (), sparse.csr_array((0, 0)))
        parts = [(b.row_numbers(), b.target, b.row_weight) for b in source.blocks]
        index, target, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
        blocks = SolverBlocks(no_columns, index, target, loss, weight, rows.C, 1, SpanBlock)
        super().__init__(blocks, rows.C)
        self.index, self.block = index, cast(SpanBlock, blocks.blocks[0])


class SpanNewtonSystem:
    """Newton directions in the span of the rows, where every system is solved exactly."""

    products = 0

    def __init__(self, problem: Problem, span: Span, rows: SpanRows) -> None:
        self._fit_intercept, self._span, self._rows = problem.fit_intercept, span, rows

    def direction(
        self, current: PrimalDual, stop: StoppingRule, scale: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Return the step ``(dw, db)`` at the rows' current margins."""
        self._rows.curvature()
        residual = current.residual
        if self._rows.n_active == 0:
            return residual, current.imbalance / (current.total or 1.0)
        active, weight = self._rows.block.active, self._rows.block.weight
        matrix = self._span.matrix[np.ix_(active, active)]
        score, balance = residual[1][active], current.imbalance if self._fit_intercept else None
        multiplier = np.zeros_like(residual[1])
        for jitter in _JITTERS:
            try:
                multiplier[active], db = solve_in_span(matrix, weight, score, balance, jitter)
            except LinAlgError:
                continue
            return residual - self._span.rmatvec(multiplier), db
        return residual, 0.0


class SpanIterate(Iterate):
    """An iterate whose weights are a combination of the rows; its solution is like any other."""

    rows: SpanRows

    def __init__(self, problem: Problem, rows: Rows, kernel_matrix: TableKernelMatrix) -> None:
        self._original = problem, rows
        span_rows = SpanRows(rows, problem.loss)
        self._span = Span(kernel_matrix.submatrix(span_rows.index, rows.n_threads))
        system = SpanNewtonSystem(problem, self._span, span_rows)
        super().__init__(replace(problem, span=self._span), span_rows, system)

    def warm_start(self, start: Solution) -> None:
        """Move to the combination of the rows with the dual variables for another C."""
        self.move_to(self._span.rmatvec(start.dual_coef[self.rows.index]), start.intercept)

    def rescale(self) -> None:
        """Scale weights and intercept by about the best factor.

        With a large C, even small errors of the old dual variables lead to scores that are far too
        large, and so do larger kernels, as those of stronger interactions.
        """
        weights, intercept = self.weights, self.intercept
        self.move_to(np.zeros_like(weights), 0.0)
        self._step(weights, intercept)

    def solution(self, tol: float, n_iter: int) -> Solution:
        """Return the certified solution, in the weights of the features."""
        problem, rows = self._original
        coef = np.zeros(rows.packing.codes.n_rows)
        coef[self.rows.index] = self.weights[0]
        rows.set_duals(self.rows.dual_coef())
        weights = problem.terms.rmatvec(rows.scatter(coef))
        return certified_solution(problem, rows, weights, self.intercept, tol, n_iter)


def continue_outside_span(
    solve: Callable[[Problem, Rows, SolverOptions], Solution],
    problem: Problem,
    rows: Rows,
    options: SolverOptions,
    solution: Solution,
) -> Solution:
    """Continue a solution in the span of the rows that misses the tolerance.

    The gap seen in the span was small enough; that of the features' weights is not yet.
    """
    if solution.certificate.converged or solution.n_iter >= options.max_iter:
        return solution
    rest = replace(options, kernel_matrix=None, start=solution)
    rest = replace(rest, max_iter=options.max_iter - solution.n_iter)
    continued = solve(problem, rows, rest)
    return replace(continued, n_iter=solution.n_iter + continued.n_iter)


def initial_iterate(
    problem: Problem, rows: Rows, kernel_matrix: TableKernelMatrix | None, effort: Effort
) -> Iterate:
    """Return the iterate at 0, in the span of the rows if that is likely to be faster."""
    if kernel_matrix is None or problem.signs is not None:
        return Iterate(problem, rows)
    if kernel_matrix.is_faster(rows.n_rows, rows.C, effort):
        return SpanIterate(problem, rows, kernel_matrix)
    return Iterate(problem, rows)
