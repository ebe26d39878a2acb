"""A study of the coverage and the width of conformal prediction intervals and sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from everystump import StumpLogisticRegressionCV, StumpRegressorCV
from everystump.conformal import (
    ConformalizedQuantileRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
)

HEADER = (
    "predictor",
    "level",
    "calibration rows",
    "coverage",
    "expected",
    "low noise",
    "high noise",
    "mean width",
)
_N_TRAIN, _N_TEST = 1000, 5000
_FIXED = {"interactions": 0, "measure": "mixed", "n_jobs": N_JOBS}
_QUANTILE = StumpRegressorCV(loss="quantile", feature_weights="adaptive", **_FIXED)
_SQUARED = StumpRegressorCV(feature_weights="adaptive", **_FIXED)
_LOGISTIC = StumpLogisticRegressionCV(feature_weights="equal", **_FIXED)


def coverage(settings: Settings) -> StudyTable:
    """Coverage of conformal intervals and sets on test rows, and where the noise is low or high.

    The noise of the targets is proportional to one of two features.  "Expected" is the mean of the
    exact distribution of the coverage.  The width of a set is its number of classes.
    """
    n_tables, rows = (5 if settings.quick else 20), []
    for level in (0.8, 0.95):
        predictors = {
            "SplitConformalRegressor": SplitConformalRegressor(_SQUARED, level, prefit=False),
            "ConformalizedQuantileRegressor": ConformalizedQuantileRegressor(_QUANTILE, level),
            "SplitConformalClassifier": SplitConformalClassifier(_LOGISTIC, level, prefit=False),
        }
        for name, predictor in predictors.items():
            for n in (100, 1000):
                log(f"  {name}, level {level:g}, {n:,} calibration rows ...")
                found = np.mean([_measure(predictor, n, seed) for seed in range(n_tables)], axis=0)
                tails = 2 if isinstance(predictor, ConformalizedQuantileRegressor) else 1
                rank = np.ceil((n + 1) * (1 - (1 - level) / tails) - 1e-9)
                expected = 1 - tails * (1 - rank / (n + 1))
                rows.append((name, level, n, found[0], expected, *found[1:]))
    return StudyTable("Coverage of conformal prediction", HEADER, rows)


def _measure(predictor: Any, n: int, seed: int) -> tuple[float, float, float, float]:
    """Return the coverage of all test rows, of those with low and high noise, and the width."""
    rng = np.random.default_rng([seed, n])
    X = rng.uniform(size=(_N_TRAIN + n + _N_TEST, 2))
    y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * rng.normal(size=len(X))
    if isinstance(predictor, SplitConformalClassifier):
        y = np.digitize(y, [-0.5, 0.5])
    train, calibration = slice(0, _N_TRAIN), slice(_N_TRAIN, _N_TRAIN + n)
    predictor.fit(X[train], y[train]).conformalize(X[calibration], y[calibration])
    X, y = X[-_N_TEST:], y[-_N_TEST:]
    if isinstance(predictor, SplitConformalClassifier):
        sets = predictor.predict_set(X)[1][:, :, 0]
        covered, width = sets[np.arange(len(y)), y], float(sets.sum(axis=1).mean())
    else:
        low, high = predictor.predict_interval(X)[1][:, :, 0].T
        covered, width = (low <= y) & (y <= high), float(np.mean(high - low))
    is_low = X[:, 1] < 0.5
    return (
        float(covered.mean()),
        float(covered[is_low].mean()),
        float(covered[~is_low].mean()),
        width,
    )
