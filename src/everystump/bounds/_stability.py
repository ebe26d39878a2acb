"""Stability, the influence of one sample, and a bound based on it (Evgeniou et al., section 5)."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from everystump._core.threads import one_blas_thread, process_map
from everystump.bounds._bound import (
    Bound,
    check_delta,
    check_eta,
    check_is_no_regressor,
    check_option,
)
from everystump.bounds._leave_one_out_bounds import MACHINE_ASSUMPTIONS, PAPER, read_ensemble
from everystump.bounds._leave_one_out_errors import (
    check_two_classes,
    det_loo_error,
    det_loo_margins,
    fast_leave_one_out,
    loo_error,
    soft_margin_loss,
    training_margins,
)
from everystump.bounds._protocol import KernelEnsemble, KernelMachine, SubsampleEnsemble

# The factor of C kappa.  A single sample changes its own score by C K(x, x), so the paper's 1/2 is
# too small; 1 is proven by Bousquet & Elisseeff (Theorem 22).
_FACTORS = {"proven": 1.0, "paper": 0.5}
_ERRORS = ("loo-bound", "loo", "empirical")


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
            "the stability of machines with a squared loss is not bounded; use the hinge or the "
            "logistic loss."
        )
    stabilities = np.array([machine.C * machine.kappa for machine in ensemble.machines])
    fraction = 1.0 if ensemble.subsample is None else ensemble.subsample / ensemble.n_rows
    return _FACTORS[constants] * fraction * float(ensemble.weights @ stabilities)


def measured_stability(fitted: Any, X: Any, y: Any, *, n_jobs: int | None = None) -> float:
    """Compute the largest change of a score when one of the training samples is left out.

    For a machine, it is the change of the score of any training sample.  For an ensemble, from
    whose subsamples the sample is removed, it is the change of the sample's own score.

    Parameters
    ----------
    fitted : KernelSVC, or SubsampleVotingClassifier of any estimators
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
    check_is_no_regressor(fitted, "measured_stability")
    y = check_two_classes(X, y)
    if isinstance(fitted, SubsampleEnsemble):
        after = det_loo_margins(fitted, X, y, n_jobs, "measured_stability")
        return float(np.abs(after - training_margins(fitted, X, y)).max())
    machine = fast_leave_one_out(fitted, X, y)
    if machine is None:
        raise ValueError(
            f"fitted={fitted!r} does not support leave-one-out without refits; measured_stability "
            f"is for a fitted KernelSVC or SubsampleVotingClassifier."
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


def stability_bound(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 1.0,
    eta: float = 0.05,
    error: str = "loo-bound",
    constants: str = "proven",
    n_jobs: int | None = None,
) -> Bound:
    """Bound the error on new samples with confidence ``1 - eta`` by the stability of a machine.

    The bound is ``E_delta + beta / delta + (4 n beta / delta + 1) sqrt(log(1 / eta) / (2 n))`` for
    n samples, where ``E_delta`` is the leave-one-out error with the soft margin ``delta`` and
    ``beta`` the `uniform_stability`.  For an ensemble over subsamples of r samples, ``E_delta`` is
    the det-leave-one-out error, and ``beta`` decreases by ``r / n``.  The proven form allows for
    the duality gaps of the machines.

    Parameters
    ----------
    fitted : KernelSVC, StumpSVC or SubsampleVotingClassifier
        A kernel machine with the hinge or the logistic loss, or an ensemble of such machines with
        equal weights.
    X, y : array-like
        The training data.
    delta : float, default=1.0
        The soft margin, chosen before the data was seen.
    eta : float, default=0.05
        The probability that the bound fails; 0.05 is 95% confidence.
    error : {"loo-bound", "loo", "empirical"}, default="loo-bound"
        The estimate of ``E_delta``: its bound by Lemma 3.1, without refits; the error itself; or
        the training error with the same soft margin, which adds another ``beta / delta``.
    constants : {"proven", "paper"}, default="proven"
        "proven" are the constants of Bousquet & Elisseeff (2002, Theorem 17), "paper" those printed
        by Evgeniou et al.: half the ``beta``, 2 instead of 4, and ``beta`` not divided by
        ``delta``.
    n_jobs : int, default=None
        The number of processes with ``error="loo"``, as in `loo_error`.

    Returns
    -------
    Bound
        The bound on the error on new samples.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import stability_bound
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(2000, random_state=0)
    >>> model = KernelSVC(C=0.001, gamma=0.01, fit_intercept=False).fit(X, y)
    >>> bound = stability_bound(model, X, y, delta=0.5)
    >>> bound.holds, bound.vacuous
    (True, True)
    """
    check_delta(delta, positive=True)
    check_eta(eta)
    check_option("error", error, _ERRORS)
    ensemble = read_ensemble(fitted, X, y, "stability_bound")
    beta, n = ensemble_stability(ensemble, constants), ensemble.n_rows
    shift = (beta + _distance_to_optimum(ensemble)) / delta if constants == "proven" else beta
    if error == "empirical":
        shift *= 2
    estimate = _estimate(fitted, X, y, ensemble, delta, error, n_jobs)
    factor = 4 * _FACTORS[constants]
    deviation = (factor * n * beta / delta + 1) * np.sqrt(np.log(1 / eta) / (2 * n))
    value = float(estimate + shift + deviation)
    theorem = "Theorem 5.1" if ensemble.subsample is None else "Theorems 5.2 and 5.3"
    assumptions = _assumptions(ensemble, constants)
    return Bound.from_value(
        value, f"{PAPER}, {theorem}", assumptions, _violations(ensemble, constants)
    )


def _estimate(
    fitted: Any,
    X: Any,
    y: Any,
    ensemble: KernelEnsemble,
    delta: float,
    error: str,
    n_jobs: int | None,
) -> float:
    """Return the estimate of ``E_delta``."""
    if error == "loo":
        left_out_error = loo_error if ensemble.subsample is None else det_loo_error
        return left_out_error(fitted, X, y, delta=delta, n_jobs=n_jobs)
    margin = ensemble.margin
    if error == "loo-bound":
        margin = margin - ensemble.influence_within_gaps
    return float(soft_margin_loss(margin, delta).mean())


def _distance_to_optimum(ensemble: KernelEnsemble) -> float:
    """Return the largest distance of a score from that of the machines at their optimum."""
    distances = [np.sqrt(2.0 * machine.gap * machine.kappa) for machine in ensemble.machines]
    return float(ensemble.weights @ distances)


def _violations(ensemble: KernelEnsemble, constants: str) -> tuple[str, ...]:
    violations = ensemble.violations
    if ensemble.subsample is not None and ensemble.subsample < ensemble.n_rows:
        violations += ("a finite number of subsamples approximates the ensemble over all of them",)
    if not all(machine.kappa_is_proven for machine in ensemble.machines):
        violations += ("the supremum of the kernel K(x, x) is not known",)
    if np.ptp(ensemble.weights) >= 1e-12:
        violations += ("the weights of the machines differ",)
    if constants == "paper":
        violations += ("the printed constants are not proven",)
    return violations


def _assumptions(ensemble: KernelEnsemble, constants: str) -> tuple[str, ...]:
    common: tuple[str, ...] = (
        "two classes, independent samples, a soft margin delta chosen before the data was seen",
        "a kernel K(x, x) that is bounded over all x",
        *MACHINE_ASSUMPTIONS,
    )
    if ensemble.subsample is not None:
        common += (
            "an ensemble over all subsamples with equal weights; how well some of them approximate "
            "it is not known, and subsamples that lack a class are drawn again",
        )
    if constants == "paper":
        common += ("the constants of the paper, which do not hold for training sets of one sample",)
    return common
