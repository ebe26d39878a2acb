"""Newton steps for ``|w|^2 / 2 + sum of smooth losses``, with the bias eliminated.

With ``W`` the losses' curvature, ``r = v(a) - w`` and ``e = sum of y a`` the step solves

    (I + V'WV - h h'/k) dw = r - h e / k,      db = (e - h'dw) / k,

where ``V = gather S``, ``h = V'W1`` and ``k = sum of W``.  Rows without curvature play no part.
Two ways to solve it: conjugate gradients preconditioned by the blocks of the features, or, when
few rows are active and the former would take longer, exactly through their kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import daxpy

from everystump._core.chains import Chains
from everystump._core.solvers.bracket import Bracket
from everystump._core.solvers.conjugate import Stop, conjugate_gradients
from everystump._core.solvers.edges import NO_CONSTRAINTS, Edges
from everystump._core.solvers.preconditioner import BlockPreconditioner
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.rows import Rows

_MOST_ROWS_EXACT = 3000
_MOST_PRODUCTS = 5000
_MOST_TRIALS = 60


class Newton:
    """Newton's steps for one problem; remembers how many products the last system took."""

    def __init__(self, problem: Problem, rows: Rows) -> None:
        self.problem = problem
        self.rows = rows
        self.products = 0
        self._blocks = BlockPreconditioner(problem)

    def bend(self) -> np.ndarray:
        """Return the diagonal of the matrix at the rows' current margins, with a bias."""
        diagonal, joint = self.rows.curvature()
        tilt = self.problem.chains.rmatvec(diagonal)
        total = float(joint[: self.problem.packing.starts[1]].sum())
        return 1.0 + self.problem.chains.jumps * tilt - tilt**2 / (total or 1.0)

    def direction(
        self, now: Bracket, stop: Stop, scale: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Return the step ``(dw, db)`` at the rows' current margins.

        ``scale`` puts ``1 / scale^2`` in the place of the ones of ``I``: weights in other units,
        in which they are ones again and the jumps are others.
        """
        if scale is None:
            return self._solve(now, stop, None)
        dw, db = self._solve(replace(now, residual=scale * now.residual), stop, scale)
        return scale * dw, db

    def _solve(
        self, now: Bracket, stop: Stop, scale: np.ndarray | None
    ) -> tuple[np.ndarray, float]:
        residual, imbalance = now.residual, now.imbalance
        diagonal, joint = self.rows.curvature()
        if self.rows.n_active == 0:
            # Nothing bends: along the gradient the line search finds where something does.
            return residual, imbalance / (now.total or 1.0)
        cost, exact_cost = self._cost_of_product(), self._cost_of_exact()
        if self._blocks.cost + self.products * cost > exact_cost:
            try:
                step = self._exact(residual, imbalance, scale)
            except LinAlgError:
                exact_cost = np.inf
            else:
                # Less each time, so that conjugate gradients get another chance some day.
                self.products = int(0.9 * self.products)
                return step
        patience = int(max(20.0, 3 * exact_cost / cost)) if exact_cost < np.inf else _MOST_PRODUCTS
        return self._iterative(diagonal, joint, residual, imbalance, stop, patience, scale)

    def _chains(self, scale: np.ndarray | None) -> Chains:
        chains = self.problem.chains
        return chains if scale is None else chains.scaled(scale)

    def _cost_of_product(self) -> float:
        """Estimate the seconds of one step of conjugate gradients; only ratios matter."""
        codes = self.rows.n_active * self.rows.n_joint
        return 0.8e-9 * codes + 1.2e-8 * len(self.problem.chains.jumps) + 5e-5

    def _cost_of_exact(self) -> float:
        n, n_features = self.rows.n_active, len(self.problem.chains.starts) - 1
        if n > _MOST_ROWS_EXACT:
            return np.inf
        return 6e-10 * n**2 * n_features + 1e-11 * n**3 + 2e-4

    def _iterative(
        self,
        diagonal: np.ndarray,
        joint: np.ndarray,
        residual: np.ndarray,
        imbalance: float,
        stop: Stop,
        patience: int,
        scale: np.ndarray | None = None,
    ) -> tuple[np.ndarray, float]:
        chains = self._chains(scale)
        total = float(joint[: self.problem.packing.starts[1]].sum())
        tilt = chains.rmatvec(diagonal) if self.problem.bias else np.zeros_like(residual)

        def product(v: np.ndarray) -> np.ndarray:
            out = chains.rmatvec(self.rows.product(chains.matvec(v)))
            out += v
            return daxpy(tilt, out, a=-float(tilt @ v) / total)

        dw, self.products = conjugate_gradients(
            product,
            self._blocks.factor(diagonal, joint, scale),
            residual - tilt * (imbalance / total),
            stop,
            patience,
        )
        db = (imbalance - float(tilt @ dw)) / total if self.problem.bias else 0.0
        return dw, db

    def _exact(
        self, residual: np.ndarray, imbalance: float, scale: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Solve through the kernel matrix of the active rows."""
        chains, active = self._chains(scale), self.rows.active()
        kernel = chains.kernel_matrix(active.places(), self.rows.n_threads)
        score = active.gather(chains.matvec(residual))
        balance = imbalance if self.problem.bias else None
        multiplier, db = multipliers(kernel, active.weight, score, balance)
        return residual - chains.rmatvec(active.scatter(multiplier)), db


def multipliers(
    kernel: np.ndarray,
    weight: np.ndarray,
    score: np.ndarray,
    imbalance: float | None,
    jitter: float = 0.0,
) -> tuple[np.ndarray, float]:
    """Solve ``(K + 1/W) l - db = V r``, ``sum of l = e``; then ``dw = r - V'l``.

    ``K`` is multiplied by the roots of ``W`` from both sides, so that it may be huge or tiny.
    Without an ``imbalance`` ``e`` there is no ``db``.
    """
    root = np.sqrt(weight)
    matrix = root[:, None] * kernel * root
    diagonal = np.diag_indices_from(matrix)
    matrix[diagonal] += 1.0 + jitter * matrix[diagonal].max()
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    multiplier = root * cho_solve(factor, root * score, check_finite=False)
    if imbalance is None:
        return multiplier, 0.0
    ones = root * cho_solve(factor, root, check_finite=False)
    db = (imbalance - float(multiplier.sum())) / float(ones.sum())
    return multiplier + db * ones, db


def line_search(
    rows: Rows,
    weights: np.ndarray,
    dw: np.ndarray,
    edges: Edges = NO_CONSTRAINTS,
    dot: Callable[[np.ndarray, np.ndarray], float] = Chains.dot,
) -> float:
    """Return a step length at which the objective along ``dw`` is nearly flat.

    The derivative along the direction rises with the length, so a root is bracketed and then
    narrowed by false position, with halving where that is slow.
    """
    cross, square = dot(weights, dw), dot(dw, dw)

    def derivative(t: float) -> float:
        return cross + t * square - rows.along(t) - edges.along(weights, dw, t)

    start = derivative(0.0)
    if start >= 0.0:
        return 0.0
    low, low_slope, high, high_slope = 0.0, start, np.inf, np.inf
    t = 1.0
    for attempt in range(_MOST_TRIALS):
        slope = derivative(t)
        if abs(slope) <= 0.3 * abs(start):
            return t
        if slope < 0.0:
            low, low_slope = t, slope
        else:
            high, high_slope = t, slope
        if high == np.inf:
            t = 2.0 * low
        elif attempt % 2:
            t = (low + high) / 2
        else:
            t = low + (high - low) * low_slope / (low_slope - high_slope)
    return low
