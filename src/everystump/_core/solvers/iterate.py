"""The current iterate of a solver: its primal and dual values, and Newton steps from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from everystump._core.solvers.chain_certificate import certified_solution
from everystump._core.solvers.conjugate_gradients import StoppingRule
from everystump._core.solvers.duality import PrimalDual, primal_dual
from everystump._core.solvers.newton_system import ChainNewtonSystem, hessian_diagonal, line_search
from everystump._core.solvers.problem import Problem, Solution
from everystump._core.solvers.rows import Rows, RowSums
from everystump._core.solvers.sign_constraints import SignConstraints

# A warm start from another C uses this fraction of its last penalty on the signs.
_RESUMED_SIGN_PENALTY = 0.2


class NewtonSystem(Protocol):
    """A source of Newton directions; ``products`` counts the products for the last one."""

    products: int

    def direction(
        self, current: PrimalDual, stop: StoppingRule, scale: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Return the step of the weights and of the intercept."""


class Iterate:
    """Weights and intercept, the rows with their margins, and the sign constraints.

    Between steps weights may slightly violate their signs; values and solutions are those of the
    projected weights.
    """

    def __init__(self, problem: Problem, rows: Rows, system: NewtonSystem | None = None) -> None:
        self.problem, self.rows = problem, rows
        self.system = ChainNewtonSystem(problem, rows) if system is None else system
        self.constraints = SignConstraints(problem.signs)
        self.weights = problem.operator.zeros()
        self.intercept = 0.0

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
        """Move to given weights and intercept."""
        self.weights, self.intercept = weights, intercept
        self.rows.set_margins(self.problem.operator.matvec(weights), intercept)

    def evaluate(self) -> tuple[RowSums, PrimalDual]:
        """Return the sums over the rows, and the primal and dual values.

        The primal value is that of the projected weights.
        """
        sums = self.rows.sums()
        if not self.constraints:
            return sums, primal_dual(self.problem, self.weights, sums)
        projected = self.problem.project(self.weights)
        self.rows.set_direction(self.problem.chains.matvec(projected - self.weights), 0.0)
        loss, min_margin = self.rows.full_step_loss()
        projected_sums = replace(sums, loss=loss, min_margin=min_margin)
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
        operator = self.problem.operator
        self.rows.set_direction(operator.matvec(dw), db)
        t = line_search(self.rows, self.weights, dw, self.constraints, operator.dot)
        self.weights = self.weights + t * dw
        self.intercept += t * db
        self.rows.take_step(t)

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
        found = certified_solution(self.problem, self.rows, weights, self.intercept, tol, n_iter)
        return replace(found, sign_penalty=self.constraints.penalty)
