"""Base class of the regressors of finitely many stumps."""

from __future__ import annotations

from typing import Any

import numpy as np

from everystump._core.boosting.regression import ResidualBoosting
from everystump._core.boosting.search import SplitSearch
from everystump._core.columns import Columns
from everystump._core.targets import TargetScale, mean_scale
from everystump._tables.training_table import NumberTable
from everystump._tables.validation import check_regression_table
from everystump.estimators._base import TabularRegressor
from everystump.estimators._finite import FiniteEnsemble


class FiniteRegressor(FiniteEnsemble, TabularRegressor):
    """A regressor by a sum of finitely many stumps."""

    def _read_table(self, X: Any, y: Any, sample_weight: Any) -> NumberTable:
        table = check_regression_table(self, X, y, sample_weight, self._target_scale)
        self._set_training_table(table)
        return table

    def _target_scale(self, y: np.ndarray, weight: np.ndarray | None) -> TargetScale:
        """Return the scale of the targets, so that residuals are of the order of 1."""
        return mean_scale(y, weight, center=True)

    def _search(self, columns: Columns) -> SplitSearch:
        return SplitSearch(columns.columns, self.min_weight_fraction_leaf)

    def _store(self, table: NumberTable, boosted: ResidualBoosting, columns: Columns) -> None:
        """Store the stumps and their shape model, in the units of the targets."""
        scale, stumps = table.scale, boosted.stumps
        shapes = stumps.shape_model(table.n_levels, float(boosted.constants.sum()))
        self.link_ = "identity"
        self.stumps_ = stumps._replace(
            weight=scale.factor * stumps.weight, error=self._in_units(stumps.error, scale)
        )
        self.shapes_ = scale.model(shapes)
        self.intercept_ = np.array([self.shapes_.intercept])
        self.exact_ = columns.exact
        self.density_ = columns.density()

    def _in_units(self, losses: np.ndarray, scale: TargetScale) -> np.ndarray:
        """Return losses of scaled residuals in the units of the targets."""
        with np.errstate(over="ignore"):
            return losses * np.float64(scale.factor) ** 2
