"""Logistic regression over all decision stumps."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from everystump._core.losses import Logistic, Loss
from everystump._sklearn_compat import Interval
from everystump._tables.labels import log_probabilities
from everystump.estimators._base import FixedCEnsemble, ShapeClassifier
from everystump.estimators._path import CPathEnsemble


class ProbabilityMixin(ShapeClassifier):
    """Probabilities of a score that is a log-odds, or a multiple of it."""

    def _log_odds(self, X: Any) -> np.ndarray:
        return self.decision_function(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Rows sum to 1; for several classes the probabilities of each against the rest are
            scaled to do so.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Log-probabilities.
        """
        return log_probabilities(self._log_odds(X))


class StumpLogisticRegression(ProbabilityMixin, FixedCEnsemble):
    """Infinite ensemble of decision stumps under the logistic loss: scores are log-odds.

    The same ensemble as `StumpSVC`, what LogitBoost with stumps tends to.  It gives probabilities
    and ranks better than the hinge does.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of loss costs; more fits the training rows more closely.
    measure, max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    shapes_, intercept_, certificate_, dual_coef_, classes_, n_iter_, exact_
        As in `StumpSVC`.

    Examples
    --------
    >>> from everystump import StumpLogisticRegression
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = StumpLogisticRegression().fit(X, y)
    >>> model.predict_proba(X).shape
    (300, 2)
    """

    _parameter_constraints: ClassVar[dict] = {
        **FixedCEnsemble._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    def _loss_class(self) -> type[Loss]:
        return Logistic


class StumpLogisticRegressionCV(ProbabilityMixin, CPathEnsemble):
    """`StumpLogisticRegression` with C chosen by cross-validation along a path.

    Parameters
    ----------
    Cs, cv, selection, random_state
        As in `StumpSVCCV`.
    scoring : str or callable, optional
        Any scikit-learn scorer; ``"neg_log_loss"`` by default, the proper score of probabilities.
    measure, max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    C_, best_score_, scoring_, cv_results_
        As in `StumpSVCCV`.
    shapes_, intercept_, certificate_, dual_coef_, classes_, n_iter_, exact_
        Of the fit on all rows with ``C_``, as in `StumpSVC`.

    Examples
    --------
    >>> from everystump import StumpLogisticRegressionCV
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(200, random_state=0)
    >>> model = StumpLogisticRegressionCV().fit(X, y)
    >>> model.scoring_, model.predict_proba(X).shape
    ('neg_log_loss', (200, 2))
    """

    _fixed_C_class = StumpLogisticRegression
    _default_scoring = "neg_log_loss"

    def _loss_class(self) -> type[Loss]:
        return Logistic
