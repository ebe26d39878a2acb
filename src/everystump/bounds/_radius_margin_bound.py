"""Radius and margin of separating machines (Vapnik; Evgeniou et al., eq. 9 and Corollary 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.bounds._bound import Bound
from everystump.bounds._kernel_ensemble import KernelEnsemble
from everystump.bounds._reading import (
    FIXED_KERNEL,
    NO_BIAS,
    OPTIMAL,
    PAPER,
    read_ensemble,
    violations_of,
)

# Margins of 1, as a machine that is solved to a small gap has them.
_REACHED = 0.99


def radius_margin_bound(fitted: Any, X: Any, y: Any) -> Bound:
    """Bound the leave-one-out error by ``d^2 / rho^2`` over the number of rows.

    Margins of 0.99 are taken for 1, as fits are not exact.

    ``d`` is the radius of the support vectors around 0, ``rho`` the margin, both in the space of
    the kernel.  For a vote it is the mean of the machines' ``d^2 / rho^2``, and the share of rows
    with ``y F(x) < 1`` is added.  Averaged over training tables of n rows, ``n / (n + 1)`` of it
    bounds the error on new rows (Theorem 3.2).

    Parameters
    ----------
    fitted : KernelSVC, StumpSVC or SubsampleVotingClassifier
        A machine that separates its rows, or a vote of such.
    X, y : array-like
        The table that it was fitted to.

    Returns
    -------
    Bound
        The bound; it holds for machines with the hinge loss whose every margin is at least 1.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(200, random_state=0)
    >>> model = KernelSVC(C=1e4, gamma=0.01, fit_intercept=False).fit(X, y)
    >>> radius_margin_bound(model, X, y).holds
    True
    """
    vote = read_ensemble(fitted, X, y, "radius_margin_bound")
    ratios = [machine.squared_radius * machine.squared_norm for machine in vote.machines]
    value = float(vote.weights @ ratios) / vote.n_rows
    reference = f"{PAPER}, eq. 9 and Theorem 3.2"
    if vote.subsample is not None:
        value += float(np.mean(vote.margin < _REACHED))
        reference = f"{PAPER}, Corollary 3.2, eq. 13"
    assumptions = (
        "two classes",
        "the hinge loss, and every machine separates its rows with margins of at least 1",
        NO_BIAS,
        FIXED_KERNEL,
        OPTIMAL,
    )
    violations = violations_of([vote], value)
    if not all(machine.has_hinge_loss for machine in vote.machines):
        violations += ("a machine has another loss than the hinge",)
    if not _separates(vote):
        violations += ("a machine does not separate its rows with margins of at least 1",)
    return Bound.of(value, reference, assumptions, violations)


def _separates(vote: KernelEnsemble) -> bool:
    return all(machine.margin.min() >= _REACHED for machine in vote.machines)
