"""The error on new samples by stability (Evgeniou et al., Theorems 5.1, 5.2 and 5.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.bounds._bound import Bound
from everystump.bounds._checks import check_delta, check_eta, check_option
from everystump.bounds._det_loo_error import det_loo_error
from everystump.bounds._kernel_ensemble import KernelEnsemble
from everystump.bounds._loo_error import loo_error
from everystump.bounds._reading import FIXED_KERNEL, NO_INTERCEPT, OPTIMAL, PAPER, read_ensemble
from everystump.bounds._soft_margin import soft_margin_loss
from everystump.bounds._stability import ensemble_stability

# The factor of n beta / delta within the deviation.
_FACTORS = {"proven": 4.0, "paper": 2.0}
_ERRORS = ("loo-bound", "loo", "empirical")


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
        The estimate of ``E_delta``: its bound by Lemma 3.1, which takes no time; the error itself;
        or the training error with the same soft margin, which adds another ``beta / delta``.
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
    deviation = (_FACTORS[constants] * n * beta / delta + 1) * np.sqrt(np.log(1 / eta) / (2 * n))
    value = float(estimate + shift + deviation)
    theorem = "Theorem 5.1" if ensemble.subsample is None else "Theorems 5.2 and 5.3"
    assumptions = _assumptions(ensemble, constants)
    return Bound.of(value, f"{PAPER}, {theorem}", assumptions, _violations(ensemble, constants))


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
    found = ensemble.violations
    if ensemble.subsample is not None and ensemble.subsample < ensemble.n_rows:
        found += ("a finite number of subsamples approximates the ensemble over all of them",)
    if not all(machine.kappa_is_proven for machine in ensemble.machines):
        found += ("the supremum of the kernel K(x, x) is not known",)
    if np.ptp(ensemble.weights) >= 1e-12:
        found += ("the weights of the machines differ",)
    if constants == "paper":
        found += ("the printed constants are not proven",)
    return found


def _assumptions(ensemble: KernelEnsemble, constants: str) -> tuple[str, ...]:
    common: tuple[str, ...] = (
        "two classes, independent samples, a soft margin delta chosen before the data was seen",
        "a kernel K(x, x) that is bounded over all x",
        NO_INTERCEPT,
        FIXED_KERNEL,
        OPTIMAL,
    )
    if ensemble.subsample is not None:
        common += (
            "an ensemble over all subsamples with equal weights; how well some of them approximate "
            "it is not known, and subsamples that lack a class are drawn again",
        )
    if constants == "paper":
        common += ("the constants of the paper, which training sets of one sample contradict",)
    return common
