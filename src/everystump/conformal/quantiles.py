"""Prediction intervals between quantiles, whose width depends on the sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from everystump._tables.labels import check_numbers
from everystump.conformal._conformal import (
    ConformalPredictor,
    check_levels,
    check_model,
    conformal_quantile,
)
from everystump.estimators.regressor import StumpRegressor

_PREFIT = "a list of three fitted regressors: of the lower and the upper quantile, and the median"


def predict_quantiles(models: Sequence[Any], X: Any) -> np.ndarray:
    """Return the predictions of quantile regressors, rearranged so that quantiles do not cross.

    Models of different quantiles are fitted separately, and where data are few their predictions
    may be in the wrong order.  Sorting the predictions of each sample corrects that, and never
    increases the sum of their pinball losses, whatever the target is.

    Parameters
    ----------
    models : list of regressors
        Fitted, in ascending order of their quantiles.
    X : array-like of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    ndarray of shape (n_samples, n_models)
        Quantiles, ascending in each row.

    References
    ----------
    V. Chernozhukov, I. Fernandez-Val and A. Galichon (2010). Quantile and probability curves
    without crossing.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = X[:, 0] + rng.normal(size=300)
    >>> quantiles = [0.1, 0.5, 0.9]
    >>> models = [StumpRegressor(loss="quantile", quantile=q).fit(X, y) for q in quantiles]
    >>> found = predict_quantiles(models, X)
    >>> found.shape, bool((np.diff(found) >= 0).all())
    ((300, 3), True)
    """
    if not isinstance(models, list | tuple) or not models:
        raise ValueError(f"models={models!r} must be a list of fitted regressors.")
    for k, model in enumerate(models):
        check_model(model, "regressor", f"models[{k}]")
    return np.sort(np.column_stack([model.predict(X) for model in models]), axis=1)


class ConformalizedQuantileRegressor(ConformalPredictor):
    """Prediction intervals by conformalized quantile regression, as in MAPIE.

    Regressors predict the quantiles ``alpha / 2`` and ``1 - alpha / 2``, where ``1 - alpha`` is the
    confidence level, and the median; quantiles that cross are rearranged, see `predict_quantiles`.
    The ends of the interval are the quantiles, each moved by a constant such that calibration
    samples are outside as often as they should be.  So intervals are wider where the noise is
    larger, and they have the guarantee of `SplitConformalRegressor`.

    Parameters
    ----------
    estimator : regressor or list of regressors, default=None
        A regressor with a parameter ``quantile``; ``StumpRegressor(loss="quantile")`` by default.
        If `prefit`, a list of three fitted regressors: of the lower quantile, of the upper quantile
        and of the median.
    confidence_level : float, default=0.9
        Coverage of the intervals.
    prefit : bool, default=False
        Whether the estimators are fitted already; otherwise call `fit`.

    Attributes
    ----------
    estimator_ : list of regressors
        The regressors of the lower quantile, of the upper quantile and of the median.

    References
    ----------
    Y. Romano, E. Patterson and E. Candès (2019). Conformalized quantile regression.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump.conformal import ConformalizedQuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(2000, 1))
    >>> y = X[:, 0] * rng.normal(size=2000)
    >>> conformal = ConformalizedQuantileRegressor(confidence_level=0.8)
    >>> conformal = conformal.fit(X[:1000], y[:1000]).conformalize(X[1000:], y[1000:])
    >>> _, intervals = conformal.predict_interval([[0.1], [0.9]])
    >>> narrow, wide = np.diff(intervals[:, :, 0]).ravel()
    >>> bool(wide > 3 * narrow)
    True
    """

    def __init__(
        self, estimator: Any = None, confidence_level: float = 0.9, prefit: bool = False
    ) -> None:
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.prefit = prefit

    def _level(self) -> float:
        levels = check_levels(self.confidence_level)
        if len(levels) > 1:
            raise ValueError(
                f"confidence_level={self.confidence_level!r}: the quantiles are fitted to a single "
                f"level; pass one number."
            )
        return levels[0]

    def _check_estimator(self) -> None:
        if not self.prefit:
            check_model(self._base(), self._kind)
        elif not isinstance(self.estimator, list | tuple) or len(self.estimator) != 3:
            raise ValueError(f"estimator={self.estimator!r} must be {_PREFIT}.")
        else:
            for k, model in enumerate(self.estimator):
                check_model(model, self._kind, f"estimator[{k}]")

    def _base(self) -> Any:
        return StumpRegressor(loss="quantile") if self.estimator is None else self.estimator

    def _fitted(self, X: Any, y: Any, fit_params: dict) -> Any:
        base = self._base()
        params = base.get_params() if hasattr(base, "get_params") else {}
        if "quantile" not in params or "quantile" not in str(params.get("loss", "quantile")):
            raise ValueError(
                f"estimator={base!r} does not predict quantiles; pass a regressor with a parameter "
                f'quantile, such as StumpRegressor(loss="quantile").'
            )
        tail = (1 - self._level()) / 2
        return [
            clone(base).set_params(quantile=q).fit(X, y, **fit_params)
            for q in (tail, 1 - tail, 0.5)
        ]

    def _check_prefit(self) -> None:
        for model in self.estimator:
            check_is_fitted(model)

    def _quantiles(self, X: Any) -> np.ndarray:
        """Return the lower quantile, the median and the upper quantile, in this order."""
        low, high, median = self.estimator_
        return predict_quantiles([low, median, high], X).T

    def _conformity_scores(self, X: Any, y: Any) -> np.ndarray:
        low, _, high = self._quantiles(X)
        actual = check_numbers(y, len(low))
        return np.stack([low - actual, actual - high])

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted medians.

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
        return self._quantiles(X)[1]

    def predict_interval(
        self,
        X: Any,
        *,
        allow_infinite_bounds: bool = False,
        symmetric_correction: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return predicted medians and prediction intervals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        allow_infinite_bounds : bool, default=False
            Whether intervals are infinite if there are too few calibration samples; otherwise that
            is an error.
        symmetric_correction : bool, default=False
            Whether both quantiles are moved by the same constant, so that only the total coverage
            is guaranteed; otherwise targets are above, and below, the interval with a probability
            of at most half the remainder each.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Predicted medians.
        intervals : ndarray of shape (n_samples, 2, 1)
            Lower and upper ends; an interval that would be empty is a point.
        """
        scores, level = self.conformity_scores, self._level()
        tail = 1 - level if symmetric_correction else (1 - level) / 2
        if not allow_infinite_bounds:
            self._check_size(level, tail, ", or use allow_infinite_bounds=True")
        if symmetric_correction:
            shifts = [conformal_quantile(scores.max(axis=0), 1 - tail)] * 2
        else:
            shifts = [conformal_quantile(own, 1 - tail) for own in scores]
        low, median, high = self._quantiles(X)
        low, high = low - shifts[0], high + shifts[1]
        crossed = low > high
        low[crossed] = high[crossed] = (low[crossed] + high[crossed]) / 2
        return median, np.stack([low, high], axis=1)[:, :, None]
