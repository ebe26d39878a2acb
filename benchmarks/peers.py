"""The peers, each with its default settings.

A peer is imported when it is used, so that the others run even if it is not installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingRegressor,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.timing import timed
from everystump._core.columns import make_columns

MAX_BINS = 256


def ebm() -> Any:
    """Return an Explainable Boosting Machine without interactions."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(interactions=0, n_jobs=N_JOBS)


def ebm_with_interactions(n_jobs: int = N_JOBS) -> Any:
    """Return an Explainable Boosting Machine with its defaults, which include interactions."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=n_jobs)


def lightgbm_trees(n_jobs: int = N_JOBS) -> Any:
    """Return LightGBM with its defaults: 100 trees of 31 leaves."""
    return _lightgbm(n_jobs=n_jobs)


def lightgbm_stumps() -> Any:
    """Return LightGBM with 1,000 stumps."""
    return _lightgbm(num_leaves=2, n_estimators=1000)


def _lightgbm(n_jobs: int = N_JOBS, **parameters: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=n_jobs, verbose=-1, **parameters)


def lightgbm_regression(n_jobs: int = N_JOBS, **parameters: Any) -> Any:
    """Return LightGBM for regression with its defaults: 100 trees of 31 leaves."""
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_jobs=n_jobs, verbose=-1, **parameters)


def ebm_regression(n_jobs: int = N_JOBS) -> Any:
    """Return an Explainable Boosting Machine for regression with its defaults."""
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(n_jobs=n_jobs)


class PyGam:
    """pyGAM's linear model of splines, with its default search for the strength of smoothing.

    Text is encoded by level; a missing number is replaced by the median, with an indicator.
    """

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> PyGam:
        """Fit the model to a frame."""
        from pygam import LinearGAM, f, l, s

        self._medians = X.median(numeric_only=True)
        texts = [name for name in X.columns if name not in self._medians]
        self._levels = {name: pd.Index(X[name].dropna().unique()) for name in texts}
        self._missing = [name for name in self._medians.index if X[name].isna().any()]
        columns = self._encode(X)
        terms = None
        for d, (name, column) in enumerate(columns.items()):
            n_values = column.nunique()
            if n_values > 1:
                kind = f(d) if name in self._levels else s(d) if n_values > 20 else None
                kind = kind or (l(d) if n_values == 2 else s(d, n_splines=max(5, n_values)))
                terms = kind if terms is None else terms + kind
        self._model = LinearGAM(terms).gridsearch(columns.to_numpy(), y, progress=False)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Predict the target of each row."""
        return self._model.predict(self._encode(X).to_numpy())

    def _encode(self, X: pd.DataFrame) -> pd.DataFrame:
        columns = {}
        for name in X.columns:
            if name in self._levels:
                code = self._levels[name].get_indexer(X[name])
                columns[name] = np.maximum(code, 0).astype(np.float64)
            else:
                columns[name] = X[name].fillna(self._medians[name])
        columns |= {f"{name} is missing": X[name].isna().astype(float) for name in self._missing}
        return pd.DataFrame(columns)


def boosted_stump_regression() -> Any:
    """Return scikit-learn's gradient boosting of 100 trees of depth one."""
    return GradientBoostingRegressor(max_depth=1, random_state=0)


def lightgbm_dataset(X: np.ndarray) -> Any:
    """Bin a table as LightGBM does before training."""
    import lightgbm

    parameters = {"max_bin": MAX_BINS - 1, "num_threads": N_JOBS, "verbose": -1}
    return lightgbm.Dataset(X, params=parameters).construct()


def xgboost_trees() -> Any:
    """Return XGBoost with its defaults."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=N_JOBS)


def adaboost(n_estimators: int) -> Any:
    """Return scikit-learn's AdaBoost with its defaults: trees of depth one."""
    return AdaBoostClassifier(n_estimators=n_estimators, random_state=0)


def bagged_stumps(n_estimators: int) -> Any:
    """Return scikit-learn's bagging of trees of depth one."""
    stump = DecisionTreeClassifier(max_depth=1)
    return BaggingClassifier(stump, n_estimators=n_estimators, random_state=0, n_jobs=N_JOBS)


@dataclass(frozen=True)
class PrecomputedSVC:
    """LIBSVM on a stump kernel, SVC or SVR: its times and its primal objective."""

    kernel_seconds: float
    fit_seconds: float
    objective: float

    @property
    def seconds(self) -> float:
        """Seconds from the raw array to the fitted model."""
        return self.kernel_seconds + self.fit_seconds


class StumpKernel:
    """The stump kernel of a binned table scaled to [-1, 1].

    Each value is replaced by the value of its bin, so that both solve the same problem.  The
    kernel is defined up to a constant, which has no effect with an intercept.
    """

    def __init__(self, X: np.ndarray, settings: Settings) -> None:
        X = _binned(X)
        log(f"  stump kernel of {len(X):,} rows ...")
        build = timed(lambda: np.negative(distance := cdist(X, X, "cityblock"), distance), settings)
        self.settings, self.matrix, self.seconds = settings, build.result, build.seconds

    def fit_svc(self, y: np.ndarray, C: float) -> PrecomputedSVC:
        """Time scikit-learn's SVC on the kernel."""
        log(f"  SVC(kernel='precomputed', C={C:g}) on {len(y):,} rows ...")
        svc = SVC(kernel="precomputed", C=C)
        fit = timed(lambda: svc.fit(self.matrix, y), self.settings)
        log(f"    {self.seconds:.3g} s + {fit.seconds:.3g} s")
        return PrecomputedSVC(self.seconds, fit.seconds, self._objective(svc, y, C))

    def fit_svr(self, y: np.ndarray, C: float, epsilon: float) -> PrecomputedSVC:
        """Time scikit-learn's SVR on the kernel."""
        log(f"  SVR(kernel='precomputed', C={C:g}) on {len(y):,} rows ...")
        svr = SVR(kernel="precomputed", C=C, epsilon=epsilon)
        fit = timed(lambda: svr.fit(self.matrix, y), self.settings)
        log(f"    {self.seconds:.3g} s + {fit.seconds:.3g} s")
        beta = np.zeros(len(y))
        beta[svr.support_] = svr.dual_coef_[0]
        score = self.matrix @ beta
        excess = np.maximum(0.0, np.abs(y - score - svr.intercept_[0]) - epsilon)
        objective = 0.5 * float(beta @ score) + C * float(excess.sum())
        return PrecomputedSVC(self.seconds, fit.seconds, objective)

    def _objective(self, svc: SVC, y: np.ndarray, C: float) -> float:
        beta = np.zeros(len(y))
        beta[svc.support_] = svc.dual_coef_[0]
        score = self.matrix @ beta
        sign = np.where(y == svc.classes_[1], 1.0, -1.0)
        hinge = np.maximum(0.0, 1.0 - sign * (score + svc.intercept_[0]))
        return 0.5 * float(beta @ score) + C * float(hinge.sum())


def _binned(X: np.ndarray) -> np.ndarray:
    columns = make_columns(X, max_bins=MAX_BINS)
    return np.column_stack(
        [column.values[code] for column, code in zip(columns.columns, columns.codes, strict=True)]
    )
