"""From dual variables to a machine: the best bias, the margins, the certificate."""

from __future__ import annotations

from math import fsum

import numpy as np

from everystump.losses import Hinge, LeastSquares
from everystump.machines.gram import Gram
from everystump.machines.task import Loss, Task, Trained
from everystump.solvers.evaluation import evaluate, judge, rounding_matters

# An imbalance up to this share of the dual variables is rounding, and set right.
_ROUNDED = 1e-9
_MOST_TAKERS = 8


def settle(gram: Gram, task: Task, a: np.ndarray) -> Trained:
    """Return the machine of given dual variables, each within its limits, with the best bias.

    Where ``sum of y a`` is not 0, the certificate allows for it.
    """
    if not task.bias:
        plain = evaluate(gram, task.sign, task.loss, a, 0.0, task.tol)
        return Trained(a, 0.0, plain.margin, plain.certificate, 0)
    a = balanced(task, a)
    for doubled in (False, True):
        scores = gram.scores(a * task.sign, doubled)
        b = best_bias(task.loss, task.sign, scores.value)
        imbalance = _imbalance(gram, task, a, scores.value, b)
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


def best_bias(loss: Loss, sign: np.ndarray, scores: np.ndarray) -> float:
    """Return the bias of least loss for given scores, the middle one if there are several.

    The loss of a row has its corner, or its lowest point, at the bias ``y - score``.
    """
    corner = sign - scores
    if isinstance(loss, Hinge):
        return _best_hinge_bias(loss.cost, sign, corner)
    if isinstance(loss, LeastSquares):
        return float(np.average(corner, weights=loss.cost))
    return _best_squared_hinge_bias(loss.cost, sign, corner)


def _best_squared_hinge_bias(cost: np.ndarray, sign: np.ndarray, corner: np.ndarray) -> float:
    """Return the root of the summed slope, which is straight between neighbouring corners.

    Positive rows pull up until their corner, negative ones down from theirs on.
    """
    order = np.argsort(corner, kind="stable")
    middle = corner[order[len(order) // 2]]  # around which sums keep their digits
    at, own = corner[order] - middle, cost[order]
    up = sign[order] > 0

    def pulling(amount: np.ndarray) -> np.ndarray:
        down = np.cumsum(np.where(up, 0.0, amount))
        return down + amount[up].sum() - np.cumsum(np.where(up, amount, 0.0))

    weight, moment = pulling(own), pulling(own * at)
    slope = at * weight - moment
    first = int(np.argmax(slope >= 0.0))
    if slope[first] > 0.0 and first > 0:
        root = moment[first - 1] / weight[first - 1]
        return float(middle + np.clip(root, at[first - 1], at[first]))
    last = first + int(np.count_nonzero(slope[first:] == 0.0)) - 1
    return float(middle + (at[first] + at[max(first, last)]) / 2)


def _best_hinge_bias(cost: np.ndarray, sign: np.ndarray, corner: np.ndarray) -> float:
    """Return where the slope of the summed hinge passes 0: it rises by each cost at its corner."""
    order = np.argsort(corner, kind="stable")
    slope = np.cumsum(cost[order]) - cost[sign > 0].sum()
    slope[np.abs(slope) <= _ROUNDED * cost.max()] = 0.0
    first = int(np.argmax(slope >= 0.0))
    last = first + 1 if slope[first] == 0.0 and first + 1 < len(order) else first
    return float(corner[order[first]] + corner[order[last]]) / 2


def _imbalance(gram: Gram, task: Task, a: np.ndarray, scores: np.ndarray, b: float) -> float:
    """Return by how much the dual value falls at most when ``sum of y a`` is brought to 0.

    One row between its limits can take it all.  Without such a row, the dual value is a line in
    the bias whose height is needed at the best one, which 1 and the norm's reach limit.
    """
    ridge, low, high = task.loss.box()
    left = fsum(a * task.sign)
    if left == 0.0:
        return 0.0
    taken = a - left * task.sign
    able = np.flatnonzero((a > low) & (a < high) & (taken >= low) & (taken <= high))
    if len(able):
        slope = task.sign * (1.0 - ridge * a) - scores
        bend = gram.diagonal + ridge
        return float((left * slope + left**2 * bend / 2)[able].min())
    primal = 0.5 * float((a * task.sign) @ scores) + task.loss.total(task.sign * (scores + b))
    return abs(left) * (1.0 + float(np.sqrt(2.0 * max(primal, 0.0) * gram.largest)))
