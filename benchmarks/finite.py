"""Finite ensembles of stumps: boosting, bagging, and AdaBoost+SVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.data import error_percent, load_table, two_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost, Faster, Limit, NoTarget, Target
from benchmarks.timing import Timed, alternating_seconds, timed_fit
from everystump import BoostedStumpSVC, StumpBaggingClassifier, StumpBoostingClassifier
from everystump._experiments.engine.splits import Split

# Seconds on chess with 1,000 rounds in MATLAB, from Wang et al. (2019), Table IV.
PAPER_ADABOOST, PAPER_ADABOOST_SVM = 5303.47, 5306.41


def against_adaboost(settings: Settings) -> Iterator[Row]:
    """StumpBoostingClassifier against scikit-learn's AdaBoostClassifier, 100,000 rows, T = 100."""
    data = two_norm(settings.rows(100_000))
    peer = timed_fit(peers.adaboost(100), data.X, data.y, settings)
    for criterion, target in (("error", Faster(100)), ("gini", NoTarget())):
        ours = timed_fit(_boosting(100, criterion=criterion), data.X, data.y, settings)
        yield _row(f"AdaBoost({criterion})", ours, peer, data, "AdaBoostClassifier", target)


def against_lightgbm(settings: Settings) -> Iterator[Row]:
    """StumpBoostingClassifier against LightGBM with stumps, 1,000,000 rows, T = 1,000."""
    data = two_norm(settings.rows(1_000_000))
    peer = timed_fit(peers.lightgbm_stumps(), data.X, data.y, settings)
    losses = {"exponential": ("AdaBoost", AtMost(0.8)), "logistic": ("LogitBoost", NoTarget())}
    for loss, (name, target) in losses.items():
        ours = timed_fit(_boosting(1000, loss=loss), data.X, data.y, settings)
        yield _row(name, ours, peer, data, "LightGBM, 1,000 stumps", target)


def against_bagging(settings: Settings) -> Iterator[Row]:
    """StumpBaggingClassifier against scikit-learn's BaggingClassifier, 100,000 rows, T = 1,000."""
    data = two_norm(settings.rows(100_000))
    model = StumpBaggingClassifier(
        n_estimators=1000, max_bins=peers.MAX_BINS, random_state=0, n_jobs=N_JOBS
    )
    ours = timed_fit(model, data.X, data.y, settings)
    peer = timed_fit(peers.bagged_stumps(1000), data.X, data.y, settings)
    yield _row("bagging", ours, peer, data, "BaggingClassifier of stumps", Faster(50))


def few_and_many_rounds(settings: Settings) -> Iterator[Row]:
    """Scores of 100,000 rows after 100 and 10,000 rounds, the slower against the faster."""
    data = two_norm(settings.rows(20_000), settings.rows(100_000))
    for n_rows in (len(data.X), len(data.X) // 2):
        yield _against_fewer_rounds(data.X[:n_rows], data.y[:n_rows], data.X_test, settings)


def _against_fewer_rounds(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, settings: Settings
) -> Row:
    models = [
        timed_fit(_boosting(rounds, max_bins="auto"), X, y, settings).result
        for rounds in (100, 10_000)
    ]
    log(f"  scores of {len(rows):,} rows ...")
    works = [lambda m=model: m.decision_function(rows) for model in models]
    seconds = alternating_seconds(works, settings)
    fast, slow = np.argsort(seconds)
    bins = "unbinned" if models[slow].exact_ else "binned"
    return Row(
        f"scores of {len(rows):,} rows, T = {_n_stumps(models[slow]):,}, {bins}",
        1e3 * seconds[slow],
        1e3 * seconds[fast],
        f"itself, T = {_n_stumps(models[fast]):,}",
        AtMost(1.2),
        unit="ms",
        quality=f"{_n_thresholds(models[slow]):,} thresholds, peer {_n_thresholds(models[fast]):,}",
    )


def chess(settings: Settings) -> Iterator[Row]:
    """AdaBoost and AdaBoost+SVM on chess against the times of the paper, T = 1,000."""
    X, y = load_table("chess", settings)
    svc = BoostedStumpSVC(1000, n_jobs=N_JOBS)
    for name, model, paper in (
        ("AdaBoost", _boosting(1000), PAPER_ADABOOST),
        ("AdaBoost+SVM", svc, PAPER_ADABOOST_SVM),
    ):
        ours = timed_fit(model, X, y, settings)
        certificate = getattr(ours.result, "certificate_", None)
        gap = "" if certificate is None else f"; gap {certificate.gap:.1e}"
        yield Row(
            f"{name}, chess {len(X):,} x {X.shape[1]}, T = {_n_stumps(ours.result):,}",
            ours.seconds,
            paper,
            "the paper's time, in MATLAB",
            Limit(1, "s"),
            quality_ok=certificate is None or certificate.converged,
            quality=f"training error {_error(ours.result, X, y):.3f}%{gap}",
        )


def _boosting(rounds: int, max_bins: int | str = peers.MAX_BINS, **parameters: Any) -> Any:
    # With a fixed number of bins, the warm-up on few rows compiles the code that many rows need.
    return StumpBoostingClassifier(
        n_estimators=rounds, max_bins=max_bins, n_jobs=N_JOBS, **parameters
    )


def _row(name: str, ours: Timed, peer: Timed, data: Split, against: str, target: Target) -> Row:
    train, peer_train = (_error(fit.result, data.X, data.y) for fit in (ours, peer))
    test, peer_test = (error_percent(data, fit.result) for fit in (ours, peer))
    return Row(
        f"{name}, two-norm {len(data.X):,}, T = {_n_stumps(ours.result):,}",
        ours.seconds,
        peer.seconds,
        against,
        target,
        quality=f"training error {train:.3f}%, peer {peer_train:.3f}%; "
        f"test {test:.3f}%, peer {peer_test:.3f}%",
    )


def _error(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    return 100.0 * float(np.mean(model.predict(X) != y))


def _n_stumps(model: Any) -> int:
    return len(model.estimator_weights_)


def _n_thresholds(model: Any) -> int:
    """Return the number of distinct thresholds."""
    return len(model.shapes_.ensemble().weight)
