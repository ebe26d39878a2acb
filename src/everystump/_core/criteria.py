"""The losses that estimators offer by name, each with the solver that it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from everystump._core.losses import Hinge, Logistic, SquaredHinge
from everystump._core.solvers import Solution, solve_hinge, solve_smooth


@dataclass(frozen=True)
class Criterion:
    """A loss and its solver.

    ``rougher`` says how many times the tolerance is fine enough to score a model of a path: more
    where a start from another C is followed by a Newton step in any case, which is nearly exact.
    """

    loss: type
    solve: Callable[..., Solution]
    rougher: float


CRITERIA: dict[str, Criterion] = {
    "hinge": Criterion(Hinge, solve_hinge, 3.0),
    "logistic": Criterion(Logistic, solve_smooth, 10.0),
    "squared_hinge": Criterion(SquaredHinge, solve_smooth, 3.0),
}
