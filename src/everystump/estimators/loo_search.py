"""Model selection by a bound on the leave-one-out error."""

from __future__ import annotations

import time
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import column_or_1d

from everystump._core.threads import parallel_map
from everystump._sklearn_compat import HasMethods, check_columns, is_regressor
from everystump._tables.overlap import Overlap
from everystump.bounds import Bound, det_loo_bound
from everystump.bounds._protocol import SupportsKernelEnsembles
from everystump.estimators._base import ScoreClassifier


@dataclass(eq=False, repr=False)
class LooBoundSearch(MetaEstimatorMixin, ScoreClassifier):
    """Select parameters by a bound on the leave-one-out error, with one fit per candidate.

    The bound (Evgeniou, Pontil & Elisseeff, Theorems 3.1 and 3.3) is computed from the fit on all
    samples, whereas cross-validation fits each candidate once per fold.  It ranks candidates well
    if C times the kernel of each sample with itself is below 1; see the guide.

    Parameters
    ----------
    estimator : KernelSVC, StumpSVC or SubsampleVotingClassifier
        The estimator.  If it is random, all candidates use the same seed.
    param_grid : dict or list of dict
        Parameter names and the values to try, as in `sklearn.model_selection.GridSearchCV`.
    n_jobs : int, default=None
        Number of candidates to fit in parallel threads, as in `StumpSVC`.
    verbose : int, default=0
        If 1, progress is shown.

    Attributes
    ----------
    best_params_ : dict
        Parameters of the candidate with the smallest bound (the first one in a tie).
    best_estimator_ : estimator
        That candidate, fitted to all samples.
    best_bound_ : Bound
        Its bound.
    best_score_ : float
        One minus its bound: where the bound holds, a lower bound on the leave-one-out accuracy.
    best_index_ : int
        Its index in ``cv_results_``.
    candidates_ : list of estimators
        All fitted candidates.
    cv_results_ : dict of ndarrays
        "params", "param_" plus the name of each parameter, "bound", "holds", "vacuous",
        "mean_test_score", "rank_test_score", "mean_fit_time".
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

    _fitted_attribute: ClassVar[str] = "best_estimator_"

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict", "set_params"])],
        "param_grid": [dict, list],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    estimator: Any
    param_grid: Any
    _: KW_ONLY
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Tags:
        """Declare whether X is a kernel matrix."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self.estimator).input_tags.pairwise
        return tags

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit all candidates and select the one with the smallest bound.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            Fitted estimator.
        """
        self._validate_params()
        if is_regressor(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r} is a regressor, and LooBoundSearch bounds errors of "
                f"classifiers; use StumpRegressorCV, or GridSearchCV of scikit-learn."
            )
        if not isinstance(self.estimator, SupportsKernelEnsembles):
            raise ValueError(
                f"estimator={self.estimator!r} is not a kernel machine; use KernelSVC, StumpSVC or "
                f"SubsampleVotingClassifier."
            )
        grid = list(ParameterGrid(self.param_grid))
        if not grid:
            raise ValueError(
                f"param_grid={self.param_grid!r} has no candidates; pass parameters and values."
            )
        y = column_or_1d(y, warn=True)
        check_columns(self, X, y)
        fit_candidate = partial(_fit_candidate, self._seeded_clone(), X, y)
        results = parallel_map(fit_candidate, grid, self.n_jobs, self.verbose)
        self._reset()
        candidates, bounds, seconds = zip(*results, strict=True)
        values = np.array([bound.value for bound in bounds])
        self.best_index_ = int(values.argmin())
        self.candidates_ = list(candidates)
        self.best_estimator_ = candidates[self.best_index_]
        self.best_bound_ = bounds[self.best_index_]
        self.best_params_ = grid[self.best_index_]
        self.best_score_ = 1.0 - self.best_bound_.value
        self.cv_results_ = _cv_results(grid, bounds, values, seconds)
        self.classes_ = self.best_estimator_.classes_
        return self

    def _sub_estimators(self) -> list:
        return self.candidates_

    def _training_overlap(self, X: Any, y: Any) -> Overlap:
        return self.best_estimator_.training_overlap(X, y)

    def _seeded_clone(self) -> Any:
        """Return the estimator with a fixed seed, so that all candidates share subsamples."""
        estimator = clone(self.estimator)
        if "random_state" in estimator.get_params(deep=False):
            seed = check_random_state(estimator.random_state).randint(np.iinfo(np.int32).max)
            estimator.set_params(random_state=seed)
        return estimator

    def _check_samples(self, X: Any) -> Any:
        return X  # the best estimator validates them

    def _decision_function(self, X: Any) -> np.ndarray:
        return self.best_estimator_.decision_function(X)


def _fit_candidate(
    estimator: Any, X: Any, y: Any, params: dict[str, Any]
) -> tuple[Any, Bound, float]:
    """Return a fitted candidate, its bound, and the time of the fit in seconds."""
    start = time.perf_counter()
    fitted = clone(estimator).set_params(**params).fit(X, y)
    seconds = time.perf_counter() - start
    return fitted, det_loo_bound(fitted, X, y), seconds


def _cv_results(
    grid: list[dict], bounds: tuple[Bound, ...], values: np.ndarray, seconds: tuple[float, ...]
) -> dict[str, Any]:
    """Return the results of all candidates in the format of GridSearchCV."""
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
