"""What all conformal predictors have in common.

A model is fitted to some samples, and conformity scores of other samples, the calibration samples,
measure how far its predictions are off.  Let ``s`` be the k-th smallest of their n scores, with
``k = ceil((n + 1) level)``.  If calibration samples and a new sample are exchangeable, then the
score of the new one is at most ``s`` with a probability of at least ``level``, for any model and
distribution.  Given the calibration samples, that probability has a Beta(k, n + 1 - k)
distribution if there are no ties.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from everystump._evaluation.conformal import ROUNDING, conformal_rank


class _Kind(NamedTuple):
    """A kind of estimators: an example, what it has, and the conformal predictor for it."""

    example: str
    result: str
    predictor: str


_KINDS = {
    "regressor": _Kind("StumpRegressor()", "prediction intervals", "SplitConformalRegressor"),
    "classifier": _Kind("StumpLogisticRegression()", "prediction sets", "SplitConformalClassifier"),
}


_METHODS = ("fit", "predict", "__sklearn_tags__")


def check_model(model: Any, kind: str, name: str = "estimator") -> None:
    """Check that the argument ``name`` is an estimator, and of no other kind than ``kind``."""
    wanted, shown = _KINDS[kind], f"{name}={model!r}"
    if isinstance(model, type) or not all(hasattr(model, own) for own in _METHODS):
        raise ValueError(f"{shown} is not a {kind}; pass one, such as {wanted.example}.")
    found = get_tags(model).estimator_type
    if found in (kind, None):
        return
    other = f"use {_KINDS[found].predictor}, or " if found in _KINDS else ""
    raise ValueError(
        f"{shown} is a {str(found).replace('_', ' ')}, which has no {wanted.result}; {other}pass a "
        f"{kind}."
    )


def conformal_quantile(scores: np.ndarray, level: float) -> float:
    """Return the score of that rank; infinity if there are too few scores."""
    rank = conformal_rank(len(scores), level)
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= len(scores) else np.inf


def check_levels(confidence_level: Any) -> list[float]:
    """Return the confidence levels as a list."""
    is_number = isinstance(confidence_level, Real)
    is_iterable = isinstance(confidence_level, Iterable)
    levels = [confidence_level] if is_number or not is_iterable else list(confidence_level)
    if not levels or not all(_is_level(level) for level in levels):
        raise ValueError(
            f"confidence_level={confidence_level!r} must be a number between 0 and 1, or a list of "
            f"them."
        )
    return [float(level) for level in levels]


def _is_level(level: Any) -> bool:
    return isinstance(level, Real) and 0.0 < float(level) < 1.0


class ConformalPredictor(BaseEstimator):
    """A model with calibration samples; subclasses define conformity scores and predictions."""

    estimator: Any
    confidence_level: Any
    prefit: bool
    _kind: ClassVar[str] = "regressor"

    def fit(self, X_train: Any, y_train: Any, fit_params: dict | None = None) -> Self:
        """Fit a copy of the estimator; only if it is not fitted yet, with ``prefit=False``.

        Parameters
        ----------
        X_train : array-like of shape (n_samples, n_features)
            Training samples.
        y_train : array-like of shape (n_samples,)
            Their labels or targets.
        fit_params : dict, default=None
            Other arguments of the estimator's ``fit``, such as ``sample_weight``.

        Returns
        -------
        self
            Fitted, to be calibrated with `conformalize` on other samples.
        """
        if self.prefit:
            raise ValueError(
                "prefit=True: the estimator is fitted already; call conformalize, or use "
                "prefit=False."
            )
        self._check_estimator()
        self.__dict__.pop("_scores", None)
        self.estimator_ = self._fitted(X_train, y_train, fit_params or {})
        return self

    def _fitted(self, X: Any, y: Any, fit_params: dict) -> Any:
        return clone(self.estimator).fit(X, y, **fit_params)

    def conformalize(self, X_conformalize: Any, y_conformalize: Any) -> Self:
        """Compute the conformity scores of calibration samples.

        Parameters
        ----------
        X_conformalize : array-like of shape (n_samples, n_features)
            Samples that were not used for training.
        y_conformalize : array-like of shape (n_samples,)
            Their labels or targets.

        Returns
        -------
        self
            Calibrated.
        """
        check_levels(self.confidence_level)
        self._check_estimator()
        if self.prefit:
            self._check_prefit()
            self.estimator_ = self.estimator
        elif not hasattr(self, "estimator_"):
            raise NotFittedError(
                f"{type(self).__name__} with prefit=False is not fitted; call fit before "
                f"conformalize."
            )
        self._scores = self._conformity_scores(X_conformalize, y_conformalize)
        return self

    def _check_estimator(self) -> None:
        """Raise if the estimator is of the wrong kind."""
        check_model(self.estimator, self._kind)

    def _check_prefit(self) -> None:
        check_is_fitted(self.estimator)

    def _conformity_scores(self, X: Any, y: Any) -> np.ndarray:
        raise NotImplementedError

    @property
    def conformity_scores(self) -> np.ndarray:
        """The conformity scores of the calibration samples."""
        if not hasattr(self, "_scores"):
            raise NotFittedError(
                f"{type(self).__name__} has no calibration samples; call conformalize first."
            )
        return self._scores

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are calibration samples."""
        return hasattr(self, "_scores")

    def _check_size(self, level: float, tail: float, remedy: str) -> None:
        """Check that there are enough calibration samples for a rank at level ``1 - tail``."""
        n = self.conformity_scores.shape[-1]
        if conformal_rank(n, 1 - tail) > n:
            needed = int(np.ceil(1 / tail - 1 - ROUNDING))
            raise ValueError(
                f"confidence_level={level:g} needs at least {needed} calibration samples, and "
                f"there are {n}; pass more to conformalize{remedy}."
            )
