"""Regression over all decision stumps."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags

from everystump._core.design import Design
from everystump._core.losses import LossFamily
from everystump._core.solvers.problem import Solution
from everystump._scratch import ScratchSpace
from everystump._selection.folds import Fold, make_number_folds, split_numbers
from everystump._selection.scorers import Metric, Score, make_number_score
from everystump._sklearn_compat import Interval, one_of
from everystump._tables.chunk_reader import ChunkReader, ReadTable
from everystump._tables.training_table import NumberTable
from everystump._tables.validation import check_regression_table
from everystump.estimators._base import TabularRegressor
from everystump.estimators._interaction_path import InteractionPathEnsemble
from everystump.estimators._regression_losses import (
    REGRESSION_LOSSES,
    RegressionSpec,
    make_spec,
)
from everystump.estimators._stump_ensemble import BaseStumpEnsemble, FixedCEnsemble

_CONSTRAINTS: dict[str, Any] = {
    "loss": [one_of(*REGRESSION_LOSSES)],
    "quantile": [Interval(Real, 0, 1, closed="neither")],
    "epsilon": [Interval(Real, 0, None, closed="left"), None],
}


@dataclass(eq=False, repr=False, kw_only=True)
class _Regression(BaseStumpEnsemble, TabularRegressor):
    """What the regressors over all stumps have in common."""

    loss: str = "squared"
    quantile: float = 0.5
    epsilon: float | None = None

    def _spec(self) -> RegressionSpec:
        return make_spec(self.loss, self.quantile, self.epsilon)

    @property
    def _predicted_quantile(self) -> float | None:
        """The quantile that the model predicts, None if it is the mean."""
        return self._spec().predicted_quantile

    def _loss_family(self) -> LossFamily:
        return self._spec().family()

    def __sklearn_tags__(self) -> Tags:
        """Declare which targets the loss allows."""
        tags = super().__sklearn_tags__()
        is_known = self.loss in REGRESSION_LOSSES
        tags.target_tags.positive_only = is_known and self._spec().link == "log"
        return tags

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> NumberTable:
        table = check_regression_table(self, X, y, sample_weight, self._target_scale)
        self._set_training_table(table)
        return table

    def _target_scale(self, y: np.ndarray, weight: np.ndarray | None) -> Any:
        return self._spec().scale(y, weight, center=self.fit_intercept)

    def _read_chunk_table(self, reader: ChunkReader, scratch: ScratchSpace) -> ReadTable:
        return reader.read_numbers(self, self._target_scale, scratch)

    def _make_folds(self, table: NumberTable, cv: Any, random_state: Any) -> list[Fold]:
        return make_number_folds(cv, table, random_state)

    def _hold_out(self, table: NumberTable, fraction: float, random_state: Any) -> Fold:
        return split_numbers(table.n_rows, fraction, random_state)

    def _make_score(self, table: NumberTable, scoring: Any, test: np.ndarray) -> Score:
        return make_number_score(self, scoring, table, test)

    def _problem_scores(self, table: NumberTable) -> list[np.ndarray]:
        return [table.scale.solver_scores(self._decision_function(table.X))]

    def _score_factor(self, table: NumberTable) -> float:
        return table.scale.factor

    def _store(self, table: NumberTable, design: Design, solutions: list[Solution]) -> None:
        (solution,), scale = solutions, table.scale
        self.link_ = self._spec().link
        self.target_scale_ = scale.scale
        self.dual_coef_ = table.to_input_rows([scale.factor * solution.dual_coef])
        self._store_models(design, solutions, [scale.model(design.shape_model(solution))])


@dataclass(eq=False, repr=False, kw_only=True)
class StumpRegressor(FixedCEnsemble, _Regression):
    """Regression over all decision stumps: an infinite ensemble of stumps.

    Minimizes ``|f|^2 / 2 + C sum_i loss(t_i, f(x_i))`` over all ensembles ``f`` of the stumps in
    the support of `measure`, and of their products if there are `interactions`, where ``t_i`` are
    the targets, centered and divided by their scale.  So C does not depend on the unit of the
    targets.  The fitted model is an additive model with one shape function (curve) per feature, a
    surface per interaction, and an optimality certificate.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength, as in `sklearn.svm.SVR`.
    loss : str, default="squared"
        Loss function.  With ``r = t - f(x)`` the scaled residual:

        - "squared": ``r^2``, to predict the mean;
        - "huber": ``r^2`` up to `epsilon` and linear beyond it, less sensitive to outliers;
        - "absolute": ``|r|``, to predict the median;
        - "quantile": ``max(quantile r, (quantile - 1) r)``, to predict a quantile;
        - "epsilon_insensitive": ``max(0, |r| - epsilon)``, as in support vector regression;
        - "poisson", "gamma": half the deviance of these distributions, where the ensemble
          predicts the logarithm of the mean (log link).

        The scale is the standard deviation for "squared"; the mean for "poisson" and "gamma"; and
        for the others the interquartile range divided by 1.349, that of a normal distribution.
    quantile : float, default=0.5
        The quantile to predict if ``loss="quantile"``.  Models of several quantiles may cross;
        `everystump.conformal.predict_quantiles` puts their predictions in order.
    epsilon : float, default=None
        Residuals up to which "huber" is quadratic (0.5 by default) or "epsilon_insensitive" is 0
        (0.1 by default), in units of the scale of the targets.
    measure, max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`; monotonic constraints apply to the prediction.
    interactions, interaction_strength, interaction_bins, max_interaction_order
        As in `StumpSVC`.
    tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    shapes_ : ShapeModel
        Shape functions (curves and, for interactions, surfaces) and intercept.  Their sum is the
        prediction, or with a log link its logarithm, in the units of the targets.
    link_ : {"identity", "log"}
        The function of the prediction that is a sum of curves.
    target_scale_ : float
        Scale of the targets.
    certificate_ : Certificate
        Optimality certificate of the problem with scaled targets; see `StumpSVC`.
    dual_coef_ : ndarray of shape (n_samples,)
        Dual variables of all samples, times the scale: the coefficients of the kernel expansion.
    intercept_, n_iter_, exact_, interactions_, interaction_strength_, surface_density_
        As in `StumpSVC`.
    feature_importances_, feature_info_, density_, n_features_in_, feature_names_in_
        As in `StumpSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = StumpRegressor(C=10).fit(X, np.sin(X[:, 0]))
    >>> bool(model.certificate_.converged), model.score(X, np.sin(X[:, 0])) > 0.99
    (True, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **FixedCEnsemble._parameter_constraints,
        **_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="neither")],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class StumpRegressorCV(InteractionPathEnsemble, _Regression):
    """`StumpRegressor` with C, measure, weights and interactions chosen by cross-validation.

    Parameters
    ----------
    Cs, selection, random_state, interactions, interaction_strength
        As in `StumpSVCCV`; there is no selection by a leave-one-out bound.
    cv : int, cross-validation generator or iterable, default=5
        Number of folds of ``KFold(cv, shuffle=True, random_state=random_state)``, or a splitter,
        or an iterable of (train, test).
    scoring : str or callable, default=None
        A scikit-learn scorer.  By default that of the loss: "r2" for "squared",
        "neg_mean_pinball_loss" of the quantile, "neg_mean_poisson_deviance",
        "neg_mean_gamma_deviance", and "neg_mean_absolute_error" for the others.
    feature_weights : {"auto", "adaptive", "equal"}, default="auto"
        As in `StumpSVCCV`.
    loss, quantile, epsilon
        As in `StumpRegressor`.
    measure : str, callable or Measure, default="auto"
        As in `StumpSVCCV`.
    max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpRegressor`.
    interaction_bins, max_interaction_order, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.

    Attributes
    ----------
    C_, best_score_, scoring_, feature_weights_, cv_results_, interaction_cv_results_
        As in `StumpSVCCV`.
    measure_, measure_cv_results_, interaction_measure_cv_results_, weights_cv_results_
        As in `StumpSVCCV`.
    number_cv_results_, refined_cv_results_
        As in `StumpSVCCV`.
    shapes_, link_, target_scale_, certificate_, dual_coef_, intercept_, n_iter_, exact_
        Results of the fit on all samples with ``C_``, as in `StumpRegressor`.
    interactions_, interaction_strength_, surface_density_
        As in `StumpSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump import StumpRegressorCV
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = StumpRegressorCV().fit(X, X[:, 0] ** 2 + X[:, 1])
    >>> model.scoring_, model.best_score_ > 0.9
    ('r2', True)
    """

    _fixed_C_class = StumpRegressor

    _parameter_constraints: ClassVar[dict] = {
        **InteractionPathEnsemble._parameter_constraints,
        **_CONSTRAINTS,
    }

    def _default_scorer(self) -> Metric:
        return self._spec().metric
