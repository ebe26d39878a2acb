"""Prediction intervals of equal width around the predictions of any regressor."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._tables.labels import check_numbers
from everystump.conformal._conformal import (
    ConformalPredictor,
    check_levels,
    conformal_quantile,
)


class SplitConformalRegressor(ConformalPredictor):
    """Prediction intervals by split conformal regression, as in MAPIE.

    The interval of a new sample is its prediction plus or minus a quantile of the absolute
    residuals of calibration samples.  If these are exchangeable with the new sample, its target is
    in the interval with a probability of at least the confidence level, and at most that plus
    ``1 / (n + 1)`` for n calibration samples without ties.

    Parameters
    ----------
    estimator : regressor
        Any regressor, fitted if `prefit`.
    confidence_level : float or list of float, default=0.9
        Coverage of the intervals.
    prefit : bool, default=True
        Whether the estimator is fitted already; otherwise call `fit`.

    Attributes
    ----------
    estimator_ : regressor
        The fitted regressor.

    References
    ----------
    J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani and L. Wasserman (2018). Distribution-free
    predictive inference for regression.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpRegressor
    >>> from everystump.conformal import SplitConformalRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(1500, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(scale=0.2, size=1500)
    >>> model = StumpRegressor().fit(X[:500], y[:500])
    >>> conformal = SplitConformalRegressor(model).conformalize(X[500:1000], y[500:1000])
    >>> predictions, intervals = conformal.predict_interval(X[1000:])
    >>> intervals.shape
    (500, 2, 1)
    >>> low, high = intervals[:, :, 0].T
    >>> bool(0.86 < np.mean((low <= y[1000:]) & (y[1000:] <= high)) < 0.94)
    True
    """

    def __init__(self, estimator: Any, confidence_level: Any = 0.9, prefit: bool = True) -> None:
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.prefit = prefit

    def _conformity_scores(self, X: Any, y: Any) -> np.ndarray:
        predicted = np.asarray(self.estimator_.predict(X))
        if predicted.ndim != 1:
            raise ValueError(
                f"estimator={self.estimator_!r} predicts an array of shape {predicted.shape}, and "
                f"intervals need one number for each sample; fit it to a one-dimensional y."
            )
        return np.abs(check_numbers(y, len(predicted)) - predicted)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions of the regressor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        self.conformity_scores  # noqa: B018  # raises without calibration samples
        return self.estimator_.predict(X)

    def predict_interval(
        self, X: Any, *, allow_infinite_bounds: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions and prediction intervals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        allow_infinite_bounds : bool, default=False
            Whether intervals are infinite if there are too few calibration samples for a
            confidence level; otherwise that is an error.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Predictions of the regressor.
        intervals : ndarray of shape (n_samples, 2, n_levels)
            Lower and upper ends for each confidence level.
        """
        widths = []
        for level in check_levels(self.confidence_level):
            if not allow_infinite_bounds:
                self._check_size(level, 1 - level, ", or use allow_infinite_bounds=True")
            widths.append(conformal_quantile(self.conformity_scores, level))
        predictions = self.predict(X)
        ends = np.multiply.outer([-1.0, 1.0], widths)
        return predictions, predictions[:, None, None] + ends
