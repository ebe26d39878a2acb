"""The leave-one-out error of a kernel machine (Jaakkola & Haussler; Evgeniou et al., eq. 8)."""

from __future__ import annotations

from typing import Any

from everystump.bounds._bound import Bound, UnsupportedModelError
from everystump.bounds._reading import LOO_THEOREM, bound_left_out_error, read_ensembles


def loo_bound(fitted: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Bound:
    """Bound the leave-one-out error by the samples with ``a_i K(x_i, x_i) > y_i f(x_i)``.

    Parameters
    ----------
    fitted : KernelSVC or StumpSVC
        A kernel machine.  With several classes, a sample counts if it does for any class against
        the rest.
    X, y : array-like
        The training data.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the samples in the error; None gives all the same weight.

    Returns
    -------
    Bound
        The bound on the leave-one-out error.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import loo_bound, loo_error
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(200, random_state=0)
    >>> model = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False).fit(X, y)
    >>> loo_error(model, X, y) <= loo_bound(model, X, y).value
    True
    """
    ensembles = read_ensembles(fitted, X, y, "loo_bound")
    if ensembles[0].subsample is not None:
        raise UnsupportedModelError(
            f"loo_bound is for a single machine, a fitted KernelSVC or StumpSVC; use det_loo_bound "
            f"for {type(fitted).__name__}."
        )
    return bound_left_out_error(ensembles, LOO_THEOREM, sample_weight)
