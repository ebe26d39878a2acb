"""Sugiyama (2015, chapter 30): a stump, bagged stumps and boosted stumps on simulated data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from everystump._core.boosting.stumps import Stumps
from everystump._experiments.engine.experiment import Record
from everystump.estimators.bagging import StumpBaggingClassifier
from everystump.estimators.boosting import StumpBoostingClassifier
from everystump.estimators.stump import DecisionStumpClassifier

N_TRAIN, N_TEST = 50, 10_000
N_STUMPS = 5000
N_PLOTTED = 6
AXIS = np.linspace(-3, 3, 50)
# A stump tests the sign of one feature at best, and is then wrong in two of eight sectors.
MIN_STUMP_ERROR = 0.25
METHODS = {
    "stump": "one stump",
    "bagging": "bagging",
    "boosting": "boosting",
    "line": "a straight line (linear discriminant analysis)",
}

PROTOCOL = """
As in the chapter's MATLAB code: 50 samples from the standard normal distribution in two dimensions,
whose class is the sign of x⁽¹⁾ − x⁽²⁾; each stump uses one of the two features, chosen at random,
with the threshold of the smallest (weighted) error; b = 5000 stumps for bagging and for boosting;
plotted on a grid of 50 × 50 over [−3, 3]². The plot shows run 0, with the same samples in Figs.
30.4, 30.7 and 30.11. In addition, 100 runs, each with new samples, measure the error of each method
on 10,000 new samples from the same distribution.

The single stump is `DecisionStumpClassifier`, bagging is `StumpBaggingClassifier` and boosting is
`StumpBoostingClassifier`, all with `features="random"`. Two details differ from the MATLAB code: a
stump may also predict one class everywhere (the book's text counts n + 1 stumps, whereas its code
tries n − 1), and if the chosen feature has no stump better than random guessing, the other feature
is used.
"""


def draw_samples(n: int, rng: RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Draw standard normal samples; the class is the sign of the first minus the second feature."""
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] > X[:, 1], 1, -1)


def run_task(seed: int, run: int, methods: Sequence[str]) -> dict[str, Any]:
    """Return the test errors of some methods in one run, and in run 0 the contents of the plot."""
    rng = RandomState(seed)
    X, y = draw_samples(N_TRAIN, rng)
    X_test, y_test = draw_samples(N_TEST, rng)
    all_models = make_models(rng.randint(2**31 - 1))
    models = {name: all_models[name] for name in methods}
    result: dict[str, Any] = {}
    for name, model in models.items():
        result[name] = 1 - float(model.fit(X, y).score(X_test, y_test))
    if run == 0:
        result["shown"] = {"rows": X.tolist(), "labels": y.tolist()} | {
            name: _plotted(model, X, y) for name, model in models.items() if name != "line"
        }
    return result


def make_models(seed: int) -> dict[str, Any]:
    """Return all methods by name."""
    common: dict[str, Any] = {"features": "random", "random_state": seed, "n_jobs": 1}
    return {
        "stump": DecisionStumpClassifier(**common),
        "bagging": StumpBaggingClassifier(N_STUMPS, **common),
        "boosting": StumpBoostingClassifier(n_estimators=N_STUMPS, **common),
        "line": LinearDiscriminantAnalysis(),
    }


def _plotted(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return predictions of a model and its first stumps on the grid, and the sample weights."""
    grid = np.array([(first, second) for second in AXIS for first in AXIS])
    first: Stumps = model.stumps_.first(N_PLOTTED)
    scores = [np.zeros(len(X)), *first.staged_scores(X)][: len(first.weight)]
    weights = [np.exp(-y * score) for score in scores]
    return {
        "vote": _signs(model.decision_function(grid)),
        "stumps": [_signs(vote) for vote in first.votes(grid)],
        "weights": [(weight / weight.sum()).tolist() for weight in weights],
        "thetas": first.weight.tolist(),
        "training_error": 1 - float(model.score(X, y)),
    }


def _signs(scores: np.ndarray) -> list[int]:
    return np.where(scores > 0, 1, -1).tolist()


def plotted_run(records: Iterable[Record]) -> dict[str, Any]:
    """Return the contents of the plot, from the record of run 0."""
    plotted: dict[str, Any] = next(record["shown"] for record in records if "shown" in record)
    return plotted
