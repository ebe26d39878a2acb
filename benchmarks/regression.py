"""Regression on simulated additive data: squared loss, quantiles, support vector regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.metrics import mean_pinball_loss, root_mean_squared_error

from benchmarks import peers
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings
from benchmarks.targets import AtMost, Faster, NoTarget
from benchmarks.timing import describe, timed_fit
from everystump import StumpBoostingRegressor, StumpRegressor, StumpRegressorCV
from everystump.measures import Weighted

_TEST_ROWS = 50_000
_TOLERANCES = (1e-3, 1e-4, 1e-5)  # of the comparison of objectives


class Numbers(NamedTuple):
    """Training and test rows with numbers to predict."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def additive(n_rows: int) -> Numbers:
    """Return rows of 20 uniform numbers; the target is a sum of functions of 10 of them.

    The noise has a standard deviation of 1 and grows with the first number.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n_rows + _TEST_ROWS, 20))
    signal = np.sin(4 * X[:, 0]) + 2 * X[:, 1] ** 2 + np.abs(X[:, 2]) + (X[:, 3] > 0.3)
    signal += np.exp(X[:, 4]) + X[:, 5:10] @ np.linspace(0.2, 1.0, 5)
    y = signal + np.sqrt(1 + 0.5 * X[:, 0]) * rng.normal(size=len(X))
    return Numbers(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def squared(settings: Settings) -> Iterator[Row]:
    """StumpRegressor against LightGBM regression, 100 trees, 1,000,000 rows."""
    data = additive(settings.rows(1_000_000))
    ours = timed_fit(StumpRegressor(n_jobs=N_JOBS), data.X, data.y, settings)
    trees = timed_fit(peers.lightgbm_regression(), data.X, data.y, settings)
    errors = [_rmse(data, fit.result) for fit in (ours, trees)]
    certificate = ours.result.certificate_
    yield Row(
        f"{describe(ours.result)}, additive {len(data.X):,}",
        ours.seconds,
        trees.seconds,
        "LightGBM, 100 trees",
        AtMost(0.25),
        quality_ok=certificate.converged and errors[0] <= errors[1],
        quality=f"RMSE {errors[0]:.4f}, peer {errors[1]:.4f}; gap {certificate.gap:.1e}",
    )


def quantile(settings: Settings) -> Iterator[Row]:
    """Quantile 0.9 against LightGBM with 1,000 stumps, 100,000 rows; C chosen beforehand or not."""
    data, q = additive(settings.rows(100_000)), 0.9
    parameters = {"loss": "quantile", "quantile": q, "n_jobs": N_JOBS}
    search = StumpRegressorCV(interactions=0, **parameters)
    chosen = timed_fit(search, data.X, data.y, settings)
    measure = Weighted(chosen.result.measure_, chosen.result.feature_weights_)
    model = StumpRegressor(float(chosen.result.C_), measure=measure, **parameters)
    ours = timed_fit(model, data.X, data.y, settings)
    stumps = peers.lightgbm_regression(
        objective="quantile", alpha=q, num_leaves=2, n_estimators=1000
    )
    theirs = timed_fit(stumps, data.X, data.y, settings)
    peer_loss = mean_pinball_loss(data.y_test, theirs.result.predict(data.X_test), alpha=q)
    for fit, target in ((ours, AtMost(0.5)), (chosen, NoTarget())):
        loss = mean_pinball_loss(data.y_test, fit.result.predict(data.X_test), alpha=q)
        certificate = fit.result.certificate_
        yield Row(
            f"{describe(fit.result)}, quantile {q}, additive {len(data.X):,}",
            fit.seconds,
            theirs.seconds,
            "LightGBM quantile, 1,000 stumps",
            target,
            quality_ok=certificate.converged and loss <= peer_loss,
            quality=f"pinball {loss:.5f}, peer {peer_loss:.5f}; gap {certificate.gap:.1e}",
        )


def epsilon(settings: Settings) -> Iterator[Row]:
    """StumpRegressor against scikit-learn's SVR on the same kernel, 10,000 rows.

    The ratio with a target is that of the first tolerance at which our objective is no worse; the
    default tolerance is shown as well.
    """
    data = additive(settings.rows(10_000))
    low, middle, high = np.quantile(data.y, [0.25, 0.5, 0.75], method="inverted_cdf")
    target = (data.y - middle) / ((high - low) / 1.3489795003921634)
    svr = peers.StumpKernel(data.X, settings).fit_svr(target, 1.0, 0.1)
    for tol in _TOLERANCES:
        model = StumpRegressor(
            loss="epsilon_insensitive", measure="uniform", tol=tol, n_jobs=N_JOBS
        )
        ours = timed_fit(model, data.X, data.y, settings)
        certificate = ours.result.certificate_
        is_worse = certificate.primal > svr.objective
        has_target = not is_worse or tol == _TOLERANCES[-1]
        row = Row(
            f"StumpRegressor(tol={tol:g}), epsilon-insensitive, additive {len(data.X):,}",
            ours.seconds,
            svr.seconds,
            "SVR, kernel and fit",
            Faster(50) if has_target else NoTarget(),
            quality_ok=certificate.converged and not (has_target and is_worse),
            quality=f"objective {certificate.primal:.7g}{', worse' * is_worse}, SVR "
            f"{svr.objective:.7g}; gap {certificate.gap:.1e}",
        )
        yield row
        yield Row(row.work, ours.seconds, svr.fit_seconds, "SVR, fit alone")
        if has_target:
            return


def boosting(settings: Settings) -> Iterator[Row]:
    """StumpBoostingRegressor against scikit-learn and LightGBM, 100 stumps."""
    data = additive(settings.rows(100_000))
    ours = timed_fit(StumpBoostingRegressor(n_jobs=N_JOBS), data.X, data.y, settings)
    stumps = peers.lightgbm_regression(num_leaves=2, n_estimators=100)
    for peer, name in (
        (stumps, "LightGBM, 100 stumps"),
        (peers.boosted_stump_regression(), "GradientBoostingRegressor, 100 stumps"),
    ):
        theirs = timed_fit(peer, data.X, data.y, settings)
        errors = [_rmse(data, fit.result) for fit in (ours, theirs)]
        yield Row(
            f"{describe(ours.result)}, additive {len(data.X):,}",
            ours.seconds,
            theirs.seconds,
            name,
            quality=f"RMSE {errors[0]:.4f}, peer {errors[1]:.4f}",
        )


def _rmse(data: Numbers, model: object) -> float:
    return float(root_mean_squared_error(data.y_test, model.predict(data.X_test)))
