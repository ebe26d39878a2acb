"""The det-leave-one-out error of a vote of kernel machines (Evgeniou et al., Theorem 3.3)."""

from __future__ import annotations

from typing import Any

from everystump.bounds._bound import Bound
from everystump.bounds._reading import bound_left_out_error, read_ensembles


def det_loo_bound(fitted: Any, X: Any, y: Any) -> Bound:
    """Bound the det-leave-one-out error of a vote by what each row does for itself.

    By the share of rows with ``sum of c_t a_i^t K^t(x_i, x_i) > y_i F(x_i)``.

    Parameters
    ----------
    fitted : SubsampleVotingClassifier, KernelSVC or StumpSVC
        A vote of kernel machines with fixed weights, or one machine.
    X, y : array-like
        The table that it was fitted to.

    Returns
    -------
    Bound
        The share of these rows.

    Examples
    --------
    >>> from everystump import KernelSVC, SubsampleVotingClassifier
    >>> from everystump.bounds import det_loo_error
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(200, random_state=0)
    >>> machine = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False)
    >>> model = SubsampleVotingClassifier(machine, random_state=0).fit(X, y)
    >>> det_loo_error(model, X, y) <= det_loo_bound(model, X, y).value
    True
    """
    problems = read_ensembles(fitted, X, y, "det_loo_bound")
    return bound_left_out_error(problems, "Theorem 3.3, eq. 10", None)
