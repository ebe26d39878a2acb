"""Real tables: magic, spambase and forest cover types."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import everystump
from benchmarks import peers
from benchmarks.data import load_table
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost, Faster
from benchmarks.timing import Timed, describe, timed_fit

AUC_MARGIN = 0.004


def against_ebm(settings: Settings) -> Iterator[Row]:
    """StumpLogisticRegression against EBM on magic and spambase, two thirds of the rows."""
    for name in ("magic", "spambase"):
        yield _against_ebm(name, *load_table(name, settings), settings)


def _against_ebm(name: str, X: np.ndarray, y: np.ndarray, settings: Settings) -> Row:
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    log(f"  StumpLogisticRegressionCV chooses C for {name} ...")
    search = everystump.StumpLogisticRegressionCV(
        interactions=0, measure="mixed", feature_weights="equal", n_jobs=N_JOBS
    )
    C = float(search.fit(X, y).C_)
    ours = timed_fit(everystump.StumpLogisticRegression(C=C, n_jobs=N_JOBS), X, y, settings)
    ebm = timed_fit(peers.ebm(), X, y, settings)
    auc, ebm_auc = (
        roc_auc_score(y_test, fit.result.predict_proba(X_test)[:, 1]) for fit in (ours, ebm)
    )
    return Row(
        f"{describe(ours.result)}, {name} {len(X):,}",
        ours.seconds,
        ebm.seconds,
        "EBM, no interactions",
        Faster(100),
        quality_ok=ours.result.certificate_.converged and auc >= ebm_auc - AUC_MARGIN,
        quality=f"test AUC {auc:.4f}, EBM {ebm_auc:.4f}",
    )


def against_svc(settings: Settings) -> Iterator[Row]:
    """StumpSVC against scikit-learn's SVC on the same kernel, on magic and spambase."""
    for name, target in (("magic", Faster(20)), ("spambase", Faster(1))):
        X, y = load_table(name, settings, scaled=True)
        yield from _against_svc(name, X, y, target, settings)


def _against_svc(
    name: str, X: np.ndarray, y: np.ndarray, target: Faster, settings: Settings
) -> Iterator[Row]:
    kernel = peers.StumpKernel(X, settings)
    for C in (0.1, 1.0, 10.0):
        model = everystump.StumpSVC(C=C, measure="uniform", n_jobs=N_JOBS)
        ours = timed_fit(model, X, y, settings)
        svc = kernel.fit_svc(y, C)
        certificate = ours.result.certificate_
        yield Row(
            f"{describe(model)}, {name} {len(X):,}",
            ours.seconds,
            svc.seconds,
            "SVC, kernel and fit",
            target,
            quality_ok=certificate.converged,
            quality=f"objective {certificate.primal:.7g}, SVC {svc.objective:.7g}; "
            f"gap {certificate.gap:.1e}; SVC's fit alone {svc.fit_seconds:.3g} s",
        )


def covers(settings: Settings) -> Iterator[Row]:
    """Both losses at several C against LightGBM on 50,000 rows of covtype."""
    X, y = load_table("covtype_binary_50k", settings)
    stumps = timed_fit(peers.lightgbm_stumps(), X, y, settings)
    stumps_auc = roc_auc_score(y, stumps.result.predict_proba(X)[:, 1])
    for kind in (everystump.StumpSVC, everystump.StumpLogisticRegression):
        for C in (0.01, 1.0, 30.0):
            ours = timed_fit(kind(C=C, n_jobs=N_JOBS), X, y, settings)
            auc = roc_auc_score(y, ours.result.decision_function(X))
            yield _cover_row(ours, stumps, f"training AUC {auc:.4f}, peer {stumps_auc:.4f}")


def _cover_row(ours: Timed, stumps: Timed, quality: str) -> Row:
    certificate = ours.result.certificate_
    n_rows = len(ours.result.dual_coef_)
    return Row(
        f"{describe(ours.result)}, covtype {n_rows:,}",
        ours.seconds,
        stumps.seconds,
        "LightGBM, 1,000 stumps",
        AtMost(2),
        quality_ok=certificate.converged,
        quality=f"{quality}; gap {certificate.gap:.1e}, {certificate.passes:.0f} passes",
    )
