"""Where a solver stands: what can be seen from there, and a Newton step away from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from everystump._core.solvers.bracket import Bracket, bracket
from everystump._core.solvers.conjugate import Stop
from everystump._core.solvers.edges import Edges
from everystump._core.solvers.finish import finish
from everystump._core.solvers.newton import Newton, line_search
from everystump._core.solvers.problem import Problem, Solution
from everystump._core.solvers.rows import Rows, Slopes

# From another C's solution edges are held at this share of their last stiffness.
_RESUMED_STIFFNESS = 0.2


class Steps(Protocol):
    """What finds Newton's steps."""

    products: int

    def bend(self) -> np.ndarray:
        """Return the diagonal of Newton's matrix."""

    def direction(
        self, now: Bracket, stop: Stop, scale: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Return the step of the weights and of the bias."""


class Point:
    """Weights and bias, the rows whose margins go with them, and the edges with a sign.

    On the way weights may have the wrong sign a little; what is shown or returned has not.
    """

    def __init__(self, problem: Problem, rows: Rows, newton: Steps | None = None) -> None:
        self.problem, self.rows = problem, rows
        self.newton = Newton(problem, rows) if newton is None else newton
        self.edges = Edges(problem.signs)
        self.weights = problem.space.zeros()
        self.bias = 0.0

    def resume(self, start: Solution) -> None:
        """Go to the solution for another C."""
        self.place(start.weights, start.bias)

    def place(self, weights: np.ndarray, bias: float) -> None:
        """Go to given weights and bias."""
        self.weights, self.bias = weights, bias
        self.rows.place(self.problem.space.matvec(weights), bias)

    def look(self) -> tuple[Slopes, Bracket]:
        """Return what the rows know here, and both values around the optimum.

        The primal value is that of the nearest weights with their signs.
        """
        slopes = self.rows.slopes()
        if not self.edges:
            return slopes, bracket(self.problem, self.weights, slopes)
        kept = self.problem.project(self.weights)
        self.rows.set_direction(self.problem.chains.matvec(kept - self.weights), 0.0)
        loss, min_margin = self.rows.proposed()
        there = replace(slopes, loss=loss, min_margin=min_margin)
        now = bracket(self.problem, kept, there)
        return slopes, replace(now, residual=now.residual + kept - self.weights)

    def lean(self, start: Solution) -> None:
        """Smooth the edges around the forces that belong to the rows' dual variables."""
        if self.edges:
            _, now = self.look()
            stiffness = _RESUMED_STIFFNESS * self.rows.C / start.C * start.stiffness
            self.edges.lean(now.residual + self.weights, stiffness)

    def step(self, now: Bracket, stop: Stop) -> None:
        """Take one Newton step."""
        scale = None
        if self.edges:
            if self.edges.loose:
                self.edges.hold(self.newton.bend())
            scale = self.edges.scale(self.weights)
            now = replace(now, residual=now.residual + self.edges.pull(self.weights))
        dw, db = self.newton.direction(now, stop, scale)
        self.rows.set_direction(self.problem.space.matvec(dw), db)
        t = line_search(self.rows, self.weights, dw, self.edges, self.problem.space.dot)
        self.weights = self.weights + t * dw
        self.bias += t * db
        self.rows.move(t)

    def shortfall(self, now: Bracket) -> float:
        """Return what Newton's residual adds to the duality gap."""
        residual = now.residual
        if self.edges:
            residual = (residual + self.edges.pull(self.weights)) * self.edges.scale(self.weights)
        return self.problem.space.dot(residual, residual) / 2

    def finish(self, tol: float, n_iter: int) -> Solution:
        """Return the solution with its certificate."""
        kept = self.problem.project(self.weights)
        solution = finish(self.problem, self.rows, kept, self.bias, tol, n_iter)
        return replace(solution, stiffness=self.edges.stiffness)
