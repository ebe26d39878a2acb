"""The distribution of AdaBoost's margins (Schapire et al.; Wang et al., Theorem 2, eq. 13)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import xlog1py, xlogy

from everystump.bounds._adaboost import adaboost_bound, read_errors
from everystump.bounds._bound import Bound


def margin_distribution_bound(
    fitted: Any, X: Any = None, y: Any = None, *, theta: float = 0.0, sample_weight: Any = None
) -> Bound:
    """Bound the fraction of training samples whose margin is at most ``theta``.

    The bound is ``2^T prod sqrt(e^(1 - theta) (1 - e)^(1 + theta))`` over the errors ``e`` of T
    rounds.  Margins are divided by the sum of all weights.

    Parameters
    ----------
    fitted : StumpBoostingClassifier
        As in `boosting_training_bound`.
    X, y : array-like, default=None
        The training data.  If given, ``observed`` is the fraction itself.
    theta : float, default=0.0
        A margin from -1 to 1.
    sample_weight : array-like of shape (n_samples,), default=None
        As in `boosting_training_bound`.

    Returns
    -------
    Bound
        The bound on this fraction.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.bounds import margin_distribution_bound
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = StumpBoostingClassifier(n_estimators=500).fit(X, y)
    >>> bound = margin_distribution_bound(model, X, y, theta=0.05)
    >>> bound.holds, bound.observed <= bound.value < 1
    (True, True)
    """
    if not isinstance(theta, Real) or not -1 <= theta <= 1:
        raise ValueError(f"theta={theta!r} must be a margin, a number from -1 to 1.")
    errors = read_errors(fitted)
    log_factors = (xlogy(1 - theta, errors) + xlog1py(1 + theta, -errors)) / 2
    log_value = len(errors) * np.log(2) + np.sum(log_factors)
    with np.errstate(over="ignore"):
        value = float(np.exp(log_value))
    reference = "Wang et al. (2019), Theorem 2, eq. 13"

    def is_small(margins: np.ndarray) -> np.ndarray:
        return margins <= theta

    return adaboost_bound(value, reference, is_small, fitted, X, y, sample_weight)
