"""The losses that estimators offer by name, each with the solver that it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from everystump.losses import Hinge, Logistic, SquaredHinge
from everystump.solvers import Solution, solve_hinge, solve_smooth


@dataclass(frozen=True)
class Criterion:
    """A loss and its solver."""

    loss: type
    solve: Callable[..., Solution]


CRITERIA: dict[str, Criterion] = {
    "hinge": Criterion(Hinge, solve_hinge),
    "logistic": Criterion(Logistic, solve_smooth),
    "squared_hinge": Criterion(SquaredHinge, solve_smooth),
}
