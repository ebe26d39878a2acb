"""Training times and test errors next to scikit-learn's in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier

from everystump.datasets import flip_labels, make_twonorm
from everystump.estimators.boosting import StumpBoostingClassifier
from everystump.estimators.logistic import StumpLogisticRegression
from everystump.estimators.svc import StumpSVC

_TEST_ROWS, _WARM_UP = 20_000, 300


def compare_models(n_rows: int, progress: Callable[[int, int], None]) -> list[dict[str, Any]]:
    """Return training times in seconds and test errors on two-norm data."""
    X, y = make_twonorm(n_rows, random_state=0)
    X_test, y_test = make_twonorm(_TEST_ROWS, random_state=1)
    y = flip_labels(y, 0.1, random_state=2)
    results = []
    models = _models()
    for name, model in models.items():
        clone(model).fit(X[:_WARM_UP], y[:_WARM_UP])  # compiles, or loads compiled code
        start = time.perf_counter()
        fitted = clone(model).fit(X, y)
        seconds = time.perf_counter() - start
        error = float(np.mean(fitted.predict(X_test) != y_test))
        results.append({"model": name, "seconds": seconds, "error": error})
        progress(len(results), len(models))
    return results


def _models() -> dict[str, Any]:
    trees = HistGradientBoostingClassifier(interaction_cst="no_interactions", random_state=0)
    return {
        "StumpLogisticRegression": StumpLogisticRegression(),
        "StumpSVC": StumpSVC(),
        "StumpBoostingClassifier, T=100 (AdaBoost)": StumpBoostingClassifier(),
        "scikit-learn AdaBoostClassifier, T=100": AdaBoostClassifier(
            n_estimators=100, random_state=0
        ),
        "scikit-learn HistGradientBoosting, no interactions": trees,
    }
