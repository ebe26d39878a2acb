"""The radius-margin bound (Vapnik; Evgeniou et al., eq. 9 and Corollary 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.bounds._bound import Bound
from everystump.bounds._reading import (
    FIXED_KERNEL,
    NO_INTERCEPT,
    OPTIMAL,
    PAPER,
    left_out_violations,
    read_ensemble,
)

# A margin of 1 up to the duality gap of a fit.
_MARGIN = 0.99


def radius_margin_bound(fitted: Any, X: Any, y: Any) -> Bound:
    """Bound the leave-one-out error by ``d^2 / rho^2`` divided by the number of samples.

    ``d`` is the radius of the support vectors around 0, ``rho`` the margin, both in the feature
    space of the kernel.  For an ensemble it is the mean of ``d^2 / rho^2`` over the machines, plus
    the fraction of samples with ``y F(x) < 1``.  In expectation over training sets of n samples,
    ``n / (n + 1)`` of it bounds the error on new samples (Theorem 3.2).  As fits are not exact,
    margins of 0.99 count as 1.

    Parameters
    ----------
    fitted : KernelSVC, StumpSVC or SubsampleVotingClassifier
        A machine that separates its training samples, or an ensemble of such machines.
    X, y : array-like
        The training data.

    Returns
    -------
    Bound
        The bound.  It holds for machines with the hinge loss and margins of at least 1.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import radius_margin_bound
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(200, random_state=0)
    >>> model = KernelSVC(C=1e4, gamma=0.01, fit_intercept=False).fit(X, y)
    >>> radius_margin_bound(model, X, y).holds
    True
    """
    ensemble = read_ensemble(fitted, X, y, "radius_margin_bound")
    ratios = [machine.squared_radius * machine.squared_norm for machine in ensemble.machines]
    value = float(ensemble.weights @ ratios) / ensemble.n_rows
    reference = f"{PAPER}, eq. 9 and Theorem 3.2"
    if ensemble.subsample is not None:
        value += float(np.mean(ensemble.margin < _MARGIN))
        reference = f"{PAPER}, Corollary 3.2, eq. 13"
    assumptions = (
        "two classes",
        "the hinge loss, and machines that separate their samples with margins of at least 1",
        NO_INTERCEPT,
        FIXED_KERNEL,
        OPTIMAL,
    )
    violations = left_out_violations([ensemble], value)
    if not all(machine.has_hinge_loss for machine in ensemble.machines):
        violations += ("a machine has a loss other than the hinge",)
    if min(machine.margin.min() for machine in ensemble.machines) < _MARGIN:
        violations += ("a machine does not separate its samples with margins of at least 1",)
    return Bound.of(value, reference, assumptions, violations)
