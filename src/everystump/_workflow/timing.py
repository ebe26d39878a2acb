"""A few fits, timed beside scikit-learn's in the same run."""

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


def compare(n_rows: int, progress: Callable[[int, int], None]) -> list[dict[str, Any]]:
    """Return seconds and test errors of some models on two-norm data."""
    X, y = make_twonorm(n_rows, random_state=0)
    X_test, y_test = make_twonorm(_TEST_ROWS, random_state=1)
    y = flip_labels(y, 0.1, random_state=2)
    found = []
    models = _models()
    for name, model in models.items():
        clone(model).fit(X[:_WARM_UP], y[:_WARM_UP])  # compiles, or loads what was compiled
        start = time.perf_counter()
        fitted = clone(model).fit(X, y)
        seconds = time.perf_counter() - start
        error = float(np.mean(fitted.predict(X_test) != y_test))
        found.append({"model": name, "seconds": seconds, "error": error})
        progress(len(found), len(models))
    return found


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
