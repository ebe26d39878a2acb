"""Data and methods shared by the experiments of Wang et al. (2019)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from everystump._experiments.engine.experiment import Record
from everystump._experiments.engine.records import column
from everystump.datasets import load_dataset
from everystump.estimators.boosted_svc import BoostedStumpSVC
from everystump.estimators.boosting import StumpBoostingClassifier

C = 1.0
N_TIMINGS = 3
METHODS = {"adaboost": "AdaBoost", "adaboost_svm": "AdaBoost+SVM"}

METHODS_TEXT = """
AdaBoost is `StumpBoostingClassifier`, which in each round selects the stump with the smallest
weighted error over all features and all midpoints between adjacent values. AdaBoost+SVM is
`BoostedStumpSVC`: the same stumps, with weights from a linear support vector machine (Eq. 21).
"""


@cache
def load_data(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples and labels of a dataset; categories are encoded as ordinals."""
    return load_dataset(dataset, return_X_y=True)


def adaboost(rounds: int) -> StumpBoostingClassifier:
    """Return AdaBoost with one thread."""
    return StumpBoostingClassifier(n_estimators=rounds, n_jobs=1)


def adaboost_svm(rounds: int, **parameters: Any) -> BoostedStumpSVC:
    """Return AdaBoost+SVM with one thread."""
    return BoostedStumpSVC(rounds, **{"C": C, "n_jobs": 1, **parameters})


def make_models(rounds: int) -> dict[str, Any]:
    """Return both methods by their names in `METHODS`."""
    return {"adaboost": adaboost(rounds), "adaboost_svm": adaboost_svm(rounds)}


def fit_seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Fit a model repeatedly and return the shortest time."""
    seconds = []
    for _ in range(N_TIMINGS):
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def accuracies_and_seconds(
    records: Sequence[Record],
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return accuracies in percent and times in seconds, each by method, runs first."""
    return (
        {name: 100 * column(records, name) for name in METHODS},
        {name: column(records, f"{name}_seconds") for name in METHODS},
    )
