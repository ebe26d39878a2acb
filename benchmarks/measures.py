"""A study of the test losses of four measures over thresholds, with C chosen for each."""

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
from benchmarks.data import available_tables, load_table
from benchmarks.report import StudyTable
from benchmarks.settings import N_JOBS, Settings, log

MEASURES = ("mixed", "uniform", "rank", "middle")
CRITERIA = ("error %", "1 - AUC", "log loss")
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
MAX_ROWS = 6_000


def four_measures(settings: Settings) -> StudyTable:
    """Test error, AUC and log loss of four measures, with C chosen for each."""
    rows, skipped, ranks = [], [], defaultdict(list)
    makers = {name: partial(_subsample, name, settings) for name in TABLES}
    for name, X, y in available_tables(makers, skipped):
        log(f"  {len(MEASURES)} measures on {name}, {len(X):,} rows ...")
        losses = np.mean(list(_splits(X, y, settings)), axis=0)
        for criterion, values in zip(CRITERIA, losses.T, strict=True):
            rows.append((name, criterion, *map(float, values)))
            ranks[criterion].append(rankdata(values))
    ranks["all"] = [rank for found in ranks.values() for rank in found]
    for criterion, found in ranks.items():
        rows.append(("mean rank", criterion, *map(float, np.mean(found, axis=0))))
    title = "Losses of measures on test rows, with C chosen for each; lower is better"
    return StudyTable(title, ("data", "loss", *MEASURES), rows, skipped)


def _subsample(name: str, settings: Settings) -> tuple:
    X, y = load_table(name, settings)
    few = slice(None, None, -(-len(X) // MAX_ROWS))
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
        # A candidate C that does not converge is compared by its validation score like the others.
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
