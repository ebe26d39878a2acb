"""Scores of new rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.data import Sample, two_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, say
from benchmarks.targets import Amount, AtMost
from benchmarks.timing import seconds_a_call, timed, timed_fit
from everystump import StumpSVC

Scores = Callable[[np.ndarray], np.ndarray]


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


def _fitted(model: Any, data: Sample, settings: Settings) -> Any:
    return timed_fit(model, data.X, data.y, settings).result


def _many_rows(
    ours: Scores, others: dict[str, Scores], rows: np.ndarray, settings: Settings
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


def _seconds(scores: Scores, rows: np.ndarray, settings: Settings) -> float:
    say(f"  scores of {len(rows):,} rows ...")
    scores(rows[:1000])
    return timed(lambda: scores(rows), settings).seconds


def _one_row(ours: Scores, theirs: Scores, row: np.ndarray, settings: Settings) -> Row:
    say("  scores of one row ...")
    seconds, peer_seconds = (
        seconds_a_call(lambda scores=scores: scores(row), settings) for scores in (ours, theirs)
    )
    return Row(
        "score of one row", 1e3 * seconds, 1e3 * peer_seconds, "XGBoost", Amount(0.3, "ms"), "ms"
    )
