"""The hinge and other kinked losses: Newton's method inside an augmented Lagrangian (SsNAL).

    min over w, b of   |w|^2 / 2 + sum over rows i of cost_i max(0, 1 - y_i f(x_i))    (`Problem`)

The hinge has no slope at its kink, so it is smoothed around the current dual variables ``a`` with
penalty ``s`` (see `SmoothedHinge`).  Minimizing the smoothed objective gives new dual variables, at
which the next smoothing is centered; the penalty grows.  Only rows whose dual variable is strictly
between its limits have curvature, and they become few.  The absolute error and the other piecewise
linear losses of regression are treated in the same way.

Three choices proved robust in benchmarks: the first centers are in the middle of the box and
the first penalty is low, so that the first problems are easy; a smoothed problem is solved only
until Newton's residual adds as much to the duality gap as the smoothing; and the penalty grows
slowly after a problem that took several steps, quickly after one that took a single step.  If there
are very many rows, a subsample is solved first: its solution and its penalty are a good start.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from everystump._core.solvers.certificate import InseparableError
from everystump._core.solvers.duality import PrimalDual
from everystump._core.solvers.iterate import Iterate, continue_outside_span, initial_iterate
from everystump._core.solvers.newton_system import StoppingRule
from everystump._core.solvers.problem import Effort, Problem, Solution, SolverOptions
from everystump._core.solvers.rows import Rows

# The first penalty, in units of (size of the box) / (mean distance from the margin).  If all rows
# start on the margin, this distance is used.
_FIRST_PENALTY, _MIN_DISTANCE = 0.3, 1e-3
# Beyond this multiple of the first penalty there is only rounding error.
_MAX_GROWTH = 1e15
# The first box is at most this multiple of a typical dual variable, for any C.  In a wide problem,
# with more than _WIDE bins per row, few dual variables end at their limit: the first box is small.
_FIRST_BOX, _FIRST_BOX_WIDE, _WIDE = 400.0, 20.0, 4
# A warm start from another C uses this fraction of its last penalty.
_RESUMED_PENALTY = 0.05
# The growth of the penalty after a smoothed problem that took several Newton steps, one step, or
# one step of at most _TRIVIAL_PRODUCTS products.  Wide problems stay easy for many steps and then
# suddenly become hard: a large increase of the penalty would cost more steps than it saves.
_GROWTH_HARD, _GROWTH_EASY, _GROWTH_TRIVIAL, _GROWTH_TRIVIAL_WIDE = 1.5, 3.0, 10.0, 4.0
_TRIVIAL_PRODUCTS = 3
# A smoothed problem is solved when the residual is at most this multiple of the slack, and the two
# classes balance up to this fraction; linear systems are solved slightly more accurately.
_INNER, _BALANCE, _PRODUCT_TARGET = 3.0, 1e-3, 2.0
# The cost of smoothing the signs counts as slack with this factor, so that they are not recentered
# before the weights have adapted to the last centers.
_SIGN_SLACK = 0.1
_EFFORT = Effort(steps=10, products=150, max_products=1500)
# From _MANY_ROWS rows on, a subsample of one in _SUBSAMPLING rows is solved first, to a multiple of
# the tolerance, if it has enough rows of both classes.
_MANY_ROWS, _SUBSAMPLING, _SUBSAMPLE_TOL, _MIN_CLASS_ROWS = 200_000, 8, 3.0, 200
_TINY = 1e-300
# A hard margin below this fraction of the kernel's diameter is numerically 0.
_MIN_MARGIN = 1e-6


def solve_augmented_lagrangian(problem: Problem, rows: Rows, options: SolverOptions) -> Solution:
    """Minimize the objective of `Problem` for a kinked loss; the hinge may have a hard margin."""
    tol, start = options.tol, options.start
    subsample = _solve_subsample(problem, rows, options) if start is None else None
    search = _Search(initial_iterate(problem, rows, options.kernel_matrix, _EFFORT))
    if subsample is not None:
        search.begin_at(subsample)
    elif start is None:
        search.begin()
    else:
        search.resume(start)
    while True:
        sums, current = search.iterate.evaluate()
        options.progress(search.n_iter, current.primal, current.dual)
        if problem.hard:
            _check_separable(problem, current)
        if current.gap <= tol or search.n_iter >= options.max_iter:
            break
        # The mismatch between dual variables and margins, which is the cost of the smoothing.
        slack = search.rows.complementarity() if problem.hard else sums.loss - sums.pairing
        slack += _SIGN_SLACK * search.iterate.constraints.smoothing_cost(search.iterate.weights)
        floor = 0.1 * tol * max(current.dual, 0.0)
        if search.is_smoothed_solved(current, max(_INNER * slack, floor)):
            search.recenter()
        elif problem.hard and search.has_stalled():
            # Rounding in the kernel matrix hides small margins; the features' weights resolve them.
            return solve_augmented_lagrangian(problem, rows, replace(options, kernel_matrix=None))
        else:
            search.step(current, StoppingRule(floor, _PRODUCT_TARGET * slack, relative=0.1))
    solution = search.iterate.solution(tol, search.n_iter)
    if solution.certificate.primal == np.inf:
        raise ValueError(
            f"C=inf: the classes were not separated within max_iter={options.max_iter} Newton "
            f"steps; raise max_iter or use a finite C."
        )
    solution = replace(solution, penalty=search.penalty)
    if search.problem.span is None:
        return solution
    return continue_outside_span(solve_augmented_lagrangian, problem, rows, options, solution)


def _solve_subsample(problem: Problem, rows: Rows, options: SolverOptions) -> Solution | None:
    """Return the solution on a subsample of very many rows, from which few steps remain."""
    if rows.n_rows < _MANY_ROWS or problem.hard or problem.signs is not None:
        return None
    subsample = rows.subsample(_SUBSAMPLING)
    if subsample.minority_size() < _MIN_CLASS_ROWS:
        return None
    rough = SolverOptions(_SUBSAMPLE_TOL * options.tol, options.max_iter)
    solution = solve_augmented_lagrangian(problem, subsample, rough)
    rows.passes += solution.certificate.passes / _SUBSAMPLING
    return solution


class _Search:
    """The current iterate and the penalty of the smoothing."""

    def __init__(self, iterate: Iterate) -> None:
        self.iterate = iterate
        self.problem, self.rows = iterate.problem, iterate.rows
        self._is_wide = self.problem.terms.n_weights > _WIDE * self.rows.n_rows
        self.penalty, self.max_penalty = 0.0, np.inf
        self.n_iter = 0
        self._steps = 0
        self._products = 0

    def begin(self) -> None:
        """Start on the ray between the class means, at its best dual value."""
        rows, hard = self.rows, self.problem.hard
        rows.smooth_at_box_center(0.0, 1.0)
        sums, current = self.iterate.evaluate()
        if hard:
            _check_separable(self.problem, current)
        # At weights of 0 the residual is v(a), whose wrong signs show where multipliers are needed.
        dual_weights = current.dual_scale.min() * current.residual
        self.iterate.constraints.warm_start(dual_weights, 0.0)
        intercept = 0.0
        if self.problem.fit_intercept:
            operator = self.problem.operator
            means = [operator.dot(current.dual_weights, operator.rmatvec(t)) for t in sums.tables]
            intercept = -float(np.mean(means / np.maximum(sums.totals, _TINY)))
        self.iterate.move_to(current.dual_weights, intercept)
        level = float(sums.totals.sum()) / rows.total_weight
        # If no dual variable has one of the signs, nothing balances.
        typical = float(current.dual_scale @ sums.totals) / rows.total_weight or level
        fraction = (_FIRST_BOX_WIDE if self._is_wide else _FIRST_BOX) * typical / level
        fraction = fraction if hard else min(1.0, fraction)
        distance = max(rows.mean_distance(), _MIN_DISTANCE)
        self.penalty = 2 * _FIRST_PENALTY * fraction * level / distance
        self.max_penalty = _MAX_GROWTH * self.penalty
        rows.smooth_at_box_center(self.penalty, fraction)

    def begin_at(self, subsample: Solution) -> None:
        """Start at the solution on a subsample, with its last penalty."""
        self.iterate.warm_start(subsample)
        self.penalty = self.rows.C / subsample.C * subsample.penalty
        self.rows.smooth_at_box_center(self.penalty, 1.0)

    def resume(self, start: Solution) -> None:
        """Start from the solution for another C."""
        self.iterate.warm_start(start)
        rows = self.rows
        ratio = rows.C / start.C
        self.penalty = _RESUMED_PENALTY * ratio * start.penalty
        rows.smooth_at(self.penalty, ratio * start.dual_coef)
        self.iterate.warm_start_constraints(start)

    def is_smoothed_solved(self, current: PrimalDual, max_gap: float) -> bool:
        """Whether class imbalance and Newton's residual each add at most ``max_gap`` to the gap.

        Scaling the larger class down until both balance costs about that fraction of the dual.
        """
        fraction = abs(current.imbalance) / current.total if current.total > 0 else 0.0
        balanced = fraction <= _BALANCE and fraction * max(current.dual, 0.0) <= max_gap
        return self._steps > 0 and balanced and self.iterate.residual_gap(current) <= max_gap

    def has_stalled(self) -> bool:
        """Whether the last step in the span of the rows had length 0, as the next ones will."""
        return self.problem.span is not None and self._steps > 0 and self.iterate.step_length == 0.0

    def _growth(self) -> float:
        if self._steps > 1:
            return _GROWTH_HARD
        # With sign constraints, few products do not indicate an easy problem.
        trivial = self._products <= _TRIVIAL_PRODUCTS and not self.iterate.constraints
        if not trivial:
            return _GROWTH_EASY
        # In the span of the rows systems are solved exactly: no step takes long.
        is_cheap = self.problem.span is not None or not self._is_wide
        return _GROWTH_TRIVIAL if is_cheap else _GROWTH_TRIVIAL_WIDE

    def recenter(self) -> None:
        """Center the smoothing at the current dual variables and raise the penalty."""
        growth = self._growth()
        self.penalty = min(self.penalty * growth, self.max_penalty)
        self.rows.smooth_at_duals(self.penalty)
        self.iterate.constraints.recenter(self.iterate.weights, np.sqrt(growth))
        self._steps = self._products = 0

    def step(self, current: PrimalDual, stop: StoppingRule) -> None:
        """Take one Newton step."""
        self.iterate.newton_step(current, stop)
        self.n_iter += 1
        self._steps += 1
        self._products += self.iterate.system.products


def _check_separable(problem: Problem, current: PrimalDual) -> None:
    """Raise if the dual value proves that the largest margin is numerically 0.

    A dual value D bounds every margin by ``1 / sqrt(2 D)``, in units of the kernel's distance.
    """
    model = "stump ensemble" if problem.signs is None else "ensemble with these monotonic curves"
    diameter = problem.terms.diameter
    if diameter == 0.0 or np.sqrt(2 * max(current.dual, 0.0)) * _MIN_MARGIN * diameter > 1:
        raise InseparableError(
            f"C=inf requires a hard margin, but no {model} separates the two classes by a margin "
            f"of more than {_MIN_MARGIN:g} of the rows' largest distance; use a finite C."
        )
