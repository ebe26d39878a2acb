"""Pairwise interactions: fits, paths of C and strength, memory and scores against peers.

Run as a module with a number of rows, this file is the process whose memory is measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks import peers
from benchmarks.data import error_percent, load_table, two_norm
from benchmarks.memory import N_FEATURES, noisy_two_norm, peak_bytes, run_in_process
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost, Faster
from benchmarks.timing import Timed, timed, timed_fit
from everystump import StumpLogisticRegression, StumpLogisticRegressionCV
from everystump._experiments.engine.splits import Split
from everystump.measures import Weighted

TREES = "LightGBM, 100 trees"
# As many pairs as are tried by default.
MAX_PAIRS = 300
# A strength that is neither too small to matter nor chosen for the simulated data.
STRENGTH = 0.1
N_USPS_PAIRS = 500
_MB = 1e6


def magic(settings: Settings) -> Iterator[Row]:
    """All 45 pairs of magic against LightGBM, with C and strength chosen beforehand."""
    data = _split("magic", settings)
    pairs = all_pairs(data.X.shape[1])
    search = StumpLogisticRegressionCV(
        measure="mixed", feature_weights="equal", interactions=pairs, n_jobs=N_JOBS
    )
    chosen = _choose(data, search)
    model = StumpLogisticRegression(
        C=float(chosen.C_),
        interactions=pairs,
        interaction_strength=float(chosen.interaction_strength_),
        tol=1e-3,
        n_jobs=N_JOBS,
    )
    ours = timed_fit(model, data.X, data.y, settings)
    trees = timed_fit(peers.lightgbm_trees(), data.X, data.y, settings)
    auc, peer_auc = _auc(ours, data), _auc(trees, data)
    yield Row(
        f"{_describe(ours)}, magic {len(data.X):,}",
        ours.seconds,
        trees.seconds,
        TREES,
        AtMost(4),
        quality_ok=ours.result.certificate_.converged and auc >= peer_auc - 0.001,
        quality=f"test AUC {auc:.4f}, peer {peer_auc:.4f}; {_effort(ours)}",
    )


def magic_cv(settings: Settings) -> Iterator[Row]:
    """Both paths on magic against EBM with interactions."""
    data = _split("magic", settings)
    ours = timed_fit(_search(), data.X, data.y, settings)
    ebm = timed_fit(peers.ebm_with_interactions(), data.X, data.y, settings)
    auc, peer_auc = _auc(ours, data), _auc(ebm, data)
    yield Row(
        f"StumpLogisticRegressionCV, {_describe(ours)}, magic {len(data.X):,}",
        ours.seconds,
        ebm.seconds,
        "EBM with interactions",
        Faster(15),
        quality_ok=auc >= peer_auc - 0.003,
        quality=f"test AUC {auc:.4f}, peer {peer_auc:.4f}",
    )


def covertype(settings: Settings) -> Iterator[Row]:
    """Interactions on 54 columns of forest cover types against LightGBM, C and strength chosen."""
    data = _split("covtype_binary_50k", settings)
    ours = timed_fit(_final(_choose(data, _search())), data.X, data.y, settings)
    trees = timed_fit(peers.lightgbm_trees(), data.X, data.y, settings)
    yield _against_trees("covtype", ours, trees, data, AtMost(8), no_worse=True)


def covertype_cv(settings: Settings) -> Iterator[Row]:
    """Both paths on forest cover types against the final fit."""
    data = _split("covtype_binary_50k", settings)
    ours = timed_fit(_search(), data.X, data.y, settings)
    single = timed_fit(_final(ours.result), data.X, data.y, settings)
    yield Row(
        f"StumpLogisticRegressionCV, {_describe(ours)}, covtype {len(data.X):,}",
        ours.seconds,
        single.seconds,
        "the final fit",
        AtMost(5),
        quality=f"test error {error_percent(data, ours.result):.3f}%, "
        f"one fit {error_percent(data, single.result):.3f}%",
    )


def simulated(settings: Settings) -> Iterator[Row]:
    """All 190 pairs of two-norm data against LightGBM, 1,000,000 rows."""
    data = two_norm(settings.rows(1_000_000))
    ours = timed_fit(_all_pairs_model(), data.X, data.y, settings)
    trees = timed_fit(peers.lightgbm_trees(), data.X, data.y, settings)
    yield _against_trees("two-norm", ours, trees, data, AtMost(5))


def usps(settings: Settings) -> Iterator[Row]:
    """The best 500 pairs of 256 features, ten classes, against LightGBM."""
    data = Split(*load_table("usps_train", settings), *load_table("usps_test", settings))
    model = StumpLogisticRegression(
        interactions=N_USPS_PAIRS, interaction_strength=STRENGTH, n_jobs=N_JOBS
    )
    ours = timed_fit(model, data.X, data.y, settings)
    trees = timed_fit(peers.lightgbm_trees(), data.X, data.y, settings)
    yield _against_trees("usps", ours, trees, data, AtMost(6))


def memory(settings: Settings) -> Iterator[Row]:
    """Peak memory in addition to the input, 1,000,000 x 20 numbers, 190 pairs."""
    n_rows = settings.rows(1_000_000)
    log(f"  peak memory of a fit of {n_rows:,} x {N_FEATURES} with all pairs ...")
    peak = run_in_process("benchmarks.pairs", n_rows)
    yield Row(
        f"190 pairs, two-norm {n_rows:,}, peak memory",
        (peak["after"] - peak["before"]) / _MB,
        peak["input"] / _MB,
        "the input",
        AtMost(1.3),
        unit="MB",
    )


def prediction(settings: Settings) -> Iterator[Row]:
    """Scores of 100,000 rows with 190 pairs against LightGBM."""
    data = two_norm(settings.rows(20_000), settings.rows(100_000))
    ours = timed_fit(_all_pairs_model(), data.X, data.y, settings).result
    trees = timed_fit(peers.lightgbm_trees(), data.X, data.y, settings).result
    scores = (
        lambda rows: ours.decision_function(rows),
        lambda rows: trees.predict(rows, raw_score=True),
    )
    seconds = []
    for function in scores:
        function(data.X_test[:1000])
        seconds.append(timed(lambda function=function: function(data.X_test), settings).seconds)
    yield Row(f"scores of {len(data.X_test):,} rows, 190 pairs", *seconds, TREES, AtMost(1))


def all_pairs(n_features: int) -> list[tuple[int, int]]:
    """Return all pairs of features by number."""
    return list(combinations(range(n_features), 2))


def measure(n_rows: int) -> dict[str, int]:
    """Return the bytes of the input and the peaks of this process before and after a fit."""
    model = _all_pairs_model()
    model.fit(*noisy_two_norm(1000))
    X, y = noisy_two_norm(n_rows)
    before = peak_bytes()
    model.fit(X, y)
    return {"input": X.nbytes, "before": before, "after": peak_bytes()}


def _split(name: str, settings: Settings) -> Split:
    """Return 70% of the rows of a table for training and the others for testing."""
    X, y = load_table(name, settings)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    return Split(X, y, X_test, y_test)


def _search() -> StumpLogisticRegressionCV:
    return StumpLogisticRegressionCV(interactions="auto", n_jobs=N_JOBS)


def _choose(data: Split, search: StumpLogisticRegressionCV) -> StumpLogisticRegressionCV:
    log("  StumpLogisticRegressionCV chooses C and the strength ...")
    return search.fit(data.X, data.y)


def _final(chosen: StumpLogisticRegressionCV) -> StumpLogisticRegression:
    """Return the unfitted model with the chosen parameters, and with all tried pairs."""
    return StumpLogisticRegression(
        C=float(chosen.C_),
        measure=Weighted(chosen.measure_, chosen.feature_weights_),
        interactions=MAX_PAIRS,
        interaction_strength=float(chosen.interaction_strength_),
        n_jobs=N_JOBS,
    )


def _all_pairs_model() -> StumpLogisticRegression:
    return StumpLogisticRegression(
        interactions=all_pairs(N_FEATURES), interaction_strength=STRENGTH, n_jobs=N_JOBS
    )


def _against_trees(
    name: str,
    ours: Timed,
    trees: Timed,
    data: Split,
    target: AtMost,
    *,
    no_worse: bool = False,
) -> Row:
    error, peer_error = error_percent(data, ours.result), error_percent(data, trees.result)
    converged = all(certificate.converged for certificate in _certificates(ours))
    return Row(
        f"{_describe(ours)}, {name} {len(data.X):,}",
        ours.seconds,
        trees.seconds,
        TREES,
        target,
        quality_ok=converged and (error <= peer_error or not no_worse),
        quality=f"test error {error:.3f}%, peer {peer_error:.3f}%; {_effort(ours)}",
    )


def _auc(fit: Timed, data: Split) -> float:
    return float(roc_auc_score(data.y_test, fit.result.predict_proba(data.X_test)[:, 1]))


def _describe(fit: Timed) -> str:
    """Return the number of pairs, C and the strength of a fitted model."""
    model = fit.result
    C = getattr(model, "C_", getattr(model, "C", None))
    strength = float(model.interaction_strength_)
    return f"{len(model.interactions_)} pairs, C = {float(C):.3g}, strength {strength:.3g}"


def _effort(fit: Timed) -> str:
    certificates = _certificates(fit)
    gap = max(certificate.gap for certificate in certificates)
    passes = sum(certificate.passes for certificate in certificates)
    return f"gap {gap:.1e}, {passes:.0f} passes"


def _certificates(fit: Timed) -> list[Any]:
    """Return the certificates of all two-class problems."""
    certificate = fit.result.certificate_
    return certificate if isinstance(certificate, list) else [certificate]


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
