"""From dual variables to a machine: the best bias, the margins, the certificate."""

from __future__ import annotations

from math import fsum

import numpy as np

from everystump._core.kernel_machines.gram import Gram
from everystump._core.kernel_machines.task import Task, Trained
from everystump._core.solvers.certificate import SAFETY_FACTOR, UNIT_ROUNDOFF
from everystump._core.solvers.evaluation import Imbalance, evaluate, judge, rounding_matters
from everystump._core.solvers.products import Scores

# An imbalance up to this share of the dual variables is rounding, and set right.
_ROUNDED = 1e-9
_MOST_TAKERS = 8
# A row that takes the imbalance changes the dual value by an expression of fewer operations.
_ROUNDED_OPERATIONS = 10


def solution_from_duals(gram: Gram, task: Task, a: np.ndarray) -> Trained:
    """Return the machine of given dual variables, each within its limits, with the best bias.

    Where ``sum of y a`` is not 0, the certificate allows for it.
    """
    if not task.bias:
        plain = evaluate(gram, task.sign, task.loss, a, 0.0, task.tol)
        return Trained(a, 0.0, plain.margin, plain.certificate, 0)
    a = balanced(task, a)
    for doubled in (False, True):
        scores = gram.scores(a * task.sign, doubled)
        b = task.loss.best_bias(task.sign, scores.value)
        imbalance = _imbalance(gram, task, a, scores, b)
        found = judge(scores, task.sign, task.loss, a, b, imbalance, task.tol)
        if not rounding_matters(found.certificate, task.tol):
            break
    return Trained(a, b, found.margin, found.certificate, 0)


def balanced(task: Task, a: np.ndarray) -> np.ndarray:
    """Return dual variables whose ``sum of y a`` is as near to 0 as one of them can bring it.

    Larger ones come first, so that smaller ones take what these cannot hold.
    """
    _, low, high = task.loss.box()
    free = np.flatnonzero((a > low) & (a < high))
    left = fsum(a * task.sign)
    if left == 0.0 or abs(left) > _ROUNDED * np.abs(a).sum() or len(free) == 0:
        return a
    out = a.copy()
    order = free[np.argsort(-np.abs(a[free]), kind="stable")]
    for j in order[np.unique(np.linspace(0, len(order) - 1, _MOST_TAKERS).astype(int))]:
        taken = out[j] - task.sign[j] * left
        if left != 0.0 and low[j] < taken < high[j]:
            out[j] = taken
            left = fsum(out * task.sign)
    return out


def _imbalance(gram: Gram, task: Task, a: np.ndarray, scores: Scores, b: float) -> Imbalance:
    """Return by how much the dual value falls at most when ``sum of y a`` is brought to 0.

    One row between its limits can take it all.  Without such a row, the dual value is a line in
    the bias whose height is needed at the best one, which 1 and the norm's reach limit.
    """
    ridge, low, high = task.loss.box()
    left = fsum(a * task.sign)
    if left == 0.0:
        return Imbalance(0.0, 0.0)
    taken = a - SAFETY_FACTOR * left * task.sign
    able = np.flatnonzero((a > low) & (a < high) & (taken > low) & (taken < high))
    if len(able):
        slope = task.sign * (1.0 - ridge * a) - scores.value
        bend = gram.diagonal + ridge
        lost = left * slope + left**2 * bend / 2
        size = abs(left) * (1.0 + 2 * ridge * np.abs(a) + np.abs(scores.value)) + left**2 * bend
        off = abs(left) * scores.rounding + _ROUNDED_OPERATIONS * UNIT_ROUNDOFF * size
        best = able[np.argmin((lost + off)[able])]
        return Imbalance(float(lost[best]), SAFETY_FACTOR * float(off[best]))
    primal = 0.5 * float((a * task.sign) @ scores.value + np.abs(a) @ scores.rounding)
    margin = task.sign * (scores.value + b)
    primal += task.loss.total(task.loss.worst_within(margin, scores.rounding))
    most = abs(left) * (1.0 + float(np.sqrt(2.0 * max(primal, 0.0) * gram.largest)))
    return Imbalance(most, (SAFETY_FACTOR - 1.0) * most)
