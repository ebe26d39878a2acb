"""The leave-one-out errors themselves, by refitting (Evgeniou et al., eqs. 5 to 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import get_tags

from everystump._core.progress import progress_counter
from everystump._core.threads import one_blas_thread, process_map
from everystump._sklearn_compat import safe_indexing
from everystump._tables.frames import is_frame, reorder_columns
from everystump._tables.labels import classifier_scores
from everystump.bounds._bound import check_delta, check_is_no_regressor
from everystump.bounds._protocol import (
    EnsembleMember,
    KernelMachine,
    SubsampleEnsemble,
    SupportsKernelEnsembles,
    SupportsKernelMachines,
)

_TITLE = "loo_error: rows left out,"
# Progress is reported after each of these parts of the work of a process.
_PARTS_PER_PROCESS = 16
# Margins of combined signs below this are ties.
_TIE = 1e-12


def soft_margin_loss(margin: np.ndarray, delta: float) -> np.ndarray:
    """Return 1 for negative margins, 0 from ``delta`` on, and linear values in between.

    Parameters
    ----------
    margin : ndarray
        Margins ``y f(x)``.
    delta : float
        The margin from which the loss is 0.  With ``delta=0`` negative margins are counted; a
        margin of 0 is not an error, as in the paper (``theta(0) = 0``).

    Returns
    -------
    ndarray
        The loss ``pi_delta(-margin)`` of each margin.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump.bounds import soft_margin_loss
    >>> soft_margin_loss(np.array([-1.0, 0.0, 0.5, 3.0]), 2.0)
    array([1.  , 1.  , 0.75, 0.  ])
    """
    check_delta(delta)
    margin = np.asarray(margin, dtype=np.float64)
    if delta == 0.0:
        return (margin < 0).astype(np.float64)
    return np.clip(1.0 - margin / delta, 0.0, 1.0)


def fast_leave_one_out(fitted: Any, X: Any, y: Any) -> KernelMachine | None:
    """Return the machine of a fitted estimator if it supports leave-one-out without refitting."""
    if not isinstance(fitted, SupportsKernelEnsembles) or isinstance(fitted, SubsampleEnsemble):
        return None
    (machine,) = fitted.kernel_ensembles(X, y)[0].machines
    return None if machine.leave_one_out is None else machine


def _align_columns(fitted: Any, X: Any) -> Any:
    """Return a dataframe with its columns in the order of training, other data unchanged."""
    names = getattr(fitted, "feature_names_in_", None)
    return reorder_columns(X, names) if names is not None and is_frame(X) else X


def training_margins(fitted: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Return ``y f(x)`` of each row for a fitted classifier of two classes."""
    return np.where(y == fitted.classes_[1], 1.0, -1.0) * fitted.decision_function(X)


def _refit_margin(fitted: Any, X: Any, y: np.ndarray, row: int) -> float:
    """Return ``y f(x)`` of a row for the same estimator fitted to all other rows.

    If those have a single class, the margin is 1 or -1.
    """
    rest = np.delete(np.arange(len(y)), row)
    if np.all(y[rest] == y[rest[0]]):
        return 1.0 if y[row] == y[rest[0]] else -1.0
    training, left_out = safe_indexing(X, rest), safe_indexing(X, [row])
    if get_tags(fitted).input_tags.pairwise:
        training, left_out = np.asarray(training)[:, rest], np.asarray(left_out)[:, rest]
    refitted = clone(fitted).fit(training, y[rest])
    score = classifier_scores(refitted, left_out)[0]
    return float(score) if y[row] == refitted.classes_[1] else -float(score)


def check_two_classes(X: Any, y: Any) -> np.ndarray:
    """Return the labels as an array after checking that there are two classes."""
    y = np.asarray(y)
    n_classes = len(np.unique(y))
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2 or y.shape != shape[:1] or n_classes != 2:
        raise ValueError(
            f"y has shape {y.shape} and {n_classes} classes for X of shape {shape}; leave-one-out "
            f"errors need one label per sample and two classes."
        )
    return y


def loo_error(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> float:
    """Compute the fraction of samples that are misclassified when left out of training.

    A classifier is refitted for each sample, without sample weights.  A `KernelSVC` is not: with
    the kernel of its fit, only support vectors have an effect, and each solution is warm-started
    from the one for all samples.  A `SubsampleVotingClassifier` draws new subsamples of the same
    size each time.

    Parameters
    ----------
    fitted : estimator
        A classifier fitted to ``X`` and ``y``.
    X, y : array-like
        The training data, with two classes.
    delta : float, default=0.0
        Margins from 0 to ``delta`` count as partial errors; see `soft_margin_loss`.
    n_jobs : int, default=None
        The number of processes.  None means 1 unless in a ``joblib.parallel_config`` context.
    verbose : int, default=0
        If 1, progress is shown.

    Returns
    -------
    float
        The leave-one-out error.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from everystump.bounds import loo_error
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(60, random_state=0)
    >>> loo_error(KNeighborsClassifier(5).fit(X, y), X, y) < 0.2
    True
    """
    check_delta(delta)
    check_is_no_regressor(fitted, "loo_error")
    y = check_two_classes(X, y)
    machine = fast_leave_one_out(fitted, X, y)
    if machine is not None:
        margin = _fast_margins(machine, n_jobs, verbose)
    else:
        # New subsamples of an ensemble have the same size as before.
        is_ensemble = isinstance(fitted, SubsampleEnsemble)
        unfitted = fitted.clone_for_leave_one_out() if is_ensemble else clone(fitted)
        work = partial(_refit_margin, unfitted, _align_columns(fitted, X), y)
        with progress_counter(verbose, _TITLE, len(y)) as tick:
            margin = np.array(process_map(work, range(len(y)), n_jobs, lambda result: tick()))
    return float(soft_margin_loss(margin, delta).mean())


def _fast_margins(machine: KernelMachine, n_jobs: int | None, verbose: int) -> np.ndarray:
    """Return the leave-one-out margins of a machine, the rows divided among processes."""
    margin, rows = machine.margin.copy(), np.flatnonzero(machine.a)
    with one_blas_thread, progress_counter(verbose, _TITLE, len(rows)) as tick:

        def store(pairs: Iterable[tuple[int, float]]) -> None:
            for row, value in pairs:
                margin[row] = value
                tick()

        n_processes = effective_n_jobs(n_jobs)
        if n_processes == 1:
            store(_left_out_margins(machine, rows))
        else:
            parts = np.array_split(rows, min(len(rows), _PARTS_PER_PROCESS * n_processes) or 1)
            process_map(partial(_list_left_out_margins, machine), parts, n_jobs, store)
    return margin


def _left_out_margins(machine: KernelMachine, rows: np.ndarray) -> Iterator[tuple[int, float]]:
    return ((row, margins[row]) for row, margins in machine.leave_out(rows))


def _list_left_out_margins(machine: KernelMachine, rows: np.ndarray) -> list[tuple[int, float]]:
    return list(_left_out_margins(machine, rows))


def det_loo_error(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> float:
    """Compute the fraction of samples that an ensemble misclassifies when they are left out.

    The members keep their subsamples, from which the sample is removed.  Members whose subsamples
    do not contain it do not change.

    Parameters
    ----------
    fitted : SubsampleVotingClassifier
        An ensemble of any classifiers for two classes, with fixed weights.
    X, y : array-like
        The training data.
    delta, n_jobs, verbose
        As in `loo_error`.

    Returns
    -------
    float
        The det-leave-one-out error.

    Examples
    --------
    >>> from everystump import KernelSVC, SubsampleVotingClassifier
    >>> from everystump.bounds import det_loo_error
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(100, random_state=0)
    >>> machine = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False)
    >>> model = SubsampleVotingClassifier(machine, random_state=0).fit(X, y)
    >>> 0.0 <= det_loo_error(model, X, y) < 0.2
    True
    """
    check_delta(delta)
    margin = det_loo_margins(fitted, X, y, n_jobs, verbose=verbose)
    return float(soft_margin_loss(margin, delta).mean())


def det_loo_margins(
    fitted: Any,
    X: Any,
    y: Any,
    n_jobs: int | None,
    name: str = "det_loo_error",
    verbose: int = 0,
) -> np.ndarray:
    """Return ``y_i F^i(x_i)`` of each row, where ``F^i`` is trained without row i."""
    check_is_no_regressor(fitted, name)
    if not isinstance(fitted, SubsampleEnsemble) or not fitted.has_fixed_weights:
        raise ValueError(
            f"fitted={fitted!r} is not an ensemble with fixed weights; {name} is for a fitted "
            f'SubsampleVotingClassifier with combine="mean", loo_error for any classifier.'
        )
    y = check_two_classes(X, y)
    members = fitted.ensemble_members(X, y)
    margin = training_margins(fitted, X, y)
    work = partial(_margin_changes, combines_signs=fitted.combines_signs)
    with one_blas_thread, progress_counter(verbose, f"{name}: members,", len(members)) as tick:
        changes = process_map(work, members, n_jobs, lambda change: tick())
    for member, change in zip(members, changes, strict=True):
        margin[member.rows] += member.weight * change
    return np.where(np.abs(margin) < _TIE, 0.0, margin) if fitted.combines_signs else margin


def _margin_changes(member: EnsembleMember, combines_signs: bool) -> np.ndarray:
    """Return the change in the margin of each row of a member when that row is left out."""
    estimator, _, _, X, y = member
    sign = np.where(y == estimator.classes_[1], 1.0, -1.0)
    before = sign * classifier_scores(estimator, X)
    after = before.copy()
    machine = None
    if isinstance(estimator, SupportsKernelMachines):
        (machine,) = estimator.kernel_machines(lambda: X, sign[None])
    if machine is not None and machine.leave_one_out is not None:
        for row, margins in machine.leave_out():
            after[row] = margins[row]
    else:
        after[:] = [_refit_margin(estimator, X, y, row) for row in range(len(y))]
    if combines_signs:
        before, after = (sign * np.where(sign * m > 0, 1.0, -1.0) for m in (before, after))
    return after - before
