"""Train kernel machines: with a bias or without, for any loss with a quadratic dual.

    min over f, b of   |f|^2 / 2 + sum over rows i of loss_i(y_i (f(x_i) + b))

Without a bias ``b`` is 0, and the dual has limits only (Evgeniou et al., eq. 3): `solve_box`.
With one, the dual variables also have ``sum of y a = 0``: LIBSVM for the hinge; for the squared
losses, whose optimum moves smoothly with ``b``, steps to that sum's root.  Both end with `polish`;
where they stall, `solve_interior_point` leads on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.svm import SVC

from everystump._core.kernel_machines.gram import Gram
from everystump._core.kernel_machines.interior import solve_interior_point
from everystump._core.kernel_machines.polish import polish
from everystump._core.kernel_machines.settle import solution_from_duals
from everystump._core.kernel_machines.task import Task, Trained
from everystump._core.solvers import Progress, solve_box
from everystump._core.solvers.box import MAX_FREE_ROWS

_MEGABYTE = 2**20
# What LIBSVM's cache may take of the memory, alone and beside the whole matrix.
_CACHED, _CACHED_BESIDE = 0.7, 0.02
_LARGEST_CACHE = 10_000.0  # megabytes
# LIBSVM's own default accuracy, from which a polish leads to the optimum of most problems.
_ROUGH = 1e-3
# The gap to go to where that takes no longer.
_NEAR = 1e-6
# LIBSVM moves pairs of rows: one of our iterations is as many pairs as there are rows, at least
# these.
_LEAST_PAIRS, _LARGEST_INT = 1000, 2**31 - 1
# Where there is another way, the usual one gets so many iterations before that is taken.
_PATIENCE = 30
# Biases to try; how much finer the next fit is to be.
_MOST_BIASES = 50
_FINER, _FINEST, _FINEST_BIAS = 0.01, 1e-13, 1e-4


def train(gram: Gram, task: Task, progress: Progress) -> Trained:
    """Train a machine on the rows of a kernel matrix."""
    box = task.loss.box()
    if box.is_unlimited:
        _ = gram.square  # every row is a support vector: all of it is needed, or the fit refused
    if not task.bias:
        found = _without_bias(gram, task, progress)
    elif box.is_linear:
        found = _with_hinge(gram, task, progress)
    else:
        if gram.width == gram.n_rows:
            _ = gram.square  # the solver will come back to its rows
        found = _with_squares(gram, task, progress)
    stalled = not found.certificate.converged and found.n_iter < task.max_iter
    return _through_the_interior(gram, task, found, progress) if stalled else found


def _through_the_interior(gram: Gram, task: Task, rough: Trained, progress: Progress) -> Trained:
    """Train once more, by another way, where the usual one has stalled."""
    if task.loss.box().is_unlimited or not _is_small(gram):
        return rough  # no limits to stay within, or too many rows
    a, n_iter = solve_interior_point(gram, task, task.max_iter - rough.n_iter)
    found = polish(gram, task, solution_from_duals(gram, task, a))
    progress(rough.n_iter + n_iter, found.certificate.primal, found.certificate.dual)
    return _best([rough, found], rough.n_iter + n_iter)


def _is_small(gram: Gram) -> bool:
    """Tell whether a matrix of all rows may be factored."""
    return gram.n_rows <= min(MAX_FREE_ROWS, gram.width)


def _patience(gram: Gram, task: Task) -> int:
    """Return how many iterations the usual way gets, before those that factor matrices."""
    return min(task.max_iter, _PATIENCE) if _is_small(gram) else task.max_iter


def _best(machines: list[Trained], n_iter: int) -> Trained:
    """Return the machine of the smallest gap, the first of equals."""
    return replace(min(machines, key=lambda machine: machine.certificate.gap), n_iter=n_iter)


def _without_bias(gram: Gram, task: Task, progress: Progress) -> Trained:
    # Where few steps more end at the optimum itself, leave-one-out bounds are proven by them.
    quick = task.loss.box().is_linear and gram.kernel.own is not None
    tol = min(task.tol, _NEAR) if quick and gram.width == gram.n_rows else task.tol
    box = solve_box(
        gram,
        task.sign,
        task.loss,
        tol=tol,
        max_iter=_patience(gram, task),
        progress=progress,
    )
    certificate = replace(box.certificate, converged=box.certificate.gap <= task.tol)
    found = Trained(box.a, 0.0, box.margin, certificate, box.n_iter)
    return found if found.certificate.converged else polish(gram, task, found)


def _with_hinge(gram: Gram, task: Task, progress: Progress) -> Trained:
    """Train by LIBSVM, then go to the optimum over the rows between their limits."""
    per_iter = max(gram.n_rows, _LEAST_PAIRS)
    most = _patience(gram, task) * per_iter
    machines: list[Trained] = []
    n_pairs = 0
    for accuracy in _accuracies(task.tol):
        a, spent = _libsvm(gram, task, accuracy, most - n_pairs)
        n_pairs += spent
        machines.append(polish(gram, task, solution_from_duals(gram, task, a)))
        best = _best(machines, -(-n_pairs // per_iter))
        progress(best.n_iter, best.certificate.primal, best.certificate.dual)
        if best.certificate.converged or n_pairs >= most:
            break
    return best


def _accuracies(tol: float) -> list[float]:
    """Return LIBSVM's tolerances to try, ever finer where costs are far apart."""
    finer = tol / 2 * _FINER ** np.arange(1, 5)
    return [max(tol / 2, _ROUGH), *[a for a in (tol / 2, *finer) if _FINEST < a < _ROUGH]]


class _QuietSVC(SVC):
    """LIBSVM without its own warning: the certificate tells whether it had enough steps."""

    def _warn_from_fit_status(self) -> None:
        pass


def _libsvm(gram: Gram, task: Task, accuracy: float, most: int) -> tuple[np.ndarray, int]:
    """Return LIBSVM's dual variables after at most so many pairs of rows, and how many it took."""
    cost = task.loss.box().high
    if gram.kernel.libsvm is not None:
        cache = min(_CACHED * gram.memory / _MEGABYTE, _LARGEST_CACHE)
        # A shift of the rows changes nothing here, and LIBSVM squares the rows themselves.
        rows = gram.X - gram.X.mean(axis=0)
        settings = {**gram.kernel.libsvm, "cache_size": cache}
    else:
        cache = min(_CACHED_BESIDE * gram.memory / _MEGABYTE, _LARGEST_CACHE)
        rows, settings = gram.square, {"kernel": "precomputed", "cache_size": cache}
    machine = _QuietSVC(C=1.0, tol=accuracy, max_iter=min(most, _LARGEST_INT), **settings)
    machine.fit(rows, task.sign, sample_weight=cost)
    a = np.zeros(len(cost))
    a[machine.support_] = np.minimum(np.abs(machine.dual_coef_[0]), cost[machine.support_])
    return a, int(machine.n_iter_[0])


def _with_squares(gram: Gram, task: Task, progress: Progress) -> Trained:
    """Solve without a bias, then with one for the rows between their limits, and so on."""
    b, n_iter, tol, start = 0.0, 0, task.tol, None
    machines: list[Trained] = []
    low, high = (-np.inf, np.inf), (np.inf, -np.inf)
    most = _patience(gram, task)
    for _ in range(_MOST_BIASES):
        box = solve_box(
            gram,
            task.sign,
            task.loss,
            b=b,
            tol=tol,
            max_iter=most - n_iter,
            start=start,
            progress=progress,
        )
        n_iter += box.n_iter
        found = polish(gram, task, solution_from_duals(gram, task, box.a))
        machines.append(found)
        best = _best(machines, n_iter)
        if best.certificate.converged or n_iter >= most:
            break
        # The sum of y a falls as the bias rises: its sign tells where the best one lies.
        slope = float(box.a @ task.sign)
        low, high = ((b, slope), high) if slope > 0 else (low, (b, slope))
        wanted = found.b if low[0] < found.b < high[0] else _between(low, high)
        start = box.a, box.margin + (wanted - b) * task.sign
        b, tol = wanted, max(_FINER * tol, _FINEST_BIAS * task.tol)
    return best


def _between(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Return where a falling function may be 0, given two points of it, one perhaps unknown."""
    if np.isinf(high[0]):
        return 2.0 * abs(low[0]) + 1.0
    if np.isinf(low[0]):
        return -2.0 * abs(high[0]) - 1.0
    share = low[1] / (low[1] - high[1])
    return low[0] + float(np.clip(share, 0.1, 0.9)) * (high[0] - low[0])
