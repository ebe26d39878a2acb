"""Train kernel machines: with a bias or without, for any loss with a quadratic dual.

    min over f, b of   |f|^2 / 2 + sum over rows i of loss_i(y_i (f(x_i) + b))

Without a bias ``b`` is 0, and the dual has limits only (Evgeniou et al., eq. 3): `solve_box`.
With one, the dual variables also have ``sum of y a = 0``: LIBSVM for the hinge; for the squared
losses, whose optimum moves smoothly with ``b``, steps to that sum's root.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.svm import SVC

from everystump.losses import Hinge, LeastSquares, SquaredHinge
from everystump.machines.gram import Gram
from everystump.solvers import Certificate, Progress, solve_box
from everystump.solvers.box import JITTER, MOST_FREE

Loss = Hinge | SquaredHinge | LeastSquares
LOSSES: dict[str, type[Loss]] = {
    "hinge": Hinge,
    "least_squares": LeastSquares,
    "squared_hinge": SquaredHinge,
}
_MEGABYTE = 2**20
# What LIBSVM's cache may take of the memory, alone and beside the whole matrix.
_CACHED, _CACHED_BESIDE = 0.7, 0.02
_LARGEST_CACHE = 10_000.0  # megabytes
# LIBSVM's own default accuracy, from which a polish leads to the optimum of most problems.
_ROUGH = 1e-3
# Times the largest product: a constant that makes negative distances positive definite.
_LIFT = 10.0
# Polishing steps, against rounding; biases to try; how much finer the next fit is to be.
_REFINEMENTS, _MOST_BIASES = 3, 50
_FINER, _FINEST, _FINEST_BIAS = 0.01, 1e-13, 1e-4


@dataclass(frozen=True)
class Trained:
    """A trained machine on its own rows.

    Attributes
    ----------
    a : ndarray of shape (n_rows,)
        Dual variables.
    b : float
        The bias.
    margin : ndarray of shape (n_rows,)
        ``y_i (f(x_i) + b)``.
    certificate : Certificate
        The proof.
    n_iter : int
        How many groups of rows were solved for, or LIBSVM's iterations.
    """

    a: np.ndarray
    b: float
    margin: np.ndarray
    certificate: Certificate
    n_iter: int


@dataclass(frozen=True)
class Task:
    """What to train: signs 1 and -1, a loss for each row, with or without a bias, how well."""

    sign: np.ndarray
    loss: Loss
    bias: bool
    tol: float
    max_iter: int


def train(gram: Gram, task: Task, progress: Progress) -> Trained:
    """Train a machine on the rows of a kernel matrix."""
    if isinstance(task.loss, LeastSquares):
        _ = gram.square  # no row is without a say: all of it is needed, or the fit refused
    if not task.bias:
        return _without_bias(gram, task, progress)
    if isinstance(task.loss, Hinge):
        return _with_hinge(gram, task, progress)
    if gram.width == gram.n_rows:
        _ = gram.square  # the solver will come back to its rows
    return _with_squares(gram, task, progress)


def _without_bias(gram: Gram, task: Task, progress: Progress) -> Trained:
    found = solve_box(
        gram,
        task.sign,
        task.loss,
        tol=task.tol,
        max_iter=task.max_iter,
        progress=progress,
    )
    return Trained(found.a, 0.0, found.margin, found.certificate, found.n_iter)


def _certified(task: Task, largest: float, a: np.ndarray, b: float, margin: np.ndarray) -> Trained:
    """Return a machine with a bias and the proof of it.

    Where ``sum of y a`` is not quite 0, the dual value is a line's height less what that line can
    fall until the best bias, which is at most 1 and the norm's reach away.
    """
    slope = float(a @ task.sign)
    half_norm = 0.5 * (float(a @ margin) - b * slope)
    primal = half_norm + task.loss.total(margin)
    reach = abs(b) + 1.0 + np.sqrt(2.0 * max(primal * largest, 0.0))
    dual = float(task.loss.dual(a).sum()) - half_norm - abs(slope) * reach
    return Trained(a, b, margin, Certificate.of(primal, dual, task.tol, 0.0), 0)


def _with_hinge(gram: Gram, task: Task, progress: Progress) -> Trained:
    """Train by LIBSVM, then go to the optimum over the rows between their limits."""
    largest = float(gram.diagonal.max())
    for accuracy in _accuracies(task.tol):
        a, b, n_iter = _libsvm(gram, task, accuracy)
        margin = task.sign * (gram.scores(a * task.sign) + b)
        found = _certified(task, largest, a, b, margin)
        better = _certified(task, largest, *_polish(gram, task, found))
        if better.certificate.gap <= found.certificate.gap:
            found = better
        found = replace(found, n_iter=n_iter)
        progress(n_iter, found.certificate.primal, found.certificate.dual)
        if found.certificate.converged:
            break
    return found


def _accuracies(tol: float) -> list[float]:
    """Return LIBSVM's tolerances to try, ever finer where costs are far apart."""
    finer = tol / 2 * _FINER ** np.arange(1, 5)
    return [max(tol / 2, _ROUGH), *[a for a in (tol / 2, *finer) if _FINEST < a < _ROUGH]]


def _between(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Return where a falling function may be 0, given two points of it, one perhaps unknown."""
    if np.isinf(high[0]):
        return 2.0 * abs(low[0]) + 1.0
    if np.isinf(low[0]):
        return -2.0 * abs(high[0]) - 1.0
    share = low[1] / (low[1] - high[1])
    return low[0] + float(np.clip(share, 0.1, 0.9)) * (high[0] - low[0])


def _libsvm(gram: Gram, task: Task, accuracy: float) -> tuple[np.ndarray, float, int]:
    """Return LIBSVM's dual variables, bias and number of iterations."""
    cost = task.loss.box().high
    if gram.kernel.libsvm is not None:
        cache = min(_CACHED * gram.memory / _MEGABYTE, _LARGEST_CACHE)
        rows, settings = gram.X, {**gram.kernel.libsvm, "cache_size": cache}
        if settings["kernel"] == "rbf":
            rows = rows - rows.mean(axis=0)  # LIBSVM squares the rows themselves
    else:
        cache = min(_CACHED_BESIDE * gram.memory / _MEGABYTE, _LARGEST_CACHE)
        rows, settings = gram.square, {"kernel": "precomputed", "cache_size": cache}
    machine = SVC(C=1.0, tol=accuracy, **settings).fit(rows, task.sign, sample_weight=cost)
    a = np.zeros(len(cost))
    a[machine.support_] = np.abs(machine.dual_coef_[0])
    return a, float(machine.intercept_[0]), int(machine.n_iter_[0])


def _polish(gram: Gram, task: Task, rough: Trained) -> tuple[np.ndarray, float, np.ndarray]:
    """Put every row between its limits on the margin, if there are any such rows."""
    a, b, margin = rough.a.copy(), rough.b, rough.margin
    ridge, low, high = task.loss.box()
    free = np.flatnonzero((a > low) & (a < high))
    if not 0 < len(free) <= MOST_FREE:
        return a, b, margin
    square = gram.block(free)
    # A constant changes nothing where the coefficients sum to 0, but makes the matrix definite.
    square += _LIFT * np.abs(square).max()
    diagonal = np.einsum("ii->i", square)
    diagonal += ridge[free] + JITTER * diagonal.mean()
    sign = task.sign[free]
    try:
        factor = cho_factor(square, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return a, b, margin
    ones = cho_solve(factor, np.ones(len(free)))
    for _ in range(_REFINEMENTS):
        short = cho_solve(factor, sign * (1.0 - ridge[free] * a[free] - margin[free]))
        shift = (float(short.sum()) + float(a @ task.sign)) / float(ones.sum())
        wanted = a[free] + sign * (short - shift * ones)
        moved = np.clip(wanted, low[free], high[free])
        change = np.zeros(len(a))
        change[free] = sign * (moved - a[free])
        margin = margin + task.sign * (gram.scores(change) + shift)
        a[free], b = moved, b + shift
        if np.any(moved != wanted):
            break
    return a, b, margin


def _with_squares(gram: Gram, task: Task, progress: Progress) -> Trained:
    """Solve without a bias, then with one for the rows between their limits, and so on."""
    largest = float(gram.diagonal.max())
    b, n_iter, tol, start = 0.0, 0, task.tol, None
    low, high = (-np.inf, np.inf), (np.inf, -np.inf)
    for _ in range(_MOST_BIASES):
        box = solve_box(
            gram,
            task.sign,
            task.loss,
            b=b,
            tol=tol,
            max_iter=task.max_iter - n_iter,
            start=start,
            progress=progress,
        )
        n_iter += box.n_iter
        rough = _certified(task, largest, box.a, b, box.margin)
        found = _certified(task, largest, *_polish(gram, task, rough))
        if found.certificate.converged or n_iter >= task.max_iter:
            break
        # The sum of y a falls as the bias rises: its sign tells where the best one lies.
        slope = float(box.a @ task.sign)
        low, high = ((b, slope), high) if slope > 0 else (low, (b, slope))
        wanted = found.b if low[0] < found.b < high[0] else _between(low, high)
        start = box.a, box.margin + (wanted - b) * task.sign
        b, tol = wanted, max(_FINER * tol, _FINEST_BIAS * task.tol)
    best = min(found, rough, key=lambda machine: machine.certificate.gap)
    return replace(best, n_iter=n_iter)
