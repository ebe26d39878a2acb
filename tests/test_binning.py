"""Bins of long columns, found without sorting, against sorting and exact arithmetic."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import search

from everystump._core import binning
from everystump._core.binning import bin_starts, find_values
from everystump._core.columns import make_columns

N = binning._MAX_SORTED_ROWS + 5000


@cache
def columns_of(n):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n)
    return {
        "normal": x,
        "long tails": np.exp(8 * x) * np.sign(np.roll(x, 1)),
        "rounded": x.round(2),
        "few values": x.round(),
        "constant": np.full(n, 7.0),
        "mostly zero": np.where(rng.random(n) < 0.99, 0.0, x),
        "spikes": np.where(x < 0, np.floor(4 * x), x),
        "missing": np.where(x > 0.5, np.nan, x),
        "all missing": np.full(n, np.nan),
        "far from zero": 1.6e9 + x,
        "neighboring floats": 1.0 + np.floor(500 * rng.random(n)) * 2.0**-52,
        "subnormal": np.floor(500 * rng.random(n)) * 5e-324,
        "huge": np.where(x < 0, -1.0, 1.0) * 1.7e308 * rng.random(n),
        "both zeros": np.where(x < 0, -0.0, np.maximum(np.round(x, 1), 0.0)),
        "ascending": np.sort(x),
    }


def draw(name, n=N):
    return columns_of(n)[name]


def both_ways(X, monkeypatch, **more):
    """Return the columns found in cells, and those found by sorting."""
    found = make_columns(X, **more)
    monkeypatch.setattr(binning, "_MAX_SORTED_ROWS", len(X))
    return found, make_columns(X, **more)


def check_same(one, other, *, rtol=1e-12):
    np.testing.assert_array_equal(one.codes, other.codes)
    for a, b in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(a.cuts, b.cuts)
        np.testing.assert_allclose(a.counts, b.counts, rtol=rtol)
        assert (a.low, a.high, a.exact) == (b.low, b.high, b.exact)
        assert a.missing == pytest.approx(b.missing)
        np.testing.assert_allclose(a.values, b.values, rtol=rtol, atol=1e-300)


@pytest.mark.parametrize("max_bins", [2, 256])
@pytest.mark.parametrize("name", list(columns_of(1)))
def test_cells_find_the_bins_that_sorting_finds(name, max_bins, monkeypatch):
    X = draw(name)[:, None]
    found, sorted_ = both_ways(X, monkeypatch, max_bins=max_bins)
    check_same(found, sorted_)


@pytest.mark.parametrize("name", ["normal", "mostly zero", "spikes", "missing"])
def test_cells_weight_rows_as_sorting_does(name, monkeypatch):
    weight = np.random.default_rng(1).integers(1, 5, size=N) * np.where(np.arange(N) % 97, 1, 300.0)
    X = draw(name)[:, None]
    found, sorted_ = both_ways(X, monkeypatch, max_bins=64, sample_weight=weight)
    check_same(found, sorted_)


@pytest.mark.parametrize("sampled", [1, 20])
def test_a_poor_sample_only_costs_time(sampled, monkeypatch):
    monkeypatch.setattr(binning, "_MAX_SAMPLE", sampled)
    X = np.column_stack([draw("normal"), draw("spikes"), draw("missing")])
    found, sorted_ = both_ways(X, monkeypatch, max_bins=100)
    check_same(found, sorted_)


def test_long_columns_are_not_sorted_whole():
    """Bins of a million rows need only about ten thousand of them sorted."""
    found = find_values(draw("normal"), None, 256)
    assert found.cells is not None
    assert len(found.values) < N / 2


def test_the_order_of_many_rows_does_not_matter():
    X = np.column_stack([draw(name) for name in ("normal", "rounded", "spikes", "missing")])
    order = np.random.default_rng(2).permutation(N)
    one, other = make_columns(X, max_bins=256), make_columns(X[order], max_bins=256)
    np.testing.assert_array_equal(one.codes[:, order], other.codes)
    for a, b in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(a.cuts, b.cuts)
        np.testing.assert_array_equal(a.counts, b.counts)


@pytest.mark.parametrize("name", ["normal", "spikes"])
def test_weights_of_many_rows_are_repetitions(name):
    """The weighted rows are few enough to be sorted, the repeated ones are not."""
    x = draw(name, n=20_000)
    times = np.random.default_rng(3).integers(1, 5, size=len(x))
    weighted = make_columns(x[:, None], max_bins=256, sample_weight=times.astype(float))
    repeated = make_columns(np.repeat(x, times)[:, None], max_bins=256)
    np.testing.assert_array_equal(np.repeat(weighted.codes, times, axis=1), repeated.codes)
    np.testing.assert_array_equal(weighted.columns[0].cuts, repeated.columns[0].cuts)
    np.testing.assert_array_equal(weighted.columns[0].counts, repeated.columns[0].counts)


@pytest.mark.parametrize("rare", [-1e9, 0.5, 1e9])
def test_a_single_row_among_many_has_its_own_bin(rare):
    """A sample is unlikely to contain it."""
    x = np.random.default_rng(4).integers(0, 200, size=N).astype(float)
    x[12_345] = rare
    column = make_columns(x[:, None], max_bins=256).columns[0]
    assert column.exact
    np.testing.assert_array_equal(column.values, np.unique(x))


def test_as_many_values_as_bins_are_exact_and_one_more_is_not():
    x = np.arange(N) % 256.0
    assert make_columns(x[:, None], max_bins=256).exact
    x[777] = 0.25
    assert not make_columns(x[:, None], max_bins=256).exact


def exact_starts(counts, max_bins):
    """Return `bin_starts` in exact arithmetic."""
    counts = [Fraction(int(count)) for count in counts]
    heavy = set()
    while True:
        light = sum((c for k, c in enumerate(counts) if k not in heavy), Fraction(0))
        cap = light / (max_bins - len(heavy))
        grown = heavy | {k for k, c in enumerate(counts) if c > cap}
        if len(grown) == len(heavy) or len(grown) >= max_bins:
            break
        heavy = grown
    capped = [min(c, cap) for c in counts]
    total, upto, starts, last = sum(capped), Fraction(0), [], -1
    for k, c in enumerate(capped):
        index = min(int((upto + c / 2) * max_bins / total), max_bins - 1)
        upto += c
        if index != last:
            starts.append(k)
            last = index
    return starts


@search(60)
@given(
    st.lists(st.sampled_from([1, 2, 3, 4, 7, 50, 1000]), min_size=9, max_size=60),
    st.integers(2, 8),
)
def test_the_bins_of_heavy_values_do_not_depend_on_rounding(counts, max_bins):
    """A value exactly at the edge of a bin is beyond it, as in exact arithmetic."""
    if max(counts) <= sum(counts) / max_bins:
        counts = [*counts, sum(counts)]
    found = bin_starts(np.array(counts, dtype=float), max_bins)
    np.testing.assert_array_equal(found, exact_starts(counts, max_bins))


@pytest.mark.parametrize("unit", [0.1, 1 / 3, 1e-7])
def test_the_unit_of_weights_does_not_matter(unit):
    """Sums of tenths are rounded; the middle of the 13th value is the edge of the second bin."""
    counts = np.ones(50)
    np.testing.assert_array_equal(bin_starts(unit * counts, 4), exact_starts(counts, 4))


class Doubled:
    """A table that is never in memory: column ``d`` is ``d + 1`` times a given one."""

    def __init__(self, x, n_features):
        self.x, self.shape = x, (len(x), n_features)

    def read(self, first, out):
        for k, row in enumerate(out):
            np.multiply(self.x, first + k + 1, out=row)


@pytest.mark.parametrize("n_features", [1, 5, 8])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_columns_come_from_any_source(n_features, n_threads):
    x = draw("normal")[:1000]
    source = Doubled(x, n_features)
    X = x[:, None] * np.arange(1, n_features + 1)
    check_same(make_columns(source, max_bins=16, n_threads=n_threads), make_columns(X, max_bins=16))
