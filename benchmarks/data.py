"""The data of the benchmarks: simulated data, packaged tables, and tables of the user's folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.preprocessing import minmax_scale

from benchmarks.settings import Settings, log
from everystump._experiments.engine.splits import Split
from everystump.datasets import (
    DatasetNotFoundError,
    flip_labels,
    load_dataset,
    make_threenorm,
    make_twonorm,
)
from everystump.datasets._folder import describe_folder, user_files
from everystump.datasets._packaged import PACKAGED

N_TEST = 100_000
_QUICK_ROWS = 3_000


def error_percent(split: Split, model: object) -> float:
    """Return the test error of a fitted model in percent."""
    return 100.0 * split.error(model)


def two_norm(n_rows: int, n_test: int = N_TEST) -> Split:
    """Simulate two-norm data, 20 features scaled to [-1, 1], 10% of the training labels flipped.

    Test labels are not flipped.  Labels are 0 and 1, as XGBoost requires.
    """
    X, y = make_twonorm(n_rows, random_state=0)
    X_test, y_test = make_twonorm(n_test, random_state=1)
    low, high = X.min(axis=0), X.max(axis=0)
    for table in (X, X_test):
        table -= (low + high) / 2
        table /= (high - low) / 2
    y = flip_labels((y + 1) // 2, 0.1, random_state=2)
    return Split(X, y, X_test, (y_test + 1) // 2)


def three_norm(n_rows: int, n_test: int) -> Split:
    """Simulate three-norm data, 20 features; the optimal error is 10.5%."""
    return Split(*make_threenorm(n_rows, random_state=0), *make_threenorm(n_test, random_state=1))


def correlated(n_rows: int, n_features: int = 30, rho: float = 0.99) -> tuple:
    """Simulate autoregressive columns: ``x[d] = rho x[d - 1] + noise``.

    Labels are the signs of a random linear function with as much noise as signal.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    for d in range(1, n_features):
        X[:, d] = rho * X[:, d - 1] + np.sqrt(1.0 - rho**2) * X[:, d]
    score = X @ rng.standard_normal(n_features)
    noise = score.std() * rng.standard_normal(n_rows)
    return X, np.where(score + noise > 0, 1, -1)


def load_table(name: str, settings: Settings, *, scaled: bool = False) -> tuple:
    """Load a packaged table or one of the user's, without downloads.

    A quick run uses some thousand rows.
    """
    if name not in {*PACKAGED, *user_files()}:
        raise DatasetNotFoundError(f"{name}.csv is not in {describe_folder()}")
    X, y = _subsample(*load_dataset(name, return_X_y=True), settings)
    return (minmax_scale(X, (-1, 1)), y) if scaled else (X, y)


def available_tables(
    makers: dict[str, Callable[[], tuple]], skipped: list[str]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, ``X`` and ``y`` of each available table; add the others to ``skipped``."""
    for name, make in makers.items():
        try:
            X, y = make()
        except DatasetNotFoundError as error:
            log(f"  skipped: {error}")
            skipped.append(str(error))
        else:
            yield name, X, y


def _subsample(X: np.ndarray, y: np.ndarray, settings: Settings) -> tuple:
    if not settings.quick:
        return X, y
    few = slice(None, None, -(-len(X) // _QUICK_ROWS))
    return np.ascontiguousarray(X[few]), y[few]
