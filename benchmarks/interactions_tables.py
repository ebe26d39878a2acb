"""A study: accuracy with and without interactions on many tables, next to boosted trees and EBM.

Run as a module with a file, ``python -m benchmarks.interactions_tables FILE``, this computes the
results of the peers that the file does not have yet, those of EBM last.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks import peers
from benchmarks.report import StudyTable
from benchmarks.settings import Settings, log
from benchmarks.table_study import TEST_SIZE, Criterion, Method, TableStudy
from benchmarks.two_class_tables import Table, load_tables
from everystump import StumpLogisticRegressionCV

N_SPLITS = 5
_PAIRS, MIXED = "with pairs", "with pairs, mixed"


@dataclass(frozen=True)
class Result:
    """Results of one method on the test rows of one split, and the processor time of its fit."""

    auc: float
    error: float
    log_loss: float
    fit_seconds: float


METHODS = (
    Method("additive", lambda: StumpLogisticRegressionCV(interactions=0, n_jobs=1), ours=True),
    Method(_PAIRS, lambda: StumpLogisticRegressionCV(n_jobs=1), ours=True),
    Method(MIXED, lambda: StumpLogisticRegressionCV(measure="mixed", n_jobs=1), ours=True),
    Method("LightGBM", lambda: peers.lightgbm_trees(n_jobs=1), categories=True),
    Method(
        "HistGradientBoosting",
        lambda: HistGradientBoostingClassifier(random_state=0),
        categories=True,
    ),
    Method("EBM", lambda: peers.ebm_with_interactions(n_jobs=1)),
)


def accuracy(settings: Settings) -> StudyTable:
    """AUC, error and log loss on all two-class tables, and mean ranks next to trees and EBM."""
    return STUDY.run(settings)


def predict_split(table: Table, split: int, method: Method) -> tuple[np.ndarray, np.ndarray, float]:
    """Fit a method to a split of a table; return test classes, probabilities, and the seconds."""
    X = table.with_categories if method.categories else table.X
    train, test = train_test_split(
        np.arange(len(table.y)), test_size=TEST_SIZE, stratify=table.y, random_state=split
    )
    model = method.make()
    if method.ours:
        _warm_up()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        # One thread works: other processes on the machine do not count.
        start = time.process_time()
        model.fit(X.iloc[train], table.y[train])
        seconds = time.process_time() - start
        probability = model.predict_proba(X.iloc[test])[:, 1]
    return table.y[test], probability, seconds


def _measure(table: Table, split: int, method: Method) -> Result:
    y, probability, seconds = predict_split(table, split, method)
    result = Result(
        auc=float(roc_auc_score(y, probability)),
        error=float(np.mean((probability > 0.5) != y)),
        log_loss=float(log_loss(y, probability, labels=[0, 1])),
        fit_seconds=seconds,
    )
    log(f"  {table.name}, split {split}, {method.name}: AUC {result.auc:.4f}, {seconds:.3g} s")
    return result


@cache
def _warm_up() -> None:
    """Compile our code or load compiled code."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"number": rng.normal(size=200), "text": rng.choice(["a", "b"], size=200)})
    X["third"] = rng.normal(size=200)
    for method in METHODS:
        if method.ours:
            method.make().fit(X, rng.integers(2, size=200))


STUDY = TableStudy(
    title=f"Results on {TEST_SIZE:.0%} of the rows, means over {N_SPLITS} stratified splits (or as "
    "many as in brackets), one thread; ranks among all models but the additive one and that of the "
    f"measure 'mixed', and tables on which '{_PAIRS}' is better / worse",
    methods=METHODS,
    chosen=_PAIRS,
    unranked=("additive", MIXED),
    criteria=(
        Criterion("AUC", lambda result: result.auc, larger=True, style=".4f"),
        Criterion("error %", lambda result: 100 * result.error),
        Criterion("log loss", lambda result: result.log_loss),
        Criterion("seconds", lambda result: result.fit_seconds),
    ),
    result=Result,
    load=load_tables,
    measure=_measure,
    n_splits=N_SPLITS,
)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compute the results of the peers.")
    parser.add_argument("file", type=Path, help="CSV file of results, created if missing")
    STUDY.fill(parser.parse_args().file)
