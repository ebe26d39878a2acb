"""The leave-one-out error of a kernel machine (Jaakkola & Haussler; Evgeniou et al., eq. 8)."""

from __future__ import annotations

from typing import Any

from everystump.bounds._bound import Bound, UnsupportedModelError
from everystump.bounds._reading import LOO_THEOREM, bound_left_out_error, read_ensembles


def loo_bound(fitted: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Bound:
    """Bound the leave-one-out error by the rows with ``a_i K(x_i, x_i) > y_i f(x_i)``.

    Parameters
    ----------
    fitted : KernelSVC or StumpSVC
        A machine; of several classes a row counts if it does so for any class against the rest.
    X, y : array-like
        The table that it was fitted to.
    sample_weight : array-like of shape (n_rows,), optional
        What each row counts in the error; all alike by default.

    Returns
    -------
    Bound
        The share of these rows.

    Examples
    --------
    >>> from everystump import KernelSVC
    >>> from everystump.bounds import loo_error
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(200, random_state=0)
    >>> model = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False).fit(X, y)
    >>> loo_error(model, X, y) <= loo_bound(model, X, y).value
    True
    """
    problems = read_ensembles(fitted, X, y, "loo_bound")
    if problems[0].subsample is not None:
        raise UnsupportedModelError(
            f"loo_bound is for a single machine, a fitted KernelSVC or StumpSVC; use det_loo_bound "
            f"for {type(fitted).__name__}."
        )
    return bound_left_out_error(problems, LOO_THEOREM, sample_weight)
