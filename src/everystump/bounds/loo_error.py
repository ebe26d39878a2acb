"""The true leave-one-out error (Evgeniou et al., eqs. 5 and 6)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from everystump.bounds.protocol import SubsampleVote
from everystump.bounds.refitting import as_fitted, check_two_classes, margin_without, quick_way
from everystump.bounds.soft_margin import check_delta, soft_margin_loss
from everystump.machines import Machine
from everystump.threads import one_blas_thread, spread_out


def loo_error(
    fitted: Any, X: Any, y: Any, *, delta: float = 0.0, n_jobs: int | None = None
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
    machine = quick_way(fitted, X, y)
    if machine is not None:
        margin = _quick_margins(machine, n_jobs)
    else:
        work = partial(margin_without, _redrawing(fitted), as_fitted(fitted, X), y)
        margin = np.array(spread_out(work, range(len(y)), n_jobs))
    return float(soft_margin_loss(margin, delta).mean())


def _quick_margins(machine: Machine, n_jobs: int | None) -> np.ndarray:
    """Return the margins of the rows that a machine has not seen, each process taking some."""
    margin = machine.margin.copy()
    parts = np.array_split(np.flatnonzero(machine.a), effective_n_jobs(n_jobs))
    with one_blas_thread:
        for part in spread_out(partial(_left_out, machine), parts, n_jobs):
            for row, value in part:
                margin[row] = value
    return margin


def _left_out(machine: Machine, rows: np.ndarray) -> list[tuple[int, float]]:
    return [(row, margins[row]) for row, margins in machine.left_out(rows)]


def _redrawing(fitted: Any) -> Any:
    """Return an unfitted estimator that draws as many rows as the fitted one did."""
    return fitted.for_one_row_less() if isinstance(fitted, SubsampleVote) else clone(fitted)
