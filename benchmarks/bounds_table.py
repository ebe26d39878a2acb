"""A study: all bounds beside the errors that they bound, for one machine and for a vote."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import scale

import everystump.bounds as theory
from benchmarks.data import real, those_there
from benchmarks.report import Grid
from benchmarks.settings import N_JOBS, Settings, say
from everystump import KernelSVC, SubsampleVotingClassifier
from everystump.datasets import make_threenorm

C = 0.5
COLUMNS = ("one machine", "vote of 30", "C = 100, one", "C = 100, vote", "C = 0.01, one")


def all_bounds(settings: Settings) -> Grid:
    """All bounds beside the true errors on three data sets."""
    rows, skipped = [], []
    makers = {
        "heart": partial(real, "heart", settings),
        "pima": partial(real, "pima", settings),
        "breast cancer": lambda: load_breast_cancer(return_X_y=True),
        "three-norm": lambda: make_threenorm(300, random_state=0),
    }
    for name, X, y in those_there(makers, skipped):
        say(f"  bounds on {name}, {len(X):,} rows ...")
        splits = [_measure(*split) for split in _splits(scale(X), np.asarray(y), settings)]
        for quantity in splits[0]:
            means = np.mean([split[quantity] for split in splits], axis=0)
            rows.append((name, quantity, *map(float, means)))
    title = (
        f"Bounds beside errors: Gaussian kernel, gamma 1 / features, no bias, C = {C} unless said; "
        f"60% of the rows to learn from, the rest to test on; means over splits"
    )
    return Grid(title, ("data", "what", *COLUMNS), rows, skipped)


def _splits(X: np.ndarray, y: np.ndarray, settings: Settings) -> Iterator[tuple]:
    splitter = StratifiedShuffleSplit(1 if settings.quick else 5, train_size=0.6, random_state=0)
    for train, test in splitter.split(X, y):
        yield X[train], y[train], X[test], y[test]


def _measure(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> dict:
    """Return each error and bound for each of ``COLUMNS``."""
    models = [_machine(C), _vote(C), _machine(100), _vote(100), _machine(0.01)]
    found: dict[str, list[float]] = {}
    for model in models:
        for name, value in _of(model.fit(X, y), X, y, X_test, y_test):
            found.setdefault(name, []).append(value)
    return found


def _of(
    model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> Iterator[tuple[str, float]]:
    table = model, X, y
    left_out = theory.det_loo_error if hasattr(model, "estimators_") else theory.loo_error
    yield "test error", 1.0 - model.score(X_test, y_test)
    yield "(det-)leave-one-out error", left_out(*table)
    yield "the same, soft margin 1", left_out(*table, delta=1.0)
    yield "Theorem 3.1 / 3.3", theory.det_loo_bound(*table).value
    yield "Corollary 3.1, best delta", theory.ensemble_margin_bound(*table).value
    yield "eq. 9 / Corollary 3.2", theory.radius_margin_bound(*table).value
    yield "uniform stability, proven", theory.uniform_stability(*table)
    yield "measured stability", theory.measured_stability(*table)
    yield "Theorem 5.1 / 5.2, proven constants", theory.stability_bound(*table, error="loo").value
    printed = partial(theory.stability_bound, *table, constants="paper")
    yield "the same, constants as printed", printed(error="loo").value
    yield "the same, by the training error", printed(error="empirical").value
    validation = partial(theory.validation_bound, model, X_test, y_test)
    yield "validation bound on the test rows, exact", validation().value
    yield "the same, eq. 16", validation(method="paper").value


def _machine(cost: float) -> KernelSVC:
    return KernelSVC(C=cost, gamma="auto", fit_intercept=False, tol=1e-6)


def _vote(cost: float) -> SubsampleVotingClassifier:
    return SubsampleVotingClassifier(_machine(cost), random_state=0, n_jobs=N_JOBS)
