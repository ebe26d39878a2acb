"""The influence of one sample on a machine (Bousquet & Elisseeff; Evgeniou et al., section 5)."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from everystump._core.threads import one_blas_thread, process_map
from everystump.bounds._checks import check_option
from everystump.bounds._det_loo_error import det_loo_margins
from everystump.bounds._kernel_ensemble import KernelEnsemble, KernelMachine
from everystump.bounds._protocol import SubsampleEnsemble
from everystump.bounds._reading import read_ensemble
from everystump.bounds._refitting import check_two_classes, fast_leave_one_out, training_margins

# The factor of C kappa.  A single sample changes its own score by C K(x, x), so the paper's 1/2 is
# too small; 1 is proven by Bousquet & Elisseeff (Theorem 22).
_FACTORS = {"proven": 1.0, "paper": 0.5}


def uniform_stability(fitted: Any, X: Any, y: Any, *, constants: str = "proven") -> float:
    """Compute ``beta``, an upper bound on the change of any score when any sample is left out.

    It is ``C kappa`` for a machine with the hinge or the logistic loss, where ``kappa`` is the
    supremum of the kernel ``K(x, x)``.  For the expected ensemble over subsamples of r samples it
    is ``r / n_samples`` times the mean of ``C kappa``.

    Parameters
    ----------
    fitted : KernelSVC, StumpSVC or SubsampleVotingClassifier
        A kernel machine, or an ensemble of kernel machines with fixed weights.
    X, y : array-like
        The training data.
    constants : {"proven", "paper"}, default="proven"
        "paper" is half of it, as printed by Evgeniou et al.; training sets of one sample are
        counterexamples.

    Returns
    -------
    float
        The stability.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import uniform_stability
    >>> X, y = [[0.0], [1.0]], [0, 1]
    >>> model = KernelSVC(C=0.1, gamma=1.0, fit_intercept=False).fit(X, y)
    >>> uniform_stability(model, X, y), uniform_stability(model, X, y, constants="paper")
    (0.1, 0.05)
    """
    return ensemble_stability(read_ensemble(fitted, X, y, "uniform_stability"), constants)


def ensemble_stability(ensemble: KernelEnsemble, constants: str) -> float:
    """Return the stability of a machine, or of the expected ensemble."""
    check_option("constants", constants, _FACTORS)
    if not all(machine.has_bounded_duals for machine in ensemble.machines):
        raise ValueError(
            "the stability of machines with a squared loss has no such bound; use the hinge or the "
            "logistic loss."
        )
    each = np.array([machine.C * machine.kappa for machine in ensemble.machines])
    fraction = 1.0 if ensemble.subsample is None else ensemble.subsample / ensemble.n_rows
    return _FACTORS[constants] * fraction * float(ensemble.weights @ each)


def measured_stability(fitted: Any, X: Any, y: Any, *, n_jobs: int | None = None) -> float:
    """Compute the largest change of a score when one of the given samples is left out.

    For a machine, it is the change of the score of any training sample.  For an ensemble, from
    whose machines the sample is removed, it is the change of the sample's own score.

    Parameters
    ----------
    fitted : KernelSVC, or SubsampleVotingClassifier of any machines
        A kernel machine, or an ensemble with fixed weights.
    X, y : array-like
        The training data.
    n_jobs : int, default=None
        As in `loo_error`.

    Returns
    -------
    float
        For a machine without an intercept, at most `uniform_stability` up to the accuracy of the
        fit.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import measured_stability, uniform_stability
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(100, random_state=0)
    >>> model = KernelSVC(C=0.1, gamma=0.01, fit_intercept=False).fit(X, y)
    >>> measured_stability(model, X, y) <= uniform_stability(model, X, y)
    True
    """
    y = check_two_classes(X, y)
    if isinstance(fitted, SubsampleEnsemble):
        after = det_loo_margins(fitted, X, y, n_jobs, "measured_stability")
        return float(np.abs(after - training_margins(fitted, X, y)).max())
    machine = fast_leave_one_out(fitted, X, y)
    if machine is None:
        raise ValueError(
            f"fitted={fitted!r} cannot leave samples out without refitting; measured_stability is "
            f"for a fitted KernelSVC or SubsampleVotingClassifier."
        )
    parts = np.array_split(np.flatnonzero(machine.a), effective_n_jobs(n_jobs))
    with one_blas_thread:
        return max(process_map(partial(_largest_change, machine), parts, n_jobs))


def _largest_change(machine: KernelMachine, rows: np.ndarray) -> float:
    left_out = machine.leave_out(rows)
    return float(max((np.abs(m - machine.margin).max() for _, m in left_out), default=0.0))


def combining_helps(beta_all: float, beta_part: float, r: int, n_rows: int) -> bool:
    """Whether an ensemble over subsamples of r samples has the better bound (Corollary 5.1).

    Parameters
    ----------
    beta_all, beta_part : float
        The stability of one machine on all samples, and on r of them.
    r, n_rows : int
        The number of samples of a subsample, and of the training data.

    Returns
    -------
    bool
        Whether ``beta_all / beta_part > r / n_rows``.

    Examples
    --------
    >>> from everystump.bounds import combining_helps
    >>> combining_helps(0.5, 0.5, r=40, n_rows=100), combining_helps(0.1, 0.5, r=40, n_rows=100)
    (True, False)
    """
    for name, beta in {"beta_all": beta_all, "beta_part": beta_part}.items():
        if not isinstance(beta, Real) or not beta >= 0:
            raise ValueError(f"{name}={beta!r} must be a number, 0 or more.")
    if not isinstance(r, Integral) or not 0 < r <= n_rows:
        raise ValueError(f"r={r!r} must be an integer from 1 to n_rows={n_rows!r}.")
    return beta_all * n_rows > beta_part * r
