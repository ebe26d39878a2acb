"""Model selection by a leave-one-out bound."""

from __future__ import annotations

import time
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from everystump._core.threads import parallel_map
from everystump._sklearn_compat import HasMethods
from everystump._tables.overlap import Overlap
from everystump.bounds import Bound, det_loo_bound
from everystump.bounds._protocol import SupportsKernelEnsembles
from everystump.estimators._base import ScoreClassifier


class LooBoundSearch(MetaEstimatorMixin, ScoreClassifier):
    """Choose parameters by a bound on the leave-one-out error: one fit for each candidate.

    Cross-validation needs a fit for each candidate and fold.  The bound (Evgeniou, Pontil &
    Elisseeff, Theorems 3.1 and 3.3) comes with the fit on all rows, and ranks candidates well as
    long as C times the kernel of a row with itself is below 1; see the guide.

    Parameters
    ----------
    estimator : KernelSVC, StumpSVC or SubsampleVotingClassifier
        The machine, or the vote of machines.  If it draws at random, all candidates draw alike.
    param_grid : dict or list of dict
        Names of parameters and the values to try, as in scikit-learn's GridSearchCV.
    n_jobs : int, optional
        Threads over the candidates.  None is all cores, unlike in most of scikit-learn, or what
        ``joblib.parallel_config`` says.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    best_params_ : dict
        The candidate of the least bound, the first of equals.
    best_estimator_ : estimator
        It, fitted to all rows.
    best_bound_ : Bound
        Its bound.
    best_score_ : float
        One minus the bound: where that holds, the accuracy on left-out rows is no less.
    best_index_ : int
        Its place in ``cv_results_``.
    candidates_ : list of estimators
        All candidates, fitted.
    cv_results_ : dict of arrays
        "params", "param_" and the name of each, "bound", "holds", "vacuous", "mean_test_score",
        "rank_test_score", "mean_fit_time".
    classes_, n_features_in_, feature_names_in_
        As in `StumpSVC`.

    Examples
    --------
    >>> from everystump import KernelSVC, LooBoundSearch
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(300, random_state=0)
    >>> machine = KernelSVC(C=0.5, fit_intercept=False)
    >>> search = LooBoundSearch(machine, {"gamma": [1e-4, 1e-2, 1.0]}).fit(X, y)
    >>> search.best_params_, len(search.candidates_)
    ({'gamma': 0.01}, 3)
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict", "set_params"])],
        "param_grid": [dict, list],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self, estimator: Any, param_grid: Any, *, n_jobs: int | None = None, verbose: int = 0
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        """Say that precomputed products are rows and columns at once."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self.estimator).input_tags.pairwise
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit all candidates and keep the one with the least bound.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; a pandas or polars frame keeps its column names.
        y : array-like of shape (n_rows,)
            Labels.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        if not isinstance(self.estimator, SupportsKernelEnsembles):
            raise ValueError(
                f"estimator={self.estimator!r} is no kernel machine; LooBoundSearch is for "
                f"KernelSVC, StumpSVC and SubsampleVotingClassifier."
            )
        grid = list(ParameterGrid(self.param_grid))
        if not grid:
            raise ValueError(
                f"param_grid={self.param_grid!r} holds no candidate; name parameters and values."
            )
        y = column_or_1d(y, warn=True)
        validate_data(self, X, y, skip_check_array=True)
        work = partial(_try, self._alike(), X, y)
        found = parallel_map(work, grid, self.n_jobs, self.verbose)
        candidates, bounds, seconds = zip(*found, strict=True)
        values = np.array([bound.value for bound in bounds])
        self.best_index_ = int(values.argmin())
        self.candidates_ = list(candidates)
        self.best_estimator_ = candidates[self.best_index_]
        self.best_bound_ = bounds[self.best_index_]
        self.best_params_ = grid[self.best_index_]
        self.best_score_ = 1.0 - self.best_bound_.value
        self.cv_results_ = _results(grid, bounds, values, seconds)
        self.classes_ = self.best_estimator_.classes_
        return self

    def _sub_estimators(self) -> list:
        return self.candidates_

    def _compare(self, X: Any, y: Any) -> Overlap:
        return self.best_estimator_.training_overlap(X, y)

    def _alike(self) -> Any:
        """Return the estimator with a seed, if it draws: bounds of other rows compare badly."""
        estimator = clone(self.estimator)
        if "random_state" in estimator.get_params(deep=False):
            seed = check_random_state(estimator.random_state).randint(np.iinfo(np.int32).max)
            estimator.set_params(random_state=seed)
        return estimator

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the best candidate.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Positive numbers speak for ``classes_[1]``, or for the column's class.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)


def _try(estimator: Any, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, Bound, float]:
    """Return a fitted candidate, its bound, and how long its fit took."""
    start = time.perf_counter()
    fitted = clone(estimator).set_params(**params).fit(X, y)
    seconds = time.perf_counter() - start
    return fitted, det_loo_bound(fitted, X, y), seconds


def _results(
    grid: list[dict], bounds: tuple[Bound, ...], values: np.ndarray, seconds: tuple[float, ...]
) -> dict[str, Any]:
    """Return the table of all candidates, in the form of GridSearchCV's."""
    names = sorted({name for params in grid for name in params})
    columns: dict[str, Any] = {}
    for name in names:
        column = np.ma.masked_all(len(grid), dtype=object)
        for k, params in enumerate(grid):
            if name in params:
                column[k] = params[name]
        columns[f"param_{name}"] = column
    return {
        **columns,
        "params": grid,
        "bound": values,
        "holds": np.array([bound.holds for bound in bounds]),
        "vacuous": np.array([bound.vacuous for bound in bounds]),
        "mean_test_score": 1.0 - values,
        "rank_test_score": rankdata(values, method="min").astype(int),
        "mean_fit_time": np.array(seconds),
    }
