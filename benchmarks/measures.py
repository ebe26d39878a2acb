"""A study: which measure over thresholds generalises best, C being chosen for each."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

import everystump
from benchmarks.data import real, those_there
from benchmarks.report import Grid
from benchmarks.settings import N_JOBS, Settings, say

MEASURES = ("mixed", "uniform", "rank", "middle")
CRITERIA = ("error %", "1 - AUC", "log-loss")
TABLES = (
    "heart",
    "sonar",
    "ionosphere",
    "pima",
    "german_numeric",
    "breast_683",
    "australian",
    "fourclass",
    "spambase",
    "magic",
)
MOST_ROWS = 6_000


def four_measures(settings: Settings) -> Grid:
    """Test error, AUC and log-loss of four measures, C being chosen for each."""
    rows, skipped, ranks = [], [], defaultdict(list)
    makers = {name: partial(_some_rows, name, settings) for name in TABLES}
    for name, X, y in those_there(makers, skipped):
        say(f"  {len(MEASURES)} measures on {name}, {len(X):,} rows ...")
        losses = np.mean(list(_splits(X, y, settings)), axis=0)
        for criterion, of_measures in zip(CRITERIA, losses.T, strict=True):
            rows.append((name, criterion, *map(float, of_measures)))
            ranks[criterion].append(rankdata(of_measures))
    everything = [rank for of_criterion in ranks.values() for rank in of_criterion]
    for criterion, of_criterion in {**ranks, "all": everything}.items():
        rows.append(("mean rank", criterion, *map(float, np.mean(of_criterion, axis=0))))
    title = "Which stumps should vote? Losses on test rows, C chosen for each; less is better"
    return Grid(title, ("data", "loss", *MEASURES), rows, skipped)


def _some_rows(name: str, settings: Settings) -> tuple:
    X, y = real(name, settings)
    few = slice(None, None, -(-len(X) // MOST_ROWS))
    return X[few], y[few]


def _splits(X: np.ndarray, y: np.ndarray, settings: Settings) -> Iterator[np.ndarray]:
    """Yield the losses of each split, of shape (n_measures, n_criteria)."""
    n_splits = 1 if settings.quick else 5
    splitter = StratifiedShuffleSplit(n_splits, test_size=0.4, random_state=0)
    for train, test in splitter.split(X, y):
        yield np.array([_losses(measure, X, y, train, test) for measure in MEASURES])


def _losses(
    measure: str, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[float, float, float]:
    with warnings.catch_warnings():
        # A candidate C that stops early is judged by its validation score like the others.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svc, logistic = (
            kind(measure=measure, n_jobs=N_JOBS).fit(X[train], y[train])
            for kind in (everystump.StumpSVCCV, everystump.StumpLogisticRegressionCV)
        )
    p = logistic.predict_proba(X[test])[:, 1]
    return (
        100.0 * float(np.mean(svc.predict(X[test]) != y[test])),
        1.0 - float(roc_auc_score(y[test], p)),
        float(log_loss(y[test], p)),
    )
