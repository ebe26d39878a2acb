"""The exponential decay of AdaBoost's training error (Freund & Schapire; Wang et al., eq. 15)."""

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
        A classifier fitted with the exponential loss and ``learning_rate=1``.
    X, y : array-like, default=None
        The training data.  If given, ``observed`` is the training error, with ties as errors.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights of the fit; class weights are added automatically.

    Returns
    -------
    Bound
        The bound on the training error.

    Examples
    --------
    >>> from everystump import StumpBoostingClassifier
    >>> from everystump.bounds import boosting_training_bound
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> bound = boosting_training_bound(StumpBoostingClassifier().fit(X, y), X, y)
    >>> bound.holds, bound.observed <= bound.value < 1
    (True, True)
    """
    value = float(np.exp(-2 * np.sum((0.5 - read_errors(fitted)) ** 2)))
    reference = "Wang et al. (2019), eq. 15"

    def is_error(margins: np.ndarray) -> np.ndarray:
        return margins <= 0

    return adaboost_bound(value, reference, is_error, fitted, X, y, sample_weight)
