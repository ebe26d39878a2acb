"""A study: accuracy with and without interactions on many tables, next to boosted trees and EBM.

Run as a module with a file, ``python -m benchmarks.interactions_tables FILE``, this computes the
results of the peers that the file does not have yet, those of EBM last.
"""

from __future__ import annotations

import argparse
import hashlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import everystump
from benchmarks import peers
from benchmarks.report import StudyTable
from benchmarks.settings import Settings, log
from benchmarks.study_cache import Result, StudyCache
from benchmarks.two_class_tables import Table, load_tables
from everystump import StumpLogisticRegressionCV

N_SPLITS = 5
TEST_SIZE = 0.3
_PAIRS = "with pairs"


@dataclass(frozen=True)
class Method:
    """A model with its default settings in one thread.

    Attributes
    ----------
    name : str
        The name in the header of the table.
    make : callable
        Returns the unfitted model.
    categories : bool
        Whether text is passed as pandas categories, as trees expect it, and not as it is.
    ours : bool
        Whether the model is ours, so that cached results are those of the same code.
    """

    name: str
    make: Callable[[], Any]
    categories: bool = False
    ours: bool = False

    @property
    def key(self) -> str:
        """The name in a file of results."""
        return f"{self.name} {_code_hash()}" if self.ours else self.name


METHODS = (
    Method("additive", lambda: StumpLogisticRegressionCV(interactions=0, n_jobs=1), ours=True),
    Method(_PAIRS, lambda: StumpLogisticRegressionCV(interactions="auto", n_jobs=1), ours=True),
    Method("LightGBM", lambda: peers.lightgbm_trees(n_jobs=1), categories=True),
    Method(
        "HistGradientBoosting",
        lambda: HistGradientBoostingClassifier(random_state=0),
        categories=True,
    ),
    Method("EBM", lambda: peers.ebm_with_interactions(n_jobs=1)),
)
PEERS = tuple(method for method in METHODS if not method.ours)
HEADER = ("data", "rows", "features", "criterion", *(method.name for method in METHODS))


def accuracy(settings: Settings) -> StudyTable:
    """AUC, error and log loss on all two-class tables, and mean ranks next to trees and EBM."""
    skipped: list[str] = []
    tables = load_tables(settings, skipped)
    # A quick run uses fewer rows, so its results differ from those of a full run.
    known = StudyCache(None if settings.quick else settings.cache)
    only_cached = settings.cached_peers and not settings.quick
    rows: list[tuple] = []
    means: list[np.ndarray] = []
    for table in tables:
        splits = [*range(1 if settings.quick else N_SPLITS)]
        if only_cached:
            splits = [split for split in splits if _has_peers(known, table, split)]
        if not splits:
            skipped.append(f"{table.name}: no results of the peers in {settings.cache}")
            continue
        found = np.array([_split_values(known, table, split) for split in splits])
        means.append(found.mean(axis=0))
        rows += _table_rows(table, len(splits), means[-1])
    title = (
        f"Results on {TEST_SIZE:.0%} of the rows, means over {N_SPLITS} stratified splits (or as "
        "many as in brackets), one thread; ranks among all models but the additive one, and "
        f"tables on which '{_PAIRS}' is better / worse"
    )
    return StudyTable(title, HEADER, [*rows, *_summary(np.array(means))], skipped)


def _has_peers(known: StudyCache, table: Table, split: int) -> bool:
    return all((table.name, split, method.key) in known for method in PEERS)


def _split_values(known: StudyCache, table: Table, split: int) -> np.ndarray:
    """Return the criteria of all methods, of shape (n_criteria, n_methods)."""
    results = [_result(known, table, split, method) for method in METHODS]
    return np.array([[criterion(result) for result in results] for criterion in CRITERIA.values()])


CRITERIA: dict[str, Callable[[Result], float]] = {
    "AUC": lambda result: result.auc,
    "error %": lambda result: 100 * result.error,
    "log loss": lambda result: result.log_loss,
    "seconds": lambda result: result.fit_seconds,
}
# Larger values are better.
_LARGER = ("AUC",)


def _result(known: StudyCache, table: Table, split: int, method: Method) -> Result:
    key = (table.name, split, method.key)
    return known.get(key, lambda: _measure(table, split, method))


def _measure(table: Table, split: int, method: Method) -> Result:
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
    y = table.y[test]
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


@cache
def _code_hash() -> str:
    """Return a few digits that identify the code of everystump."""
    folder = Path(everystump.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _table_rows(table: Table, n_splits: int, means: np.ndarray) -> Iterator[tuple]:
    name = table.name if n_splits == N_SPLITS else f"{table.name} ({n_splits})"
    for criterion, values in zip(CRITERIA, means, strict=True):
        cells = [f"{value:.4f}" if criterion == "AUC" else float(value) for value in values]
        yield name, len(table.y), table.X.shape[1], criterion, *cells


def _summary(means: np.ndarray) -> Iterator[tuple]:
    """Yield mean values, mean ranks, and counts of better and worse tables."""
    if not len(means):
        return
    kept = np.array([method.name != "additive" for method in METHODS])
    ours = [method.name for method in METHODS].index(_PAIRS)
    for k, criterion in enumerate(CRITERIA):
        values = means[:, k]
        losses = -values if criterion in _LARGER else values
        yield "mean", "", "", criterion, *(f"{value:.4g}" for value in values.mean(axis=0))
        ranks = rankdata(losses[:, kept].round(12), axis=1).mean(axis=0)
        cells = np.full(len(METHODS), "-", dtype=object)
        cells[kept] = [f"{rank:.2f}" for rank in ranks]
        yield "mean rank", "", "", criterion, *cells
        better = (losses[:, [ours]] < losses).sum(axis=0)
        worse = (losses[:, [ours]] > losses).sum(axis=0)
        counts = [f"{b} / {w}" for b, w in zip(better, worse, strict=True)]
        counts[ours] = "-"
        yield f"'{_PAIRS}' better / worse", "", "", criterion, *counts


def fill(file: Path) -> None:
    """Compute the results of the peers that a file does not have yet."""
    known = StudyCache(file)
    *trees, ebm = PEERS
    tables = load_tables(Settings(), [])
    # An interrupted run then has some splits of all tables rather than all splits of some.
    jobs = [(table, split) for split in range(N_SPLITS) for table in tables]
    for methods in (trees, [ebm]):
        for table, split in jobs:
            for method in methods:
                _result(known, table, split, method)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compute the results of the peers.")
    parser.add_argument("file", type=Path, help="CSV file of results, created if missing")
    fill(parser.parse_args().file)
