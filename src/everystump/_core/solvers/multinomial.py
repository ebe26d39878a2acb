"""Newton's method for multinomial logistic regression.

    min over w_k, b_k of   sum_k |w_k|^2 / 2 + sum over rows i of cost_i (log sum_k exp f_ik - f_iy)

over the weights and intercepts of all classes k, with scores ``f_k = gather(S w_k) + b_k`` and
``y`` the class of row i (see `Problem` for ``S``).  With ``V = gather S`` the dual problem is

    max over q of   sum over i of cost_i H(q_i) - sum_k |v_k|^2 / 2,      v_k = V' a_k,

where ``q_i`` is a distribution over the classes, ``H`` its entropy and ``a_ik = cost_i (1[y = k] -
q_ik)``, subject to ``sum over i of a_ik = 0`` for every class if there are intercepts.  At the
optimum ``w_k = v_k`` and ``q`` is the softmax of the scores.  The weights and the intercepts of all
classes sum to 0: a common shift of all scores changes no probability.

Between Newton steps the intercepts are optimal for the weights, which makes the gap
``sum_k |v_k - w_k|^2 / 2``, Newton's residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from everystump._core.solvers.certificate import certify
from everystump._core.solvers.multinomial_blocks import ClassSums
from everystump._core.solvers.multinomial_duality import (
    ClassOperator,
    class_values,
    objective_terms,
)
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.multinomial_system import MultinomialSystem, balancing_step
from everystump._core.solvers.newton_system import StoppingRule, line_search
from everystump._core.solvers.problem import Problem, Progress, Solution

# Classes balance if their imbalances are at most this fraction of their costs.
_BALANCED = 1e-12
_MAX_BALANCE_STEPS = 50
# The accuracy of Newton directions: on digits and usps, 0.1 took about 0.7 of the products of 0.01.
_DIRECTION_ACCURACY = 0.1
# As for two classes, see `everystump._core.solvers.newton`.
_UNCHANGED_FRACTION = 0.05


class MultinomialIterate:
    """Weights and intercepts of all classes, and the rows with their scores."""

    def __init__(self, problem: Problem, rows: MultinomialRows) -> None:
        self.operator = ClassOperator(problem, rows.n_classes, rows.n_threads)
        self.rows, self._fit_intercept = rows, problem.fit_intercept
        self._system = MultinomialSystem(self.operator, rows)
        self.weights = np.zeros((rows.n_classes, problem.terms.n_weights))
        self.intercepts = np.zeros(rows.n_classes)
        if problem.fit_intercept:
            self.intercepts = np.log(rows.class_costs / rows.total_cost)
        rows.shift_scores(self.intercepts)

    def move_to(self, weights: np.ndarray, intercepts: np.ndarray) -> None:
        """Move to other weights and intercepts."""
        self.weights, self.intercepts = weights, intercepts
        self.rows.set_scores(self.operator.matvec(weights), intercepts)

    def balance(self) -> ClassSums:
        """Make the intercepts optimal for the weights; return the sums over the rows.

        Steps are damped so that the third derivative, which is bounded by the second times the
        length of the step, cannot make them too long.
        """
        sums, previous = self.rows.probabilities(), np.inf
        for _ in range(_MAX_BALANCE_STEPS if self._fit_intercept else 0):
            imbalance = self.rows.class_costs - sums.totals
            relative = float(np.max(np.abs(imbalance) / self.rows.class_costs))
            # Small imbalances that no longer decrease are rounding errors.
            if relative <= _BALANCED or (relative < 1e-8 and relative > previous / 2):
                break
            previous = relative
            change = balancing_step(sums.curvature, imbalance)
            length = float(np.ptp(change))
            change *= np.log1p(length) / length if length > 0.0 else 0.0
            self.intercepts = self.intercepts + change
            self.rows.shift_scores(change)
            sums = self.rows.probabilities()
        return sums

    def newton_step(self, residual: np.ndarray, sums: ClassSums, stop: StoppingRule) -> None:
        """Take one Newton step, given the residual and the sums at the balanced iterate."""
        dw, db = self._system.direction(residual, sums.curvature, stop)
        t = line_search(self.rows, self.weights.ravel(), dw.ravel())
        self.weights = self.weights + t * dw
        self.intercepts = self.intercepts + t * db
        self.rows.take_step(t)

    def center(self) -> None:
        """Shift the scores of all classes so that weights and intercepts sum to 0.

        Scores are recomputed, free of the rounding of many steps.
        """
        weights = self.weights - self.weights.mean(axis=0)
        self.move_to(weights, self.intercepts)
        self.balance()
        self.move_to(weights, self.intercepts - self.intercepts.mean())


def solve_multinomial(
    problem: Problem,
    rows: MultinomialRows,
    C: float,
    *,
    tol: float,
    max_iter: int,
    progress: Progress,
    starts: Sequence[Solution] | None = None,
) -> list[Solution]:
    """Return the solution of each class, all of them with the certificate of the one problem.

    ``starts`` are solutions for another C.
    """
    iterate = MultinomialIterate(problem, rows)
    if starts is not None:
        weights = np.array([start.weights for start in starts])
        iterate.move_to(weights, np.array([start.intercept for start in starts]))
    n_iter, first_goal = 0, tol if starts is None else _UNCHANGED_FRACTION * tol
    for goal in (tol, tol / 4):
        while True:
            sums = iterate.balance()
            current = class_values(iterate.operator, rows, iterate.weights, sums)
            progress(n_iter, current.primal, current.dual)
            if current.gap <= (goal if n_iter > 0 else first_goal) or n_iter == max_iter:
                break
            stop = StoppingRule(0.1 * goal * current.primal, np.inf, _DIRECTION_ACCURACY)
            iterate.newton_step(current.residual, sums, stop)
            n_iter += 1
        iterate.center()
        terms = objective_terms(iterate.operator, rows, iterate.weights, iterate.intercepts)
        certificate = certify(terms, tol, rows.passes)
        # If rounding made up for the rest, another step is needed.
        if certificate.converged or certificate.rounding > tol:
            break
    shared = Solution(
        weights=np.empty(0),
        intercept=0.0,
        dual_coef=np.empty(0),
        certificate=certificate,
        n_iter=n_iter,
        C=C,
    )
    parts = zip(iterate.weights, iterate.intercepts, rows.dual_coef(), strict=True)
    return [
        replace(shared, weights=weights, intercept=float(intercept), dual_coef=duals)
        for weights, intercept, duals in parts
    ]
