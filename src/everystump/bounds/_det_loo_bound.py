"""The det-leave-one-out error of a kernel ensemble (Evgeniou et al., Theorem 3.3)."""

from __future__ import annotations

from typing import Any

from everystump.bounds._bound import Bound
from everystump.bounds._reading import bound_left_out_error, read_ensembles


def det_loo_bound(fitted: Any, X: Any, y: Any) -> Bound:
    """Bound the det-leave-one-out error of an ensemble by the influence of each sample on itself.

    The bound is the fraction of samples with ``sum of c_t a_i^t K^t(x_i, x_i) > y_i F(x_i)``.

    Parameters
    ----------
    fitted : SubsampleVotingClassifier, KernelSVC or StumpSVC
        An ensemble of kernel machines with fixed weights, or a single machine.
    X, y : array-like
        The training data.

    Returns
    -------
    Bound
        The bound on the det-leave-one-out error.

    Examples
    --------
    >>> from everystump import KernelSVC, SubsampleVotingClassifier
    >>> from everystump.bounds import det_loo_bound, det_loo_error
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(200, random_state=0)
    >>> machine = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False)
    >>> model = SubsampleVotingClassifier(machine, random_state=0).fit(X, y)
    >>> det_loo_error(model, X, y) <= det_loo_bound(model, X, y).value
    True
    """
    ensembles = read_ensembles(fitted, X, y, "det_loo_bound")
    return bound_left_out_error(ensembles, "Theorem 3.3, eq. 10", None)
