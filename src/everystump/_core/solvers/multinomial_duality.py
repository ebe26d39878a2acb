"""Primal and dual values of a multinomial problem, and its certified solution.

Dual variables ``a_k = cost (1[y = k] - q_k)`` are feasible if every row's ``q`` is a distribution
over the classes and, with intercepts, ``sum of a_k = 0`` for every class.  Probabilities ``p`` that
miss this by ``e_k = sum of cost (1[y = k] - p_k)`` are moved to

    q = (1 - t) (p + e / N) + t F,

where ``N`` is the total cost and ``F_k`` the share of class k in it.  These balance for every
``t``, and the smallest one that makes them nonnegative is tiny if the intercepts are optimal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everystump._core.solvers.certificate import (
    SAFETY_FACTOR,
    UNIT_ROUNDOFF,
    ObjectiveTerms,
    relative_gap,
    sum_rounding,
)
from everystump._core.solvers.multinomial_blocks import ClassSums, DualSums
from everystump._core.solvers.multinomial_rows import MultinomialRows
from everystump._core.solvers.problem import Problem
from everystump._core.threads import thread_map

# As for two classes, see `everystump._core.solvers.duality`.
_GAP_FACTOR, _LOSS_ROUNDING = 1.01, 16
# The probability of a row's own class is 1 minus a compensated sum with an error of 2 units, which
# counts up to 37 times, by the logarithm of the difference; logarithms have an error of their own.
_DUAL_ROUNDING = 128
# Threads pay for more weights than this.
_MIN_WEIGHTS_FOR_THREADS = 200_000


@dataclass(frozen=True)
class ClassOperator:
    """The operator from the weights of all classes to their tables; one row per class."""

    problem: Problem
    n_classes: int
    n_threads: int

    @property
    def threads(self) -> int:
        """The number of threads that work on the classes."""
        n_weights = self.n_classes * self.problem.terms.n_weights
        return self.n_threads if n_weights > _MIN_WEIGHTS_FOR_THREADS else 1

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        """Return the tables of the weights."""
        return np.array(thread_map(self.problem.terms.matvec, weights, self.threads))

    def rmatvec(self, tables: np.ndarray) -> np.ndarray:
        """Return the transpose: weights, given sums by bin."""
        return np.array(thread_map(self.problem.terms.rmatvec, tables, self.threads))


@dataclass(frozen=True)
class ClassValues:
    """Both values at one point, and the residual ``v(a) - w`` of each class."""

    primal: float
    dual: float
    residual: np.ndarray  # (n_classes, n_weights)

    @property
    def gap(self) -> float:
        """The relative duality gap, slightly enlarged to allow for rounding in the certificate."""
        return _GAP_FACTOR * relative_gap(self.primal, self.dual)


def class_values(
    operator: ClassOperator, rows: MultinomialRows, weights: np.ndarray, sums: ClassSums
) -> ClassValues:
    """Return a primal and a dual value at the current point, given the sums over its rows."""
    duals = feasible_duals(rows, sums, balanced=operator.problem.fit_intercept)
    dual_weights = operator.rmatvec(duals.tables)
    return ClassValues(
        primal=_square(weights) / 2 + sums.loss,
        dual=duals.dual - _square(dual_weights) / 2,
        residual=dual_weights - weights,
    )


def feasible_duals(rows: MultinomialRows, sums: ClassSums, *, balanced: bool) -> DualSums:
    """Set the rows' dual variables to feasible ones near their probabilities."""
    frequency = rows.class_costs / rows.total_cost
    if not balanced:
        return rows.duals(np.zeros(rows.n_classes), 0.0, frequency)
    shift = (rows.class_costs - sums.totals) / rows.total_cost
    lowest = np.minimum(sums.smallest + shift, 0.0)
    fraction = float(np.max(-lowest / (frequency - lowest)))
    return rows.duals(shift, fraction, frequency)


def objective_terms(
    operator: ClassOperator, rows: MultinomialRows, weights: np.ndarray, intercepts: np.ndarray
) -> ObjectiveTerms:
    """Return the terms of both objectives at the rows' current scores."""
    problem, sums = operator.problem, rows.probabilities()
    duals = feasible_duals(rows, sums, balanced=problem.fit_intercept)
    dual_weights = operator.rmatvec(duals.tables)
    size = max(
        2 * problem.terms.magnitude(w) + abs(b) for w, b in zip(weights, intercepts, strict=True)
    )
    worst = rows.worst_loss(sum_rounding(problem.terms.n_additions + 8) * size)
    loss_error = max(worst - sums.loss, 0.0) if worst < np.inf else np.inf
    loss_error += sum_rounding(rows.n_sum_additions + rows.n_classes + _LOSS_ROUNDING) * worst
    norm, norm_unit = _square(weights), sum_rounding(sum(weights.shape) + 4)
    # The scores of the dual weights are those of the weights plus those of the residual.
    residuals = [problem.terms.magnitude(r) for r in dual_weights - weights]
    largest = rows.largest_scores(intercepts) + np.array(residuals)
    return ObjectiveTerms(
        norm=norm,
        loss=sums.loss,
        dual_loss=duals.dual,
        dual_norm=_square(dual_weights),
        primal_rounding=SAFETY_FACTOR * loss_error + norm_unit * norm,
        dual_rounding=_dual_rounding(problem, rows, duals, dual_weights, largest),
    )


def _dual_rounding(
    problem: Problem,
    rows: MultinomialRows,
    duals: DualSums,
    dual_weights: np.ndarray,
    largest: np.ndarray,
) -> float:
    """Return a bound on the excess of the dual value due to rounding.

    The wrong classes' variables of a row are taken as stored; that of its own class is minus their
    sum.  Classes balance up to sums ``e``, including rounding.  With ``t`` the largest ``|e_k|``
    relative to the cost of class k, mixing ``q`` with a fraction ``t`` of some distribution
    between 0 and ``2 F`` balances them exactly.  Entropy is concave, so that this costs at most
    ``t`` of it; the change of ``a_k`` is at most ``t`` times (3 cost of class k + sum of |a_k|),
    which counts by the ``largest`` scores of ``v_k``.
    """
    terms = problem.terms
    unit = sum_rounding(rows.n_additions + terms.n_additions + rows.n_classes + 8)
    magnitudes = np.array([terms.magnitude(v) for v in dual_weights])
    sum_unit = sum_rounding(rows.n_sum_additions + rows.n_classes + 8)
    error = (sum_unit + _DUAL_ROUNDING * UNIT_ROUNDOFF) * duals.size
    error += sum_rounding(sum(dual_weights.shape) + 4) * _square(dual_weights)
    changes = unit * duals.totals
    error += float(2 * changes @ magnitudes)
    if problem.fit_intercept:
        imbalance = np.abs(duals.imbalance) + sum_unit * duals.totals
        fraction = float(np.max(imbalance / rows.class_costs))
        moves = fraction * (3 * rows.class_costs + duals.totals)
        error += fraction * duals.dual + float(moves @ np.minimum(largest, magnitudes))
        changes = changes + moves
    error += float(2 * changes @ changes) * terms.square_magnitude
    return SAFETY_FACTOR * error


def _square(values: np.ndarray) -> float:
    """Return the squared norm of the weights of all classes."""
    return float(sum(row @ row for row in values))
