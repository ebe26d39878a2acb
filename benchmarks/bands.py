"""Bands around curves: the time that they take, and their coverage in simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import Row, StudyTable
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost
from benchmarks.timing import alternating_seconds
from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpRegressor,
    StumpRegressorCV,
)

_LEVEL_Z = 1.96
_N_FEATURES, _CORRELATION = 20, 0.5
HEADER = (
    "model",
    "method",
    "rows",
    "tables",
    "median C",
    "coverage",
    "lowest of a curve",
    "standard error",
    "error",
)


def times(settings: Settings) -> Iterator[Row]:
    """Bands of 100,000 x 20 against the fit; all pairs of features have a correlation of 0.5."""
    n_rows = settings.rows(100_000)
    rng = np.random.default_rng(0)
    X = np.sqrt(1 - _CORRELATION) * rng.normal(size=(n_rows, _N_FEATURES))
    X += np.sqrt(_CORRELATION) * rng.normal(size=(n_rows, 1))
    f = np.sin(X * (1 + np.arange(_N_FEATURES) % 4)).sum(axis=1)
    models = {
        StumpRegressor(n_jobs=N_JOBS): f + 2 * rng.normal(size=n_rows),
        StumpLogisticRegression(n_jobs=N_JOBS): rng.random(n_rows) < 1 / (1 + np.exp(-f)),
    }
    few = Settings(quick=True)
    for model, y in models.items():
        log(f"  {type(model).__name__} on {n_rows:,} x {_N_FEATURES} ...")
        model.fit(X, y).compute_bands(X, y)
        works = [lambda m=model, t=y: m.compute_bands(X, t), lambda m=model, t=y: m.fit(X, t)]
        bands, fit = alternating_seconds(works[::-1], few)[::-1]
        yield Row(
            f"bands of {type(model).__name__}, {n_rows:,} x {_N_FEATURES}",
            bands,
            fit,
            "the fit",
            AtMost(2),
        )


class _Simulation(NamedTuple):
    """A model, the distribution of its targets, and the true contribution of each term to a row.

    The last axis is that of the terms, the one before it that of the rows; the first one is that of
    the classes, if there are several.
    """

    model: Any
    draw: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    truth: Callable[[np.ndarray], np.ndarray]
    table: Callable[[int, np.random.Generator], np.ndarray]


def _curves(x: np.ndarray) -> np.ndarray:
    """Return the true curve of each of five features: smooth, straight, a step, peaked, none."""
    parts = [
        np.sin(2 * x[:, 0]),
        0.5 * x[:, 1],
        np.where(x[:, 2] > 0.5, 0.8, 0.0),
        np.exp(-4 * x[:, 3] ** 2),
        np.zeros(len(x)),
    ]
    return np.column_stack(parts)


def _table(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return five normal features with correlations of 0.3."""
    return np.sqrt(0.7) * rng.normal(size=(n, 5)) + np.sqrt(0.3) * rng.normal(size=(n, 1))


def _curves_and_product(x: np.ndarray) -> np.ndarray:
    """Return the true curves of two features, and their product."""
    return np.column_stack([np.sin(2 * x[:, 0]), 0.5 * x[:, 1], x[:, 0] * x[:, 1]])


def _mirrored_table(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return two normal features with all signs, so that their product is pure in the sample."""
    x = rng.normal(size=(n // 4, 2))
    return np.vstack([x * signs for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))])


def _simulations() -> dict[str, _Simulation]:
    additive = {"interactions": 0, "measure": "mixed", "n_jobs": N_JOBS}
    squared = StumpRegressorCV(feature_weights="adaptive", **additive)
    poisson = StumpRegressorCV(loss="poisson", feature_weights="adaptive", **additive)
    logistic = StumpLogisticRegressionCV(feature_weights="equal", **additive)
    return {
        "StumpRegressorCV, noise 1": _Simulation(
            squared, lambda f, rng: f + rng.normal(size=len(f)), _curves, _table
        ),
        "StumpRegressorCV, noise 0.3": _Simulation(
            squared, lambda f, rng: f + 0.3 * rng.normal(size=len(f)), _curves, _table
        ),
        "StumpRegressorCV, Poisson": _Simulation(
            poisson, lambda f, rng: rng.poisson(np.exp(f)).astype(float), _curves, _table
        ),
        "StumpLogisticRegressionCV": _Simulation(
            logistic,
            lambda f, rng: rng.random(len(f)) < 1 / (1 + np.exp(-f)),
            lambda x: 2 * _curves(x),
            _table,
        ),
        "StumpLogisticRegressionCV, 3 classes": _Simulation(
            logistic,
            lambda f, rng: (f + rng.gumbel(size=f.shape)).argmax(axis=0),
            lambda x: np.multiply.outer([1, 0, -1], _curves(x)),
            _table,
        ),
        "StumpRegressorCV, a pair, noise 1": _Simulation(
            StumpRegressorCV(
                measure="mixed", feature_weights="adaptive", interactions=[(0, 1)], n_jobs=N_JOBS
            ),
            lambda f, rng: f + rng.normal(size=len(f)),
            _curves_and_product,
            _mirrored_table,
        ),
    }


def coverage(settings: Settings) -> StudyTable:
    """Coverage of 95% bands of true centered curves, with C chosen by cross-validation.

    The truth is a sum of four curves and an unused feature, which are correlated; times 1, 0 and -1
    for three classes.  With a pair, it is a sum of two curves and their product.  Coverage is the
    mean over the samples, the terms and the simulated tables.  The standard error, which the
    band has, and the actual error are root mean squares.
    """
    simulations = _simulations()
    n_tables, rows = (10 if settings.quick else 40), []
    for title, simulation in simulations.items():
        for n in (200, 1000, 5000):
            log(f"  {title}, {n:,} rows ...")
            rows.append((title, "laplace", *_cover(simulation, n, n_tables, {})))
    title, simulation = next(iter(simulations.items()))
    options = {"method": "bootstrap", "n_samples": 50}
    rows.append((title, "bootstrap", *_cover(simulation, 1000, n_tables // 2, options)))
    return StudyTable("Coverage of 95% bands of the true curves", HEADER, rows)


def _cover(
    simulation: _Simulation, n: int, n_tables: int, options: dict[str, Any]
) -> tuple[int, int, float, float, float, float, float]:
    """Return the size of a simulation and the coverage of the bands in it."""
    covered, standard_errors, errors, costs = [], [], [], []
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, n])
        X = simulation.table(n, rng)
        truth = simulation.truth(X)
        y = simulation.draw(truth.sum(axis=-1), rng)
        model = simulation.model.fit(X, y).compute_bands(X, y, **options)
        costs.append(model.C_)
        own, bands = (_contributions(m, X) for m in (model.shapes_, model.standard_errors_))
        distance = np.abs(own - (truth - truth.mean(axis=-2, keepdims=True)))
        covered.append(np.mean(distance <= _LEVEL_Z * bands, axis=-2))
        standard_errors.append(np.mean(bands**2))
        errors.append(np.mean(distance**2))
    by_curve = np.mean(covered, axis=0)
    return (
        n,
        n_tables,
        float(np.median(costs)),
        float(by_curve.mean()),
        float(by_curve.min()),
        float(np.sqrt(np.mean(standard_errors))),
        float(np.sqrt(np.mean(errors))),
    )


def _contributions(models: Any, X: np.ndarray) -> np.ndarray:
    """Return the contribution of each term to each row, by class if there are several."""
    if isinstance(models, list):
        return np.stack([model.contributions(X) for model in models])
    return models.contributions(X)
