"""A single decision stump for regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import Tags

from everystump._core.boosting.regression import RESIDUAL_LOSSES, ResidualRows, boost_residuals
from everystump._core.threads import count_threads
from everystump._tables.training_table import NumberTable
from everystump.estimators._finite_regression import FiniteRegressor


@dataclass(eq=False, repr=False)
class DecisionStumpRegressor(FiniteRegressor):
    """The decision stump with the smallest squared error.

    Predicts one number where ``x >= threshold`` and another elsewhere: the mean targets of the
    training samples on both sides.  All thresholds are searched; the threshold is halfway between
    two adjacent values.

    Parameters
    ----------
    features : {"best", "random"}, default="best"
        Whether to consider all features or a random one; if no threshold of the random feature
        lowers the error, another feature is drawn.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight on each side of the stump.
    random_state : int, RandomState instance or None, default=None
        Controls the random feature.
    categorical_features, n_jobs
        As in `StumpSVC`.

    Attributes
    ----------
    feature_ : int
        Index of the feature of the stump.
    threshold_ : float
        Threshold: infinity if the stump tests whether the value is missing, NaN if it tests for a
        level, minus infinity if no stump is better than the mean of all targets.
    level_ : object or None
        The level that the stump tests for.
    values_ : ndarray of shape (2,)
        Predictions where the test is false and where it is true.
    error_ : float
        Weighted mean squared error on the training samples.
    stumps_, estimator_weights_, estimator_errors_
        The same as arrays of length one, or zero if no stump is better than the mean.
    shapes_ : ShapeModel
        The stump as shape functions.
    link_, intercept_
        As in `StumpRegressor`.
    exact_ : bool
        Always True: features are not binned.
    feature_importances_, feature_info_, density_, n_features_in_, feature_names_in_
        As in `StumpSVC`.

    Examples
    --------
    >>> from everystump import DecisionStumpRegressor
    >>> stump = DecisionStumpRegressor().fit([[0, 7], [1, 5], [4, 6], [5, 5]], [1, 2, 6, 7])
    >>> stump.feature_, stump.threshold_, stump.values_.round(2), round(stump.error_, 2)
    (0, 2.5, array([1.5, 6.5]), 0.25)
    """

    features: str = "best"

    def __sklearn_tags__(self) -> Tags:
        """Declare that a single stump may be poor."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _fit_table(self, table: NumberTable) -> None:
        binned = self._bin(table)
        loss, n_threads = RESIDUAL_LOSSES["squared"], count_threads(self.n_jobs)
        rows = ResidualRows(binned.packing, table.target, table.weight, loss, n_threads)
        boosted = boost_residuals(
            rows,
            binned.search,
            self._choice(np.random.default_rng(self._seed())),
            n_estimators=1,
            learning_rate=1.0,
            monitor=lambda *_: False,
        )
        self._store(table, boosted, binned.columns)
        self.error_ = float(self._in_units(np.array(rows.mean_loss()), table.scale))
        self._store_stump()

    def _store_stump(self) -> None:
        """Store the single stump, or a constant if there is none."""
        stumps, weight = self.stumps_, float(self.stumps_.weight.sum())
        self.values_ = self.intercept_[0] + weight * np.array([-1.0, 1.0])
        self.feature_, self.threshold_, self.level_ = 0, -np.inf, None
        if len(stumps.weight) > 0:
            self.feature_, self.threshold_ = int(stumps.feature[0]), float(stumps.threshold[0])
            levels = self.feature_info_[self.feature_].level_index
            self.level_ = next((level for level, k in levels.items() if k == stumps.level[0]), None)
