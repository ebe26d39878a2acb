"""AdaBoost's training error falls exponentially (Freund & Schapire; Wang et al., eq. 15)."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump.bounds._adaboost import adaboost_bound, read_errors
from everystump.bounds._bound import Bound


def boosting_training_bound(
    fitted: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None
) -> Bound:
    """Bound the training error of AdaBoost by ``exp(-2 sum of gamma^2)``, gamma = 1/2 - error.

    Parameters
    ----------
    fitted : StumpBoostingClassifier
        Fitted with the exponential loss and ``learning_rate=1``.
    X, y : array-like, optional
        The training rows; with them ``observed`` is the training error itself, a tied vote
        counting as an error.
    sample_weight : array-like of shape (n_rows,), optional
        The weights that were trained with; class weights are known.

    Returns
    -------
    Bound
        The bound and its assumptions.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> bound = boosting_training_bound(StumpBoostingClassifier().fit(X, y), X, y)
    >>> bound.holds, bound.observed <= bound.value < 1
    (True, True)
    """
    value = float(np.exp(-2 * np.sum((0.5 - read_errors(fitted)) ** 2)))
    reference = "Wang et al. (2019), eq. 15"

    def is_wrong(margins: np.ndarray) -> np.ndarray:
        return margins <= 0

    return adaboost_bound(value, reference, is_wrong, fitted, X, y, sample_weight)
