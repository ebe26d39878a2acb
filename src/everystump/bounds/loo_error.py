"""The true leave-one-out error (Evgeniou et al., eqs. 5 and 6)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from everystump.bounds.refitting import as_arrays, margin_without
from everystump.bounds.soft_margin import check_delta, soft_margin_loss
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
    X, y = as_arrays(X, y)
    margin = _quick_margins(fitted, X, y)
    if margin is None:
        work = partial(margin_without, _redrawing(fitted), X, y)
        margin = np.array(spread_out(work, range(len(y)), n_jobs))
    return float(soft_margin_loss(margin, delta).mean())


def _quick_margins(fitted: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Return the margins of a machine that knows a quick way, None for others."""
    if not hasattr(fitted, "_combinations") or hasattr(fitted, "estimators_samples_"):
        return None
    ((machine,),) = (problem.machines for problem in fitted._combinations(X, y))
    if machine.leave_each_out is None:
        return None
    margin = machine.margin.copy()
    with one_blas_thread:
        for row, margins in machine.leave_each_out(X):
            margin[row] = margins[row]
    return margin


def _redrawing(fitted: Any) -> Any:
    """Return an unfitted estimator that draws as many rows as the fitted one did."""
    samples = getattr(fitted, "estimators_samples_", None)
    if samples is None or not hasattr(fitted, "subsample"):
        return clone(fitted)
    return clone(fitted).set_params(subsample=len(samples[0]))
