"""Training of kernel machines, with or without an intercept, for losses with a quadratic dual.

`everystump._core.kernel_machines.problem` states the problem.  Without an intercept the dual has
box constraints only, and `solve_box` solves it.  With one, ``sum of y a = 0`` is added: LIBSVM
solves it for the hinge; for the squared losses, whose optimum is continuous in ``b``, a search for
the root of that sum over ``b``.  Both end with `polish`; where they stall, `solve_interior_point`
follows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.svm import SVC

from everystump._core.kernel_machines.interior_point import solve_interior_point
from everystump._core.kernel_machines.kernel_matrix import LazyKernelMatrix
from everystump._core.kernel_machines.polish import polish
from everystump._core.kernel_machines.problem import (
    KernelProblem,
    KernelSolution,
    solution_from_duals,
)
from everystump._core.solvers.box import MAX_FREE_ROWS, solve_box
from everystump._core.solvers.problem import Progress

_MEGABYTE = 2**20
# The fraction of the memory for LIBSVM's cache, alone and beside the full matrix.
_CACHE_FRACTION, _CACHE_FRACTION_BESIDE = 0.7, 0.02
_MAX_CACHE = 10_000.0  # megabytes
# LIBSVM's default tolerance, from which `polish` reaches the optimum of most problems.
_LIBSVM_TOL = 1e-3
# A smaller gap, used where it takes little more time.
_SMALL_GAP = 1e-6
# An iteration of LIBSVM updates two rows.  One iteration here counts as n_rows of LIBSVM's, but at
# least this many.
_MIN_PAIRS, _MAX_INT = 1000, 2**31 - 1
# The number of iterations after which the interior-point method takes over, if it is feasible.
_PATIENCE = 30
# The search for the intercept: maximum number of values, tolerance reduction, smallest tolerances.
_MAX_INTERCEPTS = 50
_TOL_REDUCTION, _MIN_TOL, _MIN_RELATIVE_TOL = 0.01, 1e-13, 1e-4


def train(gram: LazyKernelMatrix, problem: KernelProblem, progress: Progress) -> KernelSolution:
    """Train a kernel machine on the rows of a kernel matrix."""
    box = problem.loss.box()
    if box.is_unbounded:
        _ = gram.full  # every row is a support vector
    if not problem.fit_intercept:
        solution = _without_intercept(gram, problem, progress)
    elif box.is_linear:
        solution = _hinge_with_intercept(gram, problem, progress)
    else:
        if gram.width == gram.n_rows:
            _ = gram.full  # the solver visits its rows many times
        solution = _squared_with_intercept(gram, problem, progress)
    stalled = not solution.certificate.converged and solution.n_iter < problem.max_iter
    return _by_interior_point(gram, problem, solution, progress) if stalled else solution


def _by_interior_point(
    gram: LazyKernelMatrix, problem: KernelProblem, start: KernelSolution, progress: Progress
) -> KernelSolution:
    """Return the better of a solution and that of the interior-point method."""
    if problem.loss.box().is_unbounded or not _can_factorize(gram):
        return start
    a, n_iter = solve_interior_point(gram, problem, problem.max_iter - start.n_iter)
    solution = polish(gram, problem, solution_from_duals(gram, problem, a))
    progress(start.n_iter + n_iter, solution.certificate.primal, solution.certificate.dual)
    return _best([start, solution], start.n_iter + n_iter)


def _can_factorize(gram: LazyKernelMatrix) -> bool:
    """Whether a matrix of all rows is small enough to be factored."""
    return gram.n_rows <= min(MAX_FREE_ROWS, gram.width)


def _max_first_iter(gram: LazyKernelMatrix, problem: KernelProblem) -> int:
    """Return the number of iterations before the interior-point method may take over."""
    return min(problem.max_iter, _PATIENCE) if _can_factorize(gram) else problem.max_iter


def _best(solutions: list[KernelSolution], n_iter: int) -> KernelSolution:
    """Return the solution with the smallest gap, the first of equals."""
    return replace(min(solutions, key=lambda solution: solution.certificate.gap), n_iter=n_iter)


def _without_intercept(
    gram: LazyKernelMatrix, problem: KernelProblem, progress: Progress
) -> KernelSolution:
    # Leave-one-out bounds need a small gap, so aim for it where it takes few more steps.
    is_cheap = problem.loss.box().is_linear and gram.kernel.constant_diagonal is not None
    tol = min(problem.tol, _SMALL_GAP) if is_cheap and gram.width == gram.n_rows else problem.tol
    box = solve_box(
        gram,
        problem.y,
        problem.loss,
        tol=tol,
        max_iter=_max_first_iter(gram, problem),
        progress=progress,
    )
    certificate = replace(box.certificate, converged=box.certificate.gap <= problem.tol)
    solution = KernelSolution(box.a, 0.0, box.margin, certificate, box.n_iter)
    return solution if solution.certificate.converged else polish(gram, problem, solution)


def _hinge_with_intercept(
    gram: LazyKernelMatrix, problem: KernelProblem, progress: Progress
) -> KernelSolution:
    """Train by LIBSVM, then polish."""
    per_iter = max(gram.n_rows, _MIN_PAIRS)
    max_pairs = _max_first_iter(gram, problem) * per_iter
    solutions: list[KernelSolution] = []
    n_pairs = 0
    for tol in _libsvm_tolerances(problem.tol):
        a, taken = _libsvm(gram, problem, tol, max_pairs - n_pairs)
        n_pairs += taken
        solutions.append(polish(gram, problem, solution_from_duals(gram, problem, a)))
        best = _best(solutions, -(-n_pairs // per_iter))
        progress(best.n_iter, best.certificate.primal, best.certificate.dual)
        if best.certificate.converged or n_pairs >= max_pairs:
            break
    return best


def _libsvm_tolerances(tol: float) -> list[float]:
    """Return the LIBSVM tolerances to try; costs of different magnitude need small ones."""
    finer = tol / 2 * _TOL_REDUCTION ** np.arange(1, 5)
    first = max(tol / 2, _LIBSVM_TOL)
    return [first, *[t for t in (tol / 2, *finer) if _MIN_TOL < t < _LIBSVM_TOL]]


class _QuietSVC(SVC):
    """LIBSVM without its convergence warning, which the certificate replaces."""

    def _warn_from_fit_status(self) -> None:
        pass


def _libsvm(
    gram: LazyKernelMatrix, problem: KernelProblem, tol: float, max_pairs: int
) -> tuple[np.ndarray, int]:
    """Return LIBSVM's dual variables, and the number of its iterations."""
    cost = problem.loss.box().high
    if gram.kernel.libsvm is not None:
        cache = min(_CACHE_FRACTION * gram.memory / _MEGABYTE, _MAX_CACHE)
        # LIBSVM squares the rows; centering limits cancellation and changes nothing else.
        rows = gram.X - gram.X.mean(axis=0)
        settings = {**gram.kernel.libsvm, "cache_size": cache}
    else:
        cache = min(_CACHE_FRACTION_BESIDE * gram.memory / _MEGABYTE, _MAX_CACHE)
        rows, settings = gram.full, {"kernel": "precomputed", "cache_size": cache}
    svc = _QuietSVC(C=1.0, tol=tol, max_iter=min(max_pairs, _MAX_INT), **settings)
    svc.fit(rows, problem.y, sample_weight=cost)
    a = np.zeros(len(cost))
    a[svc.support_] = np.minimum(np.abs(svc.dual_coef_[0]), cost[svc.support_])
    return a, int(svc.n_iter_[0])


def _squared_with_intercept(
    gram: LazyKernelMatrix, problem: KernelProblem, progress: Progress
) -> KernelSolution:
    """Solve for a fixed intercept, polish with a free one, and repeat from the better intercept."""
    b, n_iter, tol, start = 0.0, 0, problem.tol, None
    solutions: list[KernelSolution] = []
    low, high = (-np.inf, np.inf), (np.inf, -np.inf)
    max_iter = _max_first_iter(gram, problem)
    for _ in range(_MAX_INTERCEPTS):
        box = solve_box(
            gram,
            problem.y,
            problem.loss,
            b=b,
            tol=tol,
            max_iter=max_iter - n_iter,
            start=start,
            progress=progress,
        )
        n_iter += box.n_iter
        solution = polish(gram, problem, solution_from_duals(gram, problem, box.a))
        solutions.append(solution)
        best = _best(solutions, n_iter)
        if best.certificate.converged or n_iter >= max_iter:
            break
        # The sum of y a decreases in b: its sign shows on which side the best one is.
        slope = float(box.a @ problem.y)
        low, high = ((b, slope), high) if slope > 0 else (low, (b, slope))
        next_b = solution.b if low[0] < solution.b < high[0] else _interpolate_root(low, high)
        start = box.a, box.margin + (next_b - b) * problem.y
        b, tol = next_b, max(_TOL_REDUCTION * tol, _MIN_RELATIVE_TOL * problem.tol)
    return best


def _interpolate_root(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Return an estimate of the root of a decreasing function from points on both sides of it."""
    if np.isinf(high[0]):
        return 2.0 * abs(low[0]) + 1.0
    if np.isinf(low[0]):
        return -2.0 * abs(high[0]) - 1.0
    fraction = low[1] / (low[1] - high[1])
    return low[0] + float(np.clip(fraction, 0.1, 0.9)) * (high[0] - low[0])
