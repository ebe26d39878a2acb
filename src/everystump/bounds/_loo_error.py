"""The leave-one-out error itself (Evgeniou et al., eqs. 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from everystump._core.progress import progress_counter
from everystump._core.threads import one_blas_thread, process_map
from everystump.bounds._checks import check_delta
from everystump.bounds._kernel_ensemble import KernelMachine
from everystump.bounds._protocol import SubsampleEnsemble
from everystump.bounds._refitting import (
    align_columns,
    check_two_classes,
    fast_leave_one_out,
    refit_margin,
)
from everystump.bounds._soft_margin import soft_margin_loss

_TITLE = "loo_error: rows left out,"
# Progress is reported after each of these parts of the work of a process.
_PARTS_PER_PROCESS = 16


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
    the kernel of its fit, only support vectors make a difference, and each solution starts from
    that of all samples.  A `SubsampleVotingClassifier` draws new subsamples of the same size each
    time.

    Parameters
    ----------
    fitted : estimator
        A classifier fitted to ``X`` and ``y``.
    X, y : array-like
        The training data, with two classes.
    delta : float, default=0.0
        Margins from 0 to ``delta`` count as partial errors; see `soft_margin_loss`.
    n_jobs : int, default=None
        The number of processes.  None is 1 unless in a ``joblib.parallel_config`` context.
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
    y = check_two_classes(X, y)
    machine = fast_leave_one_out(fitted, X, y)
    if machine is not None:
        margin = _fast_margins(machine, n_jobs, verbose)
    else:
        work = partial(refit_margin, _unfitted(fitted), align_columns(fitted, X), y)
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
    for row, margins in machine.leave_out(rows):
        yield row, margins[row]


def _list_left_out_margins(machine: KernelMachine, rows: np.ndarray) -> list[tuple[int, float]]:
    return list(_left_out_margins(machine, rows))


def _unfitted(fitted: Any) -> Any:
    """Return an unfitted copy, with subsamples of the same size if it draws any."""
    if isinstance(fitted, SubsampleEnsemble):
        return fitted.clone_for_leave_one_out()
    return clone(fitted)
