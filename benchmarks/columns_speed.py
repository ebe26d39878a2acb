"""Binning alone: from a table of numbers to codes."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import peers
from benchmarks.data import two_norm
from benchmarks.report import Row
from benchmarks.settings import N_JOBS, Settings, say
from benchmarks.targets import Amount
from benchmarks.timing import timed
from everystump._core.columns import make_columns


def against_lightgbm(settings: Settings) -> Iterator[Row]:
    """Binning of 1,000,000 x 20 numbers against LightGBM's."""
    X = two_norm(settings.rows(1_000_000), 1000).X

    def bin_ours(rows):
        return make_columns(rows, max_bins=peers.MAX_BINS, n_threads=N_JOBS)

    say(f"  binning {len(X):,} x {X.shape[1]} numbers ...")
    bin_ours(X[:1000])
    peers.lightgbm_dataset(X[:1000])
    ours = timed(lambda: bin_ours(X), settings)
    peer = timed(lambda: peers.lightgbm_dataset(X), settings)
    yield Row(
        f"make_columns, {len(X):,} x {X.shape[1]}, {peers.MAX_BINS} bins",
        ours.seconds,
        peer.seconds,
        "lightgbm.Dataset",
        Amount(0.2, "s"),
        quality=f"{ours.result.sizes.max()} places at most",
    )
