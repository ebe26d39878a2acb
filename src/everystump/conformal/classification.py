"""Prediction sets of classes for any classifier with probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._tables.labels import class_indices
from everystump.conformal._conformal import (
    ConformalPredictor,
    check_levels,
    conformal_quantile,
)

# Scores that exceed the quantile by less are included.
_ROUNDING = 1e-12


def _lac_scores(probability: np.ndarray) -> np.ndarray:
    """Return one minus the probability of each class."""
    return 1.0 - probability


def _aps_scores(probability: np.ndarray) -> np.ndarray:
    """Return the total probability of the classes that are at least as probable as each one."""
    order = np.argsort(-probability, axis=1, kind="stable")
    totals = np.cumsum(np.take_along_axis(probability, order, axis=1), axis=1)
    scores = np.empty_like(totals)
    np.put_along_axis(scores, order, totals, axis=1)
    return scores


_SCORES = {"lac": _lac_scores, "aps": _aps_scores}


class SplitConformalClassifier(ConformalPredictor):
    """Prediction sets by split conformal classification, as in MAPIE.

    The set of a new sample contains each class whose conformity score is at most a quantile of the
    scores of calibration samples, each at its actual class.  If these are exchangeable with the new
    sample, its class is in the set with a probability of at least the confidence level.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``predict_proba``, fitted if `prefit`.
    confidence_level : float or list of float, default=0.9
        Coverage of the sets.
    conformity_score : {"lac", "aps"}, default="lac"
        "lac": one minus the probability of the class, which gives the smallest sets on average.
        "aps": the total probability of the classes that are at least as probable, whose sets are
        larger where the classifier is uncertain; it is not randomized, and sets are never empty.
    prefit : bool, default=True
        Whether the estimator is fitted already; otherwise call `fit`.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.

    References
    ----------
    M. Sadinle, J. Lei and L. Wasserman (2019). Least ambiguous set-valued classifiers with bounded
    error levels.
    Y. Romano, M. Sesia and E. Candès (2020). Classification with valid and adaptive coverage.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpLogisticRegression
    >>> from everystump.conformal import SplitConformalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 2))
    >>> y = rng.random(900) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> model = StumpLogisticRegression().fit(X[:300], y[:300])
    >>> conformal = SplitConformalClassifier(model).conformalize(X[300:600], y[300:600])
    >>> labels, sets = conformal.predict_set(X[600:])
    >>> sets.shape
    (300, 2, 1)
    >>> bool(0.84 < sets[np.arange(300), y[600:].astype(int), 0].mean() < 0.96)
    True
    """

    _kind = "classifier"

    def __init__(
        self,
        estimator: Any,
        confidence_level: Any = 0.9,
        conformity_score: str = "lac",
        prefit: bool = True,
    ) -> None:
        self.estimator = estimator
        self.confidence_level = confidence_level
        self.conformity_score = conformity_score
        self.prefit = prefit

    def _class_scores(self, X: Any) -> np.ndarray:
        """Return the conformity score of each class for each sample."""
        if self.conformity_score not in _SCORES:
            raise ValueError(f'conformity_score={self.conformity_score!r} must be "lac" or "aps".')
        if not hasattr(self.estimator_, "predict_proba"):
            raise ValueError(
                f"estimator={self.estimator_!r} has no predict_proba; wrap it in scikit-learn's "
                f"CalibratedClassifierCV."
            )
        return _SCORES[self.conformity_score](self.estimator_.predict_proba(X))

    def _conformity_scores(self, X: Any, y: Any) -> np.ndarray:
        scores = self._class_scores(X)
        label = class_indices(y, self.estimator_.classes_, len(scores))
        return scores[np.arange(len(scores)), label]

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes that the classifier predicts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        self.conformity_scores  # noqa: B018  # raises without calibration samples
        return self.estimator_.predict(X)

    def predict_set(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return predicted classes and prediction sets.

        With too few calibration samples for a confidence level, sets contain all classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Predicted classes.
        sets : bool ndarray of shape (n_samples, n_classes, n_levels)
            Which classes, in the order of ``estimator_.classes_``, are in the set of each sample.
        """
        levels = check_levels(self.confidence_level)
        limits = np.array([conformal_quantile(self.conformity_scores, level) for level in levels])
        scores = self._class_scores(X)
        sets = scores[:, :, None] <= limits + _ROUNDING
        if self.conformity_score == "aps":
            sets[np.arange(len(scores)), scores.argmin(axis=1)] = True
        return self.predict(X), sets
