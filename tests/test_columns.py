"""Bins, cuts and codes of the columns, and the grid that finds them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import search

import everystump
from everystump._core import binloops
from everystump._core.columns import make_columns, midpoints
from everystump._core.lookup import Lookup

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TINY = 5e-324
QUICK = search(60)


def one(x, max_bins=256, **more):
    """Return the record and the codes of a table of one feature."""
    columns = make_columns(np.asarray(x)[:, None], max_bins=max_bins, **more)
    return columns.columns[0], columns.codes[0]


def check_bins(x, column, codes):
    """Check what must hold of every column, exact or binned."""
    assert len(column.cuts) == len(column.values) - 1 == len(column.counts) - 1
    assert np.all(np.diff(column.values) > 0)
    np.testing.assert_array_equal(codes, np.searchsorted(column.cuts, x, side="right"))
    for k in range(len(column.values)):
        here = x[codes == k]
        assert len(here) > 0
        assert here.min() <= column.values[k] <= here.max()
        assert k == 0 or np.all(column.cuts[k - 1] <= here)
        assert k == len(column.cuts) or np.all(here < column.cuts[k])


@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_every_distinct_value_has_a_bin(n):
    x = np.random.default_rng(n).integers(0, 2 * n, size=3 * n).astype(float)
    column, codes = one(x, max_bins=2 * n)
    values, counts = np.unique(x, return_counts=True)
    np.testing.assert_array_equal(column.values, values)
    np.testing.assert_array_equal(column.counts, counts)
    np.testing.assert_array_equal(column.values[codes], x)
    assert column.exact
    assert (column.low, column.high) == (values[0], values[-1])


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255])
@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "exponential"])
def test_bins(max_bins, draw):
    x = getattr(np.random.default_rng(0), draw)(size=3000)
    column, codes = one(x, max_bins)
    check_bins(x, column, codes)
    assert not column.exact
    assert len(column.values) == max_bins
    np.testing.assert_array_equal(column.counts, np.bincount(codes))
    means = np.bincount(codes, weights=x) / column.counts
    np.testing.assert_allclose(column.values, means, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_bins_of_distinct_values_have_about_equal_weight(max_bins):
    x = np.random.default_rng(1).normal(size=5000)
    column, _ = one(x, max_bins)
    assert np.max(np.abs(column.counts - 5000 / max_bins)) <= 1


def test_a_bin_more_would_be_exact():
    x = np.arange(10.0)
    assert not one(x, 9)[0].exact
    assert one(x, 10)[0].exact


@pytest.mark.parametrize("where", [-10.0, 0.0, 10.0])
def test_a_spike_leaves_the_rest_enough_bins(where):
    rng = np.random.default_rng(2)
    x = np.concatenate([np.full(9000, where), rng.normal(size=1000)])
    column, codes = one(x, 64)
    check_bins(x, column, codes)
    assert len(column.values) >= 0.8 * 64
    assert np.sum(column.counts < 1000) >= 0.75 * 64


def test_many_spikes_leave_the_rest_their_bins():
    """50 heavy values take 50 of 64 bins; 1000 light ones have about ten left, not one."""
    x = np.concatenate([np.repeat(np.arange(50.0), 400), 100 + np.arange(1000.0)])
    column, codes = one(x, 64)
    check_bins(x, column, codes)
    assert np.sum(column.values >= 100) >= 10


HEAVY_BY_ROUNDING = """
import numpy as np
from everystump._core.columns import make_columns
weight = np.array([4.4, 3.1, 0.5, 0.2, 3.4, 1.6])
columns = make_columns(np.arange(6.0)[:, None], max_bins=3, sample_weight=weight)
print(*columns.columns[0].counts.round(9))
"""


def test_a_weight_of_exactly_one_bin_ends_the_search_for_bins():
    """Up to rounding, 4.4 is a third of the total: it must not be heavy and light in turn.

    A separate process, because an endless loop could not be interrupted from here.
    """
    run = subprocess.run(
        [sys.executable, "-c", HEAVY_BY_ROUNDING],
        env=os.environ | {"PYTHONPATH": str(Path(everystump.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert sum(map(float, run.stdout.split())) == pytest.approx(13.2)


@pytest.mark.parametrize("max_bins", [5, 40, 400])
def test_weights_are_repetitions(max_bins):
    rng = np.random.default_rng(3)
    x, times = rng.normal(size=200).round(2), rng.integers(1, 5, size=200)
    weighted, weighted_codes = one(x, max_bins, sample_weight=times.astype(float))
    repeated, repeated_codes = one(np.repeat(x, times), max_bins)
    np.testing.assert_array_equal(np.repeat(weighted_codes, times), repeated_codes)
    np.testing.assert_array_equal(weighted.cuts, repeated.cuts)
    np.testing.assert_array_equal(weighted.counts, repeated.counts)
    np.testing.assert_allclose(weighted.values, repeated.values, rtol=1e-12)


@pytest.mark.parametrize(
    ("n_bins", "dtype"),
    [
        (1, np.uint8),
        (256, np.uint8),
        (257, np.uint16),
        (65536, np.uint16),
        (65537, np.uint32),
    ],
)
def test_codes_have_the_smallest_type(n_bins, dtype):
    x = np.random.default_rng(4).permutation(n_bins).astype(float)
    _, codes = one(x, max_bins=100_000)
    assert codes.dtype == dtype
    np.testing.assert_array_equal(codes, x)


def test_all_features_share_the_largest_type():
    X = np.column_stack([np.zeros(300), np.arange(300.0)])
    columns = make_columns(X, max_bins=1000)
    assert columns.codes.dtype == np.uint16
    np.testing.assert_array_equal(columns.sizes, [1, 300])
    assert columns.exact


def test_one_binned_feature_makes_the_table_inexact():
    X = np.column_stack([np.zeros(300), np.arange(300.0)])
    assert not make_columns(X, max_bins=20).exact


def test_a_constant_column_has_one_bin():
    column, codes = one(np.full(5, 7.0))
    np.testing.assert_array_equal(column.values, [7.0])
    assert len(column.cuts) == 0
    np.testing.assert_array_equal(codes, np.zeros(5))
    assert column.exact


def test_both_zeros_are_one_value():
    column, codes = one([0.0, -0.0, 1.0, -0.0])
    assert len(column.values) == 2
    np.testing.assert_array_equal(codes, [0, 0, 1, 0])


def integers_of(dtype):
    return np.random.default_rng(5).integers(-50, 50, size=(40, 3)).astype(dtype)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda X: X.astype(np.float32), id="float32"),
        pytest.param(np.asfortranarray, id="fortran"),
        pytest.param(lambda X: np.repeat(X, 2, axis=0)[::2], id="strided rows"),
        pytest.param(lambda X: np.repeat(X, 2, axis=1)[:, ::2], id="strided columns"),
        pytest.param(lambda X: X[::-1][::-1], id="reversed twice"),
    ],
)
@pytest.mark.parametrize("max_bins", [8, 256])
def test_the_layout_of_the_table_does_not_matter(form, max_bins):
    X = integers_of(np.float64)
    plain, other = make_columns(X, max_bins=max_bins), make_columns(form(X), max_bins=max_bins)
    np.testing.assert_array_equal(plain.codes, other.codes)
    for a, b in zip(plain.columns, other.columns, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.cuts, b.cuts)
        assert b.values.dtype == np.float64


def test_float32_values_are_kept_exactly():
    x = np.random.default_rng(6).normal(size=50).astype(np.float32)
    column, codes = one(x)
    np.testing.assert_array_equal(column.values[codes].astype(np.float32), x)


@pytest.mark.parametrize("n_threads", [2, 5])
def test_threads_find_the_same_columns(n_threads):
    X = np.random.default_rng(7).normal(size=(500, 6))
    alone, shared = (make_columns(X, max_bins=30, n_threads=k) for k in (1, n_threads))
    np.testing.assert_array_equal(alone.codes, shared.codes)


def test_given_thresholds_cut_the_column():
    x = np.array([-3.0, 0.0, 0.5, 1.0, 9.0])
    cuts = np.array([0.0, 0.7, 20.0])
    weight = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    column, codes = one(x, 2, sample_weight=weight, thresholds=lambda d: cuts)
    np.testing.assert_array_equal(codes, [0, 1, 1, 2, 2])
    np.testing.assert_array_equal(column.cuts, cuts)
    np.testing.assert_array_equal(column.counts, [1, 6, 24, 0])
    assert np.all((column.values[1:-1] > cuts[:-1]) & (column.values[1:-1] < cuts[1:]))
    assert (column.low, column.high, column.exact) == (-3.0, 9.0, True)


def test_without_thresholds_there_is_one_bin():
    column, codes = one([1.0, 2.0], thresholds=lambda d: np.array([]))
    assert len(column.values) == 1
    np.testing.assert_array_equal(codes, [0, 0])


@QUICK
@given(st.lists(FINITE, min_size=1, max_size=40), st.sampled_from([2, 3, 8, 100]))
def test_bins_of_any_numbers(numbers, max_bins):
    x = np.array(numbers)
    column, codes = one(x, max_bins)
    check_bins(x, column, codes)


@search(300)
@given(FINITE, FINITE)
def test_midpoints_lie_in_the_gap(a, b):
    """``low < middle <= high``, and strictly inside if there is a float between the two."""
    if a == b:
        return
    low, high = min(a, b), max(a, b)
    middle = midpoints(np.array([low]), np.array([high]))[0]
    assert low < middle <= high
    if np.nextafter(low, high) < high:
        assert middle < high


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, np.nextafter(1.0, 2.0)),
        (-TINY, 0.0),
        (0.0, TINY),
        (TINY, 2 * TINY),
        (3 * TINY, 4 * TINY),
        (-1.7e308, 1.7e308),
        (1.7e308, np.nextafter(1.7e308, np.inf)),
    ],
)
def test_extreme_gaps_are_cut(low, high):
    column, codes = one([high, low, high])
    assert low < column.cuts[0] <= high
    np.testing.assert_array_equal(codes, [1, 0, 1])


def check_lookup(cuts, x):
    """Check `Lookup` and `find_bin` against NumPy."""
    lookup = Lookup.build(cuts)
    found = [binloops.find_bin(v, lookup.cuts, lookup.first, lookup.low, lookup.scale) for v in x]
    np.testing.assert_array_equal(found, np.searchsorted(cuts, x, side="right"))


@QUICK
@given(st.lists(FINITE, max_size=30), st.lists(FINITE, min_size=1, max_size=30))
def test_lookup_finds_any_number(cuts, x):
    """Also with equal cuts, like the knots of jumps, and exactly at the cuts."""
    cuts = np.sort(np.array(cuts))
    check_lookup(cuts, np.concatenate([x, cuts]))


@pytest.mark.parametrize("exponent", [1.0, 30.0, 300.0])
def test_lookup_in_long_tails(exponent):
    cuts = 10.0 ** np.sort(np.random.default_rng(8).uniform(-exponent, exponent, size=200))
    around = np.concatenate([cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)])
    check_lookup(cuts, np.append(around, [0.0, -1e300]))


@pytest.mark.parametrize("cuts", [[], [0.3], [0.3, 0.3], [0.0] * 9 + [1.0]])
def test_lookup_of_few_or_equal_cuts(cuts):
    check_lookup(np.array(cuts), np.array([-1e308, 0.0, 0.3, np.nextafter(0.3, 0), 1.0, 1e308]))


def test_lookup_is_a_grid_not_a_search():
    """With evenly spaced cuts no cell contains more than one, so that no bisection is needed."""
    lookup = Lookup.build(np.linspace(0.0, 1.0, 100))
    assert np.diff(lookup.first).max() == 1


@pytest.mark.parametrize("weight", [1e-13, 1e-20, 1e-300])
def test_a_last_value_of_tiny_weight_does_not_add_a_bin(weight):
    """257 bins would not fit into 8-bit codes."""
    x = np.arange(5000.0)
    weights = np.where(x == x[-1], weight, 1.0)
    columns = make_columns(x[:, None], max_bins=256, sample_weight=weights)
    assert len(columns.columns[0].values) <= 256
    assert columns.codes[0, -1] == columns.codes.max()
