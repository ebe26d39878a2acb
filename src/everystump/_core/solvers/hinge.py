"""The hinge: Newton's method inside an augmented Lagrangian (SsNAL).

The hinge has no slope at its corner, so it is smoothed around the current dual variables ``a``
with sharpness ``s`` (see `SmoothedHinge`).  Minimising the smoothed objective gives new dual
variables, which anchor the next smoothing; the sharpness grows.  Only rows whose dual variable is
strictly between its bounds have curvature, and they become few.

What made it robust, by measurement: anchors start in the middle of the box and the sharpness low,
so that the first problems are easy; a smoothed problem is solved only until Newton's residual adds
as much to the duality gap as the smoothing itself does; and the sharpness grows slowly where a
problem took more than one step, quickly where it took one.  Of very many rows some are solved
first: the solution on all is close, and its sharpness is one to start with.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from everystump._core.solvers.bracket import Bracket
from everystump._core.solvers.certificate import InseparableError
from everystump._core.solvers.conjugate import Stop
from everystump._core.solvers.point import Point
from everystump._core.solvers.problem import Problem, Progress, Solution
from everystump._core.solvers.rows import Rows
from everystump._core.solvers.span import Effort, Gram, start_point

# The first sharpness, in units of (size of the box) / (mean distance from the margin).  A start
# whose rows all lie on the margin counts as this far from it.
_FIRST_SHARPNESS, _LEAST_DISTANCE = 0.3, 1e-3
# Beyond so many times the first sharpness there is only rounding.
_SHARPER = 1e15
# The first box is no larger than this many typical dual variables, however large C is; of so many
# places for each row, which tell rows apart and leave few at the bound, no larger than a few.
_FIRST_BOX, _FIRST_BOX_WIDE, _WIDE = 400.0, 20.0, 4
# From another C's solution the search resumes at this share of its last sharpness.
_RESUMED_SHARPNESS = 0.05
# How the sharpness grows after a smoothed problem that took several Newton steps, one step, or one
# step of at most _TRIVIAL_PRODUCTS products.  Wide problems stay easy for long, then turn hard at
# once: a leap into the hard ones takes more steps than it saves.
_GROWTH_HARD, _GROWTH_EASY, _GROWTH_TRIVIAL, _GROWTH_TRIVIAL_WIDE = 1.5, 3.0, 10.0, 4.0
_TRIVIAL_PRODUCTS = 3
# A smoothed problem is solved when the residual is at most this many times the slack, and the two
# sides balance up to this share; linear systems are solved a little more tightly.
_INNER, _BALANCE, _PRODUCT_TARGET = 3.0, 1e-3, 2.0
# The strain of the edges with a sign counts as this much slack, lest they be anchored anew before
# the weights have followed the last anchors.
_EDGES = 0.1
_EFFORT = Effort(steps=10, products=150, most_products=1500)
# Of at least so many rows, one out of _THINNED are solved first, to a rougher tolerance, if there
# are enough of both classes among them.
_MANY_ROWS, _THINNED, _ROUGHER, _LEAST_SIDE = 200_000, 8, 3.0, 200
# A hard margin below this share of the kernel's widest distance cannot be told from 0.
_LEAST_MARGIN = 1e-6


def solve_hinge(
    problem: Problem,
    rows: Rows,
    *,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: Solution | None = None,
    gram: Gram | None = None,
) -> Solution:
    """Minimise the objective of `Problem` for the hinge, soft or hard.

    ``start`` is the solution for another C, from which dual variables are scaled.  ``gram`` is the
    kernel matrix of the table, for use where it makes things quicker.
    """
    few = _solved_on_few(problem, rows, tol, max_iter) if start is None else None
    search = _Search(start_point(problem, rows, gram, _EFFORT))
    if few is not None:
        search.begin_at(few)
    elif start is None:
        search.begin()
    else:
        search.resume(start)
    while True:
        slopes, now = search.point.look()
        progress(search.n_iter, now.primal, now.dual)
        if problem.hard:
            _refuse_inseparable(problem, now)
        if now.gap <= tol or search.n_iter >= max_iter:
            break
        # How badly the dual variables fit the margins, which is what the smoothing costs.
        slack = search.rows.strain() if problem.hard else slopes.loss - slopes.pairing
        slack += _EDGES * search.point.edges.strain(search.point.weights)
        floor = 0.1 * tol * max(now.dual, 0.0)
        if search.is_smoothed_solved(now, max(_INNER * slack, floor)):
            search.sharpen()
        else:
            search.step(now, Stop(floor, _PRODUCT_TARGET * slack, relative=0.1))
    solution = search.point.finish(tol, search.n_iter)
    if solution.certificate.primal == np.inf:
        raise ValueError(
            f"C=inf: the classes were not separated within max_iter={max_iter} Newton steps; raise "
            f"max_iter or use a finite C."
        )
    return replace(solution, sharpness=search.sharpness)


def _solved_on_few(problem: Problem, rows: Rows, tol: float, max_iter: int) -> Solution | None:
    """Return the solution on some of very many rows: from there few steps of all are left."""
    if rows.n_rows < _MANY_ROWS or problem.hard or problem.signs is not None:
        return None
    few = rows.thinned(_THINNED)
    if few.minority_size() < _LEAST_SIDE:
        return None
    found = solve_hinge(
        problem, few, tol=_ROUGHER * tol, max_iter=max_iter, progress=lambda *_: None
    )
    rows.passes += found.certificate.passes / _THINNED
    return found


class _Search:
    """The current point and how sharply the hinge is smoothed around it."""

    def __init__(self, point: Point) -> None:
        self.point = point
        self.problem, self.rows = point.problem, point.rows
        self._is_wide = len(self.problem.chains.jumps) > _WIDE * self.rows.n_rows
        self.sharpness, self.sharpest = 0.0, np.inf
        self.n_iter = 0
        self._steps = 0
        self._products = 0

    def begin(self) -> None:
        """Start on the ray between the class means, at its best dual value."""
        rows, hard = self.rows, self.problem.hard
        rows.smooth_at_box_center(0.0, 1.0)
        slopes, now = self.point.look()
        if hard:
            _refuse_inseparable(self.problem, now)
        # From weights of 0 the residual is v(a), whose wrong signs say where forces are needed.
        self.point.edges.lean(now.dual_scale.min() * now.residual, 0.0)
        bias = 0.0
        if self.problem.bias:
            space = self.problem.space
            means = [space.dot(now.reach, space.rmatvec(table)) for table in slopes.tables]
            bias = -float(np.mean(means / slopes.totals))
        self.point.place(now.reach, bias)
        typical = float(now.dual_scale @ slopes.totals) / rows.total_weight
        level = float(slopes.totals.sum()) / rows.total_weight
        share = (_FIRST_BOX_WIDE if self._is_wide else _FIRST_BOX) * typical / level
        share = share if hard else min(1.0, share)
        distance = max(rows.mean_shortfall(), _LEAST_DISTANCE)
        self.sharpness = 2 * _FIRST_SHARPNESS * share * level / distance
        self.sharpest = _SHARPER * self.sharpness
        rows.smooth_at_box_center(self.sharpness, share)

    def begin_at(self, few: Solution) -> None:
        """Start at the solution on some of the rows, as sharply as it was found."""
        self.point.resume(few)
        self.sharpness = self.rows.C / few.C * few.sharpness
        self.rows.smooth_at_box_center(self.sharpness, 1.0)

    def resume(self, start: Solution) -> None:
        """Start from the solution for another C."""
        self.point.resume(start)
        rows = self.rows
        ratio = rows.C / start.C
        self.sharpness = _RESUMED_SHARPNESS * ratio * start.sharpness
        rows.smooth_at(self.sharpness, ratio * start.dual_coef)
        self.point.lean(start)

    def is_smoothed_solved(self, now: Bracket, most: float) -> bool:
        """Tell whether the imbalance of the two sides and Newton's residual add ``most`` or less.

        Shrinking the heavier side until both balance costs about that share of the dual value.
        """
        share = abs(now.imbalance) / now.total if now.total > 0 else 0.0
        balanced = share <= _BALANCE and share * max(now.dual, 0.0) <= most
        return self._steps > 0 and balanced and self.point.shortfall(now) <= most

    def _growth(self) -> float:
        if self._steps > 1:
            return _GROWTH_HARD
        # Next to edges with a sign few products say little.
        trivial = self._products <= _TRIVIAL_PRODUCTS and not self.point.edges
        if not trivial:
            return _GROWTH_EASY
        # In the span of the rows systems are solved exactly: no step is long.
        leaps = self.problem.span is not None or not self._is_wide
        return _GROWTH_TRIVIAL if leaps else _GROWTH_TRIVIAL_WIDE

    def sharpen(self) -> None:
        """Anchor the smoothing at the current dual variables and make it sharper."""
        growth = self._growth()
        self.sharpness = min(self.sharpness * growth, self.sharpest)
        self.rows.smooth_at_duals(self.sharpness)
        self.point.edges.anchor(self.point.weights, np.sqrt(growth))
        self._steps = self._products = 0

    def step(self, now: Bracket, stop: Stop) -> None:
        """Take one Newton step."""
        self.point.step(now, stop)
        self.n_iter += 1
        self._steps += 1
        self._products += self.point.newton.products


def _refuse_inseparable(problem: Problem, now: Bracket) -> None:
    """Raise if the dual value leaves no margin that can be told from 0.

    A dual value D bounds every margin by ``1 / sqrt(2 D)``, in units of the kernel's distance.
    """
    which = "stump ensemble" if problem.signs is None else "ensemble with these monotone curves"
    widest = problem.chains.diameter
    if widest == 0.0 or np.sqrt(2 * max(now.dual, 0.0)) * _LEAST_MARGIN * widest > 1:
        raise InseparableError(
            f"C=inf asks for a hard margin, but no {which} separates the two classes by a margin "
            f"of more than {_LEAST_MARGIN:g} of the rows' widest distance; use a finite C."
        )
