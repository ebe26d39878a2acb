"""How much one row can change a machine (Bousquet & Elisseeff; Evgeniou et al., section 5)."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from everystump._core.threads import one_blas_thread, process_map
from everystump.bounds._det_loo_error import det_loo_margins
from everystump.bounds._kernel_ensemble import KernelEnsemble, KernelMachine
from everystump.bounds._protocol import SubsampleEnsemble
from everystump.bounds._reading import read_ensemble
from everystump.bounds._refitting import check_two_classes, fast_leave_one_out, margins_of

# What C kappa is multiplied by.  One row alone moves its own score by C K(x, x), so that the
# paper's half is too little; the whole is what Bousquet & Elisseeff prove (Theorem 22).
FACTORS = {"proven": 1.0, "paper": 0.5}


def uniform_stability(fitted: Any, X: Any, y: Any, *, constants: str = "proven") -> float:
    """Return ``beta``: no score changes by more when any one row is left out of any table.

    It is ``C kappa`` for a machine with the hinge or the logistic loss, ``kappa`` being the most
    that the kernel of a row with itself can be, and ``r / n_rows`` times the mean of that for the
    expected vote over subsamples of r rows.

    Parameters
    ----------
    fitted : KernelSVC, StumpSVC or SubsampleVotingClassifier
        A machine, or a vote of machines with fixed weights.
    X, y : array-like
        The table that it was fitted to.
    constants : {"proven", "paper"}, default="proven"
        "paper" is half of it, as Evgeniou et al. print it; a table of one row contradicts that.

    Returns
    -------
    float
        The stability.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> X, y = [[0.0], [1.0]], [0, 1]
    >>> model = KernelSVC(C=0.1, gamma=1.0, fit_intercept=False).fit(X, y)
    >>> uniform_stability(model, X, y), uniform_stability(model, X, y, constants="paper")
    (0.1, 0.05)
    """
    return stability_of(read_ensemble(fitted, X, y, "uniform_stability"), constants)


def stability_of(vote: KernelEnsemble, constants: str) -> float:
    """Return the stability of a machine, or of the expected vote."""
    if constants not in FACTORS:
        raise ValueError(f"constants={constants!r} must be one of {sorted(FACTORS)}.")
    if not all(machine.has_bounded_duals for machine in vote.machines):
        raise ValueError(
            "the stability of squared losses has no such bound; it is for machines with the hinge "
            "or the logistic loss."
        )
    each = np.array([machine.C * machine.kappa for machine in vote.machines])
    share = 1.0 if vote.subsample is None else vote.subsample / vote.n_rows
    return FACTORS[constants] * share * float(vote.weights @ each)


def measured_stability(fitted: Any, X: Any, y: Any, *, n_jobs: int | None = None) -> float:
    """Return the largest change of a score when a row of this table is left out.

    For a machine it is the change of any training row's score; for a vote, from whose machines
    the row is taken, the change of that row's own score.

    Parameters
    ----------
    fitted : KernelSVC, or SubsampleVotingClassifier of any machines
        A machine, or a vote with fixed weights.
    X, y : array-like
        The table that it was fitted to.
    n_jobs : int, optional
        Processes; one by default, or what ``joblib.parallel_config`` says.

    Returns
    -------
    float
        At most `uniform_stability` for a machine without a bias, up to the accuracy of its fit.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(100, random_state=0)
    >>> model = KernelSVC(C=0.1, gamma=0.01, fit_intercept=False).fit(X, y)
    >>> measured_stability(model, X, y) <= uniform_stability(model, X, y)
    True
    """
    y = check_two_classes(X, y)
    if isinstance(fitted, SubsampleEnsemble):
        after = det_loo_margins(fitted, X, y, n_jobs, "measured_stability")
        return float(np.abs(after - margins_of(fitted, X, y)).max())
    machine = fast_leave_one_out(fitted, X, y)
    if machine is None:
        raise ValueError(
            f"fitted={fitted!r} has no quick way to leave rows out; measured_stability is for a "
            f"fitted KernelSVC or SubsampleVotingClassifier."
        )
    parts = np.array_split(np.flatnonzero(machine.a), effective_n_jobs(n_jobs))
    with one_blas_thread:
        return max(process_map(partial(_largest_change, machine), parts, n_jobs))


def _largest_change(machine: KernelMachine, rows: np.ndarray) -> float:
    left_out = machine.leave_out(rows)
    return float(max((np.abs(m - machine.margin).max() for _, m in left_out), default=0.0))


def combining_helps(beta_all: float, beta_part: float, r: int, n_rows: int) -> bool:
    """Tell whether a vote over subsamples of r rows has the better bound (Corollary 5.1).

    Parameters
    ----------
    beta_all, beta_part : float
        Stability of one machine on all rows, and on r of them.
    r, n_rows : int
        Rows of a subsample and of the table.

    Returns
    -------
    bool
        Whether ``beta_all / beta_part > r / n_rows``.

    Examples
    --------
    >>> combining_helps(0.5, 0.5, r=40, n_rows=100), combining_helps(0.1, 0.5, r=40, n_rows=100)
    (True, False)
    """
    for name, beta in {"beta_all": beta_all, "beta_part": beta_part}.items():
        if not isinstance(beta, Real) or not beta >= 0:
            raise ValueError(f"{name}={beta!r} must be a number, 0 or more.")
    if not isinstance(r, Integral) or not 0 < r <= n_rows:
        raise ValueError(f"r={r!r} must be a whole number from 1 to n_rows={n_rows!r}.")
    return beta_all * n_rows > beta_part * r
