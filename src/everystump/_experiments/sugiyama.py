"""What Sugiyama (2015, chapter 30) shows: one stump, bagged stumps and boosted stumps on a toy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from everystump._core.boosting import Stumps
from everystump._experiments.experiment import Experiment, Record, Report, Task
from everystump._experiments.records import column
from everystump._experiments.statistics import mean_of
from everystump.estimators.bagging import StumpBaggingClassifier
from everystump.estimators.boosting import StumpBoostingClassifier
from everystump.estimators.stump import DecisionStumpClassifier

ROWS, TEST_ROWS = 50, 10_000
STUMPS = 5000
SHOWN = 6
SIDE = np.linspace(-3, 3, 50)
RUNS = 100
# A stump can only ask for the sign of one feature, and is wrong on two of eight sectors at best.
LEAST_STUMP_ERROR = 0.25
METHODS = {
    "stump": "one stump",
    "bagging": "bagging",
    "boosting": "boosting",
    "line": "a straight line (linear discriminant analysis)",
}

PROTOCOL = """
As in the chapter's MATLAB: 50 rows from the standard normal law of the plane, the class is the
sign of x⁽¹⁾ − x⁽²⁾; each stump looks at one of the two features, drawn at random, and takes the
threshold of the least (weighted) error; b = 5000 stumps in bagging and in boosting; drawn on a
grid of 50 × 50 over [−3, 3]². The picture is of run 0, and its rows are the same in Figs 30.4, 30.7
and 30.11. Beyond the picture: 100 runs with samples of their own, and the error of each method on
10,000 fresh rows of the same law.

One stump is `DecisionStumpClassifier`, bagging `StumpBaggingClassifier`, boosting
`StumpBoostingClassifier`, all with `features="random"`. Two details are not MATLAB's: a stump may
also vote for one class everywhere (the book's text counts n + 1 stumps, its code tries n − 1), and
where the drawn feature has no stump better than a coin the other one is taken.
"""


def draw_rows(n: int, rng: RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of the standard normal law; the class says which feature is the larger."""
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] > X[:, 1], 1, -1)


def work(seed: int, run: int, methods: Sequence[str]) -> dict[str, Any]:
    """Return the test error of some methods in one run, and in run 0 what the pictures show."""
    rng = RandomState(seed)
    X, y = draw_rows(ROWS, rng)
    X_test, y_test = draw_rows(TEST_ROWS, rng)
    known = _models(rng.randint(2**31 - 1))
    models = {name: known[name] for name in methods}
    result: dict[str, Any] = {}
    for name, model in models.items():
        result[name] = 1 - float(model.fit(X, y).score(X_test, y_test))
    if run == 0:
        result["shown"] = {"rows": X.tolist(), "labels": y.tolist()} | {
            name: _shown(model, X, y) for name, model in models.items() if name != "line"
        }
    return result


def _models(seed: int) -> dict[str, Any]:
    common: dict[str, Any] = {"features": "random", "random_state": seed, "n_jobs": 1}
    return {
        "stump": DecisionStumpClassifier(**common),
        "bagging": StumpBaggingClassifier(STUMPS, **common),
        "boosting": StumpBoostingClassifier(n_estimators=STUMPS, **common),
        "line": LinearDiscriminantAnalysis(),
    }


def _shown(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return a model's votes on the grid, those of its first stumps, and the weights they saw."""
    grid = np.array([(first, second) for second in SIDE for first in SIDE])
    first: Stumps = model.stumps_.first(SHOWN)
    scores = [np.zeros(len(X)), *first.staged_scores(X)][: len(first.weight)]
    weights = [np.exp(-y * score) for score in scores]
    return {
        "vote": _as_signs(model.decision_function(grid)),
        "stumps": [_as_signs(vote) for vote in first.votes(grid)],
        "weights": [(weight / weight.sum()).tolist() for weight in weights],
        "thetas": first.weight.tolist(),
        "training_error": 1 - float(model.score(X, y)),
    }


def _as_signs(scores: np.ndarray) -> list[int]:
    return np.where(scores > 0, 1, -1).tolist()


def shown_in(records: Iterable[Record]) -> dict[str, Any]:
    """Return what the pictures show, from the record of run 0."""
    shown: dict[str, Any] = next(record["shown"] for record in records if "shown" in record)
    return shown


def rows_of(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return the test errors of each run, for the CSV file."""
    return [
        {name: record[name] for name in ("run", *METHODS) if name in record} for record in records
    ]


def in_percent(records: list[Record], name: str) -> str:
    """Return a method's mean error in words."""
    mean = mean_of(column(records, name), scale=100)
    return f"{METHODS[name]} errs {mean.words()} %"


def experiment(
    figure: str,
    content: str,
    methods: tuple[str, ...],
    report: Callable[[list[Record]], Report],
) -> Experiment:
    """Return the experiment of a figure from the methods that it compares."""
    return Experiment(
        name=f"sugiyama-figure-{figure.replace('.', '-')}",
        title=f"Sugiyama (2015), Fig. {figure}: {content}",
        protocol=PROTOCOL,
        runs=RUNS,
        tasks=lambda runs: [
            Task(str(run), {"run": run, "methods": methods}) for run in range(runs)
        ],
        work=work,
        report=report,
    )
