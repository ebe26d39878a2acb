"""Scores of new rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.data import two_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost, Limit
from benchmarks.timing import seconds_per_call, timed, timed_fit
from everystump import StumpSVC
from everystump._experiments.engine.splits import Split

ScoreFunction = Callable[[np.ndarray], np.ndarray]


def against_trees_and_ebm(settings: Settings) -> Iterator[Row]:
    """Scores of 100,000 rows and of one row against XGBoost and EBM."""
    data = two_norm(settings.rows(20_000), settings.rows(100_000))
    ours = _fitted(StumpSVC(n_jobs=N_JOBS), data, settings).decision_function
    xgboost = _fitted(peers.xgboost_trees(), data, settings)
    ebm = _fitted(peers.ebm(), data, settings).decision_function

    def margins(rows: np.ndarray) -> np.ndarray:
        return xgboost.predict(rows, output_margin=True)

    yield from _many_rows(ours, {"XGBoost": margins, "EBM": ebm}, data.X_test, settings)
    yield _one_row(ours, margins, data.X_test[:1], settings)


def _fitted(model: Any, data: Split, settings: Settings) -> Any:
    return timed_fit(model, data.X, data.y, settings).result


def _many_rows(
    ours: ScoreFunction, others: dict[str, ScoreFunction], rows: np.ndarray, settings: Settings
) -> Iterator[Row]:
    seconds = _seconds(ours, rows, settings)
    for name, scores in others.items():
        yield Row(
            f"scores of {len(rows):,} rows",
            seconds,
            _seconds(scores, rows, settings),
            name,
            AtMost(1),
        )


def _seconds(scores: ScoreFunction, rows: np.ndarray, settings: Settings) -> float:
    log(f"  scores of {len(rows):,} rows ...")
    scores(rows[:1000])
    return timed(lambda: scores(rows), settings).seconds


def _one_row(
    ours: ScoreFunction, theirs: ScoreFunction, row: np.ndarray, settings: Settings
) -> Row:
    log("  scores of one row ...")
    seconds, peer_seconds = (
        seconds_per_call(lambda scores=scores: scores(row), settings) for scores in (ours, theirs)
    )
    return Row(
        "score of one row", 1e3 * seconds, 1e3 * peer_seconds, "XGBoost", Limit(0.3, "ms"), "ms"
    )
