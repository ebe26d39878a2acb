"""Logistic regression over all decision stumps."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

from everystump._core.losses import Logistic, LossFamily
from everystump._sklearn_compat import Interval
from everystump.estimators._base import LogOddsClassifier
from everystump.estimators._stump_classifier import CPathClassifier, FixedCClassifier


class StumpLogisticRegression(LogOddsClassifier, FixedCClassifier):
    """Logistic regression over all decision stumps: an infinite ensemble of stumps.

    The same ensemble as `StumpSVC` with the logistic loss, the limit of LogitBoost with stumps.
    Scores are log-odds.  It predicts probabilities, and ranks samples better than `StumpSVC`.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength, as in `sklearn.linear_model.LogisticRegression`.
    measure, max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    interactions, interaction_strength, interaction_bins, max_interaction_order
        As in `StumpSVC`.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    shapes_, intercept_, certificate_, dual_coef_, classes_, n_iter_, exact_
        As in `StumpSVC`.
    interactions_, interaction_strength_, surface_density_
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
        **FixedCClassifier._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    def _loss_family(self) -> LossFamily:
        return Logistic


class StumpLogisticRegressionCV(LogOddsClassifier, CPathClassifier):
    """`StumpLogisticRegression` with C chosen by cross-validation along a path.

    Parameters
    ----------
    Cs, cv, selection, random_state, interactions, interaction_strength
        As in `StumpSVCCV`.
    scoring : str or callable, default=None
        A scikit-learn scorer; "neg_log_loss" by default.
    measure, max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    interaction_bins, max_interaction_order
        As in `StumpSVC`.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    C_, best_score_, scoring_, cv_results_, interaction_cv_results_, refined_cv_results_
        As in `StumpSVCCV`.
    interactions_, interaction_strength_, surface_density_
        As in `StumpSVC`.
    shapes_, intercept_, certificate_, dual_coef_, classes_, n_iter_, exact_
        Results of the fit on all samples with ``C_``, as in `StumpSVC`.

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

    def _loss_family(self) -> LossFamily:
        return Logistic
