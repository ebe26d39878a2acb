"""Newton directions for ``|w|^2 / 2 + sum of smooth losses``, with the intercept eliminated.

With ``W`` the curvature of the losses, ``r = v(a) - w`` and ``e = sum of y a`` the step solves

    (I + V'WV - h h'/k) dw = r - h e / k,      db = (e - h'dw) / k,

where ``V = gather S``, ``h = V'W1`` and ``k = sum of W``.  Only active rows, those with curvature,
matter.  The system is solved by conjugate gradients, preconditioned by the blocks of the features,
or exactly through the kernel matrix of the active rows if these are so few that it is faster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import daxpy

from everystump._core.solvers.duality import PrimalDual
from everystump._core.solvers.preconditioner import BlockPreconditioner, Operator
from everystump._core.solvers.problem import Problem
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.sign_constraints import NO_CONSTRAINTS, SignConstraints
from everystump._core.terms import Terms

_MAX_EXACT_ROWS = 3000
_MAX_PRODUCTS = 5000
_MAX_TRIALS = 60


class Stop(Protocol):
    """Decides when conjugate gradients stop."""

    def is_met(self, r: np.ndarray, rz: float, start: float, decrease: float) -> bool:
        """Whether a solution is accurate enough, given its residual ``r``.

        ``rz`` is ``r' M^-1 r``, ``start`` its initial value, and ``decrease`` the decrease of the
        squared error in the norm of the matrix by the last step, 0 before the first one.
        """


@dataclass(frozen=True)
class StoppingRule:
    """When a Newton direction with residual ``r`` is accurate enough.

    ``|r|^2 / 2`` is the contribution of the residual to the duality gap.  Stop when it is at most
    ``floor``, or when it is at most ``target`` and ``r' M^-1 r`` fell to the fraction ``relative``
    of its initial value.
    """

    floor: float
    target: float
    relative: float

    def is_met(self, r: np.ndarray, rz: float, start: float, decrease: float) -> bool:
        """Whether a solution is accurate enough; see `Stop`."""
        energy = float(r @ r) / 2
        return energy <= self.floor or (energy <= self.target and rz <= self.relative * start)


def conjugate_gradients(
    product: Operator, precondition: Operator, rhs: np.ndarray, stop: Stop, max_iter: int
) -> tuple[np.ndarray, int]:
    """Return the solution and the number of products."""
    x = np.zeros_like(rhs)
    r = rhs.copy()
    z = precondition(r)
    p = z.copy()
    start = rz = float(r @ z)
    decrease = 0.0
    for n_iter in range(max_iter):
        if stop.is_met(r, rz, start, decrease):
            return x, n_iter
        q = product(p)
        curvature = float(p @ q)
        if not 0.0 < curvature < np.inf:  # lost to rounding; x is still a descent direction
            return x, n_iter
        length = rz / curvature
        decrease = length * rz
        daxpy(p, x, a=length)  # in place
        daxpy(q, r, a=-length)
        z = precondition(r)
        previous, rz = rz, float(r @ z)
        p *= rz / previous
        p += z
    return x, max_iter


def reduced_product(terms: Terms, rows: Rows, h: np.ndarray, k: float) -> Operator:
    """Return the product with ``I + V'WV - h h'/k``, for the curvature that the rows hold."""

    def product(v: np.ndarray) -> np.ndarray:
        out = terms.rmatvec(rows.product(terms.matvec(v)))
        out += v
        return daxpy(h, out, a=-float(h @ v) / k)

    return product


class TermNewtonSystem:
    """Newton directions of one problem; ``products`` counts the products for the last one."""

    def __init__(self, problem: Problem, rows: Rows) -> None:
        self.problem = problem
        self.rows = rows
        self.products = 0
        self._preconditioner = BlockPreconditioner(problem)

    def direction(
        self, current: PrimalDual, stop: StoppingRule, scale: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Return the step ``(dw, db)`` at the rows' current margins.

        With ``scale``, ``I`` is replaced by ``diag(1 / scale^2)``.  That is the same system for
        weights in other units, in which the matrix is ``I`` again and the jumps are scaled.
        """
        if scale is None:
            return self._solve(current, stop, None)
        scaled = replace(current, residual=scale * current.residual)
        dw, db = self._solve(scaled, stop, scale)
        return scale * dw, db

    def _solve(
        self, current: PrimalDual, stop: StoppingRule, scale: np.ndarray | None
    ) -> tuple[np.ndarray, float]:
        residual, imbalance = current.residual, current.imbalance
        diagonal, joint = self.rows.curvature()
        if self.rows.n_active == 0:
            # There is no curvature: the line search along the gradient will find some.
            return residual, imbalance / (current.total or 1.0)
        cost, exact_cost = self._product_cost(), self._exact_cost()
        if self._preconditioner.cost + self.products * cost > exact_cost:
            try:
                step = self._solve_exactly(residual, imbalance, scale)
            except LinAlgError:
                exact_cost = np.inf
            else:
                # Decreased each time, so that conjugate gradients are eventually tried again.
                self.products = int(0.9 * self.products)
                return step
        limited = exact_cost < np.inf
        max_products = int(max(20.0, 3 * exact_cost / cost)) if limited else _MAX_PRODUCTS
        return self._solve_iteratively(
            diagonal, joint, residual, imbalance, stop, max_products, scale
        )

    def _terms(self, scale: np.ndarray | None) -> Terms:
        terms = self.problem.terms
        return terms if scale is None else terms.scaled(scale)

    def _product_cost(self) -> float:
        """Estimate the seconds of one step of conjugate gradients; only ratios matter."""
        codes = self.rows.n_active * self.rows.n_lookups
        return 0.8e-9 * codes + 1.2e-8 * self.problem.terms.n_weights + 5e-5

    def _exact_cost(self) -> float:
        """Estimate the seconds of an exact solution."""
        n = self.rows.n_active
        if n > _MAX_EXACT_ROWS:
            return np.inf
        return 12 * self.problem.terms.kernel_cost * n**2 + 1e-11 * n**3 + 2e-4

    def _solve_iteratively(
        self,
        diagonal: np.ndarray,
        joint: np.ndarray,
        residual: np.ndarray,
        imbalance: float,
        stop: StoppingRule,
        max_products: int,
        scale: np.ndarray | None,
    ) -> tuple[np.ndarray, float]:
        """Solve by conjugate gradients, given the curvature by bin and by joint bin."""
        terms = self._terms(scale)
        k = float(joint[: self.problem.packing.starts[1]].sum())
        h = terms.rmatvec(diagonal) if self.problem.fit_intercept else np.zeros_like(residual)

        dw, self.products = conjugate_gradients(
            reduced_product(terms, self.rows, h, k),
            self._preconditioner.factor(diagonal, joint, scale),
            residual - h * (imbalance / k),
            stop,
            max_products,
        )
        db = (imbalance - float(h @ dw)) / k if self.problem.fit_intercept else 0.0
        return dw, db

    def _solve_exactly(
        self, residual: np.ndarray, imbalance: float, scale: np.ndarray | None
    ) -> tuple[np.ndarray, float]:
        """Solve through the kernel matrix of the active rows."""
        terms, active = self._terms(scale), self.rows.active()
        packing = self.problem.packing
        score = active.gather(packing.expand(terms.matvec(residual)))
        balance = imbalance if self.problem.fit_intercept else None
        matrix = terms.kernel_matrix(packing, active.codes, self.rows.n_threads)
        multiplier, db = solve_in_span(matrix, active.weight, score, balance)
        return residual - terms.rmatvec(packing.fold(active.scatter(multiplier))), db


def hessian_diagonal(problem: Problem, rows: Rows) -> np.ndarray:
    """Return the diagonal of Newton's matrix for the chains at the rows' current margins."""
    diagonal, joint = rows.curvature()
    n = problem.terms.n_bins
    h = problem.terms.rmatvec(diagonal)[:n]
    k = float(joint[: problem.packing.starts[1]].sum())
    return 1.0 + problem.terms.chains.jumps * h - h**2 / (k or 1.0)


def solve_in_span(
    matrix: np.ndarray,
    weight: np.ndarray,
    score: np.ndarray,
    imbalance: float | None,
    jitter: float = 0.0,
) -> tuple[np.ndarray, float]:
    """Solve ``(K + 1/W) l - db = V r``, ``sum of l = e``; then ``dw = r - V'l``.

    ``K`` is scaled by the roots of ``W`` on both sides, so that any magnitude of it is safe.
    Without an ``imbalance`` ``e`` there is no ``db``.
    """
    root = np.sqrt(weight)
    system = root[:, None] * matrix * root
    diagonal = np.diag_indices_from(system)
    system[diagonal] += 1.0 + jitter * system[diagonal].max()
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    multiplier = root * cho_solve(factor, root * score, check_finite=False)
    if imbalance is None:
        return multiplier, 0.0
    ones = root * cho_solve(factor, root, check_finite=False)
    db = (imbalance - float(multiplier.sum())) / float(ones.sum())
    return multiplier + db * ones, db


class HasDirection(Protocol):
    """Rows with a direction of their scores."""

    def directional_slopes(self, *lengths: float) -> np.ndarray:
        """Return minus the derivatives of the summed loss along the direction at some lengths."""


def line_search(
    rows: HasDirection,
    weights: np.ndarray,
    dw: np.ndarray,
    constraints: SignConstraints = NO_CONSTRAINTS,
    dot: Callable[[np.ndarray, np.ndarray], float] = Terms.dot,
) -> float:
    """Return a step length at which the objective along ``dw`` is nearly flat.

    The derivative along the direction increases with the length, so its root is bracketed and then
    narrowed by false position, alternating with bisection.
    """
    cross, square = dot(weights, dw), dot(dw, dw)

    def derivatives(*lengths: float) -> list[float]:
        return [
            cross + t * square - (slope + constraints.directional_slope(weights, dw, t))
            for t, slope in zip(lengths, rows.directional_slopes(*lengths).tolist(), strict=True)
        ]

    t = 1.0
    start, slope = derivatives(0.0, t)
    if not -np.inf < start < 0.0:
        return 0.0  # no descent, or a direction that overflows
    low, low_slope, high, high_slope = 0.0, start, np.inf, np.inf
    for attempt in range(_MAX_TRIALS):
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
        (slope,) = derivatives(t)
    return low
