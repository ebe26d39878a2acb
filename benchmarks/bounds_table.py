"""A study of all bounds and the errors that they bound, for one SVM and for a vote."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import scale

from benchmarks.data import available_tables, load_table
from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from everystump import KernelSVC, SubsampleVotingClassifier, bounds
from everystump.datasets import make_threenorm

DEFAULT_C = 0.5
COLUMNS = ("one SVM", "vote of 30", "C = 100, one", "C = 100, vote", "C = 0.01, one")


def all_bounds(settings: Settings) -> StudyTable:
    """All bounds, test errors and leave-one-out errors on four datasets."""
    rows, skipped = [], []
    makers = {
        "heart": partial(load_table, "heart", settings),
        "pima": partial(load_table, "pima", settings),
        "breast cancer": lambda: load_breast_cancer(return_X_y=True),
        "three-norm": lambda: make_threenorm(300, random_state=0),
    }
    for name, X, y in available_tables(makers, skipped):
        log(f"  bounds on {name}, {len(X):,} rows ...")
        splits = [_measure(*split) for split in _splits(scale(X), np.asarray(y), settings)]
        for quantity in splits[0]:
            means = np.mean([split[quantity] for split in splits], axis=0)
            rows.append((name, quantity, *map(float, means)))
    title = (
        "Bounds and errors: Gaussian kernel, gamma 1 / features, no intercept, "
        f"C = {DEFAULT_C} unless noted; 60% of the rows for training, the rest for testing; "
        "means over splits"
    )
    return StudyTable(title, ("data", "quantity", *COLUMNS), rows, skipped)


def _splits(X: np.ndarray, y: np.ndarray, settings: Settings) -> Iterator[tuple]:
    splitter = StratifiedShuffleSplit(1 if settings.quick else 5, train_size=0.6, random_state=0)
    for train, test in splitter.split(X, y):
        yield X[train], y[train], X[test], y[test]


def _measure(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> dict:
    """Return each error and bound for each of ``COLUMNS``."""
    models = [_svm(DEFAULT_C), _vote(DEFAULT_C), _svm(100), _vote(100), _svm(0.01)]
    found: dict[str, list[float]] = {}
    for model in models:
        for name, value in _quantities(model.fit(X, y), X, y, X_test, y_test):
            found.setdefault(name, []).append(value)
    return found


def _quantities(
    model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> Iterator[tuple[str, float]]:
    fitted = model, X, y
    loo_error = bounds.det_loo_error if hasattr(model, "estimators_") else bounds.loo_error
    yield "test error", 1.0 - model.score(X_test, y_test)
    yield "(det-)leave-one-out error", loo_error(*fitted)
    yield "the same, soft margin 1", loo_error(*fitted, delta=1.0)
    yield "Theorem 3.1 / 3.3", bounds.det_loo_bound(*fitted).value
    yield "Corollary 3.1, best delta", bounds.ensemble_margin_bound(*fitted).value
    yield "eq. 9 / Corollary 3.2", bounds.radius_margin_bound(*fitted).value
    yield "uniform stability, proven", bounds.uniform_stability(*fitted)
    yield "measured stability", bounds.measured_stability(*fitted)
    yield "Theorem 5.1 / 5.2, proven constants", bounds.stability_bound(*fitted, error="loo").value
    printed = partial(bounds.stability_bound, *fitted, constants="paper")
    yield "the same, constants as printed", printed(error="loo").value
    yield "the same, by the training error", printed(error="empirical").value
    validation = partial(bounds.validation_bound, model, X_test, y_test)
    yield "validation bound on the test rows, exact", validation().value
    yield "the same, eq. 16", validation(method="paper").value


def _svm(C: float) -> KernelSVC:
    return KernelSVC(C=C, gamma="auto", fit_intercept=False, tol=1e-6)


def _vote(C: float) -> SubsampleVotingClassifier:
    return SubsampleVotingClassifier(_svm(C), random_state=0, n_jobs=N_JOBS)
