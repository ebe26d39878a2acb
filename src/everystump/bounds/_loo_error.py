"""The true leave-one-out error (Evgeniou et al., eqs. 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from everystump._core.progress import progress_counter
from everystump._core.threads import one_blas_thread, process_map
from everystump.bounds._kernel_ensemble import KernelMachine
from everystump.bounds._protocol import SubsampleEnsemble
from everystump.bounds._refitting import (
    as_fitted,
    check_two_classes,
    fast_leave_one_out,
    refit_margin,
)
from everystump.bounds._soft_margin import check_delta, soft_margin_loss

_TITLE = "loo_error: rows left out,"
# Each process takes so many parts one after the other, which progress is told after.
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
    """Return the share of rows that the estimator gets wrong when trained on all others.

    Any classifier is trained again for each row, without weights of rows.  A single `KernelSVC` is
    not: its kernel stays as it was fitted, only rows with a dual variable can change it, and each
    starts from the optimum with all rows.  A `SubsampleVotingClassifier` draws new rows for its
    machines each time, as many as before.

    Parameters
    ----------
    fitted : estimator
        Any classifier, fitted to ``X`` and ``y``.
    X, y : array-like
        The table that it was fitted to, of two classes.
    delta : float, default=0.0
        Margins from 0 to this count in part; see `soft_margin_loss`.
    n_jobs : int, optional
        Processes; one by default, or what ``joblib.parallel_config`` says.
    verbose : int, default=0
        1 shows live progress.

    Returns
    -------
    float
        The leave-one-out error.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(60, random_state=0)
    >>> loo_error(KNeighborsClassifier(5).fit(X, y), X, y) < 0.2
    True
    """
    check_delta(delta)
    y = check_two_classes(X, y)
    machine = fast_leave_one_out(fitted, X, y)
    if machine is not None:
        margin = _quick_margins(machine, n_jobs, verbose)
    else:
        work = partial(refit_margin, _redrawing(fitted), as_fitted(fitted, X), y)
        with progress_counter(verbose, _TITLE, len(y)) as tick:
            margin = np.array(process_map(work, range(len(y)), n_jobs, lambda result: tick()))
    return float(soft_margin_loss(margin, delta).mean())


def _quick_margins(machine: KernelMachine, n_jobs: int | None, verbose: int) -> np.ndarray:
    """Return the margins of the rows that a machine has not seen, each process taking some."""
    margin, rows = machine.margin.copy(), np.flatnonzero(machine.a)
    with one_blas_thread, progress_counter(verbose, _TITLE, len(rows)) as tick:

        def keep(some: Iterable[tuple[int, float]]) -> None:
            for row, value in some:
                margin[row] = value
                tick()

        n_processes = effective_n_jobs(n_jobs)
        if n_processes == 1:
            keep(_margins(machine, rows))
        else:
            parts = np.array_split(rows, min(len(rows), _PARTS_PER_PROCESS * n_processes) or 1)
            process_map(partial(_list_margins, machine), parts, n_jobs, keep)
    return margin


def _margins(machine: KernelMachine, rows: np.ndarray) -> Iterator[tuple[int, float]]:
    for row, margins in machine.leave_out(rows):
        yield row, margins[row]


def _list_margins(machine: KernelMachine, rows: np.ndarray) -> list[tuple[int, float]]:
    return list(_margins(machine, rows))


def _redrawing(fitted: Any) -> Any:
    """Return an unfitted estimator that draws as many rows as the fitted one did."""
    return (
        fitted.clone_for_leave_one_out() if isinstance(fitted, SubsampleEnsemble) else clone(fitted)
    )
