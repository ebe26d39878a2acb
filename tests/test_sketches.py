"""Mergeable sketches of columns: the bound on the error of ranks, against exact ranks."""

import numpy as np
import pytest

from everystump._core import binning, sketches
from everystump._core.binning import n_numeric_bins
from everystump._core.chunk_columns import ColumnPlan
from everystump._core.sketches import ColumnSketch, merge_all


def _distributions(n, rng):
    return {
        "normal": rng.normal(size=n),
        "lognormal": np.exp(4 * rng.normal(size=n)),
        "ties": np.where(rng.random(n) < 0.7, rng.integers(0, 5, n), rng.normal(size=n)),
        "integers": rng.integers(0, 50_000, n).astype(float),
        "huge": rng.normal(size=n) * 1e300,
        "tiny": rng.normal(size=n) * 1e-310,
        "sorted": np.sort(rng.normal(size=n)),
        "spike": np.where(rng.random(n) < 0.999, 0.0, rng.normal(size=n)),
        "missing": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    }


def _largest_rank_error(sketch, x, w):
    """The largest difference of ranks at all entries and values, from both sides."""
    present = ~np.isnan(x)
    order = np.argsort(x[present], kind="stable")
    values, weights = x[present][order], w[present][order]
    total = weights.sum()
    below = np.append(0.0, np.cumsum(weights))
    entries_below = np.append(0.0, np.cumsum(sketch.counts))
    thresholds = np.unique(np.concatenate([values, sketch.values]))
    worst = 0.0
    for side in ("left", "right"):
        exact = below[np.searchsorted(values, thresholds, side)]
        found = entries_below[np.searchsorted(sketch.values, thresholds, side)]
        worst = max(worst, np.abs(exact - found).max() / total)
    return worst


@pytest.mark.parametrize("name", list(_distributions(1, np.random.default_rng(0))))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_chunks", [1, 3, 16])
def test_rank_error_bounds_the_error_of_ranks(name, weighted, n_chunks):
    rng = np.random.default_rng(n_chunks)
    n = 150_000
    x = _distributions(n, rng)[name]
    w = rng.exponential(size=n) if weighted else np.ones(n)
    parts = np.array_split(np.arange(n), n_chunks)
    each = [ColumnSketch.from_values(x[p], w[p] if weighted else None) for p in parts]
    merged = merge_all(each)
    assert len(merged.values) <= sketches.MAX_ENTRIES
    assert np.all(np.diff(merged.values) > 0)
    # Rounding of the sums of 150,000 weights.
    assert _largest_rank_error(merged, x, w) <= merged.rank_error + 1e-9
    assert merged.rank_error <= 0.01
    present = ~np.isnan(x)
    assert np.isclose(merged.counts.sum(), w[present].sum())
    assert np.isclose(merged.missing, w[~present].sum())
    assert (merged.low, merged.high) == (np.nanmin(x), np.nanmax(x))


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_merging_changes_ranks_within_the_bound(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_t(2, size=240_000)
    each = [ColumnSketch.from_values(part) for part in np.array_split(x, 12)]
    w = np.ones(len(x))
    for order in (np.arange(12), rng.permutation(12), np.arange(12)[::-1]):
        pairwise = merge_all([each[k] for k in order])
        one_by_one = each[order[0]]
        for k in order[1:]:
            one_by_one = one_by_one.merge(each[k])
        for merged in (pairwise, one_by_one):
            assert _largest_rank_error(merged, x, w) <= merged.rank_error + 1e-9
    # Merged one by one, a sketch is compressed more often.
    assert pairwise.rank_error <= one_by_one.rank_error


def test_many_compressions_stay_within_the_bound(monkeypatch):
    monkeypatch.setattr(sketches, "MAX_ENTRIES", 64)
    x = np.random.default_rng(0).normal(size=20_000)
    merged = merge_all([ColumnSketch.from_values(part) for part in np.array_split(x, 64)])
    assert len(merged.values) <= 64
    error = _largest_rank_error(merged, x, np.ones(len(x)))
    # Each of 1 + log2(64) levels of compression adds at most 2 / MAX_ENTRIES.
    assert 0 < error <= merged.rank_error <= 7 * 2 / 64 + 1e-9


@pytest.mark.parametrize("n", [1_000, 200_000])
@pytest.mark.parametrize("n_distinct", [1, 2, 300, 10_000])
def test_few_distinct_values_are_exact(n, n_distinct):
    rng = np.random.default_rng(1)
    x = rng.normal(size=n_distinct)[rng.integers(0, n_distinct, n)]
    x[rng.random(n) < 0.1] = np.nan
    w = rng.integers(1, 4, n).astype(float)
    each = [ColumnSketch.from_values(x[p], w[p]) for p in np.array_split(rng.permutation(n), 5)]
    merged = merge_all(each)
    values, index = np.unique(x[~np.isnan(x)], return_inverse=True)
    np.testing.assert_array_equal(merged.values, values)
    np.testing.assert_array_equal(merged.counts, np.bincount(index, w[~np.isnan(x)]))
    assert merged.is_exact and merged.rank_error == 0.0
    assert merged.missing == w[np.isnan(x)].sum()


@pytest.mark.parametrize("ratio", [0.9, 0.97, 1.0])
def test_rare_values_of_large_weight_are_exact(monkeypatch, ratio):
    """Frequent and rare values: a sample of the rows does not show all of them."""
    monkeypatch.setattr(binning, "_MAX_SORTED_ROWS", 1000)
    rng = np.random.default_rng(3)
    frequency = ratio ** np.arange(255)
    x = rng.choice(rng.normal(size=255), size=120_000, p=frequency / frequency.sum())
    values, index, counts = np.unique(x, return_inverse=True, return_counts=True)
    weight = 1.0 / counts[index] ** 2
    sketch = ColumnSketch.from_values(x, weight)
    np.testing.assert_array_equal(sketch.values, values)
    np.testing.assert_allclose(sketch.counts, 1.0 / counts)
    assert sketch.is_exact


def test_a_column_without_values():
    empty = ColumnSketch.from_values(np.empty(0))
    missing = ColumnSketch.from_values(np.full(3, np.nan))
    merged = empty.merge(missing)
    assert merged.missing == 3.0 and len(merged.values) == 0 and merged.rank_error == 0.0
    one = merged.merge(ColumnSketch.from_values(np.array([2.0])))
    assert one.values.tolist() == [2.0] and one.low == one.high == 2.0


@pytest.mark.parametrize("name", ["normal", "lognormal", "ties", "huge", "missing"])
@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_bins_have_about_equal_weights(name, max_bins):
    """A bin weighs at most its share and one value, up to the error of its two edges."""
    rng = np.random.default_rng(5)
    x = _distributions(200_000, rng)[name]
    sketch = merge_all([ColumnSketch.from_values(part) for part in np.array_split(x, 4)])
    plan = ColumnPlan.from_sketch(sketch, max_bins)
    codes = np.empty(len(x), dtype=np.uint16)
    sums = plan.encode(x, None, codes)
    column = plan.finish(sums)
    present = x[~np.isnan(x)]
    np.testing.assert_array_equal(codes[~np.isnan(x)], np.searchsorted(plan.cuts, present, "right"))
    assert len(plan.cuts) + 1 <= max_bins
    assert np.all(np.diff(column.values) >= 0)
    _, ties = np.unique(present, return_counts=True)
    share = len(present) / n_numeric_bins(max_bins, sketch.missing)
    slack = 2 * sketch.rank_error * len(present) + sketch.counts[sketch.is_group].max(initial=0)
    assert sums.counts[: len(plan.origins)].max() <= share + ties.max() + slack


def test_means_of_bins_are_means_of_rows():
    x = np.random.default_rng(0).normal(size=100_000) + 1e6
    parts = np.array_split(x, 3)
    plan = ColumnPlan.from_sketch(merge_all([ColumnSketch.from_values(p) for p in parts]), 32)
    codes = np.empty(len(x), dtype=np.uint8)
    column = plan.finish(plan.encode(x, None, codes))
    means = np.bincount(codes, x) / np.bincount(codes)
    np.testing.assert_allclose(column.values, means, rtol=1e-13)
