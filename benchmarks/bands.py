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
    """A model, the distribution of its targets, and the factor of the true curves."""

    model: Any
    draw: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    factor: float = 1.0


def _curves(x: np.ndarray, factor: float) -> np.ndarray:
    """Return the true curve of each of five features: smooth, straight, a step, peaked, none."""
    parts = [
        np.sin(2 * x[:, 0]),
        0.5 * x[:, 1],
        np.where(x[:, 2] > 0.5, 0.8, 0.0),
        np.exp(-4 * x[:, 3] ** 2),
        np.zeros(len(x)),
    ]
    return factor * np.column_stack(parts)


def _table(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return five normal features with correlations of 0.3."""
    return np.sqrt(0.7) * rng.normal(size=(n, 5)) + np.sqrt(0.3) * rng.normal(size=(n, 1))


def coverage(settings: Settings) -> StudyTable:
    """Coverage of 95% bands of true centered curves, with C chosen by cross-validation.

    The truth is a sum of four curves and an unused feature, which are correlated.  Coverage is the
    mean over the samples, the curves and the simulated tables.  The standard error, which the
    band has, and the actual error are root mean squares.
    """
    simulations = {
        "StumpRegressorCV, noise 1": _Simulation(
            StumpRegressorCV(interactions=0, n_jobs=N_JOBS),
            lambda f, rng: f + rng.normal(size=len(f)),
        ),
        "StumpRegressorCV, noise 0.3": _Simulation(
            StumpRegressorCV(interactions=0, n_jobs=N_JOBS),
            lambda f, rng: f + 0.3 * rng.normal(size=len(f)),
        ),
        "StumpRegressorCV, Poisson": _Simulation(
            StumpRegressorCV(interactions=0, loss="poisson", n_jobs=N_JOBS),
            lambda f, rng: rng.poisson(np.exp(f)).astype(float),
        ),
        "StumpLogisticRegressionCV": _Simulation(
            StumpLogisticRegressionCV(interactions=0, n_jobs=N_JOBS),
            lambda f, rng: rng.random(len(f)) < 1 / (1 + np.exp(-f)),
            factor=2.0,
        ),
    }
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
        X = _table(n, rng)
        truth = _curves(X, simulation.factor)
        y = simulation.draw(truth.sum(axis=1), rng)
        model = simulation.model.fit(X, y).compute_bands(X, y, **options)
        costs.append(model.C_)
        own, bands = (part.contributions(X) for part in (model.shapes_, model.standard_errors_))
        distance = np.abs(own - (truth - truth.mean(axis=0)))
        covered.append(np.mean(distance <= _LEVEL_Z * bands, axis=0))
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
