"""The error on new rows by stability (Evgeniou et al., Theorems 5.1, 5.2 and 5.3)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from everystump.bounds._bound import Bound
from everystump.bounds._det_loo_error import det_loo_error
from everystump.bounds._kernel_ensemble import KernelEnsemble
from everystump.bounds._loo_error import loo_error
from everystump.bounds._reading import (
    FIXED_KERNEL,
    NO_BIAS,
    OPTIMAL,
    PAPER,
    read_ensemble,
)
from everystump.bounds._soft_margin import check_delta, soft_margin_loss
from everystump.bounds._stability import stability_of

# How often beta / delta enters beside the error on left-out rows, and within the deviation.
_TIMES = {"proven": 4.0, "paper": 2.0}
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
    """Bound the error on new rows, with probability ``1 - eta``, by how stable a machine is.

    ``E_delta + beta / delta + (4 n beta / delta + 1) sqrt(log(1 / eta) / (2 n))`` for n rows, where
    ``E_delta`` is the leave-one-out error with the soft margin ``delta`` and ``beta`` the
    `uniform_stability`.  For a vote it is the det-leave-one-out error, and ``beta`` shrinks by
    ``r / n``.  The proven form allows for the machines' duality gaps.

    Parameters
    ----------
    fitted : KernelSVC, StumpSVC or SubsampleVotingClassifier
        A machine with the hinge or the logistic loss, or a vote of such with equal weights.
    X, y : array-like
        The table that it was fitted to.
    delta : float, default=1.0
        The soft margin, chosen before the rows were seen.
    eta : float, default=0.05
        The chance that the bound fails.
    error : {"loo-bound", "loo", "empirical"}, default="loo-bound"
        What stands for ``E_delta``: its bound by Lemma 3.1, which takes no time; itself; or the
        error on the training rows, with the same soft margin, and one more ``beta / delta``.
    constants : {"proven", "paper"}, default="proven"
        "proven" are those of Bousquet & Elisseeff (2002, Theorem 17), "paper" those that
        Evgeniou et al. print: half the ``beta``, 2 for 4, and ``beta`` not divided by ``delta``.
    n_jobs : int, optional
        Processes for ``error="loo"``; one by default.

    Returns
    -------
    Bound
        The bound.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(2000, random_state=0)
    >>> model = KernelSVC(C=0.001, gamma=0.01, fit_intercept=False).fit(X, y)
    >>> bound = stability_bound(model, X, y, delta=0.5)
    >>> bound.holds, bound.vacuous
    (True, True)
    """
    check_delta(delta)
    if delta == 0.0:
        raise ValueError("delta=0 is no margin to divide by; pass a positive number.")
    if not isinstance(eta, Real) or not 0 < eta < 1:
        raise ValueError(f"eta={eta!r} must be a number between 0 and 1.")
    if error not in _ERRORS:
        raise ValueError(f"error={error!r} must be one of {list(_ERRORS)}.")
    vote = read_ensemble(fitted, X, y, "stability_bound")
    beta = stability_of(vote, constants)
    n, once = vote.n_rows, beta / delta if constants == "proven" else beta
    if constants == "proven":
        once += _distance(vote) / delta
    seen = _error(fitted, X, y, vote, delta, error, n_jobs)
    shift = 2 * once if error == "empirical" else once
    deviation = (_TIMES[constants] * n * beta / delta + 1) * np.sqrt(np.log(1 / eta) / (2 * n))
    value = float(seen + shift + deviation)
    assumptions, violations = _assumptions(vote, constants), _violations(vote, constants)
    return Bound.of(value, _reference(vote), assumptions, violations)


def _error(
    fitted: Any,
    X: Any,
    y: Any,
    vote: KernelEnsemble,
    delta: float,
    error: str,
    n_jobs: int | None,
) -> float:
    if error == "loo":
        measure = loo_error if vote.subsample is None else det_loo_error
        return measure(fitted, X, y, delta=delta, n_jobs=n_jobs)
    margin = vote.margin if error == "empirical" else vote.margin - vote.influence_within_gaps
    return float(soft_margin_loss(margin, delta).mean())


def _distance(vote: KernelEnsemble) -> float:
    """Return how far any score can be from that of the machines at their optimum."""
    reach = [np.sqrt(2.0 * machine.gap * machine.kappa) for machine in vote.machines]
    return float(vote.weights @ reach)


def _violations(vote: KernelEnsemble, constants: str) -> tuple[str, ...]:
    found = vote.violations
    if vote.subsample is not None and vote.subsample < vote.n_rows:
        found += ("a vote of finitely many subsamples stands for that of all",)
    if not all(machine.kappa_is_proven for machine in vote.machines):
        found += ("how large the kernel of a row with itself can be is not known",)
    if np.ptp(vote.weights) >= 1e-12:
        found += ("the weights of the vote differ",)
    if constants == "paper":
        found += ("no theorem backs the printed constants",)
    return found


def _assumptions(vote: KernelEnsemble, constants: str) -> tuple[str, ...]:
    common: tuple[str, ...] = (
        "two classes, rows drawn independently, the soft margin delta chosen before",
        "a kernel of a row with itself that is bounded for all rows there are",
        NO_BIAS,
        FIXED_KERNEL,
        OPTIMAL,
    )
    if vote.subsample is not None:
        common += (
            "the vote over all subsamples, equally likely and equally weighed; how near to it some "
            "machines come is an open question, and draws that lack a class are drawn again",
        )
    if constants == "paper":
        common += ("the paper's constants, of which a table of one row contradicts beta",)
    return common


def _reference(vote: KernelEnsemble) -> str:
    if vote.subsample is None:
        return f"{PAPER}, Theorem 5.1"
    return f"{PAPER}, Theorems 5.2 and 5.3"
