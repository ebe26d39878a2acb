"""A simulated table like the census dataset "adult": text, numbers, spikes, missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

# Number of levels of each text column, and its fraction of missing values, as in "adult".
_TEXT = {
    "workclass": (8, 0.057),
    "education": (16, 0.0),
    "marital_status": (7, 0.0),
    "occupation": (14, 0.057),
    "relationship": (6, 0.0),
    "race": (5, 0.0),
    "sex": (2, 0.0),
    "native_country": (41, 0.018),
}


def census(n_rows: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Simulate a pandas frame with six numeric and eight text columns, and labels 0 and 1.

    The log-odds are a sum of one function per column, so that no model needs interactions; about
    a quarter of the rows are in class 1.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    effects = np.random.default_rng(7)
    score = np.full(n_rows, -1.9)
    columns: dict[str, Any] = {}
    for name, (draw, curve) in _numbers().items():
        columns[name] = draw(rng, n_rows)
        score += curve(columns[name])
    for name, (n_levels, missing) in _TEXT.items():
        frequency = 1.0 / np.arange(1, n_levels + 1)
        level = rng.choice(n_levels, size=n_rows, p=frequency / frequency.sum())
        effect = effects.normal(0.0, 0.7, size=n_levels + 1)
        level = np.where(rng.uniform(size=n_rows) < missing, n_levels, level)
        score += effect[level]
        words = np.array([f"{name} {k}" for k in range(n_levels)] + [None], dtype=object)
        columns[name] = pd.Series(words[level], dtype="str")
    return pd.DataFrame(columns), (rng.uniform(size=n_rows) < expit(score)).astype(int)


def _numbers() -> dict[str, tuple[Callable, Callable]]:
    """Return the distribution of each numeric column, and its part of the log-odds."""
    return {
        "age": (
            lambda rng, n: np.clip(np.floor(rng.gamma(8.0, 5.0, n)), 17, 90),
            lambda x: 1.5 - ((x - 50) / 18) ** 2,
        ),
        "final_weight": (
            lambda rng, n: np.floor(rng.lognormal(12.0, 0.5, n)),
            lambda x: 0.0 * x,
        ),
        "education_years": (
            lambda rng, n: rng.integers(1, 17, n).astype(np.float64),
            lambda x: 0.35 * (x - 10),
        ),
        "capital_gain": (
            lambda rng, n: np.where(
                rng.uniform(size=n) < 0.08, np.floor(rng.lognormal(8.6, 1, n)), 0
            ),
            lambda x: np.where(x > 7000, 3.0, np.where(x > 0, -0.3, 0.0)),
        ),
        "capital_loss": (
            lambda rng, n: np.where(
                rng.uniform(size=n) < 0.05, np.floor(rng.normal(1900, 350, n)), 0
            ),
            lambda x: np.where(x > 1800, 1.5, np.where(x > 0, -0.5, 0.0)),
        ),
        "hours_per_week": (
            lambda rng, n: np.clip(np.round(rng.normal(40, 12, n)), 1, 99),
            lambda x: 1.2 * np.tanh((x - 40) / 15),
        ),
    }
