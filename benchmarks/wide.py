"""Tables of hundreds or thousands of normal features: one fit, and the C path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks import peers
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings
from benchmarks.targets import AtMost
from benchmarks.timing import Timed, timed_fit
from everystump import StumpLogisticRegression, StumpSVC, StumpSVCCV

_N_INFORMATIVE = 10
# Rows, features, and the target ratio to LightGBM's time.
_SHAPES = ((60, 10_000, 0.3), (200, 5_000, 0.3), (2_000, 2_000, 0.5), (20_000, 500, 0.5))


def against_lightgbm(settings: Settings) -> Iterator[Row]:
    """StumpSVC and StumpLogisticRegression against LightGBM, and the path against one fit."""
    for n_rows, n_features, limit in _SHAPES:
        X, y = _normal(n_rows if n_rows < 1000 else settings.rows(n_rows), n_features)
        trees = timed_fit(peers.lightgbm_trees(), X, y, settings)
        svc = timed_fit(StumpSVC(n_jobs=N_JOBS), X, y, settings)
        logistic = timed_fit(StumpLogisticRegression(n_jobs=N_JOBS), X, y, settings)
        yield _row(svc, trees.seconds, "LightGBM, 100 trees", X, AtMost(limit))
        yield _row(logistic, trees.seconds, "LightGBM, 100 trees", X, AtMost(limit))
        if n_rows == 200:
            search = StumpSVCCV(
                interactions=0, measure="mixed", feature_weights="equal", n_jobs=N_JOBS
            )
            path = timed_fit(search, X, y, settings)
            yield _row(path, svc.seconds, "one fit", X, AtMost(10))


def _normal(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    signal = X[:, :_N_INFORMATIVE].sum(axis=1) / np.sqrt(_N_INFORMATIVE)
    return X, np.where(signal + 0.5 * rng.normal(size=n_rows) > 0, 1, 0)


def _row(ours: Timed, seconds: float, peer: str, X: np.ndarray, target: AtMost) -> Row:
    certificate = ours.result.certificate_
    return Row(
        f"{type(ours.result).__name__}, {len(X):,} x {X.shape[1]:,}",
        ours.seconds,
        seconds,
        peer,
        target,
        quality_ok=certificate.converged,
        quality=f"gap {certificate.gap:.1e}, {certificate.passes:.0f} passes",
    )
