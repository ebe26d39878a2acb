"""Two-norm data with 10% label noise: fits, binning, and the C path."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import peers
from benchmarks.data import error_percent, two_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import AtMost, Faster, Limit, Target
from benchmarks.timing import Timed, describe, timed, timed_fit
from everystump import (
    StumpLogisticRegression,
    StumpLogisticRegressionCV,
    StumpSVC,
    StumpSVCCV,
)
from everystump._core.columns import make_columns
from everystump._experiments.engine.splits import Split


def against_svc(settings: Settings) -> Iterator[Row]:
    """StumpSVC against scikit-learn's SVC on the same kernel, 10,000 rows."""
    data = two_norm(settings.rows(10_000), 1)
    svc = peers.StumpKernel(data.X, settings).fit_svc(data.y, 1.0)
    for tol in (1e-3, 1e-4):
        model = StumpSVC(C=1.0, measure="uniform", tol=tol, n_jobs=N_JOBS)
        ours = timed_fit(model, data.X, data.y, settings)
        certificate = ours.result.certificate_
        row = Row(
            f"StumpSVC(tol={tol:g}), two-norm {len(data.X):,}",
            ours.seconds,
            svc.seconds,
            "SVC, kernel and fit",
            Faster(60),
            quality_ok=certificate.converged and certificate.primal <= svc.objective,
            quality=f"objective {certificate.primal:.7g}, SVC {svc.objective:.7g}; "
            f"gap {certificate.gap:.1e}",
        )
        yield row
        yield Row(row.work, ours.seconds, svc.fit_seconds, "SVC, fit alone")


def against_ebm(settings: Settings) -> Iterator[Row]:
    """StumpSVC against EBM, 100,000 rows, with C = 1 and C chosen by StumpSVCCV beforehand."""
    data = two_norm(settings.rows(100_000))
    ebm = timed_fit(peers.ebm(), data.X, data.y, settings)
    log("  StumpSVCCV chooses C ...")
    search = StumpSVCCV(interactions=0, measure="mixed", feature_weights="equal", n_jobs=N_JOBS)
    chosen = float(search.fit(data.X, data.y).C_)
    for C in (1.0, chosen):
        ours = timed_fit(StumpSVC(C=C, n_jobs=N_JOBS), data.X, data.y, settings)
        yield _row(ours, ebm, data, "EBM, no interactions", Faster(60), no_worse=True)


def against_lightgbm(settings: Settings) -> Iterator[Row]:
    """StumpSVC and StumpLogisticRegression against LightGBM, 1,000,000 rows."""
    data = two_norm(settings.rows(1_000_000))
    svc, logistic, stumps, trees = (
        timed_fit(model, data.X, data.y, settings)
        for model in (
            StumpSVC(n_jobs=N_JOBS),
            StumpLogisticRegression(n_jobs=N_JOBS),
            peers.lightgbm_stumps(),
            peers.lightgbm_trees(),
        )
    )
    yield _row(svc, stumps, data, "LightGBM, 1,000 stumps", AtMost(0.25))
    yield _row(svc, trees, data, "LightGBM, 100 trees", AtMost(0.7))
    yield _row(logistic, trees, data, "LightGBM, 100 trees", AtMost(0.1), no_worse=True)


def against_itself(settings: Settings) -> Iterator[Row]:
    """StumpSVC on 1,000,000 rows against itself on a quarter of them."""
    n_rows = settings.rows(1_000_000)
    data = two_norm(n_rows, 1000)
    model = StumpSVC(n_jobs=N_JOBS)
    few = timed_fit(model, data.X[: n_rows // 4], data.y[: n_rows // 4], settings)
    many = timed_fit(model, data.X, data.y, settings)
    yield Row(
        f"StumpSVC, two-norm {n_rows:,}",
        many.seconds,
        few.seconds,
        f"itself, {n_rows // 4:,} rows",
        AtMost(4.5),
        quality_ok=many.result.certificate_.converged,
        quality=f"passes {many.result.certificate_.passes:.0f}, few rows "
        f"{few.result.certificate_.passes:.0f}",
    )


def _row(
    ours: Timed, peer: Timed, data: Split, against: str, target: Target, *, no_worse: bool = False
) -> Row:
    error, peer_error = error_percent(data, ours.result), error_percent(data, peer.result)
    certificate = ours.result.certificate_
    return Row(
        f"{describe(ours.result)}, two-norm {len(data.X):,}",
        ours.seconds,
        peer.seconds,
        against,
        target,
        quality_ok=certificate.converged and (error <= peer_error or not no_worse),
        quality=f"test error {error:.3f}%, peer {peer_error:.3f}%; gap {certificate.gap:.1e}",
    )


def binning(settings: Settings) -> Iterator[Row]:
    """Binning of 1,000,000 x 20 numbers against LightGBM's."""
    X = two_norm(settings.rows(1_000_000), 1000).X

    def bin_ours(table):
        return make_columns(table, max_bins=peers.MAX_BINS, n_threads=N_JOBS)

    log(f"  binning {len(X):,} x {X.shape[1]} numbers ...")
    bin_ours(X[:1000])
    peers.lightgbm_dataset(X[:1000])
    ours = timed(lambda: bin_ours(X), settings)
    peer = timed(lambda: peers.lightgbm_dataset(X), settings)
    yield Row(
        f"make_columns, {len(X):,} x {X.shape[1]}, {peers.MAX_BINS} bins",
        ours.seconds,
        peer.seconds,
        "lightgbm.Dataset",
        Limit(0.2, "s"),
        quality=f"{ours.result.sizes.max()} bins at most",
    )


def path(settings: Settings) -> Iterator[Row]:
    """Paths of up to 11 C x 5 folds against one fit with C=1."""
    for search, single, n_rows in (
        (StumpSVCCV, StumpSVC, 100_000),
        (StumpLogisticRegressionCV, StumpLogisticRegression, 200_000),
    ):
        data = two_norm(settings.rows(n_rows))
        ours = timed_fit(search(interactions=0, n_jobs=N_JOBS), data.X, data.y, settings)
        single_fit = timed_fit(single(C=1.0, n_jobs=N_JOBS), data.X, data.y, settings)
        yield Row(
            f"{search.__name__}, two-norm {len(data.X):,}",
            ours.seconds,
            single_fit.seconds,
            "one fit, C=1",
            AtMost(10),
            quality=f"test error {error_percent(data, ours.result):.3f}%, "
            f"one fit {error_percent(data, single_fit.result):.3f}%",
        )
